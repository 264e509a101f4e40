"""A mechanism gives a release whatever the log is; settings are refused before, or never."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa import Request, anonymize
from sacofa.errors import SettingError
from sacofa.examples import running_example
from sacofa.kernel.accounting import Spend
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import Cases
from sacofa.kernel.laws import DiscreteLaplace
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries.histogram import AllSequences, Histogram
from sacofa.kernel.reals import Real
from sacofa.kernel.statements import Statement
from sacofa.kernel.unit import Unit
from sacofa.kernel.variants import MOST_CASES, VariantCounts
from sacofa.mechanisms import Certified, Laplace, Sacofa, perform
from sacofa.mechanisms.certified.settings import TUNED
from sacofa.release.anonymize import certify_request
from sacofa.rules import Rules, Steps, all_sequences, learn_rules
from sacofa.rules.provenance import Stated
from sacofa.synthesis.flow.frequent import ROOM, _room, all_threshold, show_frequent
from tests.kernel.queries.bare import session_of
from tests.kernel.test_noise import Scripted

NAMES = tuple("abcdef")


def many_activities() -> VariantCounts:
    """4,000 cases like those of building permits: 400 activities, up to 120 events."""
    draw = np.random.default_rng(1)
    names = [f"activity {i:03}" for i in range(400)]
    cases = []
    for _ in range(4_000):
        ahead = draw.choice([1, 1, 1, 1, 2, 7], size=int(draw.integers(20, 120)))
        cases.append([names[place] for place in (np.cumsum(ahead) % 400).tolist()])
    return VariantCounts.from_cases(cases).project_onto(names)


LOGS = {
    "no cases": VariantCounts.of({}, NAMES),
    "no cases and no activities": VariantCounts.of({}, ()),
    "cases without events": VariantCounts.of({(): 50}, NAMES),
    "cases without events, no activities": VariantCounts.of({(): 50}, ()),
    "one case": VariantCounts.of({("a", "b"): 1}, NAMES),
    "one activity": VariantCounts.of({("a",): 30, ("a",) * 5: 10}),
    "a case of 10,000 events": VariantCounts.of({tuple("abcde") * 2_000: 1, ("a",): 20}),
    "cut cases": VariantCounts.of({("a", "b"): 20}, NAMES, truncated={("a",): 20}),
    "a million cases": VariantCounts.of({("a", "b", "c"): 600_000, ("a", "c"): 400_000}, NAMES),
    "the running example": running_example(),
}


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
@pytest.mark.parametrize("epsilon", ["1/1000", "1", "100"])
@pytest.mark.parametrize("max_length", [None, 1, 7])
def test_every_log_gets_a_release(log: VariantCounts, epsilon: str, max_length: int | None) -> None:
    """Any log, any ε, any length: at least one case comes out, none too long, all public names."""
    mechanism = Certified(epsilon=Fraction(epsilon), max_length=max_length)
    outcome = perform(mechanism, Cases(variants=log), Noise(SeededBits(1)))
    released = outcome.log.variants
    assert released.activities == log.activities
    assert released.cases >= 1 and (released.counts > 0).all()
    if max_length is not None:
        assert released.lengths.max() <= max_length
        assert (released.complete == (released.lengths < max_length)).all()


def test_many_activities_and_long_cases() -> None:
    """400 activities and cases of 100 finish, with and without rules that are hard to count."""
    log = many_activities()
    plain = Certified(epsilon=Fraction(1), max_length=100)
    rules = learn_rules(log, source="a test")
    ruled = Certified(
        epsilon=Fraction(10), max_length=100, rules=rules, large_log_ratio=Fraction(10**6)
    )
    for mechanism in (plain, ruled):
        outcome = perform(mechanism, Cases(variants=log), Noise(SeededBits(1)))
        assert outcome.log.variants.cases > 3_000


def test_rules_that_forbid_everything() -> None:
    """Where rules leave no case at all, a release is made all the same."""
    every = np.ones((6, 6), dtype=np.bool_)
    none = np.zeros((6, 6), dtype=np.bool_)
    rules = Rules(
        activities=NAMES,
        never_follows=every,
        always_follows=none,
        always_precedes=none,
        starts=np.zeros(6, dtype=np.bool_),
        source=Stated("a test"),
    )
    mechanism = Certified(epsilon=Fraction(1), max_length=5, rules=rules)
    assert perform(
        mechanism, Cases(variants=LOGS["one case"]), Noise(SeededBits(1))
    ).log.variants.cases


LONG = [f"activity {i:03}" for i in range(200)]


@pytest.mark.slow
def test_numbers_of_more_than_4300_digits() -> None:
    """200 activities and cases of up to 2,000 events make 10^4602 sequences, and a release.

    The run asks the histogram, and bits at their highest make it draw how many cells survive.
    """
    log = VariantCounts.of({tuple(LONG[:3]): 4_000_000, tuple(LONG[3:5]): 2_000_000}, LONG)
    mechanism = Certified(epsilon=Fraction(1), max_length=2_000)
    noise = HighestBinomial(SeededBits(1))
    outcome = perform(mechanism, Cases(variants=log), noise)
    assert noise.asked
    assert outcome.log.variants.cases == pytest.approx(6_000_000, rel=0.01)


class HighestBinomial(Noise):
    """Numbers of successes for which the first bits are all 1: the quick way out is closed."""

    asked = 0

    def binomial(self, trials: int, probability: Real) -> int:
        """Draw as ever, from other bits."""
        self.asked += 1
        return Noise(Scripted([2**64 - 1], self.asked)).binomial(trials, probability)


@pytest.mark.parametrize("person", [None, "patient"])
def test_prices_too_small_are_refused_before_anything_is_charged(person: str | None) -> None:
    """ε = 1e-12 with a million cases per person has noise that fits no number: a setting error."""
    unit = Unit(person=person, max_cases=10**6 if person else 1)
    log = VariantCounts.of({("a",): 3}, unit=unit)
    with pytest.raises(SettingError, match=r"epsilon .* times as much"):
        anonymize(log, Certified(epsilon="1e-12"), seed=1)
    with pytest.raises(SettingError, match=r"epsilon .* times as much"):
        certify_request(Certified(epsilon="1e-12"), unit)


@pytest.mark.parametrize("count", [2**63, 2**64, 10**30, 10**12])
def test_counts_beyond_belief_are_refused_when_they_are_given(count: int) -> None:
    """No log has so many cases: it is refused before anyone pays for it."""
    with pytest.raises(SettingError, match=r"at most 1,000,000,000,000"):
        anonymize({("a",): count, ("b",): 1}, Certified(epsilon=1), seed=1)
    with pytest.raises(SettingError, match="0 or more"):
        VariantCounts.of({("a",): -count})


def test_the_largest_log_there_can_be() -> None:
    """As many cases as are believed give a release of about as many."""
    log = VariantCounts.of({("a",): 10**12 - 7, ("b", "a"): 7})
    for epsilon in ("1e-6", "1", "1000"):
        mechanism = Certified(epsilon=epsilon)
        released = (
            Request(log=log, mechanism=mechanism, seed=1, max_released_events=10**14)
            .publish()
            .variants
        )
        assert released.cases == pytest.approx(10**12, rel=1e-3)


def test_sequences_that_nobody_can_count_are_passed_over() -> None:
    """4,000 activities, cases of 100,000 events: no name is shown, and a release is made."""
    names = [f"{i:04}" for i in range(4_000)]
    steps, notes = Steps.every(names[:50]), []
    log = VariantCounts.of({("0001",): 10**6}, names[:50]).truncate(100_000, by_length=True)
    opened = session_of(log).open(AllSequences(), Fraction(1), "all")
    histogram = Histogram(opened)
    notes = show_frequent(histogram, steps, None, 100_000, opened.law)
    assert Statement("note.uncountable") in notes
    assert _room(all_sequences(tuple(names), 100_000)) > ROOM
    # The number of sequences alone, of 360,206 digits, is quickly known.
    assert all_threshold(DiscreteLaplace(Fraction(1, 4)), 4_000, 100_000) > 10**6


EXTREME = st.one_of(
    st.sampled_from(["1e-12", "1e-9", "1e-8", "2e-8", "1e-3", "1", "42", "84", "500", "1000"]),
    st.fractions(Fraction(1, 10**9), 1000, max_denominator=10**12),
)
TUNING = st.sampled_from(["1e-12", "1", "3", "1e12"])


@settings(deadline=None, max_examples=60)
@given(
    counts=st.dictionaries(
        st.lists(st.sampled_from("ab"), max_size=3).map(tuple), st.integers(0, 10**11), max_size=5
    ),
    epsilon=EXTREME,
    max_cases=st.sampled_from([1, 2, 1000, 10**6]),
    max_length=st.sampled_from([None, 1, 2, 50]),
    tuned=st.fixed_dictionaries(dict.fromkeys(TUNED, TUNING)),
    order_penalty=st.sampled_from([Fraction(0), Fraction(11, 2), Fraction(10**12)]),
    delta=st.sampled_from(["0", "0", "1e-12", "1e-6", "1/1000"]),
    seed=st.integers(0, 2**32),
)
def test_nothing_fails_once_something_is_charged(
    counts: dict[tuple[str, ...], int],
    epsilon: str | Fraction,
    max_cases: int,
    max_length: int | None,
    tuned: dict[str, str],
    order_penalty: Fraction,
    delta: str,
    seed: int,
) -> None:
    """Extreme settings and counts are refused before the first charge, or a release is made."""
    unit = Unit(person="patient", max_cases=max_cases)
    cases = Cases(variants=VariantCounts.of(counts, ("a", "b"), unit=unit))
    try:
        mechanism = Certified(
            epsilon=epsilon,
            max_length=max_length,
            order_penalty=order_penalty,
            delta=delta,  # type: ignore[arg-type]
            max_candidates=40,
            **tuned,  # type: ignore[arg-type]
        )
        certify_request(mechanism, unit)
    except SettingError:
        return
    outcome = perform(mechanism, cases, Noise(SeededBits(seed)))
    assert sum(one.amount for one in outcome.spent if isinstance(one, Spend)) == mechanism.price
    assert 1 <= outcome.log.variants.cases <= MOST_CASES
    assert (outcome.log.variants.counts > 0).all()


@settings(deadline=None, max_examples=60)
@given(
    counts=st.dictionaries(
        st.lists(st.sampled_from("ab"), max_size=3).map(tuple), st.integers(0, 10**11), max_size=5
    ),
    epsilon=EXTREME,
    max_cases=st.sampled_from([1, 10**6]),
    prune=st.sampled_from([1, 2, 10**6, 10**12]),
    max_violations=st.sampled_from([None, 1, 10**3, 10**12]),
    seed=st.integers(0, 2**32),
)
def test_nothing_fails_in_the_papers_mechanisms_but_what_noise_makes_too_large(
    counts: dict[tuple[str, ...], int],
    epsilon: str | Fraction,
    max_cases: int,
    prune: int,
    max_violations: int | None,
    seed: int,
) -> None:
    """A level that is too large is known from noise; nothing else is refused after a charge."""
    unit = Unit(person="patient", max_cases=max_cases)
    cases = Cases(variants=VariantCounts.of(counts, ("a", "b"), unit=unit))
    try:
        both = (
            Laplace(level_epsilon=epsilon, max_length=3, prune=prune),
            Sacofa(level_epsilon=epsilon, max_length=3, prune=prune, max_violations=max_violations),
        )
        for mechanism in both:
            certify_request(mechanism, unit)
    except SettingError:
        return
    for mechanism in both:
        outcome = perform(mechanism, cases, Noise(SeededBits(seed)))
        assert (outcome.log.variants.counts >= 1).all()
