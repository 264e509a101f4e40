"""Petri nets: what BPMN and PNML models are turned into.

Two kinds of arcs more than the textbook's say what models of editors need. A transition can *clear*
places, whatever lies there (a subprocess that is interrupted, a terminating end), and it can
ask that places are *empty* (a subprocess that is over, an inclusive join that waits for nobody).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ...errors import Statement
from ..refusal import RefusedError

MAX_PARTS = 10_000
"""A net with more places or transitions is refused; calls of calls can multiply without bound."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """What a place or transition stands for in the file."""

    what: Statement
    """Its name in messages: task "Register"."""
    line: int | None = None
    """Its line in the file."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A place of a net."""

    what: Statement
    """Its name in messages: where a token there is."""
    line: int | None = None
    """Its line in the file."""
    running: bool = False
    """Whether a token there only says that something runs, not what it waits for."""


@dataclass(frozen=True, kw_only=True)
class Transition:
    """One step of a net.

    Attributes:
        label: Activity; None for a silent step.
        takes: Places it takes a token from; one that is named twice loses two.
        gives: Places it gives a token to.
        clears: Places that are emptied, after tokens were taken and before they are given.
        empty: Places that must have no token.
        immediate: Whether it takes no time: it happens before anything that does.
        part: What it stands for.
    """

    label: str | None
    takes: tuple[int, ...]
    gives: tuple[int, ...]
    clears: frozenset[int] = frozenset()
    empty: frozenset[int] = frozenset()
    immediate: bool = False
    part: Part

    @property
    def plain(self) -> bool:
        """Whether it does nothing but take and give tokens."""
        return not self.clears and not self.empty


@dataclass(frozen=True, kw_only=True)
class Net:
    """A Petri net with a beginning and the markings in which a case may end.

    Attributes:
        places: What each place stands for.
        transitions: The steps.
        start: Where tokens lie at the beginning.
        ends: Where tokens lie when a case may end: exactly there and nowhere else.
        notes: What was passed over or merged.
    """

    places: tuple[Place, ...]
    transitions: tuple[Transition, ...]
    start: tuple[int, ...]
    ends: tuple[tuple[int, ...], ...]
    notes: tuple[Statement, ...] = ()

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
    """A net under construction."""

    places: list[Place] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)
    notes: list[Statement] = field(default_factory=list)

    def place(self, what: Statement, line: int | None = None, running: bool = False) -> int:
        """Add a place."""
        self._refuse_more(len(self.places), line)
        self.places.append(Place(what=what, line=line, running=running))
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

    def note(self, what: Statement) -> None:
        """Keep something that a person should know about the model, once."""
        if what not in self.notes:
            self.notes.append(what)

    def net(self, start: Iterable[int], ends: Iterable[tuple[int, ...]]) -> Net:
        """Put together what was added; several parts of one name are one activity."""
        labelled = {(t.label, id(t.part)) for t in self.transitions if t.label is not None}
        counts = sorted(Counter(label for label, _ in labelled).items())
        merged = [Statement("model.name_count", name=n, count=c) for n, c in counts if c > 1]
        if merged:
            self.note(Statement("model.note.merged", names=merged))
        return Net(
            places=tuple(self.places),
            transitions=tuple(self.transitions),
            start=tuple(start),
            ends=tuple(ends),
            notes=tuple(self.notes),
        )

    def _refuse_more(self, number: int, line: int | None) -> None:
        if number >= MAX_PARTS:
            raise RefusedError("model.too_many_parts", line, limit=MAX_PARTS)
