"""Rules: which activity may, must or must never follow or precede which, and which may begin.

Every rule about a pair says something about two activities a and b of one case:

* *b never follows a*: no b after an a;
* *b always follows a*: some b after the first a;
* *b never precedes a*: no b before an a. This is the same as *a never follows b*, so that the two
  are kept once and break together;
* *b always precedes a*: some b before the first a.

The SaCoFa paper requires some b before the *last* a. It also judges prefixes, whose last a may be
the first of the case, so a rule must hold for every prefix. Required of all prefixes of all cases,
"before the last a" is equivalent to "before the first a". Otherwise a log could break its own
rules: for the single case ⟨b, c, b⟩, the prefix ⟨b⟩ would be harmful.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from ..errors import SettingError, Statement
from .kinds import (
    ALWAYS_FOLLOWS,
    ALWAYS_PRECEDES,
    NEVER_FOLLOWS,
    STARTS,
    Bools,
    Facts,
    Kind,
    Tables,
)
from .provenance import Provenance, Stated

NO_RULES = Stated("no rules")
MAX_ACTIVITIES = 4_000
"""Upper bound: each table of rules has a cell for every pair of activities."""


def rule(kind: Kind) -> Bools:
    """Declare a field of `Rules` for a kind; by default it forbids nothing."""
    made: Bools = field(default=None, metadata={"kind": kind})  # type: ignore[arg-type]
    return made


@dataclass(frozen=True, eq=False, kw_only=True)
class Rules:
    """Rules of a process, as tables of its activities.

    Attributes:
        activities: Names of activities; the id of an activity is its place here.
        always_follows: [a, b]: b always follows a.
        always_precedes: [a, b]: b always precedes a.
        never_follows: [a, b]: b never follows a.
        starts: [a]: a case may begin with a.
        empty: Whether a case may have no events.
        source: Origin of the rules, which the certificate repeats. A sentence states that they
            are public.
    """

    activities: tuple[str, ...]
    always_follows: Bools = rule(ALWAYS_FOLLOWS)
    always_precedes: Bools = rule(ALWAYS_PRECEDES)
    never_follows: Bools = rule(NEVER_FOLLOWS)
    starts: Bools = rule(STARTS)
    empty: bool = True
    source: Provenance

    def __post_init__(self) -> None:
        if isinstance(self.source, str):
            object.__setattr__(self, "source", Stated(self.source))
        for name, free in free_tables(len(self.activities)).items():
            given = getattr(self, name)
            table = free if given is None else np.array(given, dtype=np.bool_)
            if table.shape != free.shape:
                must = Statement("must.of_shape", shape=str(free.shape))
                raise SettingError(name, table.shape, must)
            table.setflags(write=False)
            object.__setattr__(self, name, table)
        for a, b, kind in contradictions(self.tables):
            name = f"{kind.name} of {self.activities[a]!r}"
            raise SettingError(name, repr(self.activities[b]), Statement("must.possible"))

    @classmethod
    def free(cls, activities: Sequence[str], source: Provenance = NO_RULES) -> Rules:
        """Return rules that allow everything."""
        return cls(activities=tuple(activities), source=source)

    @property
    def tables(self) -> Tables:
        """The table of each kind, by its name."""
        return {kind.name: getattr(self, kind.name) for kind in KINDS}

    @property
    def never_precedes(self) -> Bools:
        """[a, b]: b never precedes a."""
        return self.never_follows.T

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Rules)
            and self.activities == other.activities
            and self.source == other.source
            and self.empty == other.empty
            and all(np.array_equal(self.tables[k], table) for k, table in other.tables.items())
        )

    __hash__ = None  # type: ignore[assignment]

    def possible_steps(self) -> Bools:
        """Return whether b may directly follow a: [a, b], with the start last and the end last."""
        size = len(self.activities)
        possible = np.ones((size + 1, size + 1), dtype=np.bool_)
        possible[:-1, :-1] = ~self.never_follows
        possible[-1, :-1] = self.starts
        return possible

    def project_onto(self, activities: Sequence[str], closed: bool = False) -> Rules:
        """Express the rules over other activities.

        Rules about activities that are not among them are dropped. If a rule lists activities that
        are allowed in a place and none of them is left, all are allowed: otherwise nothing would
        be possible.

        Args:
            activities: Names of activities.
            closed: Whether activities that the rules do not know never happen. By default they are
                not restricted.

        Returns:
            The rules over these activities.
        """
        if tuple(activities) == self.activities:
            return self
        ids = {name: i for i, name in enumerate(self.activities)}
        old = np.array([ids.get(name, -1) for name in activities], dtype=np.int64)
        new = np.flatnonzero(old >= 0)
        old = old[new]
        moved = free_tables(len(activities))
        for kind in KINDS:
            table, known = moved[kind.name], self.tables[kind.name]
            if closed:
                table[:] = kind.absent
            if kind.of_pairs:
                table[np.ix_(new, new)] = known[np.ix_(old, old)]
            else:
                none_left = known.any() and not known[old].any()
                table[new] = kind.free if none_left else known[old]
        return Rules(activities=tuple(activities), **moved, empty=self.empty, source=self.source)


KINDS: tuple[Kind, ...] = tuple(
    entry.metadata["kind"] for entry in fields(Rules) if "kind" in entry.metadata
)
"""The kinds of rules: the fields of `Rules` that hold one."""


def free_tables(size: int) -> dict[str, Bools]:
    """Return tables that forbid nothing."""
    return {kind.name: kind.free_table(size) for kind in KINDS}


def rules_of(activities: Sequence[str], facts: Facts, empty: bool, source: Provenance) -> Rules:
    """Return every rule that all cases keep."""
    tables = {kind.name: kind.learn(facts) for kind in KINDS}
    return Rules(activities=tuple(activities), **tables, empty=empty, source=source)


def contradictions(tables: Tables) -> list[tuple[int, int, Kind]]:
    """Return every demand (a, b, kind) that no case with a can keep."""
    never = tables[NEVER_FOLLOWS.name]
    # Nothing comes before its own first occurrence.
    impossible = {"after": never, "before": never.T | np.eye(len(never), dtype=np.bool_)}
    return [
        (a, b, kind)
        for kind in KINDS
        if kind.demands
        for a, b in np.argwhere(tables[kind.name] & impossible[kind.demands]).tolist()
    ]
