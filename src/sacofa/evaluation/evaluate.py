"""All measures of one release against its original. What comes out is as secret as the original."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from ..errors import MissingExtraError, SettingError
from ..variants import VariantCounts
from .registry import MEASURES, Compared, Original, Reference

SPLITS = 3
"""The sampling limit is the mean over so many random splits of the log."""
SEED = 1


@dataclass(frozen=True)
class Measures(Mapping[str, float]):
    """How useful a release is: every measure by its name.

    Secret: computed from the original log without any noise.
    """

    values_by_name: Mapping[str, float] = field(default_factory=dict)
    """What could be measured."""
    missing: str | None = None
    """What to install for the rest."""

    def __getitem__(self, name: str) -> float:
        return self.values_by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)


class Evaluator:
    """Measures releases of one original log; what concerns the original alone is done once."""

    def __init__(self, original: VariantCounts) -> None:
        """Take an original with at least one case."""
        if not original.cases:
            raise SettingError("original", "0 cases", "a log with at least one case")
        self._original = Original(original)
        self._limit: Measures | None = None

    def measure(self, released: VariantCounts) -> Measures:
        """Compare one release with the original; what needs a missing library is left out."""
        return _measure(self._original, released)

    def limit(self) -> Measures:
        """What a second sample of the same process would show: two random halves of the log.

        No release can be expected to come closer. Measures of a model have no such limit; what
        the original log itself gets stands in its place.
        """
        if self._limit is None:
            original = self._original
            splits = [_split(original.variants, SEED + i) for i in range(SPLITS)]
            found = [_measure(one, other, "halves") for one, other in splits]
            values = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
            own = _measure(original, original.variants, "original")
            self._limit = Measures({**values, **own})
        return self._limit


def evaluate_release(original: VariantCounts, released: VariantCounts) -> Measures:
    """Measure how useful a release is; the result is secret, it must not be published with it."""
    return Evaluator(original).measure(released)


def _measure(
    original: Original, released: VariantCounts, reference: Reference | None = None
) -> Measures:
    """Take all measures, or those that are held against one reference."""
    compared = Compared(original, released)
    values: dict[str, float] = {}
    missing = None
    for measure in MEASURES:
        if reference is not None and measure.reference != reference:
            continue
        try:
            values[measure.name] = measure.function(compared)
        except MissingExtraError as error:
            missing = str(error)
    return Measures(values, missing)


def _split(log: VariantCounts, seed: int) -> tuple[Original, VariantCounts]:
    """Split the cases at random in two halves; a log of one case is its own half."""
    half = np.random.default_rng(seed).binomial(log.counts, 0.5)
    one, other = (
        VariantCounts.from_arrays(log.activities, log.activity_ids, log.lengths, counts)
        for counts in (half, log.counts - half)
    )
    return (Original(one), other) if one.cases and other.cases else (Original(log), log)
