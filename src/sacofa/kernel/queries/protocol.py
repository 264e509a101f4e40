"""What a query is: a table of cells that one case can change only by so much.

A query is a value with a name, its words for people, the L1 and L2 sensitivity of its table, and
how the table of one part of a log is made; tables of parts add up. Noise, budget and unit are the
session's business, so a query from outside the package is charged and audited like all others.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..cases import CaseBatch
from ..language import Word
from ..laws import Law
from ..statements import Statement
from ..variants import VariantCounts

Ints = NDArray[np.int64]
Part = VariantCounts | CaseBatch
"""Some of the cases of a log: counted variants, or cases one by one with their times."""


class Question(Protocol):
    """What every query says of itself; all of it is public."""

    @property
    def name(self) -> str:
        """The key of the answer in a transcript: no two queries of a run share it."""

    @property
    def what(self) -> Statement:
        """What is asked; `Statement.plain` has room for words of your own."""

    @property
    def sensitivity(self) -> int:
        """By how much one case changes the cells at most, in sum (L1)."""

    @property
    def l2_sensitivity(self) -> int:
        """The same in the Euclidean norm; the L1 sensitivity is a valid bound."""


class Query(Question, Protocol):
    """A question whose answer is a whole table; any frozen value with these members is one.

    One about whole cases says so (`whole = True`): it is asked of all their events one by one,
    also of those whose activity was dropped on the way.
    """

    @property
    def by_case(self) -> bool:
        """Whether it needs cases one by one, with times or attributes; else variants will do."""

    @property
    def cells(self) -> Sequence[Hashable]:
        """The cells in order, each with its key; `range(n)` where its place says all about it."""

    def table(self, part: Any) -> Ints:
        """The table of one part of the log: whole numbers, a cell each. Secret."""


def add_votes(cells: int, places: Ints, votes: Ints | int) -> Ints:
    """Make a table of so many cells, with votes added up at their places."""
    table = np.zeros(cells, dtype=np.int64)
    np.add.at(table, places, votes)
    return table


class SparseQuery(Question, Protocol):
    """A question with too many cells to list: only those that reach a threshold are shown."""

    def counts(self, part: VariantCounts) -> Mapping[Word, int]:
        """The cells of one part of the log that are not 0. Secret."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """What a session answered: public."""

    query: Query | SparseQuery
    """What was asked."""
    values: Ints | Mapping[Word, int]
    """The noisy table; of a sparse query the cells that were shown."""
    noise: Law
    """The distribution of the noise on each cell, which covers all cases of a unit of privacy."""
    activities: tuple[str, ...]
    """The activities that were asked about; events of all others were dropped."""
    max_length: int | None = None
    """Where cases were truncated when it was asked; None: nowhere."""

    @property
    def epsilon(self) -> Fraction:
        """1/scale of discrete Laplace noise on each cell, or the same for other noise."""
        return self.noise.epsilon
