"""A released log as one value: variants with everything that is known of their cases and events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..kernel.cases import MICROSECONDS, CaseBatch
from ..kernel.variants import VariantCounts, read_only
from ..synthesis.released import NO_VALUE, Columns, ReleasedColumn

ARRAYS = ("times", "starts", "core")


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasedLog:
    """Variants that may be released, and what else is known of their cases and events.

    What belongs to cases or events lies variant by variant, in the order of the variants, and
    within a variant case by case.

    Example:
        `ReleasedLog(variants=VariantCounts.of({("a", "b"): 3}))`
    """

    variants: VariantCounts
    """Every released variant with its count."""
    times: NDArray[np.int64] | None = None
    """When each event happened, in seconds since 1970; None: times are artificial."""
    starts: NDArray[np.int64] | None = None
    """When the work on each event began, likewise; None: not released."""
    core: NDArray[np.bool_] | None = None
    """Which variants are the orderly core, for miners; statistics use all. None: none is marked."""
    columns: Columns = ()
    """The attributes of cases and events."""

    def __post_init__(self) -> None:
        for name in ARRAYS:
            if (part := getattr(self, name)) is not None:
                object.__setattr__(self, name, read_only(part))
        columns = tuple(replace(each, codes=read_only(each.codes)) for each in self.columns)
        object.__setattr__(self, "columns", columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReleasedLog) or len(self.columns) != len(other.columns):
            return False
        parts = ((getattr(self, name), getattr(other, name)) for name in ARRAYS)
        return (
            self.variants == other.variants
            and all(a is b if a is None or b is None else np.array_equal(a, b) for a, b in parts)
            and all(map(_same_values, self.columns, other.columns))
        )

    # Arrays have no hash.
    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def of_cases(
        cls, cases: CaseBatch, core: NDArray[np.bool_] | None = None, columns: Columns = ()
    ) -> ReleasedLog:
        """Lay cases out variant by variant; those of one variant keep their order.

        Args:
            cases: The cases, with their times if they have any of their own.
            core: Which cases are of the orderly core; None: none is marked.
            columns: Attributes, in the order of the cases.
        """
        variants = cases.variants()
        place = {key: i for i, key in enumerate(_keys(variants))}
        which = np.array([place[key] for key in _keys(cases)], dtype=np.int64)
        order = np.argsort(which, kind="stable")
        lengths = cases.lengths[order]
        before = np.cumsum(lengths) - lengths
        events = np.arange(lengths.sum()) + np.repeat(cases.offsets[:-1][order] - before, lengths)
        marks = None
        if core is not None:
            marks = np.zeros(len(variants), dtype=np.bool_)
            marks[which] = core
        return cls(
            variants=variants,
            times=None if cases.times is None else cases.times[events] // MICROSECONDS,
            starts=None if cases.starts is None else cases.starts[events] // MICROSECONDS,
            core=marks,
            columns=tuple(
                replace(each, codes=each.codes[order if each.of_case else events])
                for each in columns
            ),
        )

    def with_counts(self, counts: NDArray[np.int64]) -> ReleasedLog:
        """Keep the first `counts[i]` cases of each variant i, at most all of them."""
        old = self.variants
        variants = VariantCounts.from_arrays(
            old.activities, old.activity_ids, old.lengths, counts, old.complete, old.unit
        )
        # Nothing is laid out case by case unless it must be: there may be more than fit in memory.
        of_cases = {column.of_case for column in self.columns}
        by_event = self.times is not None or False in of_cases
        cases = _kept(old.counts, counts) if True in of_cases else None
        events = _kept(old.counts * old.lengths, counts * old.lengths) if by_event else None
        return ReleasedLog(
            variants=variants,
            times=None if self.times is None else self.times[events],
            starts=None if self.starts is None else self.starts[events],
            core=None if self.core is None else self.core[counts > 0],
            columns=tuple(
                replace(each, codes=each.codes[cases if each.of_case else events])
                for each in self.columns
            ),
        )


def _kept(many: NDArray[np.int64], few: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Of lists of `many` entries each, end to end, keep the first `few` of each."""
    place = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
    found: NDArray[np.bool_] = place < np.repeat(few, many)
    return found


def _keys(cases: VariantCounts | CaseBatch) -> zip[tuple[tuple[int, ...], bool]]:
    """What tells variants apart: the activities, and whether the case was finished."""
    return zip(cases.sequences(), cases.complete.tolist(), strict=True)


def _same_values(one: ReleasedColumn, other: ReleasedColumn) -> bool:
    """Whether each case or event has the same value in two columns, whatever its code."""
    same = (one.key, one.kind) == (other.key, other.kind)
    return same and np.array_equal(one.codes, with_texts(other, one.texts).codes)


def with_texts(column: ReleasedColumn, texts: Sequence[str]) -> ReleasedColumn:
    """The same values as places in another list, to which missing ones are appended."""
    place = {text: i for i, text in enumerate(dict.fromkeys((*texts, *column.texts)))}
    # The last place is that of −1: no value.
    moved = np.array([*(place[text] for text in column.texts), NO_VALUE], dtype=np.int32)
    return replace(column, texts=tuple(place), codes=moved[column.codes])
