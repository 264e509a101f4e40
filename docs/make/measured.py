"""Measured figures, and how numbers and tables of them are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Figures:
    """The file, and which of its figures were shown."""

    entries: dict[str, dict[str, Any]]
    shown: list[dict[str, Any]] = field(default_factory=list)

    def entry(self, name: str) -> dict[str, Any]:
        """A figure with all that is known of it."""
        found = self.entries[name]
        self.shown.append(found)
        return found

    def has(self, name: str) -> bool:
        """Whether it was measured."""
        return name in self.entries

    def value(self, name: str) -> float:
        """The number."""
        return float(self.entry(name)["value"])

    def source(self) -> str:
        """How the figures shown so far were measured, in a line."""
        commands = sorted({entry["command"] for entry in self.shown})
        days = sorted({entry["date"] for entry in self.shown})
        versions = sorted({entry["version"] for entry in self.shown})
        when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        told = " and ".join(f"`{command}`" for command in commands)
        version = f"version{'s' * (len(versions) > 1)} {', '.join(versions)}"
        return f"Measured by {told}; {version}, {when}."


def table(head: Sequence[str], rows: Iterator[Sequence[str]], numbers: int = 0) -> Iterator[str]:
    """The lines of a table; the last columns may be numbers."""
    yield "| " + " | ".join(head) + " |"
    words = len(head) - numbers
    yield "|" + "|".join(["---"] * words + ["--:"] * numbers) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def share(value: float, digits: int = 3) -> str:
    """A number between 0 and 1; one more digit near the ends, where three say nothing."""
    return f"{value:.{digits + 1 if 0.995 <= value < 1 else digits}f}"
