"""`certified` gives a release whatever the log and the settings are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sacofa.examples import running_example
from sacofa.mechanisms.certified import Certified
from sacofa.privacy.accounting import total_epsilon
from sacofa.privacy.bits import SeededBits
from sacofa.privacy.noise import Noise
from sacofa.semantics import Rules, learn_rules
from sacofa.unit import Unit
from sacofa.variants import VariantCounts

NAMES = tuple("abcdef")


def many_activities() -> VariantCounts:
    """4,000 cases like those of building permits: 400 activities, up to 120 events."""
    draw = np.random.default_rng(1)
    names = [f"activity {i:03}" for i in range(400)]
    cases = []
    for _ in range(4_000):
        case, place = [], 0
        for _ in range(int(draw.integers(20, 120))):
            place = (place + int(draw.choice([1, 1, 1, 1, 2, 7]))) % 400
            case.append(names[place])
        cases.append(case)
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
    outcome = mechanism.run(log, Noise(SeededBits(1)))
    released = outcome.variants
    assert released.activities == log.activities
    assert released.cases >= 1 and (released.counts > 0).all()
    if max_length is not None:
        assert released.lengths.max() <= max_length
        assert (released.complete == (released.lengths < max_length)).all()


def test_many_activities_and_long_cases() -> None:
    """400 activities and cases of 100 finish, with and without rules that are hard to count."""
    log = many_activities()
    plain = Certified(epsilon=Fraction(1), max_length=100)
    assert plain.run(log, Noise(SeededBits(1))).variants.cases > 3_000
    rules = learn_rules(log, source="a test")
    ruled = Certified(epsilon=Fraction(10), max_length=100, rules=rules, rich=Fraction(10**6))
    assert ruled.run(log, Noise(SeededBits(1))).variants.cases > 3_000


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
        source="a test",
    )
    log = LOGS["one case"]
    assert (
        Certified(epsilon=Fraction(1), max_length=5, rules=rules)
        .run(log, Noise(SeededBits(1)))
        .variants.cases
    )


@pytest.mark.parametrize("max_length", [None, 5])
@pytest.mark.parametrize("max_cases", [1, 3])
def test_the_promise_is_what_is_spent(max_length: int | None, max_cases: int) -> None:
    """Prices add up to ε exactly, in the promise and in what the run asked for."""
    from sacofa.mechanisms.certified.chain import UniformSampler
    from sacofa.mechanisms.certified.run import Run
    from sacofa.queries.session import Looks

    for log in (LOGS["a million cases"], LOGS["one case"]):
        mechanism = Certified(
            epsilon=Fraction(1, 7), max_length=max_length, unit=Unit(max_cases=max_cases)
        )
        assert total_epsilon(mechanism.promise().looks) == Fraction(1, 7)
        noise = Noise(SeededBits(3))
        looks = Looks(log, noise, max_cases)
        Run(mechanism, looks, UniformSampler(noise)).release()
        assert total_epsilon(looks.spent) == Fraction(1, 7)
