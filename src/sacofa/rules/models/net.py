"""Petri nets: what BPMN and PNML models are turned into.

Two kinds of arcs more than the textbook's say what models of editors need. A transition can *clear*
places, whatever lies there (a subprocess that is interrupted, a terminating end), and it can
ask that places are *empty* (a subprocess that is over, an inclusive join that waits for nobody).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...errors import RulesError

MAX_PARTS = 10_000
"""A net with more places or transitions is refused; calls of calls can multiply without bound."""

RUNNING = "while it runs"
"""How the names of places end whose token says that something runs."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A place or transition: what it stands for in the file."""

    what: str
    """As a message names it: task "Register"."""
    line: int | None = None
    """Where it stands in the file."""


@dataclass(frozen=True, kw_only=True)
class Transition:
    """One step of a net."""

    label: str | None
    """The activity; None for a silent step."""
    takes: tuple[int, ...]
    """The places it takes a token from; one that is named twice loses two."""
    gives: tuple[int, ...]
    """The places it gives a token to."""
    clears: frozenset[int] = frozenset()
    """The places that are emptied, after tokens were taken and before they are given."""
    empty: frozenset[int] = frozenset()
    """The places that must have no token."""
    immediate: bool = False
    """Whether it takes no time: it happens before anything that does."""
    part: Part
    """What it stands for."""


@dataclass(frozen=True, kw_only=True)
class Net:
    """A Petri net with a beginning and the markings in which a case may end."""

    path: str | Path
    """The file it was read from."""
    places: tuple[Part, ...]
    """What each place stands for."""
    transitions: tuple[Transition, ...]
    """The steps."""
    start: tuple[int, ...]
    """Where tokens lie at the beginning."""
    ends: tuple[tuple[int, ...], ...]
    """Where tokens lie when a case may end: exactly there and nowhere else."""
    notes: tuple[str, ...] = ()
    """What was passed over or merged, in words for a person."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of activities, sorted."""
        return tuple(sorted({t.label for t in self.transitions if t.label is not None}))

    def renamed(self, names: Mapping[str, str]) -> Net:
        """Give activities other names; an empty one makes a step silent."""

        def moved(label: str | None) -> str | None:
            return None if label is None else names.get(label, label) or None

        transitions = (replace(t, label=moved(t.label)) for t in self.transitions)
        return replace(self, transitions=tuple(transitions))


@dataclass
class NetBuilder:
    """A net in the making."""

    path: str | Path
    places: list[Part] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def place(self, what: str, line: int | None = None) -> int:
        """Add a place."""
        self._refuse_more(len(self.places), line)
        self.places.append(Part(what=what, line=line))
        return len(self.places) - 1

    def add(
        self,
        part: Part,
        takes: Iterable[int],
        gives: Iterable[int],
        label: str | None = None,
        clears: Iterable[int] = (),
        empty: Iterable[int] = (),
    ) -> None:
        """Add a transition."""
        self._refuse_more(len(self.transitions), part.line)
        self.transitions.append(
            Transition(
                label=label,
                takes=tuple(takes),
                gives=tuple(gives),
                clears=frozenset(clears),
                empty=frozenset(empty),
                part=part,
            )
        )

    def note(self, text: str) -> None:
        """Say something about the model, once."""
        if text not in self.notes:
            self.notes.append(text)

    def note_merged(self, what: str, times: Mapping[str, int]) -> None:
        """Say which parts share a name, and so are one activity."""
        several = [f'"{name}" ({number})' for name, number in sorted(times.items()) if number > 1]
        if several:
            self.note(f"Some {what} share a name and are taken as one: {', '.join(several)}.")

    def net(self, start: Iterable[int], ends: Iterable[tuple[int, ...]]) -> Net:
        """Put together what was added."""
        return Net(
            path=self.path,
            places=tuple(self.places),
            transitions=tuple(self.transitions),
            start=tuple(start),
            ends=tuple(ends),
            notes=tuple(self.notes),
        )

    def _refuse_more(self, number: int, line: int | None) -> None:
        if number >= MAX_PARTS:
            what = f"more than {MAX_PARTS:,} steps, calls and subprocesses included: too large"
            raise RulesError(self.path, line, what)
