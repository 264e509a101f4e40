"""Declare files (`.decl`, as RuM and Declare4Py write them): what of them can be a rule.

A rule here is weaker than many a template (it says nothing of *direct* or *alternating* order),
so a template gives the strongest rules that follow from it. What no rule follows from is listed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import RulesError, nearest
from ..file import MAX_ACTIVITIES
from ..provenance import Provenance
from ..rules import Rules

Bools = NDArray[np.bool_]

CONSTRAINT = re.compile(r"\s*([A-Za-z][A-Za-z \-]*?)\s*(\d*)\s*\[(.*)\]\s*((?:\|.*)?)$")
FORWARD = frozenset(["response", "alternateresponse", "chainresponse"])
BACKWARD = frozenset(["precedence", "alternateprecedence", "chainprecedence"])
BOTH = frozenset(["succession", "alternatesuccession", "chainsuccession"])
NOT_AFTER = frozenset(["notresponse", "notsuccession", "notprecedence"])
NOT_BOTH = frozenset(["notcoexistence", "notrespondedexistence"])
UNARY = frozenset(["init", "end", "existence", "absence", "exactly"])
UNUSED = frozenset(
    [
        "choice",
        "exclusivechoice",
        "coexistence",
        "respondedexistence",
        "notchainresponse",
        "notchainprecedence",
        "notchainsuccession",
    ]
)
KNOWN = FORWARD | BACKWARD | BOTH | NOT_AFTER | NOT_BOTH | UNARY | UNUSED
SHOWN = 10
"""So many constraints that are not used are listed one by one."""


def read_declare(
    path: str | Path, content: bytes, source: Provenance
) -> tuple[Rules, tuple[str, ...]]:
    """Read rules, and what is to be said about constraints that are none."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RulesError(path, None, "is not text in UTF-8") from None
    return _Reader(path, text.splitlines()).rules(source)


@dataclass(frozen=True)
class _Constraint:
    """One line of the file."""

    line: int
    text: str
    template: str
    number: int
    names: tuple[str, ...]
    conditions: tuple[str, ...]


