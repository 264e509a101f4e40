"""The form of an XES log: what it declares before its first case, and what its cases hold.

A declaration is public, as the header of a table is. What cases hold is not: what is taken from
them is taken from all of them, in no order, and named as an assumption.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from lxml import etree

from ..errors import ColumnsError
from ..kernel.attributes import Kind
from .attributes import Present, Sightings
from .bounded_file import BoundedFile
from .xes_stream import parted, traces

TIME = "time:timestamp"
LONGEST_HEAD = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What stands before the first case of one file."""

    times: bool
    """Whether events have time stamps.

    Whether times are released follows from this, so no case may decide it.
    """
    of_cases: Mapping[str, str]
    """Attributes of cases with their types: `<global scope="trace">`."""
    of_events: Mapping[str, str]
    """Attributes of events with their types: `<global scope="event">`."""

    def present(self, name: str) -> Present | None:
        """An attribute as it is declared; `case:` before its name asks for one of cases."""
        key = name.removeprefix("case:")
        for of_case in (True, False) if name.startswith("case:") else (False, True):
            kinds = self.of_cases if of_case else self.of_events
            if key in kinds:
                return Present(of_case=of_case, kind=kinds[key])
        return None


def read_declared(path: Path, trusted: bool) -> Declared:
    """Read what a file declares before its first case."""
    head = b""
    with BoundedFile(path, trusted=trusted) as stream:
        # In UTF-16 every other byte of such words is 0.
        while b"<trace" not in head.replace(b"\0", b"") and len(head) < LONGEST_HEAD:
            block = stream.read(1 << 16)
            if not block:
                break
            head += block
    said = _said(head)
    found: dict[str, dict[str, str]] = {"trace": {}, "event": {}}
    for scope, key, kind in said.globals:
        found.get(scope, {}).setdefault(key, kind)
    return Declared(
        times=TIME in found["event"] or "time" in said.extensions,
        of_cases=found["trace"],
        of_events=found["event"],
    )


@dataclass(frozen=True, kw_only=True)
class _Said:
    """What stands in the beginning of a file, up to its first case."""

    globals: list[tuple[str, str, str]] = field(default_factory=list)
    """Scope, name and type of all that is declared."""
    extensions: list[str] = field(default_factory=list)
    """The prefixes of extensions."""


def _said(head: bytes) -> _Said:
    """Parse the beginning of a file; what its elements are called may have any prefix."""
    said = _Said()
    parser = etree.XMLPullParser(
        events=("start", "end"),
        tag=("{*}extension", "{*}global", "{*}trace"),
        resolve_entities=False,
        no_network=True,
    )
    try:
        parser.feed(head)
        for event, element in parser.read_events():
            _, name = parted(element)
            if name == "trace":
                break
            if event == "end" and name == "extension":
                said.extensions.append(element.get("prefix", ""))
            elif event == "end":
                scope = element.get("scope", "")
                said.globals.extend((scope, key, kind) for key, kind in kinds_of(element))
    except etree.XMLSyntaxError:
        # Whoever reads the cases says what is wrong.
        return _Said()
    return said


def kinds_of(element: Any) -> list[tuple[str, str]]:
    """The attributes of a trace or an event, each with its type."""
    found = []
    for child in element:
        key = child.get("key")
        if key is not None:
            _, kind = parted(child)
            found.append((key, kind if kind in get_args(Kind) else "string"))
    return found


@dataclass(kw_only=True)
class Search:
    """Looks for attributes in the cases of all files, and refuses what does not exist."""

    needed: Mapping[str, str]
    """What each file that has events must have at its first, with what it is asked for."""
    late: dict[str, str]
    """What may come late, in any file; what was found is taken out."""
    undeclared: frozenset[str]
    """Of which the form of the log does not say what they are: all cases are looked at."""
    present: dict[str, None] = field(default_factory=dict)
    """What the first event of each file has."""
    seen: Sightings = field(default_factory=Sightings)
    """Where the undeclared ones stand."""

    def go_through(self, path: Path, trusted: bool) -> None:
        """Look at a file as far as it takes."""
        missing, first = dict(self.needed), True
        if not missing and not self.late and not self.undeclared:
            return
        for trace in traces(path, trusted, None):
            # Persons may be attributes of the case.
            self._see(trace, of_case=True)
            for event in trace.iterchildren("{*}event"):
                keys = self._see(event, of_case=False)
                if first:
                    self.present.update(dict.fromkeys(keys))
                    first = False
                for key in keys:
                    missing.pop(key, None)
                for name, role in missing.items():
                    if role == "activity":
                        raise ColumnsError(path, [role], list(self.present), name)
                if not missing and not self.late and not self.undeclared:
                    return
        # A file without any event has nothing to lack.
        if not first:
            for name, role in missing.items():
                raise ColumnsError(path, [role], list(self.present), name)

    def _see(self, element: Any, *, of_case: bool) -> list[str]:
        keys = []
        for key, kind in kinds_of(element):
            keys.append(key)
            self.late.pop(key, None)
            if key in self.undeclared:
                self.seen.add(key, of_case=of_case, kind=kind)
        return keys
