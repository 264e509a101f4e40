"""The growth loop: releases have the distribution of the paper's algorithm, listed or not."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sacofa.errors import TooLargeError
from sacofa.mechanisms.growth import Growth, grow
from sacofa.privacy.bits import SeededBits
from sacofa.privacy.noise import Noise
from sacofa.semantics.free import NoRules
from sacofa.semantics.learn import learn_rules
from sacofa.semantics.protocol import Semantics
from sacofa.semantics.states import RuleStates
from sacofa.variants import VariantCounts
from tests.chances import FITS, agree
from tests.mechanisms.literal import grow_literally

LOG = VariantCounts.of({("a", "b"): 3, ("a", "c"): 2, ("a",): 1, ("a", "b", "c"): 1})
OTHER = VariantCounts.of({("a", "b"): 2, ("a", "b", "c"): 2}, activities=LOG.activities)
RUNS = 6000

BASE = Growth(
    noise_epsilon=Fraction(1),
    choice_epsilon=Fraction(1, 2),
    max_length=3,
    prune_harmless=2,
    prune_harmful=2,
    prune_finished=True,
    max_violations=None,
)

SETTINGS = {
    "no rules": (NoRules(LOG.activities), replace(BASE, prune_harmful=None)),
    "no rules, small noise": (
        NoRules(LOG.activities),
        replace(BASE, noise_epsilon=Fraction(2), prune_harmful=None, max_length=2),
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


def compare(
    semantics: Semantics, growth: Growth, noise: Noise, literal: Growth | None = None
) -> list[float]:
    """P-values, feature by feature, of lazy against literal growth."""
    lazy = [features(spelled(grow(LOG, semantics, growth, noise))) for _ in range(RUNS)]
    slow = Noise(SeededBits(77))
    listed = [
        features(grow_literally(LOG, semantics, literal or growth, slow)) for _ in range(RUNS // 3)
    ]
    values = []
    for a, b in zip(zip(*lazy, strict=True), zip(*listed, strict=True), strict=True):
        values.append(agree(a, b) if len(set(a) | set(b)) > 1 else 1.0)
    return values


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_lazy_growth_equals_listing_every_candidate(name: str) -> None:
    """The distribution of releases is the same as with explicit enumeration."""
    semantics, growth = SETTINGS[name]
    assert min(compare(semantics, growth, Noise(SeededBits(1)))) > FITS


class WrongSurvival(Noise):
    """Noise whose empty cells survive with the probability of the next threshold."""

    def survivors(self, cells: int, epsilon: Fraction, threshold: int) -> np.ndarray:
        """Draw survivors of the wrong threshold."""
        return super().survivors(cells, epsilon, threshold + 1)


@pytest.mark.slow
def test_the_comparison_rejects_wrong_growth() -> None:
    """A wrong survival probability, a wrong threshold, a wrong choice of harm are all seen."""
    # Under its own rules this log has no empty candidate that is harmless: nothing would survive.
    semantics, growth = SETTINGS["no rules"]
    assert min(compare(semantics, growth, WrongSurvival(SeededBits(1)))) < 1e-9
    semantics, growth = SETTINGS["own rules"]
    growth = replace(growth, prune_harmless=1, prune_harmful=1)
    wrong = replace(growth, prune_harmful=3)
    assert min(compare(semantics, wrong, Noise(SeededBits(1)), literal=growth)) < 1e-6
    wrong = replace(growth, choice_epsilon=Fraction(2))
    assert min(compare(semantics, wrong, Noise(SeededBits(1)), literal=growth)) < 1e-6
    growth = replace(growth, prune_harmless=2, prune_harmful=2)
    wrong = replace(growth, prune_finished=False)
    assert min(compare(semantics, wrong, Noise(SeededBits(1)), literal=growth)) < 1e-9


def test_without_noise_the_log_comes_back() -> None:
    """With a huge ε and no harm admitted the release is the log itself."""
    growth = replace(
        BASE, noise_epsilon=Fraction(200), prune_harmless=1, prune_harmful=None, max_length=4
    )
    for semantics in (NoRules(LOG.activities), RuleStates(learn_rules(LOG))):
        assert grow(LOG, semantics, growth, Noise(SeededBits(3))) == LOG


def test_cases_of_full_length_are_unfinished() -> None:
    """A prefix of full length may go on: it is never passed off as complete."""
    growth = replace(
        BASE, noise_epsilon=Fraction(200), prune_harmless=1, prune_harmful=None, max_length=2
    )
    released = spelled(grow(LOG, NoRules(LOG.activities), growth, Noise(SeededBits(3))))
    assert released == {((0,), True): 1, ((0, 1), False): 4, ((0, 2), False): 2}


def test_harm_is_drawn_in_closed_form_at_any_size() -> None:
    """ε·H/2 far beyond what exp() can hold neither overflows nor admits everything."""
    names = [f"a{i}" for i in range(400)]
    wide = VariantCounts.of({(name,): 5 for name in names})
    rules = RuleStates(learn_rules(wide))
    growth = replace(BASE, max_length=2, prune_harmless=1, prune_harmful=1)
    for choice in (Fraction(50), Fraction(1, 10**6)):
        sized = replace(growth, choice_epsilon=choice, noise_epsilon=Fraction(30))
        released = grow(wide, rules, sized, Noise(SeededBits(4)))
        assert released.cases >= 5 * 400


def test_an_explosion_is_refused_with_a_threshold_that_would_do() -> None:
    """A level that would be too large is refused before it is made, and says what helps."""
    names = tuple(f"a{i}" for i in range(400))
    empty = VariantCounts.of({}, activities=names)
    growth = replace(
        BASE, noise_epsilon=Fraction(1, 100), prune_harmless=5, prune_harmful=None,
        max_length=30, max_prefixes=50_000,
    )  # fmt: skip
    with pytest.raises(TooLargeError) as refused:
        grow(empty, NoRules(names), growth, Noise(SeededBits(5)))
    assert refused.value.limit == 50_000 < refused.value.expected
    enough = int(str(refused.value).rsplit("threshold of ", 1)[1].split()[0])
    grow(empty, NoRules(names), replace(growth, prune_harmless=enough), Noise(SeededBits(5)))


def test_an_empty_log_is_no_error() -> None:
    """No cases and no activities give a release of noise alone."""
    nothing = VariantCounts.of({})
    assert grow(nothing, NoRules(()), BASE, Noise(SeededBits(6))).cases >= 0
