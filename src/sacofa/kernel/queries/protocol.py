"""What a query is: a table of cells of which one case can change only so much.

A query is a value. It knows its name, its words for people, the L1 sensitivity of its table (by how
much one case can change all cells in sum) and how the table of one part of a log is made. The table
of a log is the sum of the tables of its parts. Noise, price and unit are the session's business, so
a query that is added, here or outside the package, is charged, noised and audited like all others.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, sqrt
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..cases import CaseBatch
from ..language import Word
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
        """By how much one case changes the cells at most, in sum."""


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


@dataclass(frozen=True)
class DiscreteLaplace:
    """The distribution of the noise on a cell, of scale 1/ε: P(X = x) ∝ exp(−ε · |x|)."""

    epsilon: Fraction
    """The ε of a query of sensitivity 1 that is answered with this noise."""

    @property
    def variance(self) -> float:
        """2q/(1 − q)² for q = exp(−ε); 0.0 if ε is so large that no float is small enough."""
        epsilon = float(self.epsilon)
        return 2 * exp(-epsilon) / expm1(-epsilon) ** 2

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return sqrt(self.variance)


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """What a session answered: public."""

    query: Query | SparseQuery
    """What was asked."""
    values: Ints | Mapping[Word, int]
    """The noisy table; of a sparse query the cells that were shown."""
    noise: DiscreteLaplace
    """The distribution of the noise on each cell, which covers all cases of a unit of privacy."""
    max_length: int | None
    """Where cases were truncated when it was asked; None: nowhere."""
    activities: tuple[str, ...]
    """The activities that were asked about; events of all others were dropped."""

    @property
    def epsilon(self) -> Fraction:
        """1/scale of the noise on each cell."""
        return self.noise.epsilon

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise on each cell."""
        return self.noise.deviation
