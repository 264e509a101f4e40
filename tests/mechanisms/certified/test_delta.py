"""The budget (ε, δ): settings, promises that add up, and releases of every kind."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sacofa import Certified
from sacofa.base.domains import Categories, YesNo
from sacofa.errors import SettingError
from sacofa.evaluate.measures.flow import steps_distance
from sacofa.kernel.accounting import ZCDP, PureDP, Spend
from sacofa.kernel.attributes import Attribute
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import CaseBatch, Cases, Values
from sacofa.kernel.laws import DiscreteGaussian, Law
from sacofa.kernel.noise import Ints, Noise
from sacofa.kernel.queries.durations import DAY, HOUR
from sacofa.kernel.queries.flow import VOTE_UNITS
from sacofa.kernel.unit import Unit
from sacofa.mechanisms import perform
from sacofa.rules import Rules

MILLIONTH = Fraction(1, 10**6)
CHANNEL = Attribute(name="channel", of_case=True, domain=Categories(names=("mail", "phone")))
GROUP = Attribute(name="group", domain=YesNo())
SMALL = Certified(
    epsilon=1, delta=MILLIONTH, max_length_bound=12, min_candidates=6, max_candidates=12, time=False
)


def cases_of(lengths: Sequence[int], unit: Unit | None = None, *, rich: bool = False) -> Cases:
    """Cases of these lengths that go round six activities, with times and attributes."""
    events = [(i, place) for i, length in enumerate(lengths) for place in range(length)]
    case, ids = (np.array([e[part] for e in events], dtype=np.int32) for part in (0, 1))
    batch = CaseBatch(
        activities=tuple("abcdef"),
        activity_ids=ids % 6,
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        complete=np.ones(len(lengths), dtype=np.bool_),
        times=18_000 * DAY + case.astype(np.int64) * HOUR + ids.astype(np.int64) * DAY,
        attributes=(
            Values(
                name=CHANNEL.key,
                of_case=True,
                cells=np.arange(len(lengths), dtype=np.int32) % 2,
                size=4,
            ),
            Values(name=GROUP.key, of_case=False, cells=ids % 2, size=4),
        ),
        unit=unit or Unit(),
    )
    attributes = (CHANNEL, GROUP) if rich else ()
    return Cases(variants=batch.variants(), by_case=batch, attributes=attributes)


@pytest.mark.parametrize("written", ["1e-6", "1/1000000", 1e-6, MILLIONTH, "0.000001"])
def test_delta_is_taken_exactly_as_it_is_written(written: Fraction) -> None:
    assert Certified(epsilon=1, delta=written).delta == MILLIONTH


@pytest.mark.parametrize("written", [-1e-6, "-1/2", "0.002", 1, "nan", "inf", "", None, True])
def test_a_delta_that_is_no_protection_is_refused(written: Fraction) -> None:
    with pytest.raises(SettingError) as error:
        Certified(epsilon=1, delta=written)
    assert error.value.name == "delta"


@pytest.mark.parametrize("none", [0, "0", 0.0, Fraction(0), "0.0"])
def test_without_delta_the_budget_is_epsilon(none: Fraction) -> None:
    mechanism = Certified(epsilon="1/3", delta=none)
    assert mechanism.budget == PureDP(Fraction(1, 3))
    assert mechanism == Certified(epsilon="1/3")
    promise = mechanism.promise(Unit())
    assert (promise.budget, promise.epsilon, promise.delta) == (None, Fraction(1, 3), 0)


@pytest.mark.parametrize("time", [False, True])
@pytest.mark.parametrize("attributes", [(), (CHANNEL,)])
def test_what_is_promised_adds_up_to_the_budget(
    time: bool, attributes: tuple[Attribute, ...]
) -> None:
    mechanism = Certified(epsilon="1/3", delta="1e-7", time=time, attributes=attributes)
    promise = mechanism.promise(Unit())
    assert isinstance(promise.budget, ZCDP)
    spent = sum((a.amount for a in promise.accesses if isinstance(a, Spend)), Fraction(0))
    assert spent == promise.budget.amount == mechanism.price
    assert (promise.epsilon, promise.delta) == (Fraction(1, 3), Fraction(1, 10**7))
    assert 0 < promise.budget.selection < promise.budget.delta


class Drawn(Noise):
    """Writes down the law of all noise, and for how many cells it was drawn."""

    def __init__(self, seed: int) -> None:
        super().__init__(SeededBits(seed))
        self.laws: list[tuple[Law, int]] = []

    def draw(self, law: Law, size: int) -> Ints:
        """Draw as ever."""
        self.laws.append((law, size))
        return super().draw(law, size)


PERSONS = Unit(person="patient", max_cases=3)
RICH = replace(SMALL, time=True, attributes=(CHANNEL, GROUP))
RULES = Rules.free(tuple("abcdef"))
KINDS = {
    "flow": (SMALL, [2] * 300),
    "with times and attributes": (RICH, [3] * 200),
    "for persons": (replace(RICH, epsilon=Fraction(3)), [2, 1] * 60),
    "with rules": (replace(SMALL, rules=RULES), [2, 4] * 50),
    "of given length": (replace(SMALL, max_length=3), [1, 5, 2] * 40),
    "with published variants": (replace(SMALL, epsilon=Fraction(4)), [2] * 6_000),
    "of a tiny log": (RICH, [2, 3]),
    "of an empty log": (RICH, []),
    "of cases without events": (SMALL, [0, 0, 0]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_release_of_every_kind_spends_its_budget_through_gaussian_noise(kind: str) -> None:
    mechanism, lengths = KINDS[kind]
    unit = PERSONS if kind == "for persons" else Unit()
    noise = Drawn(len(kind))
    cases = cases_of(lengths, unit, rich=bool(mechanism.attributes))
    outcome = perform(mechanism, cases, noise)
    spent = sum((a.amount for a in outcome.spent if isinstance(a, Spend)), Fraction(0))
    assert spent == mechanism.budget.amount
    assert mechanism.delta == MILLIONTH
    # Every cell of every answer has noise of the law that its amount buys, and no other noise is
    # drawn for one.
    tables = [a for a in outcome.answers if not isinstance(a.values, Mapping)]
    assert all(isinstance(law, DiscreteGaussian) for law, _ in noise.laws)
    drawn = Counter(noise.laws)
    assert Counter((a.noise, len(a.values)) for a in tables) <= drawn
    sparse = [a for a in outcome.answers if isinstance(a.values, Mapping)]
    assert sum(drawn.values()) == len(tables) + len(sparse)
    assert bool(sparse) == (kind == "with published variants")
    for answer, paid in zip(outcome.answers, outcome.spent, strict=True):
        assert isinstance(paid, Spend)
        change = answer.query.l2_sensitivity * unit.max_cases
        assert answer.noise == mechanism.budget.law(change, paid.amount)
    assert outcome.log.variants.cases >= 1


def test_published_variants_reach_the_threshold_that_hides_whether_they_exist() -> None:
    mechanism, lengths = KINDS["with published variants"]
    outcome = perform(mechanism, cases_of([*lengths, 1]), Noise(SeededBits(5)))
    [answer] = [a for a in outcome.answers if isinstance(a.values, Mapping)]
    budget = mechanism.budget
    assert isinstance(budget, ZCDP) and isinstance(answer.values, Mapping)
    least = budget.shown_from(answer.noise, 1)
    assert answer.values.keys() == {((0, 1), True)}
    assert min(answer.values.values()) >= least > 1


def test_votes_of_a_case_are_bounded_in_the_euclidean_norm_alone() -> None:
    outcome = perform(SMALL, cases_of([6] * 400), Noise(SeededBits(1)))
    for answer in outcome.answers:
        table = answer.query.table(cases_of([6]).variants)  # type: ignore[union-attr]
        assert np.linalg.norm(table) <= answer.query.l2_sensitivity
    [steps] = [a for a in outcome.answers if a.query.name == "steps"]
    [lone] = [steps.query.table(cases_of([6]).variants)]  # type: ignore[union-attr]
    assert lone.sum() > 1.3 * VOTE_UNITS


def test_with_much_noise_a_release_with_delta_is_nearer_to_long_cases() -> None:
    """The votes of a case for n pairs are √n times as many in sum."""
    log = cases_of([9, 10, 11, 12] * 60)
    errors = []
    for delta in (Fraction(0), MILLIONTH):
        mechanism = Certified(epsilon=1, delta=delta, time=False, max_length=14)
        found = [
            steps_distance(log.variants, perform(mechanism, log, Noise(SeededBits(s))).log.variants)
            for s in range(6)
        ]
        errors.append(np.mean(found))
    assert errors[1] < errors[0]
