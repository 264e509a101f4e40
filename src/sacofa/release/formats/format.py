"""A format of released files, as a declared value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...kernel.attributes import Kind
from ...mechanisms.released import ReleasedLog

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
