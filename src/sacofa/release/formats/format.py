"""A format of released files, as a declared value, and the log that its events make."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...base.domains import released_text
from ...events.columns import TRUNCATED
from ...events.released import CORE_KEY, PRIVATE, START_KEY, TIME_KEY
from ...kernel.attributes import Kind
from ...kernel.cases import MICROSECONDS, CaseBatch
from ...mechanisms.released import ReleasedLog
from ...synthesis.released import NO_VALUE, ReleasedColumn

_SURROGATE = re.compile("[\ud800-\udfff]")
"""Characters that do not occur in Unicode text."""
CASE, ACTIVITY, TIME, CORE = (
    "case:concept:name", "concept:name", "time:timestamp", f"case:{CORE_KEY}",
)  # fmt: skip
EVENT_COLUMNS = (CASE, ACTIVITY, TIME, START_KEY, TRUNCATED, CORE, TIME_KEY)
"""The columns of events besides attributes, in their order; two may be missing."""


@dataclass(frozen=True, kw_only=True)
class Format:
    """How a released log is stored in a file, and read back from it.

    A file with events holds those activities, texts and cases that have events. It says nothing of
    the times or the core of a log without events.
    """

    name: str
    """The name in menus and help texts."""
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
        """Whether the format stores a name or value unchanged."""
        return not any(each.search(text) for each in (_SURROGATE, self.refused) if each is not None)


def log_of_columns(
    columns: Mapping[str, Sequence[object]], kinds: Mapping[str, Kind]
) -> ReleasedLog:
    """Make a log of its events in columns, as `event_columns` gives them.

    Args:
        columns: `EVENT_COLUMNS` and attributes; None is a missing value. A case begins wherever its
            number changes.
        kinds: The attributes that are read, with their types; `case:` before those of cases.
    """
    if any(None in columns[key] for key in (CASE, ACTIVITY, TIME, TRUNCATED, TIME_KEY)):
        raise ValueError("a cell is empty")
    given = {key for key in (START_KEY, CORE) if {*columns.get(key, ())} - {None}}
    timed = PRIVATE in columns[TIME_KEY][-1:]
    numbers = np.asarray(columns[CASE])
    first = np.ones(len(numbers), dtype=np.bool_)
    first[1:] = numbers[1:] != numbers[:-1]
    begins = np.flatnonzero(first)
    activities, ids = _coded(columns[ACTIVITY])
    cases = CaseBatch(
        activities=tuple(map(str, activities)),
        activity_ids=ids,
        offsets=np.append(begins, len(numbers)),
        complete=~np.array(columns[TRUNCATED], dtype=np.bool_)[begins],
        times=_microseconds(columns[TIME]) if timed else None,
        starts=_microseconds(columns[START_KEY]) if timed and START_KEY in given else None,
    )
    core = np.array(columns[CORE], dtype=np.bool_)[begins] if CORE in given else None
    attributes = tuple(_attribute(key, kind, columns[key], begins) for key, kind in kinds.items())
    return ReleasedLog.of_cases(cases.project_onto(sorted(cases.activities)), core, attributes)


def _attribute(
    key: str, kind: Kind, values: Sequence[object], begins: NDArray[np.intp]
) -> ReleasedColumn:
    """An attribute of all events, or of the cases that begin in some places."""
    of_case, (different, codes) = key.startswith("case:"), _coded(values)
    # A file may write one value in several ways.
    texts = [released_text(str(value), kind) for value in different]
    place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    # The last place is that of −1: no value.
    moved = np.array([*map(place.__getitem__, texts), NO_VALUE], dtype=np.int32)
    return ReleasedColumn(
        name=key.removeprefix("case:"),
        of_case=of_case,
        kind=kind,
        texts=tuple(place),
        codes=moved[codes[begins] if of_case else codes],
    )


def _microseconds(seconds: Sequence[object]) -> NDArray[np.int64]:
    return np.array(seconds, dtype=np.int64) * MICROSECONDS


def _coded(values: Sequence[object]) -> tuple[list[object], NDArray[np.int32]]:
    """The different values, and the place of each among them; None has none."""
    place: dict[object, int] = {None: NO_VALUE}
    codes = [place.setdefault(value, len(place) - 1) for value in values]
    return list(place)[1:], np.array(codes, dtype=np.int32)
