"""The interface of queries: tables with a bounded contribution of each case.

A query is a value with a name, a description, the L1 and L2 sensitivity of its table, and a method
to compute the table of one part of a log; tables of parts are added. The session handles noise,
budget and unit, so a query of another package is charged and audited like all others.
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
    """Public description of a query."""

    @property
    def name(self) -> str:
        """The key of the answer in a transcript: no two queries of a run share it."""

    @property
    def what(self) -> Statement:
        """The description; `Statement.plain` makes one from free text."""

    @property
    def sensitivity(self) -> int:
        """By how much one case changes the cells at most, in sum (L1)."""

    @property
    def l2_sensitivity(self) -> int:
        """The same in the Euclidean norm; the L1 sensitivity is a valid bound."""


class Query(Question, Protocol):
    """A question whose answer is a whole table; any frozen value with these members is one.

    With `whole = True`, it gets whole cases with all events, also those of activities that were
    dropped in the meantime.
    """

    @property
    def by_case(self) -> bool:
        """Whether it needs cases one by one, with times or attributes; else variants will do."""

    @property
    def cells(self) -> Sequence[Hashable]:
        """The keys of the cells, in order; `range(n)` if the index is the key."""

    def table(self, part: Any) -> Ints:
        """The table of one part of the log: whole numbers, a cell each. Secret."""


def add_votes(cells: int, places: Ints, votes: Ints | int) -> Ints:
    """Make a table of this many cells, and add the votes at their indices."""
    table = np.zeros(cells, dtype=np.int64)
    np.add.at(table, places, votes)
    return table


class SparseQuery(Question, Protocol):
    """A question with too many cells to list: only those that reach a threshold are shown."""

    def counts(self, part: VariantCounts) -> Mapping[Word, int]:
        """The cells of one part of the log that are not 0. Secret."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """A noisy answer of a session: public."""

    query: Query | SparseQuery
    """The query."""
    values: Ints | Mapping[Word, int]
    """The noisy table; of a sparse query the cells that were shown."""
    noise: Law
    """The distribution of the noise on each cell, which covers all cases of a unit of privacy."""
    activities: tuple[str, ...]
    """The activities of the session at that time; events of others were dropped."""
    max_length: int | None = None
    """The maximum length of cases at that time; None if they were not truncated."""

    @property
    def epsilon(self) -> Fraction:
        """1/scale of discrete Laplace noise on each cell, or the same for other noise."""
        return self.noise.epsilon
