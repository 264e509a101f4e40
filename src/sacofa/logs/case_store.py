"""Cases with their times, in parts on disk: for queries that ask for more than variants.

A part is three arrays in a temporary folder, mapped into memory when a job needs them, so that a
log of any size takes the memory of one part. The folder goes when the cases do.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from ..cases import NO_TIME, CaseBatch
from ..errors import OutputError
from ..temporary import secret_folder
from ..unit import Unit
from ..variants import VariantCounts
from .variant_counter import check_unique, joined

PART_EVENTS = 1 << 22
"""About how many events a part holds, where the source has no parts of its own."""

Result = TypeVar("Result")
Change = Callable[[CaseBatch], CaseBatch]


class _Folder:
    """A folder for secrets that is removed when asked, or when nobody holds this any more."""

    def __init__(self) -> None:
        stack = ExitStack()
        self.path = stack.enter_context(secret_folder())
        self.remove = finalize(self, stack.close)


class CaseStore:
    """Takes cases one at a time or many at once, and writes them down."""

    def __init__(self, name: object, unit: Unit, *, started: bool = False) -> None:
        self._started = started
        self._name = name
        self._unit = unit
        self._folder = _Folder()
        self._parts = 0
        self._ids: dict[str | tuple[str, ...], int] = {}
        self._clear()

    def _clear(self) -> None:
        self._activity_ids, self._times = array("i"), array("q")
        self._lengths, self._complete = array("q"), array("b")
        self._starts = array("q")

    def add(
        self,
        activities: Sequence[str] | Sequence[tuple[str, ...]],
        times: Sequence[int | None],
        *,
        truncated: bool,
        starts: Sequence[int | None] | None = None,
    ) -> None:
        """Add a case: an activity is a name or the parts that make up one.

        All cases have `starts`, when work began, or none has.
        """
        ids = self._ids
        self._activity_ids.extend([ids.setdefault(name, len(ids)) for name in activities])
        self._times.extend([NO_TIME if time is None else time for time in times])
        if starts is not None:
            self._starts.extend([NO_TIME if time is None else time for time in starts])
        self._lengths.append(len(activities))
        self._complete.append(not truncated)
        if len(self._activity_ids) >= PART_EVENTS:
            self._flush()

    def add_part(
        self,
        activity_ids: NDArray[Any],
        times: NDArray[Any],
        lengths: NDArray[Any],
        complete: NDArray[Any],
        starts: NDArray[Any] | None = None,
    ) -> None:
        """Add cases that lie end to end, whose activity ids are places in the names given later."""
        offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
        columns: dict[str, NDArray[Any]] = {
            "activity_ids": activity_ids.astype(np.int32),
            "times": times.astype(np.int64),
            "offsets": offsets,
            "complete": complete.astype(np.bool_),
        }
        if starts is not None:
            columns["starts"] = starts.astype(np.int64)
        try:
            for name, column in columns.items():
                np.save(self._folder.path / f"{self._parts}-{name}.npy", column)
        except OSError as error:
            raise OutputError(
                self._folder.path.parent,
                f"temporary files cannot be written there ({error.strerror or error}): set TMPDIR",
            ) from None
        self._parts += 1

    def _flush(self) -> None:
        self.add_part(
            np.asarray(self._activity_ids, dtype=np.int32),
            np.asarray(self._times, dtype=np.int64),
            np.asarray(self._lengths, dtype=np.int64),
            np.asarray(self._complete, dtype=np.bool_),
            np.asarray(self._starts, dtype=np.int64) if self._started else None,
        )
        self._clear()

    def close(self, names: Sequence[str] | None = None) -> StoredCases:
        """Give all cases; `names` of activities where those were added as ids."""
        # A log without cases is one part without cases, so that whoever adds up has a beginning.
        if len(self._lengths) or not self._parts:
            self._flush()
        if names is None:
            names = [joined(parts) for parts in self._ids]
            check_unique(self._name, names)
        return StoredCases(self._folder, self._parts, tuple(names), self._unit)


class StoredCases:
    """Cases in parts on disk, there until they are closed (or left as a context)."""

    def __init__(
        self,
        folder: _Folder,
        parts: int,
        activities: tuple[str, ...],
        unit: Unit,
        changes: tuple[Change, ...] = (),
    ) -> None:
        # The folder is removed at the latest when nobody holds it any more.
        self._folder = folder
        self._parts = parts
        self._activities = activities
        self._changes = changes
        self.unit = unit

    def truncate(self, max_length: int, *, by_length: bool = False) -> StoredCases:
        """Truncate longer cases, when a job is done on them."""
        return self._changed(partial(_truncate, max_length=max_length, by_length=by_length))

    def project_onto(self, activities: Sequence[str]) -> StoredCases:
        """Express over other activities, when a job is done on them."""
        return self._changed(partial(_project, activities=tuple(activities)))

    def map_parts(self, job: Callable[[int, CaseBatch], Result]) -> list[Result]:
        """Do a job on every part, one after the other."""
        return [job(number, self._load(number)) for number in range(self._parts)]

    def variants(self) -> VariantCounts:
        """Count the variants of these cases, with the activities that occur in name order."""
        parts = self.map_parts(_count)
        names = sorted({name for part in parts for name in part.activities})
        moved = [part.project_onto(names) for part in parts]
        return VariantCounts.from_arrays(
            names,
            np.concatenate([part.activity_ids for part in moved]),
            np.concatenate([part.lengths for part in moved]),
            np.concatenate([part.counts for part in moved]),
            np.concatenate([part.complete for part in moved]),
            self.unit,
        )

    def close(self) -> None:
        """Remove the cases from the disk."""
        self._folder.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _changed(self, change: Change) -> StoredCases:
        return StoredCases(
            self._folder, self._parts, self._activities, self.unit, (*self._changes, change)
        )

    def _load(self, number: int) -> CaseBatch:
        def stored(what: str) -> Any:
            return np.load(self._folder.path / f"{number}-{what}.npy", mmap_mode="r")

        batch = CaseBatch(
            activities=self._activities,
            activity_ids=stored("activity_ids"),
            offsets=stored("offsets"),
            complete=stored("complete"),
            times=stored("times"),
            starts=stored("starts")
            if (self._folder.path / f"{number}-starts.npy").exists()
            else None,
            unit=self.unit,
        )
        for change in self._changes:
            batch = change(batch)
        return batch


def _truncate(batch: CaseBatch, *, max_length: int, by_length: bool) -> CaseBatch:
    return batch.truncate(max_length, by_length=by_length)


def _project(batch: CaseBatch, *, activities: tuple[str, ...]) -> CaseBatch:
    return batch.project_onto(activities)


def _count(number: int, batch: CaseBatch) -> VariantCounts:
    """Count the variants of a part, over the activities that occur there."""
    counted = batch.variants()
    used = np.unique(counted.activity_ids).tolist()
    return counted.project_onto([batch.activities[i] for i in used])