@dataclass
class _Reader:
    """One Declare file in the reading."""

    path: str | Path
    lines: Sequence[str]
    unused: list[str] = field(default_factory=list)

    def rules(self, source: Provenance) -> tuple[Rules, tuple[str, ...]]:
        """Put the rules together."""
        names = self.activities()
        self.ids = {name: i for i, name in enumerate(names)}
        shape = (len(names), len(names))
        self.never, self.follows, self.precedes = (np.zeros(shape, np.bool_) for _ in range(3))
        self.said: dict[tuple[str, int, int], int] = {}
        self.starts = np.ones(len(names), dtype=np.bool_)
        self.needed: dict[int, int] = {}
        self.begun = False
        for constraint in self.constraints():
            if not self.use(constraint):
                self.unused.append(f"line {constraint.line}: {constraint.text}")
        self.add_needed()
        self.refuse_contradictions(names)
        self.add_beginnings()
        rules = Rules(
            activities=tuple(names),
            never_follows=self.never,
            always_follows=self.follows,
            always_precedes=self.precedes,
            starts=self.starts,
            empty=not self.needed,
            source=source,
        )
        return rules, self.notes()

    def activities(self) -> list[str]:
        """The declared names, in the order of the file."""
        found = []
        for line in self.lines:
            word, _, rest = line.strip().partition(" ")
            if word == "activity" and rest.strip():
                found.append(rest.strip())
        if not found:
            raise RulesError(self.path, None, "no activities: a line for each says activity NAME")
        if len(found) > MAX_ACTIVITIES:
            raise RulesError(self.path, None, f"more than {MAX_ACTIVITIES:,} activities")
        return list(dict.fromkeys(found))

    def constraints(self) -> list[_Constraint]:
        """Every line that is a constraint; one that is not understood is refused."""
        found = []
        for number, line in enumerate(self.lines, start=1):
            if line.split(" ", 1)[0] in ("activity", "bind"):
                continue
            match = CONSTRAINT.fullmatch(line.strip())
            if match is None:
                if re.match(r"\s*[A-Za-z \-]+\d*\s*\[", line):
                    raise RulesError(self.path, number, "a constraint ends with ]")
                continue
            words = re.sub(r"[^a-z]", "", match[1].lower())
            if words not in KNOWN:
                what = f'"{match[1]}" is no constraint.{nearest(words, KNOWN)}'
                raise RulesError(self.path, number, what)
            conditions = tuple(part.strip() for part in match[4].split("|")[1:])
            listed = self.names(number, match[3], 1 if words in UNARY else 2)
            times = int(match[2][:3]) if match[2] else 1
            text = line.strip().partition("|")[0].strip()
            found.append(_Constraint(number, text, words, times, listed, conditions))
        return found

    def names(self, line: int, text: str, number: int) -> tuple[str, ...]:
        """Part the names in brackets; a name may hold commas, too."""
        parts = [part.strip() for part in text.split(",")]
        if number == 1:
            ways: list[tuple[str, ...]] = [(text.strip(),)]
        else:
            ways = [
                (",".join(text.split(",")[:i]).strip(), ",".join(text.split(",")[i:]).strip())
                for i in range(1, min(len(parts), 50))
            ]
        for way in ways:
            if all(name in self.ids for name in way):
                return way
        if number == 2 and len(parts) != 2:
            raise RulesError(self.path, line, f"two activities are needed in [{text}]")
        wrong = next(name for name in (parts if number == 2 else ways[0]) if name not in self.ids)
        what = f'"{wrong}" is not among the activities.{nearest(wrong, self.ids)}'
        raise RulesError(self.path, line, what)

    def use(self, c: _Constraint) -> bool:
        """Turn a constraint into rules; tell whether any came of it."""
        a, *others = (self.ids[name] for name in c.names)
        b = others[0] if others else a
        timed_only = not any(c.conditions[:-1]) if len(c.conditions) > 2 else False
        conditional = any(c.conditions)
        positive = c.template in FORWARD | BACKWARD | BOTH
        # A bound on the time makes a demand stronger and a ban weaker.
        if conditional and not (positive and timed_only):
            return False
        if c.template in UNUSED:
            return False
        if c.template in FORWARD | BOTH:
            self.say("follows", a, b, c.line)
        if c.template in BACKWARD | BOTH:
            self.say("precedes", b, a, c.line)
        if c.template in NOT_AFTER | NOT_BOTH:
            self.say("never", a, b, c.line)
        if c.template in NOT_BOTH:
            self.say("never", b, a, c.line)
        if c.template in UNARY:
            return self.use_unary(c, a)
        return True

    def use_unary(self, c: _Constraint, a: int) -> bool:
        """Turn a constraint on one activity into rules."""
        if c.template == "init":
            only = np.zeros_like(self.starts)
            only[a] = True
            self.starts &= only
            self.begun = True
            if not self.starts.any():
                what = "another Init says otherwise: nothing could begin a case"
                raise RulesError(self.path, c.line, what)
            return True
        if c.template == "end":
            # The last one comes after everything else.
            for b in range(len(self.starts)):
                if b != a:
                    self.say("follows", b, a, c.line)
            return True
        if c.template == "absence":
            # Absence2 is "at most once"; Absence (or Absence1) "not at all".
            if c.number == 2:
                self.say("never", a, a, c.line)
            elif c.number <= 1:
                self.starts[a] = False
                for b in range(len(self.starts)):
                    self.say("never", b, a, c.line)
                    self.say("never", a, b, c.line)
            return c.number <= 2
        self.needed[a] = c.line
        if c.number >= 2:
            self.say("follows", a, a, c.line)
        if c.template == "exactly" and c.number == 1:
            self.say("never", a, a, c.line)
        return True

    def add_needed(self) -> None:
        """What must occur follows what begins every case, where that is known."""
        if self.begun:
            first = int(np.flatnonzero(self.starts)[0])
            for activity, line in self.needed.items():
                if activity != first:
                    self.say("follows", first, activity, line)

    def add_beginnings(self) -> None:
        """What needs another before it begins no case; what begins every case precedes the rest."""
        self.starts &= ~self.precedes.any(axis=1)
        if not self.starts.any():
            raise RulesError(self.path, None, "no activity could begin a case")
        if self.begun and self.starts.sum() == 1:
            first = int(np.flatnonzero(self.starts)[0])
            others = np.arange(len(self.starts)) != first
            # What never comes after the first cannot occur at all, so nothing is asked of it.
            self.precedes[:, first] |= others & ~self.never[first]

    def say(self, what: str, a: int, b: int, line: int) -> None:
        """Write down a rule and the line it comes from."""
        table: Bools = getattr(self, what)
        table[a, b] = True
        self.said.setdefault((what, a, b), line)

    def refuse_contradictions(self, names: Sequence[str]) -> None:
        """Refuse what always and never holds: such an activity could not occur at all."""
        for what, table, mirror in (
            ("follows", self.follows, self.never),
            ("precedes", self.precedes, self.never.T),
        ):
            clash = table & mirror
            if what == "precedes":
                clash = clash | (table & np.eye(len(table), dtype=np.bool_))
            for a, b in np.argwhere(clash).tolist():
                never = ("never", a, b) if what == "follows" else ("never", b, a)
                other = f"line {self.said[never]} says never" if never in self.said else "one is"
                raise RulesError(
                    self.path,
                    self.said[what, a, b],
                    f'"{names[b]}" always {what} "{names[a]}": {other}, so that it cannot occur',
                )

    def notes(self) -> tuple[str, ...]:
        """Say which constraints no rule follows from."""
        if not self.unused:
            return ()
        more = len(self.unused) - SHOWN
        listed = "; ".join(self.unused[:SHOWN]) + (f"; and {more} more" if more > 0 else "")
        return (f"{len(self.unused)} constraints are not used, no rule follows: {listed}.",)
