"""Cases with their times, in parts on disk: for queries that ask for more than variants.

A part is three arrays in a temporary folder, mapped into memory when a job needs them, so that a
log of any size takes the memory of one part. The folder goes when the cases do.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from ..base.batches import join_variants
from ..base.cells import cell_of, cells_of
from ..base.temporary import secret_folder, writing_in
from ..kernel.attributes import Attribute
from ..kernel.cases import NO_TIME, CaseBatch, Values
from ..kernel.unit import Unit
from ..kernel.variants import VariantCounts
from .attributes import found_attribute
from .variant_counter import Case, Name, joined_names

PART_EVENTS = 1 << 22
"""About how many events a part holds, where the source has no parts of its own."""

Array = NDArray[np.generic]
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

    def __init__(
        self,
        name: object,
        unit: Unit,
        attributes: tuple[Attribute, ...] = (),
        *,
        started: bool = False,
    ) -> None:
        self._started = started
        self._name = name
        self._unit = unit
        self._attributes = attributes
        self._texts: list[dict[str, int]] = [{} for _ in attributes]
        self._folder = _Folder()
        self.parts = 0
        """How many parts there are."""
        self._ids: dict[Name, int] = {}
        self._clear()

    def _clear(self) -> None:
        self._activity_ids, self._times = array("i"), array("q")
        self._lengths, self._complete = array("q"), array("b")
        self._values = [array("i") for _ in self._attributes]
        self._starts = array("q")

    def add(self, case: Case) -> None:
        """Add a case. All cases have `starts`, when work began, if that is known of any.

        Of its values there is one for each event, or one for the case.
        """
        ids = self._ids
        self._activity_ids.extend([ids.setdefault(name, len(ids)) for name in case.activities])
        self._times.extend(map(_or_no_time, case.times))
        if self._started:
            self._starts.extend(map(_or_no_time, case.starts))
        self._lengths.append(len(case.activities))
        self._complete.append(not case.truncated)
        for place, texts in enumerate(case.values):
            known = self._texts[place]
            self._values[place].extend(
                [-1 if text is None else known.setdefault(text, len(known)) for text in texts]
            )
        if len(self._activity_ids) >= PART_EVENTS:
            self._flush()

    def add_part(
        self,
        activity_ids: Array,
        times: Array,
        lengths: Array,
        complete: Array,
        starts: Array | None = None,
        values: Sequence[NDArray[np.integer]] = (),
        *,
        settled: bool = False,
    ) -> None:
        """Add cases that lie end to end, whose activity ids are places in the names given later.

        `values` are places among texts given later, −1 where there is none; one for each event.
        Of an attribute of cases, the first in the order of the events counts, unless that is
        `settled` and there is one for each case.
        """
        offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
        columns: dict[str, Array] = {
            "activity_ids": activity_ids.astype(np.int32),
            "times": times.astype(np.int64),
            "offsets": offsets,
            "complete": complete.astype(np.bool_),
        }
        for place, (attribute, column) in enumerate(zip(self._attributes, values, strict=True)):
            if attribute.of_case and not settled:
                column = first_known(column, offsets)
            columns[f"value-{place}"] = column.astype(np.int32)
        if starts is not None:
            columns["starts"] = starts.astype(np.int64)
        self._save(self.parts, columns)
        self.parts += 1

    def keep(self, part: int, places: Array) -> None:
        """Keep the cases at these places of a part, in any order, and let the others go."""
        columns = _kept(self._stored(()).load(part), places)
        if columns is not None:
            self._save(part, columns)

    def _save(self, part: int, columns: Mapping[str, Array]) -> None:
        with writing_in(self._folder.path):
            for name, column in columns.items():
                _save(self._folder.path / f"{part}-{name}.npy", column)

    def _stored(self, names: Sequence[str]) -> StoredCases:
        return StoredCases(
            self._folder, self.parts, tuple(names), self._unit, attributes=self._attributes
        )

    def _flush(self) -> None:
        self.add_part(
            np.asarray(self._activity_ids, dtype=np.int32),
            np.asarray(self._times, dtype=np.int64),
            np.asarray(self._lengths, dtype=np.int64),
            np.asarray(self._complete, dtype=np.bool_),
            np.asarray(self._starts, dtype=np.int64) if self._started else None,
            [np.asarray(column, dtype=np.int32) for column in self._values],
            settled=True,
        )
        self._clear()

    def close(
        self, names: Sequence[str] | None = None, texts: Sequence[Sequence[str]] | None = None
    ) -> StoredCases:
        """Give all cases; `names` of activities, and `texts`, where those were added as ids."""
        # A log without cases is one part without cases, so that whoever adds up has a beginning.
        if len(self._lengths) or not self.parts:
            self._flush()
        if names is None:
            names = joined_names(self._name, self._ids)
        stored = self._stored(names)
        if not self._attributes:
            return stored
        return stored.with_domains(
            [list(known) for known in self._texts] if texts is None else texts
        )


class StoredCases(AbstractContextManager["StoredCases"]):
    """Cases in parts on disk, there until they are closed (or left as a context)."""

    def __init__(
        self,
        folder: _Folder,
        parts: int,
        activities: tuple[str, ...],
        unit: Unit,
        changes: tuple[Change, ...] = (),
        attributes: tuple[Attribute, ...] = (),
    ) -> None:
        # The folder is removed at the latest when nobody holds it any more.
        self._folder = folder
        self._parts = parts
        self._activities = activities
        self._changes = changes
        self.unit = unit
        self.attributes = attributes
        """What else was asked for, with the domains that were declared or found."""
        self.outside: dict[str, list[str]] = {}
        """The texts of each attribute that are none of its values. Secret."""

    def with_domains(self, texts: Sequence[Sequence[str]]) -> StoredCases:
        """Turn texts into cells; where no domain is declared, the texts of these cases are it."""
        used = self.map_parts(_used)
        attributes = tuple(
            _with_domain(attribute, listed, [part[place] for part in used])
            for place, (attribute, listed) in enumerate(zip(self.attributes, texts, strict=True))
        )
        domains = [attribute.known for attribute in attributes]
        # The last place is that of −1: no text.
        cells = [
            np.array([cell_of(domain, text) for text in (*listed, None)], dtype=np.int32)
            for domain, listed in zip(domains, texts, strict=True)
        ]
        sizes = tuple(cells_of(domain) for domain in domains)
        changed = self._changed(partial(_code, cells=tuple(cells), sizes=sizes))
        changed.attributes = attributes
        changed.outside = {
            each.key: _outside(each, listed, every)
            for each, listed, every in zip(attributes, texts, cells, strict=True)
        }
        return changed

    def project_onto(self, activities: Sequence[str]) -> StoredCases:
        """Express over other activities, when a job is done on them."""
        return self._changed(partial(_project, activities=tuple(activities)))

    def map_parts(self, job: Callable[[int, CaseBatch], Result]) -> list[Result]:
        """Do a job on every part, one after the other."""
        return [job(number, self.load(number)) for number in range(self._parts)]

    def variants(self) -> VariantCounts:
        """Count the variants of these cases, with the activities that occur in name order."""
        return join_variants(self.map_parts(_count), self.unit)

    def close(self) -> None:
        """Remove the cases from the disk."""
        self._folder.remove()

    def __exit__(self, *error: object) -> None:
        self.close()

    def _changed(self, change: Change) -> StoredCases:
        return StoredCases(
            self._folder,
            self._parts,
            self._activities,
            self.unit,
            (*self._changes, change),
            self.attributes,
        )

    def load(self, number: int) -> CaseBatch:
        """Give a part."""

        def stored(what: str) -> Any:
            return np.load(self._folder.path / f"{number}-{what}.npy", mmap_mode="r")

        batch = CaseBatch(
            activities=self._activities,
            activity_ids=stored("activity_ids"),
            offsets=stored("offsets"),
            complete=stored("complete"),
            times=stored("times"),
            attributes=tuple(
                Values(name=each.key, of_case=each.of_case, cells=stored(f"value-{place}"))
                for place, each in enumerate(self.attributes)
            ),
            starts=stored("starts")
            if (self._folder.path / f"{number}-starts.npy").exists()
            else None,
            unit=self.unit,
        )
        for change in self._changes:
            batch = change(batch)
        return batch


def _or_no_time(time: int | None) -> int:
    return NO_TIME if time is None else time


def _save(path: Path, column: Array) -> None:
    """Write a column as `np.save` does, which does not notice a disk that gets full at the end."""
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(column))
        file.write(np.ascontiguousarray(column).data)


def first_known(values: NDArray[np.integer], offsets: NDArray[np.int64]) -> NDArray[np.integer]:
    """The first value of each case that is there; −1 where none is."""
    found = np.full(len(offsets) - 1, -1, dtype=np.int32)
    places = np.flatnonzero(values >= 0)
    owner = np.searchsorted(offsets, places, side="right") - 1
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    found[owner[first]] = values[places[first]]
    return found


def _kept(batch: CaseBatch, places: Array) -> dict[str, Array] | None:
    """The columns of some cases of a batch; nothing where that is all of them."""
    kept = np.zeros(batch.cases, dtype=np.bool_)
    kept[places] = True
    if kept.all():
        return None
    batch = batch.where(kept)
    columns = {
        "activity_ids": batch.activity_ids,
        "times": batch.times,
        "offsets": batch.offsets,
        "complete": batch.complete,
        "starts": batch.starts,
        **{f"value-{place}": values.cells for place, values in enumerate(batch.attributes)},
    }
    # Copies: the files that they are mapped from are about to be written.
    return {name: np.array(column) for name, column in columns.items() if column is not None}


def _used(number: int, batch: CaseBatch) -> list[list[int]]:
    """The places of texts that occur in a part."""
    return [np.unique(values.cells).tolist() for values in batch.attributes]


def _outside(attribute: Attribute, listed: Sequence[str], cells: NDArray[np.int32]) -> list[str]:
    """The texts that are none of the values of an attribute."""
    other = attribute.known.values
    return [text for text, cell in zip(listed, cells, strict=False) if cell == other]


def _with_domain(
    attribute: Attribute, listed: Sequence[str], used: Sequence[Sequence[int]]
) -> Attribute:
    """The attribute with its declared domain, or with that of the texts that occur."""
    if attribute.domain is not None:
        return attribute
    there = set().union(*used) - {-1}
    return found_attribute(attribute, [listed[place] for place in there])


def _code(
    batch: CaseBatch, *, cells: tuple[NDArray[np.int32], ...], sizes: tuple[int, ...]
) -> CaseBatch:
    """Give every text the cell that it takes in its domain."""
    return replace(
        batch,
        attributes=tuple(
            replace(values, cells=table[values.cells], size=size)
            for values, table, size in zip(batch.attributes, cells, sizes, strict=True)
        ),
    )


def _project(batch: CaseBatch, *, activities: tuple[str, ...]) -> CaseBatch:
    return batch.project_onto(activities)


def _count(number: int, batch: CaseBatch) -> VariantCounts:
    """Count the variants of a part, over the activities that occur there."""
    counted = batch.variants()
    return counted.project_onto(counted.used())
