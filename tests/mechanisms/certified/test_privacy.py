"""The ε of `certified` is true: no outcome is more than e^ε times as likely for a neighbour.

What is tried: four small logs, five cases or persons more in each, both directions, and for each of
these pairs NOISES vectors of noise of all signs and several sizes. For these outcomes the ratio is
exact. For all others it follows from what is tested by itself: no case changes a table by more than
its sensitivity (tests/kernel/queries/test_flow.py), and noise has the scale that the price pays for
(tests/kernel/test_session.py); and here, that the same answers lead to the same queries.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from sacofa.errors import PromiseError
from sacofa.kernel.accounting import Spend
from sacofa.kernel.laws import Law
from sacofa.kernel.queries.flow import VOTE_UNITS, NearestCandidate, StepVotes
from sacofa.kernel.queries.protocol import Answer, Ints, Query
from sacofa.kernel.reals import tail
from sacofa.kernel.session import Session
from sacofa.kernel.unit import ONE_CASE, Unit
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.certified.budget import BudgetSplit
from sacofa.mechanisms.certified.certified import Certified
from sacofa.rules import Rules

from . import outcomes
from .outcomes import leading_to, listed, run_by_hand, some_outcomes

NAMES = ("a", "b")
CASES = [case for length in range(4) for case in product(NAMES, repeat=length)]
LOGS: list[dict[tuple[str, ...], int]] = [
    {},
    {("a",): 1},
    {("a", "b"): 3, ("b",): 1},
    {(): 2, ("a", "a", "a"): 2, ("b", "a"): 1},
]
EPSILON = Fraction(3, 2)
NOISES = 4
THREE = Unit(person="patient", max_cases=3)


def neighbours(log: dict[tuple[str, ...], int], unit: Unit, cases: int) -> list[VariantCounts]:
    """The log with a few more cases, of each kind."""
    return [
        VariantCounts.of({**log, case: log.get(case, 0) + cases}, NAMES, unit=unit)
        for case in CASES[::3]
    ]


def largest_ratio(
    mechanism: Certified,
    session: type[Session] = Session,
    *,
    unit: Unit = ONE_CASE,
    cases: int = 1,
    noises: int = NOISES,
    enough: float = math.inf,
) -> float:
    """The largest ratio (its logarithm, in ε) over logs, neighbours, directions and outcomes.

    The search ends at a ratio that is `enough`.
    """
    worst = 0.0
    for log in LOGS:
        secret = VariantCounts.of(log, NAMES, unit=unit)
        # The same for each of its neighbours.
        known = list(some_outcomes(mechanism, secret, noises, session))
        for neighbour in neighbours(log, unit, cases):
            pair = (secret, neighbour)
            found = outcomes.largest_ratio(mechanism, pair, session, noises, known, enough)
            worst = max(worst, found)
            if worst > enough or math.isinf(worst):
                return worst
    return worst


SHORT = Certified(epsilon=EPSILON, max_length=2, min_candidates=5)
LARGE = replace(SHORT, large_log_ratio=Fraction(10**6))
"""Shows frequent variants in logs of any size."""
SETTINGS = {
    "length given": SHORT,
    "length chosen": replace(SHORT, max_length=None, max_length_bound=3),
    "rules given": replace(SHORT, rules=Rules.free(NAMES)),
    "frequent variants shown": LARGE,
    "frequent variants, rules": replace(LARGE, rules=Rules.free(NAMES)),
}


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", SETTINGS.values(), ids=SETTINGS)
def test_no_outcome_gives_a_case_away(mechanism: Certified) -> None:
    """Every ratio is at most e^ε, and some is as large: nothing is wasted."""
    worst = largest_ratio(mechanism)
    assert worst <= 1 + 1e-9
    assert worst > 1 - 1e-9


def test_the_outcomes_that_are_tried_show_variants_as_they_are() -> None:
    """The histogram is asked, and noise by hand lets some of its cells be shown, and others not."""
    log = VariantCounts.of(LOGS[3], NAMES)
    shown = {outcome.shown for outcome in some_outcomes(LARGE, log, 24)}
    assert 0 in shown and max(shown) > 1
    large, short = (len(run_by_hand(m, log, listed([])).seen) for m in (LARGE, SHORT))
    assert large == short + 1


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [SHORT, LARGE], ids=["few", "frequent variants shown"])
def test_persons_with_several_cases_are_protected(mechanism: Certified) -> None:
    """Neighbours that differ by three cases are as hard to tell apart, at the same price."""
    assert 1 - 1e-9 < largest_ratio(mechanism, unit=THREE, cases=3) <= 1 + 1e-9
    assert largest_ratio(mechanism, cases=3, noises=3, enough=2) > 2


class SpendsTwice(Session):
    """Asks for the final vote twice, each at its full price, and writes down one of them."""

    def ask(self, query: Query, epsilon: Fraction, line: str) -> Ints:
        """Ask, and ask again."""
        if query.name == "final":
            assert isinstance(query, NearestCandidate)
            super().ask(replace(query, name="final again"), epsilon, line)
            self._left[line] += epsilon
        return super().ask(query, epsilon, line)


class Changed(Session):
    """Changes answers by what is true."""

    def ask(self, query: Query, epsilon: Fraction, line: str) -> Ints:
        """Answer, and change the answer."""
        noisy = super().ask(query, epsilon, line)
        assert isinstance(self._variants, VariantCounts)
        self.change(query, noisy, query.table(self._variants))
        return noisy

    def change(self, query: Query, noisy: Ints, true: Ints) -> None:
        """Change an answer in place."""
        raise NotImplementedError


class DropsZeros(Changed):
    """Adds no noise to cells that no case is in."""

    def change(self, query: Query, noisy: Ints, true: Ints) -> None:
        """Take the noise off."""
        noisy[true == 0] = 0


class ThresholdByTruth(Changed):
    """Hides noisy votes where too few cases truly voted."""

    def change(self, query: Query, noisy: Ints, true: Ints) -> None:
        """Hide what is small."""
        noisy[true < 2] = 0


class CountsUnnoticed(Changed):
    """Lets the true number of cases slip into the order of the answers."""

    def change(self, query: Query, noisy: Ints, true: Ints) -> None:
        """Turn the cells by the number of cases."""
        assert isinstance(self._variants, VariantCounts)
        noisy[:] = np.roll(noisy, self._variants.cases)


class Unnoised(Changed):
    """Charges for every query, and adds no noise at all."""

    def change(self, query: Query, noisy: Ints, true: Ints) -> None:
        """Take all noise off."""
        noisy[:] = true


class OneUnnoised(Changed):
    """Charges for the number of cases, and gives it as it is."""

    def change(self, query: Query, noisy: Ints, true: Ints) -> None:
        """Take the noise off one answer."""
        if query.name == "size":
            noisy[:] = true


@dataclass(frozen=True)
class GreedyVotes(StepVotes):
    """Gives a case all its votes for each of its steps, and calls that one vote."""

    def table(self, part: VariantCounts) -> Ints:  # type: ignore[override]
        """The table of one part."""
        size = self.activities + 1
        table = np.zeros((size, size), dtype=np.int64)
        for ids, count in zip(part.sequences(), part.counts.tolist(), strict=True):
            for a, b in pairwise((size - 1, *ids, size - 1)):
                table[a, b] += VOTE_UNITS * count
        return table.ravel()


class VotesPerStep(Session):
    """Asks for all votes of a case for each of its steps."""

    def ask(self, query: Query, epsilon: Fraction, line: str) -> Ints:
        """Ask for more."""
        return super().ask(
            GreedyVotes(query.activities) if isinstance(query, StepVotes) else query, epsilon, line
        )


class HalfSensitivity(Session):
    """Takes every table for half as sensitive as it is."""

    def noise_on(self, sensitivity: int, epsilon: Fraction) -> Law:
        """Twice as much as was paid for."""
        return super().noise_on(sensitivity, 2 * epsilon)


class ReusesNoise(Session):
    """Draws noise once, and adds it to the table of the final vote as well."""

    def ask(self, query: Query, epsilon: Fraction, line: str) -> Ints:
        """Answer the final vote with the noise of the first."""
        if query.name != "final":
            return super().ask(query, epsilon, line)
        self.charge(query.what, epsilon, line)
        before = self.answers[-1]
        assert isinstance(self._variants, VariantCounts)
        search: Query = before.query  # type: ignore[assignment]
        noise = np.resize(before.values - search.table(self._variants), len(query.cells))
        noisy: Ints = query.table(self._variants) + noise
        answer = Answer(query=query, values=noisy, noise=before.noise, activities=self.activities)
        self._record(answer, noisy)
        return noisy


class ForOneCase(Session):
    """Noise for one case, whatever the unit is."""

    def noise_on(self, sensitivity: int, epsilon: Fraction) -> Law:
        """Without the division by the cases of a person."""
        return self.budget.law(sensitivity, epsilon)


@pytest.mark.slow
@pytest.mark.parametrize(
    "broken",
    [
        SpendsTwice,
        DropsZeros,
        ThresholdByTruth,
        VotesPerStep,
        CountsUnnoticed,
        Unnoised,
        OneUnnoised,
        HalfSensitivity,
        ReusesNoise,
    ],
)
def test_the_check_notices_what_is_broken(broken: type[Session]) -> None:
    """The same check fails on sessions that spend too much or answer without paying."""
    assert largest_ratio(SHORT, broken, noises=3, enough=1.2) > 1.2


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [SHORT, LARGE], ids=["few", "frequent variants shown"])
def test_noise_for_one_case_of_a_person_is_noticed(mechanism: Certified) -> None:
    """Where noise does not grow with the cases of a person, the check fails."""
    ratio = largest_ratio(mechanism, ForOneCase, unit=THREE, cases=3, noises=3, enough=2)
    assert ratio > 2


VARIOUS = Certified(
    epsilon=3,
    max_length_bound=7,
    min_candidates=40,
    max_candidates=40,
    large_log_ratio=Fraction(1, 10**6),
)


def hardly_two_alike() -> list[VariantCounts]:
    """1,500 cases of six events by chance; the same with one more, which has just three."""
    draw = np.random.default_rng(1)
    cases = Counter(tuple(draw.choice(["a", "b", "c"], 6).tolist()) for _ in range(1_500))
    more = cases + Counter([("c", "a", "b")])
    return [VariantCounts.of(log, ["a", "b", "c"]) for log in (cases, more)]


class GenerousTrigrams(Session):
    """Answers votes for 3-grams with half of the noise that was paid for."""

    def ask(self, query: Query, epsilon: Fraction, line: str) -> Ints:
        """Ask as if twice as much were paid."""
        if query.name == "trigrams":
            self._left[line] += epsilon
            epsilon = 2 * epsilon
        return super().ask(query, epsilon, line)


@pytest.mark.slow
def test_three_in_a_row_give_no_case_away() -> None:
    """Nor where lengths and 3-grams are asked, in a log in which hardly two cases are alike."""
    smaller, larger = hardly_two_alike()

    def ratio(session: type[Session]) -> float:
        # Where noise is below 0, all that the case adds tells.
        *_, outcome = some_outcomes(VARIOUS, smaller, 2, session)
        asked = {query.name for query in outcome.asked_for}  # type: ignore[attr-defined]
        assert asked > {"lengths", "activities", "trigrams"}
        return outcomes.log_ratio(VARIOUS, outcome, larger, session) / float(VARIOUS.price)

    assert 0.99 < ratio(Session) <= 1 + 1e-9
    assert ratio(GenerousTrigrams) > 1.2


class Unbounded(Session):
    """Charges whatever it is asked to."""

    def charge(self, what: str, epsilon: Fraction, line: str) -> None:
        """Write the charge down, and refuse nothing."""
        self.spent.append(Spend(what=what, amount=epsilon, line=line))


@pytest.mark.slow
def test_shares_that_add_up_to_more_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the final vote takes more than what is left, the check fails, and so does a session."""
    monkeypatch.setattr(BudgetSplit, "final", lambda self, **asked: self.counts)
    # Another mechanism of the same settings: SHORT may have worked out its prices before.
    mechanism = replace(SHORT)
    assert largest_ratio(mechanism, Unbounded, noises=3, enough=1.05) > 1.05
    with pytest.raises(PromiseError):
        run_by_hand(mechanism, VariantCounts.of({}, NAMES), listed([]))


