"""Stores for cases: counted as variants, or written with their times to parts on disk.

A part is three arrays in a temporary folder, mapped into memory when a job needs them, so that a
log of any size takes the memory of one part. The folder is removed with the cases.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from ..base.batches import join_variants
from ..base.cells import cell_of, cells_of
from ..base.temporary import secret_folder, writing_in
from ..errors import ReadError, Statement
from ..kernel.attributes import Attribute
from ..kernel.cases import NO_TIME, CaseBatch, Values
from ..kernel.unit import Unit
from ..kernel.variants import VariantCounts
from .attributes import found_attribute
from .options import JOINER

PART_EVENTS = 1 << 22
"""Target number of events per part, if the source has no parts of its own."""

Array = NDArray[Any]
Result = TypeVar("Result")
Change = Callable[[CaseBatch], CaseBatch]
Texts = list[str | None]
Name = str | tuple[str, ...]
"""An activity: a name, or the parts that make up one."""


@dataclass(slots=True)
class Case:
    """A case to be counted."""

    activities: Sequence[Name]
    """Names, or the parts that make them up."""
    truncated: bool
    """Whether the case continued after its last event in the log."""
    times: Sequence[int | None] = ()
    """The time of each event in microseconds since 1970, if requested."""
    starts: Sequence[int | None] = ()
    """The time at which work on each event began, if requested."""
    values: Sequence[Texts] = ()
    """The texts of the requested attributes."""


def joined_names(path: object, names: Iterable[Name]) -> list[str]:
    """Name activities that are built from several attributes; two of one name are refused."""
    joined = [name if isinstance(name, str) else JOINER.join(name) for name in names]
    check_unique(path, joined)
    return joined


def check_unique(path: object, names: Sequence[str]) -> None:
    """Refuse two activities that would have one name when their parts are joined."""
    if len(set(names)) < len(names):
        (twice, _), *_ = Counter(names).most_common(1)
        raise ReadError(path, Statement("read.activities.one_name", name=twice))


class _Folder:
    """A private folder that is removed on request or with the last reference to it."""

    def __init__(self) -> None:
        stack = ExitStack()
        self.path = stack.enter_context(secret_folder())
        self.remove = finalize(self, stack.close)

    def save(self, name: str, column: Array) -> None:
        """Write a column as `np.save` does, which does not notice a disk that gets full."""
        with writing_in(self.path), (self.path / f"{name}.npy").open("wb") as file:
            header = np.lib.format.header_data_from_array_1_0(column)
            np.lib.format.write_array_header_1_0(file, header)
            file.write(np.ascontiguousarray(column).data)

    def load(self, name: str) -> Array:
        """Map a column into memory."""
        found: Array = np.load(self.path / f"{name}.npy", mmap_mode="r")
        return found


class CaseStore:
    """Collects cases, one at a time or many at once, and writes them to disk."""

    def __init__(
        self,
        name: object,
        unit: Unit,
        attributes: tuple[Attribute, ...] = (),
        *,
        started: bool = False,
    ) -> None:
        self._name, self._unit, self._attributes = name, unit, attributes
        self._starts = ["starts"] * started
        self._values = [f"value-{place}" for place in range(len(attributes))]
        self._texts: list[dict[str, int]] = [{} for _ in attributes]
        self._folder = _Folder()
        self._parts = 0
        self._ids: dict[Name, int] = {}
        self._begin()

    def _begin(self) -> None:
        names = ("activity_ids", "times", "lengths", "complete", *self._starts, *self._values)
        self._pending = {name: array("i" if name in self._values else "q") for name in names}

    def add(self, case: Case) -> None:
        """Add a case. All cases have `starts`, when work began, if that is known of any.

        Of its values there is one for each event, or one for the case.
        """
        ids, pending = self._ids, self._pending
        pending["activity_ids"].extend([ids.setdefault(name, len(ids)) for name in case.activities])
        pending["times"].extend(_known(case.times))
        for name in self._starts:
            pending[name].extend(_known(case.starts))
        pending["lengths"].append(len(case.activities))
        pending["complete"].append(not case.truncated)
        for name, known, texts in zip(self._values, self._texts, case.values, strict=False):
            pending[name].extend(
                [-1 if text is None else known.setdefault(text, len(known)) for text in texts]
            )
        if len(pending["activity_ids"]) >= PART_EVENTS:
            self._flush()

    def add_part(self, columns: Mapping[str, Array], values: Sequence[Array] = ()) -> None:
        """Add consecutive cases whose activity ids refer to names that are given later.

        `columns` are activity_ids, times, lengths, complete and perhaps starts. `values` are
        indices of texts that are given later, one for each event; −1 is missing. For an attribute
        of cases, the first value in the order of events is used.
        """
        offsets = _offsets(columns["lengths"])
        settled = [
            first_known(column, offsets) if attribute.of_case else column
            for attribute, column in zip(self._attributes, values, strict=True)
        ]
        self._save({**columns, **dict(zip(self._values, settled, strict=True))})

    def _flush(self) -> None:
        self._save({name: np.asarray(column) for name, column in self._pending.items()})
        self._begin()

    def _save(self, columns: Mapping[str, Array]) -> None:
        """Write a part to disk."""
        types = {"times": np.int64, "starts": np.int64, "complete": np.bool_}
        for name, column in columns.items():
            if name == "lengths":
                self._folder.save(f"{self._parts}-offsets", _offsets(column))
            else:
                saved: Array = column.astype(types.get(name, np.int32))
                self._folder.save(f"{self._parts}-{name}", saved)
        self._parts += 1

    def close(
        self, names: Sequence[str] | None = None, texts: Sequence[Sequence[str]] | None = None
    ) -> StoredCases:
        """Return all cases; `names` and `texts` belong to the ids and indices that were added."""
        # A log without cases has one empty part, so that sums have a first term.
        if len(self._pending["lengths"]) or not self._parts:
            self._flush()
        named = joined_names(self._name, self._ids) if names is None else names
        stored = StoredCases(
            folder=self._folder,
            parts=self._parts,
            activities=tuple(named),
            unit=self._unit,
            started=bool(self._starts),
            attributes=self._attributes,
        )
        if not self._attributes:
            return stored
        return stored.with_domains([[*known] for known in self._texts] if texts is None else texts)


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredCases(AbstractContextManager["StoredCases"]):
    """Cases in parts on disk, there until they are closed (or left as a context)."""

    folder: _Folder = field(repr=False)
    """Removed at the latest with the last reference to it."""
    parts: int
    activities: tuple[str, ...]
    unit: Unit
    started: bool
    """Whether the start of work is known for any event."""
    attributes: tuple[Attribute, ...] = ()
    """The other requested columns, with their declared or found domains."""
    outside: Mapping[str, list[str]] = field(default_factory=dict, repr=False)
    """The texts of each attribute outside its domain. Confidential."""
    changes: tuple[Change, ...] = field(default=(), repr=False)
    """The transformations that are applied to each part when it is loaded."""

    def with_domains(self, texts: Sequence[Sequence[str]]) -> StoredCases:
        """Turn texts into cells; where no domain is declared, the texts of these cases are it."""
        attributes = tuple(self._with_domain(place, listed) for place, listed in enumerate(texts))
        # The last place is that of −1: no text.
        tables = [
            np.array([cell_of(each.known, text) for text in (*listed, None)], dtype=np.int32)
            for each, listed in zip(attributes, texts, strict=True)
        ]

        def code(batch: CaseBatch) -> CaseBatch:
            coded = (
                replace(values, cells=table[values.cells], size=cells_of(each.known))
                for values, table, each in zip(batch.attributes, tables, attributes, strict=True)
            )
            return replace(batch, attributes=tuple(coded))

        outside = {
            each.key: [
                text for text, cell in zip(listed, table, strict=False) if cell == each.known.values
            ]
            for each, listed, table in zip(attributes, texts, tables, strict=True)
        }
        changes = (*self.changes, code)
        return replace(self, attributes=attributes, outside=outside, changes=changes)

    def _with_domain(self, place: int, listed: Sequence[str]) -> Attribute:
        """An attribute with its declared domain, or with that of the texts that occur."""
        attribute = self.attributes[place]
        if attribute.domain is not None:
            return attribute
        used = self.map_parts(lambda _, batch: np.unique(batch.attributes[place].cells).tolist())
        return found_attribute(attribute, [listed[at] for at in set().union(*used) - {-1}])

    def project_onto(self, activities: Sequence[str]) -> StoredCases:
        """Express over other activities, when a job is done on them."""
        names = tuple(activities)
        return replace(self, changes=(*self.changes, lambda batch: batch.project_onto(names)))

    def map_parts(self, job: Callable[[int, CaseBatch], Result]) -> list[Result]:
        """Do a job on every part, one after the other."""
        return [job(number, self.load(number)) for number in range(self.parts)]

    def variants(self) -> VariantCounts:
        """Count the variants of these cases, with the activities that occur in name order."""
        parts = self.map_parts(lambda _, batch: batch.variants())
        return join_variants([part.project_onto(part.used()) for part in parts], self.unit)

    def close(self) -> None:
        """Remove the cases from the disk."""
        self.folder.remove()

    def __exit__(self, *error: object) -> None:
        self.close()

    def load(self, number: int) -> CaseBatch:
        """Load a part."""
        stored = {
            name: self.folder.load(f"{number}-{name}")
            for name in ("activity_ids", "offsets", "complete", "times", *["starts"] * self.started)
        }
        values = (
            Values(
                name=each.key,
                of_case=each.of_case,
                cells=self.folder.load(f"{number}-value-{place}"),
            )
            for place, each in enumerate(self.attributes)
        )
        batch = CaseBatch(
            activities=self.activities, attributes=tuple(values), unit=self.unit, **stored
        )
        for change in self.changes:
            batch = change(batch)
        return batch


def _known(times: Sequence[int | None]) -> list[int]:
    return [NO_TIME if time is None else time for time in times]


def _offsets(lengths: Array) -> Array:
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))


def first_known(values: Array, offsets: Array) -> Array:
    """Return the first known value of each case; −1 if it has none."""
    found = np.full(len(offsets) - 1, -1, dtype=np.int32)
    places = np.flatnonzero(values >= 0)
    owner = np.searchsorted(offsets, places, side="right") - 1
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    found[owner[first]] = values[places[first]]
    return found
