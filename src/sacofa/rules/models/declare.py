"""Declare files (`.decl`, as RuM and Declare4Py write them), converted to rules.

Rules are weaker than many templates (they cannot express *direct* or *alternating* order), so a
template is converted to the strongest rules that follow from it. Constraints that imply no rule are
listed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from ...errors import Statement
from ..kinds import ALWAYS_FOLLOWS, ALWAYS_PRECEDES, NEVER_FOLLOWS, Kind
from ..reading import RefusedError
from ..rules import MAX_ACTIVITIES, NO_RULES, Rules, contradictions, free_tables

CONSTRAINT = re.compile(r"\s*([A-Za-z][A-Za-z \-]*?)\s*(\d*)\s*\[(.*)\]\s*((?:\|.*)?)$")
UNFINISHED = re.compile(r"\s*[A-Za-z \-]+\d*\s*\[")
MAX_COMMAS = 50
"""Maximum number of commas in a constraint; one of them separates two names."""
MAX_LISTED = 10
"""Maximum number of unused constraints that are listed individually."""

Follow = tuple[Kind, int, int]
"""A rule that follows from a template: its kind, and which of the two names it concerns."""
FOLLOWS: Follow = (ALWAYS_FOLLOWS, 0, 1)
PRECEDES: Follow = (ALWAYS_PRECEDES, 1, 0)
NEVER_AFTER: Follow = (NEVER_FOLLOWS, 0, 1)
NEVER_BACK: Follow = (NEVER_FOLLOWS, 1, 0)
BINARY: Mapping[str, tuple[Follow, ...]] = {
    **{f"{form}response": (FOLLOWS,) for form in ("", "alternate", "chain")},
    **{f"{form}precedence": (PRECEDES,) for form in ("", "alternate", "chain")},
    **{f"{form}succession": (FOLLOWS, PRECEDES) for form in ("", "alternate", "chain")},
    **{f"not{what}": (NEVER_AFTER,) for what in ("response", "precedence", "succession")},
    **{f"notchain{what}": () for what in ("response", "precedence", "succession")},
    "notcoexistence": (NEVER_AFTER, NEVER_BACK),
    "notrespondedexistence": (NEVER_AFTER, NEVER_BACK),
    **dict.fromkeys(("choice", "exclusivechoice", "coexistence", "respondedexistence"), ()),
}
"""Templates about two activities, with the rules that follow."""
UNARY = ("init", "end", "existence", "absence", "exactly")
"""Templates about one activity."""


def read_declare(text: str) -> tuple[Rules, tuple[Statement, ...]]:
    """Read rules, and notes about constraints that imply none."""
    lines = text.splitlines()
    reader = _Reader(lines)
    unused = []
    for number, line in enumerate(lines, start=1):
        if line.split(" ", 1)[0] in ("activity", "bind"):
            continue
        if match := CONSTRAINT.fullmatch(line.strip()):
            if not reader.use(number, match):
                constraint = line.partition("|")[0].strip()
                unused.append(Statement("model.note.constraint", line=number, text=constraint))
        elif UNFINISHED.match(line):
            raise RefusedError("model.declare.unfinished", number)
    rules = reader.rules()
    if not unused:
        return rules, ()
    listed = unused[:MAX_LISTED]
    if len(unused) > MAX_LISTED:
        listed.append(Statement("model.note.more", count=len(unused) - MAX_LISTED))
    return rules, (Statement("model.note.unused", count=len(unused), constraints=listed),)


class _Reader:
    """Reads one Declare file."""

    def __init__(self, lines: list[str]) -> None:
        found = (line.strip().partition(" ") for line in lines)
        names = dict.fromkeys(name.strip() for word, _, name in found if word == "activity")
        self.ids = {name: i for i, name in enumerate(name for name in names if name)}
        if not self.ids:
            raise RefusedError("model.declare.no_activities", None)
        if len(self.ids) > MAX_ACTIVITIES:
            raise RefusedError("rules.too_many_activities", None, limit=MAX_ACTIVITIES)
        self.tables = free_tables(len(self.ids))
        self.starts = self.tables["starts"]
        self.line_of: dict[tuple[Kind, int, int], int] = {}
        self.needed: dict[int, int] = {}
        self.begun = False

    def use(self, line: int, match: re.Match[str]) -> bool:
        """Convert a constraint to rules; return whether it implies any."""
        template = re.sub(r"[^a-z]", "", match[1].lower())
        if template not in (*BINARY, *UNARY):
            unknown = RefusedError("model.declare.unknown", line, name=match[1])
            raise unknown.advise(template, (*BINARY, *UNARY))
        ids = self._ids(line, match[3], template in BINARY)
        follow = BINARY.get(template, ())
        if _is_weaker([part.strip() for part in match[4].split("|")[1:]], follow):
            return False
        for kind, one, other in follow:
            self._add(kind, ids[one], ids[other], line)
        if template in BINARY:
            return bool(follow)
        return self._use_unary(line, template, int(match[2][:3] or 1), ids[0])

    def _use_unary(self, line: int, template: str, number: int, a: int) -> bool:
        others = [b for b in range(len(self.ids)) if b != a]
        if template == "end":
            # The last activity follows all others.
            for b in others:
                self._add(ALWAYS_FOLLOWS, b, a, line)
        elif template == "init":
            self.begun = True
            self.starts[others] = False
            if not self.starts.any():
                raise RefusedError("model.declare.second_init", line)
        else:
            return self._use_number(line, template, number, a)
        return True

    def _ids(self, line: int, text: str, two: bool) -> list[int]:
        """Split the names in brackets; a name may contain commas."""
        words, ways = text.split(","), [[text.strip()]]
        if two:
            cuts = range(1, min(len(words), MAX_COMMAS))
            ways = [[",".join(words[:i]).strip(), ",".join(words[i:]).strip()] for i in cuts]
        for way in ways:
            if all(name in self.ids for name in way):
                return [self.ids[name] for name in way]
        if len(ways) != 1:
            raise RefusedError("model.declare.two", line, text=text)
        wrong = next(name for name in ways[0] if name not in self.ids)
        raise RefusedError("rules.unknown", line, name=wrong).advise(wrong, self.ids)

    def _use_number(self, line: int, template: str, number: int, a: int) -> bool:
        # Existence is at least, absence less often than the number.
        least = 0 if template == "absence" else number
        most = {"absence": max(number, 1) - 1, "exactly": number}.get(template, 2)
        if least:
            self.needed[a] = line
        if least >= 2:
            # An activity that occurs twice follows itself.
            self._add(ALWAYS_FOLLOWS, a, a, line)
        elif most == 1:
            self._add(NEVER_FOLLOWS, a, a, line)
        elif not most:
            self.starts[a] = False
            for b in range(len(self.ids)):
                self._add(NEVER_FOLLOWS, b, a, line)
                self._add(NEVER_FOLLOWS, a, b, line)
        return bool(least) or most <= 1

    def _add(self, kind: Kind, a: int, b: int, line: int) -> None:
        self.tables[kind.name][a, b] = True
        self.line_of.setdefault((kind, a, b), line)

    def rules(self) -> Rules:
        """Combine the rules."""
        if not self.starts.any():
            raise RefusedError("model.declare.no_start", None)
        # A mandatory activity follows the first activity of every case, if that is known.
        first = int(np.flatnonzero(self.starts)[0]) if self.begun else -1
        for activity, line in self.needed.items():
            if self.begun and activity != first:
                self._add(ALWAYS_FOLLOWS, first, activity, line)
        self._refuse_contradictions()
        # An activity that requires another before it cannot begin a case; the first activity
        # precedes all others.
        precedes = self.tables[ALWAYS_PRECEDES.name]
        self.starts &= ~precedes.any(axis=1)
        if not self.starts.any():
            raise RefusedError("model.declare.no_start", None)
        if self.begun and self.starts.sum() == 1:
            others = np.arange(len(self.ids)) != first
            # If b never follows the first activity, b cannot occur, so demands on it are dropped.
            precedes[:, first] |= others & ~self.tables[NEVER_FOLLOWS.name][first]
        return Rules(
            activities=tuple(self.ids), **self.tables, empty=not self.needed, source=NO_RULES
        )

    def _refuse_contradictions(self) -> None:
        """Refuse demands that another constraint forbids: such an activity could not occur."""
        names = list(self.ids)
        for a, b, kind in contradictions(self.tables):
            pair = (a, b) if kind.demands == "after" else (b, a)
            line = self.line_of.get((NEVER_FOLLOWS, *pair))
            what = {"name": names[a], "other": names[b]}
            at = self.line_of[kind, a, b]
            if line is None:
                raise RefusedError(Statement(f"model.declare.never.{kind.demands}", **what), at)
            raise RefusedError(
                Statement(f"model.declare.clash.{kind.demands}", **what, line=line), at
            )


def _is_weaker(conditions: list[str], follow: tuple[Follow, ...]) -> bool:
    """Whether conditions weaken the rules that follow from a template."""
    demanding = bool(follow) and all(kind.demands for kind, *_ in follow)
    on_time_only = len(conditions) > 2 and not any(conditions[:-1])
    # A time bound makes a demand stronger and a ban weaker.
    return any(conditions) and not (demanding and on_time_only)
