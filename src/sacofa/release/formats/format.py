"""A format of released files, as a declared value, and what all readers of event logs fill."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...base.domains import released_text
from ...kernel.attributes import Kind
from ...kernel.cases import MICROSECONDS, CaseBatch
from ...mechanisms.released import ReleasedLog
from ...synthesis.released import NO_VALUE, ReleasedColumn

_SURROGATE = re.compile("[\ud800-\udfff]")
"""What no Unicode text has."""


@dataclass(frozen=True, kw_only=True)
class Format:
    """How a released log is stored in a file, and read back from it.

    A file with events holds those activities, texts and cases that have events. It says nothing of
    the times or the core of a log without events.
    """

    name: str
    """What it is called where people choose one."""
    suffix: str
    """How the names of its files end."""
    write: Callable[[ReleasedLog, Path], None]
    """Writes a log. The same log gives the same bytes, and nothing else is in the file."""
    read: Callable[[Path, Mapping[str, Kind]], ReleasedLog]
    """Reads a file back; `kinds` names the attributes in it, `case:` before those of cases."""
    holds_events: bool = True
    """Whether it holds events with times and attributes, and marks the core; else variants only."""
    refused: re.Pattern[str] | None = None
    """The characters that it cannot hold, besides those that no Unicode text has."""

    def holds(self, text: str) -> bool:
        """Whether it holds a name or a value as it is."""
        return not any(each.search(text) for each in (_SURROGATE, self.refused) if each is not None)


class CaseCollector:
    """Cases of a released file as they come; of each its events follow it.

    Args:
        kinds: The attributes that are read, with their types; `case:` before those of cases.
    """

    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        self._activities: dict[str, int] = {}
        self._ids, self._lengths = array("i"), array("q")
        self._seconds, self._starts = array("q"), array("q")
        self._finished, self._core = bytearray(), bytearray()
        self._columns = [_Values(key, kind) for key, kind in kinds.items()]
        self._of_cases = [each for each in self._columns if each.of_case]
        self._of_events = [each for each in self._columns if not each.of_case]

    def add_case(self, *, finished: bool, core: bool | None, values: Mapping[str, str]) -> None:
        """Begin a case; `values` are those of its attributes, with `case:` before their names.

        `core` says whether it is of the orderly core; None: no case is marked.
        """
        self._lengths.append(0)
        self._finished.append(finished)
        if core is not None:
            self._core.append(core)
        for each in self._of_cases:
            each.add(values.get(each.key))

    def add_event(
        self, activity: str, seconds: int, start: int | None, values: Mapping[str, str]
    ) -> None:
        """Add an event to the case that began last; times are in seconds since 1970."""
        self._ids.append(self._activities.setdefault(activity, len(self._activities)))
        self._seconds.append(seconds)
        if start is not None:
            self._starts.append(start)
        self._lengths[-1] += 1
        for each in self._of_events:
            each.add(values.get(each.key))

    def log(self, *, timed: bool) -> ReleasedLog:
        """The log of all cases; with its times only if they are not artificial."""
        started = timed and len(self._starts) > 0
        cases = CaseBatch(
            activities=tuple(self._activities),
            activity_ids=np.array(self._ids, dtype=np.int32),
            offsets=np.cumsum([0, *self._lengths], dtype=np.int64),
            complete=np.array(self._finished, dtype=np.bool_),
            times=np.array(self._seconds, dtype=np.int64) * MICROSECONDS if timed else None,
            starts=np.array(self._starts, dtype=np.int64) * MICROSECONDS if started else None,
        )
        core = np.array(self._core, dtype=np.bool_) if self._core else None
        columns = tuple(each.column() for each in self._columns)
        return ReleasedLog.of_cases(cases.project_onto(sorted(cases.activities)), core, columns)


class _Values:
    """The values of an attribute, as they come."""

    def __init__(self, key: str, kind: Kind) -> None:
        self.key, self.of_case, self._kind = key, key.startswith("case:"), kind
        self._places: dict[str | None, int] = {None: NO_VALUE}
        self._codes = array("i")

    def add(self, text: str | None) -> None:
        """Add the value of a case or an event; None if it has none."""
        self._codes.append(self._places.setdefault(text, len(self._places) - 1))

    def column(self) -> ReleasedColumn:
        """All of them; a file may write one value in several ways."""
        texts = [released_text(text, self._kind) for text in self._places if text is not None]
        place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        # The last place is that of −1: no value.
        moved = np.array([*map(place.__getitem__, texts), NO_VALUE], dtype=np.int32)
        return ReleasedColumn(
            name=self.key.removeprefix("case:"),
            of_case=self.of_case,
            kind=self._kind,
            texts=tuple(place),
            codes=moved[np.array(self._codes, dtype=np.int32)],
        )
