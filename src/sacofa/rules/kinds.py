"""Kinds of rules. Each is one declared value: how it is learned, written, worded and judged.

A kind is a table of activities (which may begin a case) or of pairs of them (b never follows a).
`Rules` has a field for each kind; everything else uses the fields that are there. `RuleStates`
judges by the kinds of this module; any other brings a `judge`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Tables = Mapping[str, Bools]
"""The table of each kind, by its name."""


class Facts(NamedTuple):
    """Facts about the cases of a log or of a model.

    Activities that a truncated case lacks may have come later, so they do not count as missing.

    Attributes:
        seen: [a]: some case has an a.
        seen_finished: [a]: some finished case has an a.
        followed: [a, b]: some case has a b after its first a.
        not_followed: [a, b]: some finished case has an a and no b after the first.
        not_preceded: [a, b]: some case has an a and no b before the first.
        first: [a]: some case begins with a.
        last: [a]: some finished case ends with a.
    """

    seen: Bools
    seen_finished: Bools
    followed: Bools
    not_followed: Bools
    not_preceded: Bools
    first: Bools
    last: Bools


class Semantics(Protocol):
    """Judges prefixes as they grow. States are small integers that stand for the events so far.

    A mechanism accepts any object with these members, also from outside the package.
    """

    @property
    def activities(self) -> tuple[str, ...]:
        """Names of activities; the id of an activity is its place here."""

    def start(self) -> int:
        """Return the state of the empty prefix."""

    def harmless(self, states: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which next steps are harmless: a column per activity, the last for the end."""

    def step(self, states: NDArray[np.int64], activities: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the state after one more activity, for each pair."""

    def violations(self, prefix: Sequence[int], finished: bool) -> int:
        """Return the number of rules that a prefix of activity ids breaks."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of rule.

    Attributes:
        name: Field of `Rules`.
        of_pairs: Whether it is about pairs of activities.
        free: Value of a cell that forbids nothing.
        absent: Value of a cell of an activity that never happens.
        key: Key in rules files.
        meaning: Its explanation in rules files.
        learn: Finds the rules that all cases keep.
        demands: Position of the demanded b; "" for a kind that demands nothing.
        verb: For kinds of activities, the verb for the allowed ones in sentences.
        judge: Makes semantics that judge by this kind in addition; None if `RuleStates` does.
    """

    name: str
    of_pairs: bool = True
    free: bool = False
    absent: bool = False
    key: str
    meaning: str
    learn: Callable[[Facts], Bools]
    demands: Literal["", "before", "after"] = ""
    verb: str = ""
    judge: Callable[[Semantics, Bools], Semantics] | None = None

    def free_table(self, size: int) -> Bools:
        """Return the table that forbids nothing."""
        shape = (size, size) if self.of_pairs else (size,)
        return np.full(shape, self.free, dtype=np.bool_)


ALWAYS_FOLLOWS = Kind(
    name="always_follows",
    key="always_followed_by",
    meaning="some B comes after the first A",
    learn=lambda facts: facts.seen_finished[:, None] & ~facts.not_followed,
    demands="after",
)
ALWAYS_PRECEDES = Kind(
    name="always_precedes",
    key="always_preceded_by",
    meaning="some B comes before the first A",
    learn=lambda facts: facts.seen[:, None] & ~facts.not_preceded,
    demands="before",
)
NEVER_FOLLOWS = Kind(
    name="never_follows",
    absent=True,
    key="never_followed_by",
    meaning='no B comes after an A; for ["A"] itself: A occurs at most once',
    learn=lambda facts: ~facts.followed,
)
STARTS = Kind(
    name="starts",
    of_pairs=False,
    free=True,
    key="starts",
    meaning="the activities that may begin a case; left out: any may",
    learn=lambda facts: facts.first,
    verb="begin",
)
