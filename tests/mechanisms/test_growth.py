"""The growth loop: releases have the distribution of the paper's algorithm, listed or not."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacofa.errors import TooLargeError
from sacofa.kernel.accounting import Spend
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import Cases
from sacofa.kernel.laws import Law
from sacofa.kernel.noise import Noise
from sacofa.kernel.session import Session
from sacofa.kernel.unit import Unit
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.growth import Growth, PrefixCounts, grow, level_line
from sacofa.rules.kinds import Semantics
from sacofa.rules.learn import learn_rules
from sacofa.rules.semantics import NoRules, RuleStates
from tests.chances import FITS, agree
from tests.mechanisms.literal import grow_literally

LOG = VariantCounts.of({("a", "b"): 3, ("a", "c"): 2, ("a",): 1, ("a", "b", "c"): 1})
OTHER = VariantCounts.of({("a", "b"): 2, ("a", "b", "c"): 2}, activities=LOG.activities)
RUNS = 2_000
FEW = RUNS // 2
"""So many runs show what is wrong: fewer than find nothing wrong with what is right."""

BASE = Growth(
    choice_epsilon=Fraction(1, 2),
    max_length=3,
    prune_harmless=2,
    prune_harmful=2,
    prune_finished=True,
    max_violations=None,
)

SETTINGS: dict[str, tuple[Any, ...]] = {
    "no rules": (NoRules(LOG.activities), replace(BASE, prune_harmful=None)),
    "no rules, small noise": (
        NoRules(LOG.activities),
        replace(BASE, prune_harmful=None, max_length=2),
        Fraction(2),
    ),
    "own rules": (RuleStates(learn_rules(LOG)), BASE),
    "own rules, two thresholds": (
        RuleStates(learn_rules(LOG)),
        replace(BASE, prune_harmless=1, prune_harmful=3),
    ),
    "other rules": (RuleStates(learn_rules(OTHER)), BASE),
    "counted violations": (
        RuleStates(learn_rules(OTHER)),
        replace(BASE, max_violations=3, choice_epsilon=Fraction(1, 6)),
    ),
    "finished are kept": (RuleStates(learn_rules(OTHER)), replace(BASE, prune_finished=False)),
    "nothing harmful": (RuleStates(learn_rules(OTHER)), replace(BASE, prune_harmful=None)),
}


def grow_log(
    log: VariantCounts,
    semantics: Semantics,
    growth: Growth,
    noise: Noise,
    epsilon: Fraction = Fraction(1),
) -> VariantCounts:
    """Grow the tree of a log; every level costs epsilon, for all cases of a unit."""
    promised = [
        Spend(what="a level", amount=epsilon, line=level_line(length))
        for length in range(1, growth.max_length + 1)
    ]
    session = Session(Cases(variants=log), promised, noise)
    released = grow(session, semantics, growth, epsilon)
    session.close()
    return released


def spelled(released: VariantCounts) -> dict[tuple[tuple[int, ...], bool], int]:
    """A release as a dictionary, for comparing."""
    flags = released.complete.tolist()
    return dict(
        zip(zip(released.sequences(), flags, strict=True), released.counts.tolist(), strict=True)
    )


def features(released: dict[tuple[tuple[int, ...], bool], int]) -> list[Hashable]:
    """What a release is compared by: which variants, how many, and each one's count."""
    names = frozenset(released)
    return [
        ("number", len(names)),
        ("which", names if len(names) <= 2 else tuple(sorted(names))[:2]),
        ("total", sum(released.values())),
        *(("cell", key, min(released.get(key, 0), 8)) for key in PROBES),
    ]


PROBES = [
    ((0, 1), True),
    ((0,), True),
    ((), True),
    ((0, 1, 2), False),
    ((1,), True),
    ((1, 1), True),
]


