"""Declare files (`.decl`, as RuM and Declare4Py write them): what of them can be a rule.

A rule here is weaker than many a template (it says nothing of *direct* or *alternating* order),
so a template gives the strongest rules that follow from it. Constraints without any are listed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...errors import Statement
from ..kinds import ALWAYS_FOLLOWS, ALWAYS_PRECEDES, NEVER_FOLLOWS, STARTS, Kind
from ..refusal import RefusedError
from ..rules import KINDS, MAX_ACTIVITIES, NO_RULES, Rules, contradictions

CONSTRAINT = re.compile(r"\s*([A-Za-z][A-Za-z \-]*?)\s*(\d*)\s*\[(.*)\]\s*((?:\|.*)?)$")
UNFINISHED = re.compile(r"\s*[A-Za-z \-]+\d*\s*\[")
MAX_COMMAS = 50
"""A constraint may have this many commas; one of them parts two names."""
MAX_LISTED = 10
"""This many unused constraints are listed one by one."""

Follow = tuple[Kind, int, int]
"""A rule that follows from a template: its kind, and which of the two names it is about."""
FOLLOWS: Follow = (ALWAYS_FOLLOWS, 0, 1)
PRECEDES: Follow = (ALWAYS_PRECEDES, 1, 0)
NEVER: Follow = (NEVER_FOLLOWS, 0, 1)
NEVER_BACK: Follow = (NEVER_FOLLOWS, 1, 0)
BINARY: Mapping[str, tuple[Follow, ...]] = {
    **{f"{form}response": (FOLLOWS,) for form in ("", "alternate", "chain")},
    **{f"{form}precedence": (PRECEDES,) for form in ("", "alternate", "chain")},
    **{f"{form}succession": (FOLLOWS, PRECEDES) for form in ("", "alternate", "chain")},
    **{f"not{what}": (NEVER,) for what in ("response", "precedence", "succession")},
    **{f"notchain{what}": () for what in ("response", "precedence", "succession")},
    "notcoexistence": (NEVER, NEVER_BACK),
    "notrespondedexistence": (NEVER, NEVER_BACK),
    **dict.fromkeys(("choice", "exclusivechoice", "coexistence", "respondedexistence"), ()),
}
"""Templates about two activities, with the rules that follow."""
UNARY = ("init", "end", "existence", "absence", "exactly")
"""Templates about one activity."""


def read_declare(text: str) -> tuple[Rules, tuple[Statement, ...]]:
    """Read rules, and notes about constraints from which none follows."""
    reader = _Reader(text.splitlines())
    for constraint in reader.constraints():
        if not reader.use(constraint):
            reader.unused.append(constraint)
    return reader.rules(), reader.notes()


@dataclass(frozen=True)
class _Constraint:
    """One line of the file."""

    line: int
    text: str
    template: str
    number: int
    ids: tuple[int, ...]
    conditions: tuple[str, ...]


class _Reader:
    """Reads one Declare file."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        found = (line.strip().partition(" ") for line in lines)
        names = dict.fromkeys(name.strip() for word, _, name in found if word == "activity")
        self.ids = {name: i for i, name in enumerate(name for name in names if name)}
        if not self.ids:
            raise RefusedError("model.declare.no_activities", None)
        if len(self.ids) > MAX_ACTIVITIES:
            raise RefusedError("rules.too_many_activities", None, limit=MAX_ACTIVITIES)
        self.tables = {kind.name: kind.free_table(len(self.ids)) for kind in KINDS}
        self.starts = self.tables[STARTS.name]
        self.line_of: dict[tuple[str, int, int], int] = {}
        self.needed: dict[int, int] = {}
        self.begun = False
        self.unused: list[_Constraint] = []

    def constraints(self) -> list[_Constraint]:
        """Return every line that is a constraint; one that is not understood is refused."""
        found = []
        for number, line in enumerate(self.lines, start=1):
            if line.split(" ", 1)[0] in ("activity", "bind"):
                continue
            match = CONSTRAINT.fullmatch(line.strip())
            if match is not None:
                found.append(self._constraint(number, line, match))
            elif UNFINISHED.match(line):
                raise RefusedError("model.declare.unfinished", number)
        return found

    def _constraint(self, number: int, line: str, match: re.Match[str]) -> _Constraint:
        template = re.sub(r"[^a-z]", "", match[1].lower())
        known = (*BINARY, *UNARY)
        if template not in known:
            unknown = RefusedError("model.declare.unknown", number, name=match[1])
            raise unknown.advise(template, known)
        return _Constraint(
            line=number,
            text=line.strip().partition("|")[0].strip(),
            template=template,
            number=int(match[2][:3]) if match[2] else 1,
            ids=self._ids(number, match[3], template in BINARY),
            conditions=tuple(part.strip() for part in match[4].split("|")[1:]),
        )

    def _ids(self, line: int, text: str, two: bool) -> tuple[int, ...]:
        """Part the names in brackets; a name may hold commas, too."""
        words, ways = text.split(","), [tuple[str, ...]([text.strip()])]
        if two:
            cuts = range(1, min(len(words), MAX_COMMAS))
            ways = [(",".join(words[:i]).strip(), ",".join(words[i:]).strip()) for i in cuts]
        for way in ways:
            if all(name in self.ids for name in way):
                return tuple(self.ids[name] for name in way)
        if len(ways) != 1:
            raise RefusedError("model.declare.two", line, text=text)
        wrong = next(name for name in ways[0] if name not in self.ids)
        raise RefusedError("rules.unknown", line, name=wrong).advise(wrong, self.ids)

    def use(self, c: _Constraint) -> bool:
        """Turn a constraint into rules; return whether any follow."""
        follow = BINARY.get(c.template, ())
        demanding = bool(follow) and all(kind.demands for kind, *_ in follow)
        on_time_only = len(c.conditions) > 2 and not any(c.conditions[:-1])
        # A bound on the time makes a demand stronger and a ban weaker.
        if any(c.conditions) and not (demanding and on_time_only):
            return False
        for kind, one, other in follow:
            self.add(kind, c.ids[one], c.ids[other], c.line)
        return bool(follow) or (c.template in UNARY and self._use_unary(c, c.ids[0]))

    def _use_unary(self, c: _Constraint, a: int) -> bool:
        others = [b for b in range(len(self.ids)) if b != a]
        if c.template == "init":
            self.begun = True
            self.starts[others] = False
            if not self.starts.any():
                raise RefusedError("model.declare.second_init", c.line)
        elif c.template == "end":
            # The last one comes after everything else.
            for b in others:
                self.add(ALWAYS_FOLLOWS, b, a, c.line)
        elif c.template == "absence":
            return self._use_absence(c, a)
        else:
            return self._use_existence(c, a)
        return True

    def _use_existence(self, c: _Constraint, a: int) -> bool:
        """Existence, or an exact number: what occurs twice follows itself."""
        if not c.number:
            return c.template == "exactly" and self._use_absence(c, a)
        self.needed[a] = c.line
        if c.number >= 2:
            self.add(ALWAYS_FOLLOWS, a, a, c.line)
        elif c.template == "exactly":
            self.add(NEVER_FOLLOWS, a, a, c.line)
        return True

    def _use_absence(self, c: _Constraint, a: int) -> bool:
        """Absence2 is "at most once"; Absence (or Absence1) "not at all"."""
        if c.number == 2:
            self.add(NEVER_FOLLOWS, a, a, c.line)
        elif c.number <= 1:
            self.starts[a] = False
            for b in range(len(self.ids)):
                self.add(NEVER_FOLLOWS, b, a, c.line)
                self.add(NEVER_FOLLOWS, a, b, c.line)
        return c.number <= 2

    def add(self, kind: Kind, a: int, b: int, line: int) -> None:
        """Keep a rule and the line it comes from."""
        self.tables[kind.name][a, b] = True
        self.line_of.setdefault((kind.name, a, b), line)

    def rules(self) -> Rules:
        """Put the rules together."""
        if not self.starts.any():
            raise RefusedError("model.declare.no_start", None)
        # What must occur follows what begins every case, if that is known.
        first = int(np.flatnonzero(self.starts)[0]) if self.begun else -1
        for activity, line in self.needed.items():
            if self.begun and activity != first:
                self.add(ALWAYS_FOLLOWS, first, activity, line)
        self._refuse_contradictions()
        # What needs another before it begins no case; what begins every case precedes the rest.
        precedes = self.tables[ALWAYS_PRECEDES.name]
        self.starts &= ~precedes.any(axis=1)
        if not self.starts.any():
            raise RefusedError("model.declare.no_start", None)
        if self.begun and self.starts.sum() == 1:
            others = np.arange(len(self.ids)) != first
            # What never comes after the first cannot occur at all, so nothing is asked of it.
            precedes[:, first] |= others & ~self.tables[NEVER_FOLLOWS.name][first]
        return Rules(
            activities=tuple(self.ids), **self.tables, empty=not self.needed, source=NO_RULES
        )

    def _refuse_contradictions(self) -> None:
        """Refuse demands that another constraint forbids: such an activity could not occur."""
        names = list(self.ids)
        for a, b, kind in contradictions(self.tables):
            pair = (a, b) if kind.demands == "after" else (b, a)
            line = self.line_of.get((NEVER_FOLLOWS.name, *pair))
            pair_of_names = {"name": names[a], "other": names[b]}
            what = (
                Statement(f"model.declare.never.{kind.demands}", **pair_of_names)
                if line is None
                else Statement(f"model.declare.clash.{kind.demands}", **pair_of_names, line=line)
            )
            raise RefusedError(what, self.line_of[kind.name, a, b])

    def notes(self) -> tuple[Statement, ...]:
        """Say which constraints no rule follows from."""
        if not self.unused:
            return ()
        listed: list[Statement] = [
            Statement("model.note.constraint", line=c.line, text=c.text)
            for c in self.unused[:MAX_LISTED]
        ]
        if len(self.unused) > MAX_LISTED:
            listed.append(Statement("model.note.more", count=len(self.unused) - MAX_LISTED))
        return (Statement("model.note.unused", count=len(self.unused), constraints=listed),)
