"""Kinds of rules. Each is one declared value: how it is stored, learned, written, worded, judged.

A kind is a table of activities (which may begin a case) or of pairs of them (b never follows a).
`Rules` has a field for each kind; projection, rules files, learning, models and texts use the
fields that are there. Judging is fast for the kinds of this module, which `RuleStates` knows; any
other kind brings a `judge`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .graph import GraphFacts
from .protocol import Semantics

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Tables = Mapping[str, Bools]
"""The table of each kind, by its name."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LogFacts:
    """Counts of variants from which rules are learned.

    What a truncated case lacks may have come later. Therefore demands on the future are learned
    from finished variants alone.

    Attributes:
        having: [a]: variants with an a.
        having_finished: The same of finished variants.
        followed: [a, b]: variants with some b after the first a.
        followed_finished: The same of finished variants.
        preceded: [a, b]: variants with some b before the first a.
        first: [a]: whether a variant begins with a.
        last: [a]: whether a finished variant ends with a.
    """

    having: Ints
    having_finished: Ints
    followed: Ints
    followed_finished: Ints
    preceded: Ints
    first: Bools
    last: Bools


class Phrase(NamedTuple):
    """A part of the sentence about one activity."""

    position: int
    """Place in the sentence: 0 how often, 1 before it, 2 after it, 3 never after it."""
    text: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Row:
    """The rules of one kind about one activity, to be worded.

    Attributes:
        names: Names of all activities, printable.
        activity: Place of the activity.
        row: [b]: whether the rule holds for b.
        possible: [b]: whether b can happen at all.
    """

    names: Sequence[str]
    activity: int
    row: Bools
    possible: Bools

    @property
    def itself(self) -> bool:
        """Whether the rule holds for the activity itself."""
        return bool(self.row[self.activity])

    @property
    def others(self) -> Bools:
        """[b]: whether b is another activity."""
        others: Bools = np.arange(len(self.names)) != self.activity
        return others

    def listed(self, chosen: Bools, word: str) -> str:
        """Return the names of chosen activities: "A, B and C"."""
        return listed([self.names[i] for i in np.flatnonzero(chosen).tolist()], word)


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
        mirrored_key: Another key, for pairs that are written from the other side.
        mirrored_meaning: Its explanation.
        learn: Finds the rules that all cases of a log keep.
        of_model: Finds the rules that all cases of a model keep.
        demands: Where b must be, for a kind that demands some b; "" for one that demands nothing.
        phrases: For kinds of pairs, words about one activity.
        sentence: For kinds of activities, words about those that are allowed; None if all are.
        judge: Makes semantics that judge by this kind in addition; None if `RuleStates` does.
    """

    name: str
    of_pairs: bool = True
    free: bool = False
    absent: bool = False
    key: str
    meaning: str
    mirrored_key: str = ""
    mirrored_meaning: str = ""
    learn: Callable[[LogFacts], Bools]
    of_model: Callable[[GraphFacts], Bools]
    demands: Literal["", "before", "after"] = ""
    phrases: Callable[[Row], Iterator[Phrase]] = lambda row: iter(())
    sentence: Callable[[Sequence[str] | None], str] = lambda names: ""
    judge: Callable[[Semantics, Bools], Semantics] | None = None

    def free_table(self, size: int) -> Bools:
        """Return the table that forbids nothing."""
        return np.full(self.shape(size), self.free, dtype=np.bool_)

    def shape(self, size: int) -> tuple[int, ...]:
        """Return the shape of the table for a number of activities."""
        return (size, size) if self.of_pairs else (size,)


def listed(names: Sequence[str], word: str) -> str:
    """Join names: "A, B and C"."""
    if len(names) < 2:
        return "".join(names) or "nothing"
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def _always(pairs: Ints, having: Ints) -> Bools:
    """Demands hold in every variant with the activity, and need at least one variant."""
    table: Bools = (pairs == having[:, None]) & (having[:, None] > 0)
    return table


def _follows_phrases(row: Row) -> Iterator[Phrase]:
    if row.itself:
        yield Phrase(0, "at least twice, where it happens")
    if (after := row.row & row.others).any():
        yield Phrase(2, f"later always {row.listed(after, 'and')}")


def _precedes_phrases(row: Row) -> Iterator[Phrase]:
    if row.row.any():
        yield Phrase(1, f"only after {row.listed(row.row, 'and')}")


def _never_phrases(row: Row) -> Iterator[Phrase]:
    if row.itself:
        yield Phrase(0, "at most once")
    barred, free = row.row & row.others & row.possible, ~row.row & row.others
    if barred.any() and barred.sum() <= free.sum():
        yield Phrase(3, f"then never {row.listed(barred, 'or')}")
    elif barred.any():
        only = row.listed(free, "or")
        yield Phrase(3, f"then nothing but {only}" if free.any() else "then nothing else")


def _starts_sentence(names: Sequence[str] | None) -> str:
    if names is None:
        return "A case may begin with any activity."
    return f"A case begins with {listed(names, 'or')}."


ALWAYS_FOLLOWS = Kind(
    name="always_follows",
    key="always_followed_by",
    meaning="some B comes after the first A",
    learn=lambda log: _always(log.followed_finished, log.having_finished),
    of_model=GraphFacts.always_after,
    demands="after",
    phrases=_follows_phrases,
)
ALWAYS_PRECEDES = Kind(
    name="always_precedes",
    key="always_preceded_by",
    meaning="some B comes before the first A",
    learn=lambda log: _always(log.preceded, log.having),
    of_model=GraphFacts.always_before,
    demands="before",
    phrases=_precedes_phrases,
)
NEVER_FOLLOWS = Kind(
    name="never_follows",
    absent=True,
    key="never_followed_by",
    meaning='no B comes after an A; for ["A"] itself: A occurs at most once',
    mirrored_key="never_preceded_by",
    mirrored_meaning=(
        f"no B comes before an A: another way to write that B\n#{'':33}is never followed by A"
    ),
    learn=lambda log: log.followed == 0,
    of_model=GraphFacts.never_after,
    phrases=_never_phrases,
)
STARTS = Kind(
    name="starts",
    of_pairs=False,
    free=True,
    key="starts",
    meaning="the activities that may begin a case; left out: any may",
    learn=lambda log: log.first,
    of_model=GraphFacts.first,
    sentence=_starts_sentence,
)
