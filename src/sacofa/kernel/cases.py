"""Arrays of individual cases, for queries about times and attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .attributes import Attribute
from .statements import SettingError, Statement
from .unit import Unit
from .variants import DistributedVariants, Traces, VariantCounts, read_only

Result = TypeVar("Result")
Chosen = slice | NDArray[np.bool_]

NO_TIME = int(np.iinfo(np.int64).min)
"""Stands for a missing time stamp."""
MICROSECONDS = 1_000_000
"""The unit of times, in one second."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Values:
    """An attribute of all cases or all events of a batch."""

    name: str
    """Its name, with the prefix `case:` for attributes of cases."""
    of_case: bool
    """Whether cases have it; else events do."""
    cells: NDArray[np.int32]
    """The cell of its domain that each value takes."""
    size: int = 0
    """Number of cells of the domain; the last one counts missing values."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", read_only(self.cells))


@dataclass(frozen=True, eq=False, kw_only=True)
class CaseBatch(Traces):
    """Whole cases, in the order of their events."""

    times: NDArray[np.int64] | None = None
    """The completion time of each event: microseconds since 1970 in UTC; NO_TIME if missing."""
    starts: NDArray[np.int64] | None = None
    """The start of work on each event, if the log records it."""
    attributes: tuple[Values, ...] = ()
    """The requested attributes."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """Each case counts once, so that queries about variants apply to cases, too."""
        return np.ones(len(self.offsets) - 1, dtype=np.int64)

    @property
    def cases(self) -> int:
        """The number of cases."""
        return len(self.offsets) - 1

    def variants(self) -> VariantCounts:
        """Count the variants of these cases."""
        return VariantCounts.from_arrays(
            self.activities, self.activity_ids, self.lengths, self.counts, self.complete, self.unit
        )

    def values(self, name: str) -> Values:
        """An attribute by its name."""
        return next(values for values in self.attributes if values.name == name)

    def project_onto(self, activities: Sequence[str]) -> CaseBatch:
        """Express over other activities; events whose activity is not among them are dropped."""
        if tuple(activities) == self.activities:
            return self
        ids = self._renumbered(activities)
        moved = replace(self, activities=tuple(activities), activity_ids=ids)
        kept = moved.activity_ids >= 0
        # Every case stays, if need be without any event.
        before = np.concatenate(([0], np.cumsum(kept)))
        return moved if kept.all() else moved._part(slice(None), kept, before[self.offsets])

    def where(self, kept: NDArray[np.bool_]) -> CaseBatch:
        """Keep some cases."""
        offsets = np.concatenate(([0], np.cumsum(self.lengths[kept])))
        return self._part(kept, np.repeat(kept, self.lengths), offsets)

    def pieces(self, events: int) -> Iterator[CaseBatch]:
        """Yield batches of whole cases with about this many events, which fit a CPU cache."""
        marks = np.arange(events, len(self.activity_ids), events)
        ends = np.unique([0, *self.offsets.searchsorted(marks).tolist(), self.cases])
        if len(ends) <= 2:
            yield self
            return
        for cases in map(slice, ends[:-1].tolist(), ends[1:].tolist()):
            offsets = self.offsets[cases.start : cases.stop + 1]
            here = slice(int(offsets[0]), int(offsets[-1]))
            yield self._part(cases, here, offsets - offsets[0])

    def _part(self, cases: Chosen, events: Chosen, offsets: NDArray[np.int64]) -> CaseBatch:
        """Some cases, some events, and where the events of each of these cases lie."""
        return replace(
            self,
            activity_ids=self.activity_ids[events],
            offsets=offsets,
            complete=self.complete[cases],
            times=None if self.times is None else self.times[events],
            starts=None if self.starts is None else self.starts[events],
            attributes=tuple(
                replace(values, cells=values.cells[cases if values.of_case else events])
                for values in self.attributes
            ),
        )


class Parts(Protocol):
    """Cases in parts, in memory, on disk or on other machines: a `CaseBatch` is one part."""

    def project_onto(self, activities: Sequence[str]) -> Parts: ...

    def map_parts(self, job: Callable[[int, CaseBatch], Result]) -> list[Result]: ...


@dataclass(frozen=True, eq=False, kw_only=True)
class Cases:
    """The cases of a log, bound to a unit: the input of a session."""

    variants: VariantCounts | DistributedVariants
    """Every variant with its count."""
    by_case: Parts | None = None
    """The same cases individually, with their times; None if not requested."""
    has_times: bool = True
    """Whether individual cases have times that queries may use."""
    has_starts: bool = False
    """Whether the start of work is declared to be recorded."""
    attributes: tuple[Attribute, ...] = ()
    """The attributes of individual cases, with public domains."""
    pairs: tuple[tuple[int, int], ...] = ()
    """Pairs of attributes for joint queries, by index."""
    assumptions: tuple[Statement, ...] = ()
    """Facts from the log that reading assumed to be public."""

    def __post_init__(self) -> None:
        # Noise is drawn for the unit of the variants, and must hide those of cases one by one.
        unit = getattr(self.by_case, "unit", self.unit)
        if unit != self.unit:
            raise SettingError("by_case", unit, Statement("must.be.bound_to", unit=str(self.unit)))

    @property
    def timed(self) -> bool:
        """Whether queries may use times."""
        return self.by_case is not None and self.has_times

    @property
    def unit(self) -> Unit:
        """The unit of privacy."""
        return self.variants.unit

    @property
    def activities(self) -> tuple[str, ...]:
        """The names of the activities."""
        return self.variants.activities

    def project_onto(self, activities: Sequence[str]) -> Cases:
        """Express over other activities."""
        return replace(
            self,
            variants=self.variants.project_onto(activities),
            by_case=None if self.by_case is None else self.by_case.project_onto(activities),
        )