@cache
def listed(
    semantics: Semantics, growth: Growth, epsilon: Fraction, runs: int
) -> list[list[Hashable]]:
    """What releases of literal growth are compared by; kept for what is compared with it next."""
    slow = Noise(SeededBits(77))
    return [features(grow_literally(LOG, semantics, growth, slow, epsilon)) for _ in range(runs)]


def compare(
    semantics: Semantics,
    growth: Growth,
    noise: Noise,
    literal: Growth | None = None,
    epsilon: Fraction = Fraction(1),
    log: VariantCounts = LOG,
    runs: int = RUNS,
) -> list[float]:
    """P-values, feature by feature, of lazy against literal growth.

    `epsilon` is 1/scale of the noise; a level costs as many times that as a unit has cases.
    """
    price = epsilon * log.unit.max_cases
    lazy = [features(spelled(grow_log(log, semantics, growth, noise, price))) for _ in range(runs)]
    values = []
    literally = listed(semantics, literal or growth, epsilon, runs // 2)
    for a, b in zip(zip(*lazy, strict=True), zip(*literally, strict=True), strict=True):
        values.append(agree(a, b) if len(set(a) | set(b)) > 1 else 1.0)
    return values


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_lazy_growth_equals_listing_every_candidate(name: str) -> None:
    """The distribution of releases is the same as with explicit enumeration."""
    semantics, growth, *epsilon = SETTINGS[name]
    noise = Noise(SeededBits(1))
    assert min(compare(semantics, growth, noise, None, *epsilon)) > FITS


class ForOneCase(Session):
    """Noise for one case, whatever the unit is."""

    def noise_on(self, sensitivity: int, epsilon: Fraction) -> Law:
        """Without the division by the cases of a person."""
        return self.budget.law(sensitivity, epsilon)


@pytest.mark.slow
def test_noise_hides_all_cases_of_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three times the price for three cases of a person buys the same noise, and no less."""
    semantics, growth, *_ = SETTINGS["no rules"]
    log = replace(LOG, unit=Unit(person="patient", max_cases=3))
    assert min(compare(semantics, growth, Noise(SeededBits(1)), log=log)) > FITS
    monkeypatch.setattr(f"{__name__}.Session", ForOneCase)
    assert min(compare(semantics, growth, Noise(SeededBits(1)), log=log, runs=FEW)) < 1e-9


class WrongSurvival(Noise):
    """Noise whose empty cells survive with the probability of the next threshold."""

    def survivors(self, cells: int, epsilon: Fraction, threshold: int) -> np.ndarray:
        """Draw survivors of the wrong threshold."""
        return super().survivors(cells, epsilon, threshold + 1)


@pytest.mark.slow
def test_the_comparison_rejects_wrong_growth() -> None:
    """A wrong survival probability, a wrong threshold, a wrong choice of harm are all seen."""
    # Under its own rules this log has no empty candidate that is harmless: nothing would survive.
    semantics, growth, *_ = SETTINGS["no rules"]
    assert min(compare(semantics, growth, WrongSurvival(SeededBits(1)), runs=FEW)) < 1e-9
    semantics, growth, *_ = SETTINGS["own rules"]
    growth = replace(growth, prune_harmless=1, prune_harmful=1)
    wrong = replace(growth, prune_harmful=3)
    assert min(compare(semantics, wrong, Noise(SeededBits(1)), literal=growth, runs=FEW)) < 1e-6
    wrong = replace(growth, choice_epsilon=Fraction(2))
    assert min(compare(semantics, wrong, Noise(SeededBits(1)), literal=growth, runs=FEW)) < 1e-6
    growth = replace(growth, prune_harmless=2, prune_harmful=2)
    wrong = replace(growth, prune_finished=False)
    assert min(compare(semantics, wrong, Noise(SeededBits(1)), literal=growth, runs=FEW)) < 1e-9


def test_without_noise_the_log_comes_back() -> None:
    """With a huge ε and no harm admitted the release is the log itself."""
    growth = replace(BASE, prune_harmless=1, prune_harmful=None, max_length=4)
    for semantics in (NoRules(LOG.activities), RuleStates(learn_rules(LOG))):
        assert grow_log(LOG, semantics, growth, Noise(SeededBits(3)), Fraction(200)) == LOG


def test_cases_of_full_length_are_unfinished() -> None:
    """A prefix of full length may go on: it is never passed off as complete."""
    growth = replace(BASE, prune_harmless=1, prune_harmful=None, max_length=2)
    noise, nothing = Noise(SeededBits(3)), NoRules(LOG.activities)
    released = spelled(grow_log(LOG, nothing, growth, noise, Fraction(200)))
    assert released == {((0,), True): 1, ((0, 1), False): 4, ((0, 2), False): 2}


def test_harm_is_drawn_in_closed_form_at_any_size() -> None:
    """ε·H/2 far beyond what exp() can hold neither overflows nor admits everything."""
    names = [f"a{i}" for i in range(400)]
    wide = VariantCounts.of({(name,): 5 for name in names})
    rules = RuleStates(learn_rules(wide))
    growth = replace(BASE, max_length=2, prune_harmless=1, prune_harmful=1)
    for choice in (Fraction(50), Fraction(1, 10**6)):
        sized = replace(growth, choice_epsilon=choice)
        released = grow_log(wide, rules, sized, Noise(SeededBits(4)), Fraction(30))
        assert released.cases >= 5 * 400


def test_an_explosion_is_refused_with_a_threshold_that_would_do() -> None:
    """A level that would be too large is refused before it is made, and says what helps."""
    names = tuple(f"a{i}" for i in range(400))
    empty = VariantCounts.of({}, activities=names)
    growth = replace(BASE, prune_harmless=5, prune_harmful=None, max_length=30, max_prefixes=50_000)
    small = Fraction(1, 100)
    with pytest.raises(TooLargeError) as refused:
        grow_log(empty, NoRules(names), growth, Noise(SeededBits(5)), small)
    assert refused.value.limit == 50_000 < refused.value.expected
    enough = int(str(refused.value).rsplit("threshold of ", 1)[1].split()[0])
    grow_log(
        empty, NoRules(names), replace(growth, prune_harmless=enough), Noise(SeededBits(5)), small
    )


def test_whether_a_level_is_too_large_does_not_depend_on_who_ends_there() -> None:
    """It is refused in the same words, whether all cases end on it or none does."""
    names = tuple(f"a{i:02}" for i in range(20))
    growth = replace(
        BASE, prune_harmless=5, prune_harmful=None, prune_finished=False, max_prefixes=4
    )
    messages = []
    for length in (1, 2):
        log = VariantCounts.of({(name,) * length: 100 for name in names})
        with pytest.raises(TooLargeError) as refused:
            grow_log(log, NoRules(names), growth, Noise(SeededBits(5)))
        messages.append(str(refused.value))
    assert messages[0] == messages[1]


def test_an_empty_log_is_no_error() -> None:
    """No cases and no activities give a release of noise alone."""
    nothing = VariantCounts.of({})
    assert grow_log(nothing, NoRules(()), BASE, Noise(SeededBits(6))).cases >= 0


CASE = st.tuples(st.lists(st.integers(0, 2), max_size=5).map(tuple), st.booleans())


@given(CASE, st.integers(1, 6))
def test_a_case_adds_one_to_one_cell_of_each_level(
    case: tuple[tuple[int, ...], bool], length: int
) -> None:
    """To the prefix of that length, or to its end on the level after; truncated cases have none."""
    ids, complete = case
    log = VariantCounts.from_arrays("abc", ids, [len(ids)], [1], [complete])
    cells = PrefixCounts(length, length).counts(log)
    expected = {(ids[:length], False): 1} if length <= len(ids) else {}
    if complete and length == len(ids) + 1:
        expected = {(ids, True): 1}
    assert dict(cells) == expected
    assert sum(cells.values()) <= PrefixCounts(length, length).sensitivity
