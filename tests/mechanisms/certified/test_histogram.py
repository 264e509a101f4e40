"""The histogram that is drawn lazily has the distribution of the one with every cell noised."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from sacofa.mechanisms.certified.frequent import all_threshold, show_frequent
from sacofa.privacy.bits import SeededBits
from sacofa.privacy.noise import Noise
from sacofa.privacy.reals import smallest_threshold, tail
from sacofa.queries.histogram import Histogram
from sacofa.semantics.allowed import Steps, all_sequences, sequences_of_steps
from sacofa.semantics.language import Language, Word
from sacofa.variants import VariantCounts
from tests.chances import FITS, REJECTED, agree

NAMES = ("a", "b")
MAX_LENGTH = 2
EVERYTHING = all_sequences(NAMES, MAX_LENGTH)
A_THEN_B = sequences_of_steps(
    Steps(
        activities=NAMES,
        starts=[True, False],  # type: ignore[arg-type]
        follows=[[False, True], [False, True]],  # type: ignore[arg-type]
        ends=[True, True],  # type: ignore[arg-type]
    ),
    MAX_LENGTH,
)
B_ENDS = sequences_of_steps(
    Steps(
        activities=NAMES,
        starts=[True, True],  # type: ignore[arg-type]
        follows=[[True, True], [False, True]],  # type: ignore[arg-type]
        ends=[False, True],  # type: ignore[arg-type]
    ),
    MAX_LENGTH,
)
STAGES: list[tuple[Language, int]] = [(EVERYTHING, 5), (A_THEN_B, 2), (B_ENDS, 3), (EVERYTHING, 1)]
EPSILON = Fraction(1, 2)
LOG = VariantCounts.of({("a",): 3, ("b",): 1}, NAMES, truncated={("a", "b"): 2})
DRAWS = 4_000

Shown = tuple[tuple[Word, int], ...]


def words(language: Language) -> list[Word]:
    """All words of a small language."""
    return [language.word(i) for i in range(language.size)]


def lazily(noise: Noise, histogram: type[Histogram] = Histogram) -> Shown:
    """Show the stages of the lazy histogram; early stages must not change later."""
    lazy = histogram(LOG, noise, EPSILON)
    parts = [tuple(lazy.show(language, threshold).items()) for language, threshold in STAGES]
    return tuple(item for part in parts for item in part)


def explicitly(noise: Noise) -> Shown:
    """Noise every cell once, then show it at the first stage that it reaches."""
    every = words(EVERYTHING)
    counts = dict(
        zip(zip(LOG.sequences(), LOG.complete.tolist(), strict=True), LOG.counts, strict=True)
    )
    values = noise.laplace(EPSILON, len(every)).tolist()
    noisy = {word: int(counts.get(word, 0)) + z for word, z in zip(every, values, strict=True)}
    shown: dict[Word, int] = {}
    for language, threshold in STAGES:
        new = {w: noisy[w] for w in words(language) if noisy[w] >= threshold and w not in shown}
        shown.update(sorted(new.items()))
    return tuple(shown.items())


def summaries(shown: list[Shown]) -> list[object]:
    """What is compared: for two cells each their values together, and how many are shown."""
    first, second = ((), True), ((1, 1), False)
    result: list[object] = []
    for one in shown:
        cells = dict(one)
        result.append((cells.get(first), cells.get(second), len(cells)))
    return result


@pytest.mark.slow
def test_lazy_and_explicit_agree_across_stages() -> None:
    """Which cells are shown, with which values, in which order: one distribution."""
    noise, other = Noise(SeededBits(1)), Noise(SeededBits(2))
    lazy = [lazily(noise) for _ in range(DRAWS)]
    explicit = [explicitly(other) for _ in range(DRAWS)]
    assert agree(summaries(lazy), summaries(explicit)) > FITS
    for word in words(EVERYTHING):
        values = [[dict(one).get(word) for one in shown] for shown in (lazy, explicit)]
        assert agree(values[0], values[1]) > FITS / len(words(EVERYTHING))


class Forgets(Histogram):
    """Does not know that a cell was asked for before, and draws its noise again."""

    def _bound(self, word: Word) -> int | None:
        return None


class DropsEmpty(Histogram):
    """Never shows a cell with count 0."""

    def _draw_empty(self, language: Language, threshold: int, taken: int) -> dict[Word, int]:
        return {}


@pytest.mark.slow
@pytest.mark.parametrize("broken", [Forgets, DropsEmpty])
def test_the_comparison_notices_a_broken_histogram(broken: type[Histogram]) -> None:
    """Noise drawn twice, and empty cells left out, are rejected."""
    noise, other = Noise(SeededBits(1)), Noise(SeededBits(2))
    lazy = [lazily(noise, broken) for _ in range(DRAWS)]
    explicit = [explicitly(other) for _ in range(DRAWS)]
    assert agree(summaries(lazy), summaries(explicit)) < REJECTED


def chance(count: int, thresholds: list[int], value: int | None) -> Decimal:
    """The exact chance that a cell is shown with a value, or (None) never."""
    lowest = min(thresholds)
    if value is None:
        return 1 - tail(EPSILON, lowest - count)(40)
    return tail(EPSILON, value - count)(40) - tail(EPSILON, value + 1 - count)(40)


def test_what_is_shown_is_private() -> None:
    """For every cell and everything that can be seen of it, one case changes the chance by e^ε.

    A case changes one cell by one, so this is the ratio of whole outcomes; the bound is reached.
    """
    worst = 0.0
    for word in words(EVERYTHING):
        thresholds = [t for language, t in STAGES if language.contains(*word)]
        for count in range(12):
            for value in (None, *range(min(thresholds), 30)):
                one, other = (chance(count + more, thresholds, value) for more in (0, 1))
                worst = max(worst, abs(float((one / other).ln())))
    assert float(EPSILON) * 0.999 < worst <= float(EPSILON) + 1e-12


def test_thresholds_bound_what_is_invented() -> None:
    """No threshold lets more than a tenth of a variant pass, expected; none could be lower."""
    for activities, max_length in ((1, 1), (5, 4), (27, 10), (400, 100)):
        cells = sum(activities**n for n in range(max_length + 1)) + activities**max_length
        threshold = all_threshold(Fraction(1, 10), activities, max_length)
        rate = tail(Fraction(1, 10), threshold)(30)
        assert cells * rate <= Decimal("0.1")
        assert threshold == smallest_threshold(Fraction(1, 10), cells, Fraction(1, 10))
        # Close to ln(cells / 0.2) / ε.
        assert threshold == pytest.approx(10 * math.log(cells * 5), rel=0.05, abs=2)


def test_frequent_variants_are_shown_and_hardly_any_is_invented() -> None:
    """A variant far above the threshold is shown with about its count; most others are not."""
    names = tuple("abcde")
    log = VariantCounts.of({("a", "b", "c"): 900, ("a", "c"): 700, ("e",): 2}, names)
    invented = 0
    for seed in range(30):
        histogram = Histogram(log, Noise(SeededBits(seed)), Fraction(1, 10))
        show_frequent(histogram, Steps.every(names), None, 5, Fraction(1, 10))
        shown = {ids: count for (ids, _), count in histogram.shown.items()}
        assert shown[0, 1, 2] == pytest.approx(900, abs=150)
        assert shown[0, 2] == pytest.approx(700, abs=150)
        invented += len(shown) - 2
    assert invented <= 12
