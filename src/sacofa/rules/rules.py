"""Rules: which activity may, must or must never follow or precede which, and which may begin.

Every rule says something about two activities a and b of one case:

* *b never follows a*: no b after an a;
* *b always follows a*: some b after the first a;
* *b never precedes a*: no b before an a, which says the same as *a never follows b*, so that the
  two are kept once and break together;
* *b always precedes a*: some b before the first a.

The SaCoFa paper asks for some b before the *last* a. It also judges prefixes, whose last a may be
the first of the case, so a rule that is checked at once has to hold for every prefix. Asked of
all prefixes of all cases, "before the last a" is "before the first a". Without that, a log
could break its own rules: of the single case ⟨b, c, b⟩, the prefix ⟨b⟩ would be harmful.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import SettingError
from .provenance import Provenance, Stated

Bools = NDArray[np.bool_]
NO_RULES = Stated("no rules")


@dataclass(frozen=True, eq=False, kw_only=True)
class Rules:
    """What makes sense for a process, as facts about pairs of its activities."""

    activities: tuple[str, ...]
    """The names; an activity's id is its place here."""
    never_follows: Bools
    """[a, b]: b never follows a."""
    always_follows: Bools
    """[a, b]: b always follows a."""
    always_precedes: Bools
    """[a, b]: b always precedes a."""
    starts: Bools
    """[a]: a case may begin with a."""
    empty: bool = True
    """Whether a case may have no events at all."""
    source: Provenance
    """Where the rules come from, as the certificate repeats it; a sentence is a person's word."""

    def __post_init__(self) -> None:
        if isinstance(self.source, str):
            object.__setattr__(self, "source", Stated(self.source))
        size = len(self.activities)
        for name, shape in (
            ("never_follows", (size, size)),
            ("always_follows", (size, size)),
            ("always_precedes", (size, size)),
            ("starts", (size,)),
        ):
            part = np.array(getattr(self, name), dtype=np.bool_)
            if part.shape != shape:
                raise SettingError(name, f"shape {part.shape}", f"of shape {shape}")
            part.setflags(write=False)
            object.__setattr__(self, name, part)
        for a, b, kind in self.contradictions():
            raise SettingError(
                f"{kind} of {self.activities[a]!r}",
                repr(self.activities[b]),
                "possible: the rules also say the opposite",
            )

    @classmethod
    def free(cls, activities: Sequence[str], source: Provenance = NO_RULES) -> Rules:
        """Make rules that allow everything."""
        size = len(activities)
        none = np.zeros((size, size), dtype=np.bool_)
        return cls(
            activities=tuple(activities),
            never_follows=none,
            always_follows=none,
            always_precedes=none,
            starts=np.ones(size, dtype=np.bool_),
            source=source,
        )

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
            and all(
                np.array_equal(getattr(self, part), getattr(other, part))
                for part in ("never_follows", "always_follows", "always_precedes", "starts")
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def contradictions(self) -> list[tuple[int, int, str]]:
        """List every always rule (a, b, kind) that no case with a can keep."""
        follows = self.always_follows & self.never_follows
        precedes = self.always_precedes & self.never_precedes
        np.fill_diagonal(precedes, self.always_precedes.diagonal())
        if not follows.any() and not precedes.any():
            return []
        return [
            (int(a), int(b), kind)
            for kind, clash in (("always_follows", follows), ("always_precedes", precedes))
            for a, b in np.argwhere(clash)
        ]

    def possible_steps(self) -> Bools:
        """[a, b]: whether b may come directly after a; the last row begins and column ends."""
        size = len(self.activities)
        possible = np.ones((size + 1, size + 1), dtype=np.bool_)
        possible[:-1, :-1] = ~self.never_follows
        possible[-1, :-1] = self.starts
        return possible

    def project_onto(self, activities: Sequence[str]) -> Rules:
        """Express over other activities.

        Rules about activities that are not among them vanish. Activities that the rules do not
        know are not restricted in any way and may begin a case. If none of the activities that
        may begin a case is left, the start rule vanishes too: else nothing could ever begin.
        """
        if tuple(activities) == self.activities:
            return self
        ids = {name: i for i, name in enumerate(self.activities)}
        old = np.array([ids.get(name, -1) for name in activities], dtype=np.int64)
        new = np.flatnonzero(old >= 0)
        old = old[new]

        def moved(pairs: Bools) -> Bools:
            result = np.zeros((len(activities), len(activities)), dtype=np.bool_)
            result[np.ix_(new, new)] = pairs[np.ix_(old, old)]
            return result

        starts = np.ones(len(activities), dtype=np.bool_)
        if self.starts[old].any() or not self.starts.any():
            starts[new] = self.starts[old]
        return Rules(
            activities=tuple(activities),
            never_follows=moved(self.never_follows),
            always_follows=moved(self.always_follows),
            always_precedes=moved(self.always_precedes),
            starts=starts,
            empty=self.empty,
            source=self.source,
        )
