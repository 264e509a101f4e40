"""Cases one by one, in columns: what queries about times and attributes are asked of.

A release of control flow alone needs counted variants only, and readers then make nothing else.
Where times or attributes are asked for, a reader gives batches of whole cases as well, of the same
cases, bound to the same unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .attributes import Attribute
from .errors import SettingError
from .statements import Statement
from .unit import ONE_CASE, Unit
from .variants import DistributedVariants, VariantCounts, read_only

Result = TypeVar("Result")

NO_TIME = int(np.iinfo(np.int64).min)
"""Stands for a missing time stamp."""
MICROSECONDS = 1_000_000
"""The unit of times, in one second."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Values:
    """An attribute of all cases or all events of a batch."""

    name: str
    """What it is called; `case:` before it where cases have it."""
    of_case: bool
    """Whether cases have it; else events do."""
    cells: NDArray[np.int32]
    """The cell of its domain that each value takes."""
    size: int = 0
    """How many cells the domain has; the last one is for what is missing."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", read_only(self.cells))


@dataclass(frozen=True, eq=False, kw_only=True)
class CaseBatch:
    """Whole cases, end to end, in the order of their events."""

    activities: tuple[str, ...]
    """The names; an activity's id is its place here."""
    activity_ids: NDArray[np.int32]
    """The activity ids of all events."""
    offsets: NDArray[np.int64]
    """The events of case i are offsets[i] to offsets[i + 1]."""
    complete: NDArray[np.bool_]
    """False where the case went on but was truncated."""
    times: NDArray[np.int64] | None = None
    """When each event happened (completed): microseconds since 1970 in UTC; NO_TIME if missing."""
    starts: NDArray[np.int64] | None = None
    """When the activity of each event began, where the log says so."""
    attributes: tuple[Values, ...] = ()
    """What else was asked for."""
    unit: Unit = ONE_CASE
    """What adding or removing changes at most max_cases of the cases."""

    def __post_init__(self) -> None:
        for name in ("activity_ids", "offsets", "complete", "times", "starts"):
            if (part := getattr(self, name)) is not None:
                object.__setattr__(self, name, read_only(part))

    @classmethod
    def of_variants(
        cls,
        variants: VariantCounts,
        times: NDArray[np.int64],
        starts: NDArray[np.int64] | None = None,
    ) -> CaseBatch:
        """Lay out the cases of variants, one after the other, with the times of their events."""
        which = np.repeat(np.arange(len(variants)), variants.counts)
        lengths = variants.lengths[which]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        return cls(
            activities=variants.activities,
            activity_ids=variants.activity_ids[np.repeat(variants.offsets[which], lengths) + place],
            offsets=offsets,
            complete=variants.complete[which],
            times=times,
            starts=starts,
            unit=variants.unit,
        )

    @property
    def counts(self) -> NDArray[np.int64]:
        """Each case counts once; so queries about variants can be asked of cases, too."""
        return np.ones(len(self.offsets) - 1, dtype=np.int64)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of events of each case."""
        return self.offsets[1:] - self.offsets[:-1]

    @property
    def cases(self) -> int:
        """The number of cases."""
        return len(self.offsets) - 1

    def __len__(self) -> int:
        return self.cases

    def sequences(self) -> Iterator[tuple[int, ...]]:
        """Each case as activity ids."""
        ids, ends = self.activity_ids.tolist(), self.offsets.tolist()
        for start, end in pairwise(ends):
            yield tuple(ids[start:end])

    def variants(self) -> VariantCounts:
        """Count the variants of these cases."""
        return VariantCounts.from_arrays(
            self.activities,
            self.activity_ids,
            self.lengths,
            self.counts,
            self.complete,
            self.unit,
        )

    def append(self, other: CaseBatch) -> CaseBatch:
        """These cases, then others over the same activities and of the same unit."""
        return replace(
            self,
            activity_ids=np.concatenate([self.activity_ids, other.activity_ids]),
            offsets=np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]]),
            complete=np.concatenate([self.complete, other.complete]),
            times=_joined(self.times, other.times),
            starts=_joined(self.starts, other.starts),
            attributes=_joined_values([self.attributes, other.attributes]),
        )

    def values(self, name: str) -> Values:
        """An attribute by its name."""
        return next(values for values in self.attributes if values.name == name)

    def truncate(self, max_length: int, *, by_length: bool = False) -> CaseBatch:
        """Truncate longer cases, as `VariantCounts.truncate` does."""
        lengths = self.lengths
        complete = self.complete & (lengths <= max_length)
        if by_length:
            complete = lengths < max_length
        place = np.arange(len(self.activity_ids)) - np.repeat(self.offsets[:-1], lengths)
        return replace(self._keep(place < max_length), complete=complete)

    def project_onto(self, activities: Sequence[str]) -> CaseBatch:
        """Express over other activities; events whose activity is not among them are dropped."""
        if tuple(activities) == self.activities:
            return self
        ids = {name: i for i, name in enumerate(activities)}
        new = np.array([ids.get(name, -1) for name in self.activities] or [-1], dtype=np.int32)
        moved = replace(self, activities=tuple(activities), activity_ids=new[self.activity_ids])
        return moved._keep(moved.activity_ids >= 0)

    def _keep(self, kept: NDArray[np.bool_]) -> CaseBatch:
        """Keep some events; every case stays, if need be without any."""
        if kept.all():
            return self
        before = np.concatenate(([0], np.cumsum(kept)))
        return replace(
            self,
            activity_ids=self.activity_ids[kept],
            offsets=before[self.offsets],
            times=None if self.times is None else self.times[kept],
            starts=None if self.starts is None else self.starts[kept],
            attributes=tuple(
                values if values.of_case else replace(values, cells=values.cells[kept])
                for values in self.attributes
            ),
        )

    def where(self, kept: NDArray[np.bool_]) -> CaseBatch:
        """Keep some cases."""
        lengths = self.lengths
        chosen = self._keep(np.repeat(kept, lengths))
        offsets = np.concatenate(([0], np.cumsum(lengths[kept])))
        return replace(
            chosen,
            offsets=offsets,
            complete=self.complete[kept],
            attributes=tuple(
                replace(values, cells=values.cells[kept]) if values.of_case else values
                for values in chosen.attributes
            ),
        )

    def pieces(self, events: int) -> Iterator[CaseBatch]:
        """Whole cases, in pieces of about so many events: arrays that fit a cache are quicker."""
        marks = np.arange(events, len(self.activity_ids), events)
        ends = np.unique([0, *self.offsets.searchsorted(marks).tolist(), self.cases])
        if len(ends) <= 2:
            yield self
            return
        for cases in map(slice, ends[:-1].tolist(), ends[1:].tolist()):
            offsets = self.offsets[cases.start : cases.stop + 1]
            here = slice(int(offsets[0]), int(offsets[-1]))
            yield replace(
                self,
                activity_ids=self.activity_ids[here],
                offsets=offsets - offsets[0],
                complete=self.complete[cases],
                times=None if self.times is None else self.times[here],
                starts=None if self.starts is None else self.starts[here],
                attributes=tuple(
                    replace(values, cells=values.cells[cases if values.of_case else here])
                    for values in self.attributes
                ),
            )

    def map_parts(self, job: Callable[[int, CaseBatch], Result]) -> list[Result]:
        """Do a job on every part: here all is one part, with the number 0."""
        return [job(0, self)]


def _joined(
    one: NDArray[np.int64] | None, other: NDArray[np.int64] | None
) -> NDArray[np.int64] | None:
    return None if one is None or other is None else np.concatenate([one, other])


def _joined_values(parts: Sequence[tuple[Values, ...]]) -> tuple[Values, ...]:
    return tuple(
        replace(values[0], cells=np.concatenate([one.cells for one in values]))
        for values in zip(*parts, strict=True)
    )


def gather(parts: Parts) -> CaseBatch:
    """Take all parts into memory, as one."""

    def take(number: int, batch: CaseBatch) -> CaseBatch:
        return batch

    batches: list[CaseBatch] = parts.map_parts(take)
    ends = np.cumsum([0, *(len(batch.activity_ids) for batch in batches)])
    offsets = [batch.offsets[1:] + end for batch, end in zip(batches, ends, strict=False)]
    times = [batch.times for batch in batches if batch.times is not None]
    starts = [batch.starts for batch in batches if batch.starts is not None]
    return replace(
        batches[0],
        activity_ids=np.concatenate([batch.activity_ids for batch in batches]),
        offsets=np.concatenate([np.zeros(1, dtype=np.int64), *offsets]),
        complete=np.concatenate([batch.complete for batch in batches]),
        times=np.concatenate(times) if len(times) == len(batches) else None,
        attributes=_joined_values([batch.attributes for batch in batches]),
        starts=np.concatenate(starts) if len(starts) == len(batches) else None,
    )


class Parts(Protocol):
    """Cases in parts, in memory, on disk or on other machines."""

    def truncate(self, max_length: int, *, by_length: bool = False) -> Parts:
        """Truncate longer cases."""

    def project_onto(self, activities: Sequence[str]) -> Parts:
        """Express over other activities."""

    def map_parts(self, job: Callable[[int, Any], Result]) -> list[Result]:
        """Do a job on every part."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Cases:
    """The cases of a log, bound to a unit: what a session asks."""

    variants: VariantCounts | DistributedVariants
    """Every variant with its count."""
    by_case: Parts | None = None
    """The same cases one by one, with their times; None where nobody asked for them."""
    has_times: bool = True
    """Whether cases one by one have times that may be asked for."""
    has_starts: bool = False
    """Whether it was declared that they also say when work began."""
    attributes: tuple[Attribute, ...] = ()
    """What else cases one by one have, with public domains."""
    pairs: tuple[tuple[int, int], ...] = ()
    """Which attributes are asked for together: places among them."""
    assumptions: tuple[Statement, ...] = ()
    """What reading them took to be public, though it comes from the log."""

    def __post_init__(self) -> None:
        # Noise is drawn for the unit of the variants, and must hide those of cases one by one.
        unit = getattr(self.by_case, "unit", self.unit)
        if unit != self.unit:
            raise SettingError("by_case", f"bound to {unit}", f"bound to {self.unit}")

    @property
    def timed(self) -> bool:
        """Whether times may be asked for."""
        return self.by_case is not None and self.has_times

    @property
    def unit(self) -> Unit:
        """What is protected."""
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
