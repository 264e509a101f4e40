"""A log as it was opened, and what can read it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ..variants import VariantCounts
from .columns import Columns, Wanted
from .formats import Format
from .stream import Progress

Order = Literal["file", "time"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Source:
    """Where an event log is."""

    name: str
    """What the log is called in messages; never holds a password."""
    format: Format
    """How it is stored."""
    content: Any = field(repr=False)
    """The files, the frame, or how to reach the database."""
    query: str | None = None
    """What is asked of a database."""
    trusted: bool = False
    """Whether guards against hostile files are off."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Log:
    """Where an event log is, and how its cases are read."""

    source: Source
    """Where it is."""
    columns: Columns | None
    """What holds what; nothing for counted variants."""
    order: Order
    """Events of a case as the source has them, or by time with ties as the source has them."""
    max_cases: int | None
    """How many cases of one person are counted at most."""
    reader: Reader = field(repr=False)
    """What counts it."""

    @property
    def name(self) -> str:
        """What the log is called in messages."""
        return self.source.name

    @property
    def timed(self) -> bool:
        """Whether events are ordered by time."""
        return self.order == "time"


class Reader(Protocol):
    """One way to read logs: a module of this package with these two functions."""

    def find(self, source: Source, wanted: Wanted) -> Columns | None:
        """Find what holds what, and refuse what can be refused at once."""

    def count(self, log: Log, progress: Progress | None) -> VariantCounts:
        """Count the variants."""
