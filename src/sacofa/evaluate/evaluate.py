"""All measures of one release against its original. The results are confidential."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from statistics import fmean

import numpy as np

from ..base.batches import cases_of, gather
from ..base.cells import cell_of, cells_of
from ..errors import MissingExtraError, SettingError, Statement
from ..events import Log, count_variants, read_cases
from ..events.released import ARTIFICIAL, time_mark
from ..kernel.attributes import Attribute
from ..kernel.cases import Cases, Values
from ..kernel.variants import VariantCounts
from ..release.anonymize import Release
from .measures.flow import as_sequences
from .registry import MEASURES, Compared, Measured, MeasuredLog, Reference

SPLITS = 3
"""Number of random splits of the log over which the sampling limit is averaged."""
SPLIT_SEED = 1


@dataclass(frozen=True)
class Measures(Mapping[str, float]):
    """Measures of a release by name. Confidential: computed from the original without noise.

    Attributes:
        values_by_name: The measures.
        missing: What to install for the measures that are left out.
    """

    values_by_name: Mapping[str, float] = field(default_factory=dict)
    missing: str | None = None

    def __getitem__(self, name: str) -> float:
        return self.values_by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)


class Evaluator:
    """Measures releases of one original log; work that concerns the original is done once."""

    def __init__(self, original: Measured) -> None:
        """Prepare the measures of an original.

        Raises:
            SettingError: If it has no cases.
        """
        log = MeasuredLog.of(original)
        if not log.variants.cases:
            raise SettingError("original", None, Statement("must.log_with_cases"))
        self._original = replace(log, variants=as_sequences(log.variants))
        self._limit: Measures | None = None

    def measure(self, released: Measured) -> Measures:
        """Compare a release with the original.

        Args:
            released: The release.

        Returns:
            All measures, without those that need a missing library, and without those of time if
            the original or the release has no times of its own.
        """
        return _measure(Compared(self._original, MeasuredLog.of(released)))

    def attributes(self, released: Measured) -> dict[str, tuple[float, float]]:
        """Return the error of each attribute and pair, and that of two halves of the log."""

        def errors(compared: Compared) -> dict[str, float]:
            return {name: e for kind in compared.errors.values() for name, e in kind.items()}

        found = errors(Compared(self._original, MeasuredLog.of(released)))
        halves = [errors(split) for split in self._splits()] if found else []
        return {
            name: (value, fmean(one.get(name, value) for one in halves))
            for name, value in found.items()
        }

    def limit(self) -> Measures:
        """Return the measures of a second sample of the same process: two halves of the log.

        No release can be expected to come closer. Measures of a model have no such limit; the
        result of the original log itself takes its place.
        """
        if self._limit is None:
            found = [_measure(split, reference="halves") for split in self._splits()]
            names = [name for name in found[0] if all(name in one for one in found)]
            values = {name: fmean(one[name] for one in found) for name in names}
            itself = Compared(self._original, MeasuredLog(self._original.variants))
            self._limit = Measures({**values, **_measure(itself, reference="original")})
        return self._limit

    def _splits(self) -> Iterator[Compared]:
        """Compare two random halves of the cases; a log of one case is its own half."""
        log, by_case = self._original.variants, self._original.by_case
        for seed in range(SPLIT_SEED, SPLIT_SEED + SPLITS):
            draws = np.random.default_rng(seed)
            half = draws.binomial(log.counts, 0.5)
            one, other = (
                MeasuredLog(
                    VariantCounts.from_arrays(
                        log.activities, log.activity_ids, log.lengths, counts
                    ),
                    pairs=self._original.pairs,
                )
                for counts in (half, log.counts - half)
            )
            if not (one.variants.cases and other.variants.cases):
                yield Compared(self._original, self._original)
                continue
            if by_case is not None:
                # Times have halves of their own: no measure needs both variants and times.
                chosen = draws.permutation(by_case.cases) < by_case.cases // 2
                one.by_case, other.by_case = by_case.where(chosen), by_case.where(~chosen)
            yield Compared(one, other)


def evaluate_release(original: Measured, released: Measured) -> Measures:
    """Measure how useful a release is.

    Args:
        original: The original log.
        released: The release.

    Returns:
        All measures. They are confidential and must not be published with the release.

    Raises:
        SettingError: If the original has no cases.
    """
    return Evaluator(original).measure(released)


def read_measured(log: Log, attributes: tuple[Attribute, ...] = ()) -> Cases:
    """Read a log to be measured: variants and, if it has real times or attributes, its cases.

    A release is read with the attributes of the original and their domains.
    """
    if attributes and log.columns is not None:
        log = replace(log, columns=replace(log.columns, attributes=attributes))
    timed = log.has_times and time_mark(log) != ARTIFICIAL
    if not timed and not log.attributes:
        return Cases(variants=count_variants(log))
    cases = read_cases(log)
    assert cases.by_case is not None
    by_case = gather(cases.by_case)
    return replace(
        cases, by_case=by_case if timed else replace(by_case, times=None), has_times=timed
    )


def measured_release(release: Release, attributes: tuple[Attribute, ...]) -> Cases:
    """Return the cases of a release, with the cells that the original has for its attributes."""
    columns = {column.key: column for column in release.columns}
    if not attributes or any(attribute.key not in columns for attribute in attributes):
        return release.cases
    values = []
    for attribute in attributes:
        column, domain = columns[attribute.key], attribute.known
        # The last place is that of −1: no value.
        cells = np.array([cell_of(domain, text) for text in (*column.texts, None)], dtype=np.int32)
        values.append(
            Values(
                name=attribute.key,
                of_case=attribute.of_case,
                cells=cells[column.codes],
                size=cells_of(domain),
            )
        )
    batch = release.by_case
    if batch is None:
        batch = cases_of(release.variants, None)
    return Cases(
        variants=release.variants,
        by_case=replace(batch, attributes=tuple(values)),
        has_times=release.times is not None,
        attributes=attributes,
    )


def _measure(compared: Compared, reference: Reference | None = None) -> Measures:
    """Take all measures, or those that have one reference."""
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
        # The distance of times to a release without any time is infinite.
        if value is not None and not (measure.timed and math.isinf(value)):
            values[measure.name] = value
    return Measures(values, missing)
