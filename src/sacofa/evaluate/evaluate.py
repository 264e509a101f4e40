"""All measures of one release against its original. What comes out is as secret as the original."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from ..errors import MissingExtraError, SettingError
from ..kernel.cases import CaseBatch, Cases, gather
from ..kernel.variants import VariantCounts
from .registry import MEASURES, Compared, Original, Reference

SPLITS = 3
"""The sampling limit is the mean over so many random splits of the log."""
SEED = 1

Measured = VariantCounts | Cases
"""What is measured: counted variants, or cases that may have times."""


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

    def __init__(self, original: Measured) -> None:
        """Take an original with at least one case."""
        variants, by_case = _parts(original)
        if not variants.cases:
            raise SettingError("original", "0 cases", "a log with at least one case")
        pairs = original.pairs if isinstance(original, Cases) else ()
        self._original = Original(variants, by_case, pairs)
        self._limit: Measures | None = None

    def measure(self, released: Measured) -> Measures:
        """Compare one release with the original.

        Measures that need a missing library are left out, and so are measures of time where the
        original or the release has no times of its own.
        """
        return _measure(self._original, *_parts(released))

    def attributes(self, released: Measured) -> dict[str, tuple[float, float]]:
        """How far off each attribute and pair is, each beside two random halves of the log."""
        variants, by_case = _parts(released)
        found = _details(Compared(self._original, variants, by_case))
        splits = [_split(self._original, SEED + i) for i in range(SPLITS if found else 0)]
        halves = [_details(Compared(one, other, half)) for one, other, half in splits]
        return {
            name: (value, float(np.mean([one.get(name, value) for one in halves])))
            for name, value in found.items()
        }

    def limit(self) -> Measures:
        """What a second sample of the same process would show: two random halves of the log.

        No release can be expected to come closer. Measures of a model have no such limit; what
        the original log itself gets stands in its place.
        """
        if self._limit is None:
            original = self._original
            splits = [_split(original, SEED + i) for i in range(SPLITS)]
            found = [_measure(*halves, reference="halves") for halves in splits]
            names = [name for name in found[0] if all(name in one for one in found)]
            values = {name: float(np.mean([one[name] for one in found])) for name in names}
            own = _measure(original, original.variants, None, reference="original")
            self._limit = Measures({**values, **own})
        return self._limit


def _details(compared: Compared) -> dict[str, float]:
    by_activity = {f"{name}, by activity": off for name, off in compared.activity_values.items()}
    return {**compared.values, **by_activity, **compared.pair_values}


def evaluate_release(original: Measured, released: Measured) -> Measures:
    """Measure how useful a release is; the result is secret, it must not be published with it."""
    return Evaluator(original).measure(released)


def _measure(
    original: Original,
    released: VariantCounts,
    by_case: CaseBatch | None,
    *,
    reference: Reference | None = None,
) -> Measures:
    """Take all measures, or those that are held against one reference."""
    compared = Compared(original, released, by_case)
    values: dict[str, float] = {}
    missing = None
    for measure in MEASURES:
        if reference is not None and measure.reference != reference:
            continue
        try:
            value = measure.function(compared)
        except MissingExtraError as error:
            missing = str(error)
            continue
        # Beside a release without a single time, every distance of times is infinite.
        if value is not None and not (measure.timed and math.isinf(value)):
            values[measure.name] = value
    return Measures(values, missing)


def variants_of(log: Measured) -> VariantCounts:
    """The variants of what is measured."""
    variants = log.variants if isinstance(log, Cases) else log
    assert isinstance(variants, VariantCounts)
    return variants


def _parts(log: Measured) -> tuple[VariantCounts, CaseBatch | None]:
    by_case = log.by_case if isinstance(log, Cases) else None
    return variants_of(log), None if by_case is None else gather(by_case)


def _split(original: Original, seed: int) -> tuple[Original, VariantCounts, CaseBatch | None]:
    """Split the cases at random in two halves; a log of one case is its own half."""
    log, by_case = original.variants, original.by_case
    draws = np.random.default_rng(seed)
    half = draws.binomial(log.counts, 0.5)
    one, other = (
        VariantCounts.from_arrays(log.activities, log.activity_ids, log.lengths, counts)
        for counts in (half, log.counts - half)
    )
    if not (one.cases and other.cases):
        return original, log, by_case
    if by_case is None:
        return Original(one), other, None
    # Times have halves of their own: no measure looks at both.
    chosen = draws.permutation(by_case.cases) < by_case.cases // 2
    half_of_cases = Original(one, by_case.where(chosen), original.pairs)
    return half_of_cases, other, by_case.where(~chosen)