def test_the_release_itself_is_private() -> None:
    """The exact chance of each release differs by at most e^ε between neighbours.

    All answers but the last are held fixed; the final vote is added up over all noise that matters.
    """
    mechanism = Certified(epsilon=Fraction(8), max_length=1)
    logs = [VariantCounts.of({("a",): n, (): 2}, ("a",)) for n in (3, 4)]
    start = next(some_outcomes(mechanism, logs[0], 1))
    epsilon = start.epsilons[-1]
    reach = 8

    def chance(x: int) -> float:
        return float(tail(epsilon, x)(30) - tail(epsilon, x + 1)(30))

    chances: list[dict[tuple[tuple[str, int], ...], float]] = []
    for log in logs:
        fixed = run_by_hand(mechanism, log, leading_to(start.seen)).noise[:-1]
        total: dict[tuple[tuple[str, int], ...], float] = {}
        cells = len(start.seen[-1])
        assert cells == 2
        for z in product(range(-reach, reach + 1), repeat=cells):
            released = run_by_hand(
                mechanism, log, listed([*fixed, np.array(z)])
            ).output.log.variants
            key = tuple(("".join(variant), count) for variant, count in released)
            total[key] = total.get(key, 0) + chance(z[0]) * chance(z[1])
        chances.append(total)
    # Noise beyond the reach may belong to any release: it is counted against the claim.
    beyond = max(1 - sum(total.values()) for total in chances)
    assert 0 <= beyond < 1e-8
    limit = math.exp(epsilon)
    ratios = []
    for one, other in (chances, chances[::-1]):
        for key, chance_of_key in one.items():
            assert chance_of_key <= limit * (other.get(key, 0.0) + beyond) * (1 + 1e-9)
            ratios.append(math.log(chance_of_key / (other.get(key, 0.0) + beyond)))
    assert len(ratios) > 6
    assert max(ratios) > 0.95 * float(epsilon)
