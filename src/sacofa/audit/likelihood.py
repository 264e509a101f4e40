"""The likelihood-ratio attack of an attacker who knows both logs, derived from the queries.

Every query is a table of whole numbers with discrete Laplace noise on each cell. An attacker who
knows both logs knows both tables without noise, because the query itself computes them. The
log-likelihood ratio of an answer x is ε (|x − smaller| − |x − larger|), added up over the cells of
a table and over all tables. No other test of these answers is better (Neyman and Pearson), and this
one needs no training: on a real log, whose candidates differ from run to run, it finds most.

A sparse query reports some cells only, and the evidence of the others depends on thresholds.
Whether a cell is reported, and its distance if it is, has to be learned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from ..kernel.cases import CaseBatch
from ..kernel.language import Word
from ..kernel.queries.protocol import Answer, Ints, Query, SparseQuery
from ..kernel.variants import VariantCounts
from ..mechanisms.protocol import Outcome
from .pairs import Pair
from .views import VIEWS, Features, View, view_transcript

NEARER = "nearer to the larger log:"
ALL = "all tables"
UNIT = 10_000
"""The log-likelihood ratio of all tables is a whole multiple of 1/10000."""
SHORT_TABLE = 8
"""Tables with few cells repeat from run to run; longer lists of candidates rarely do."""
CACHED_SHORT_TABLES = 10_000
CACHED_LONG_TABLES = 16

Tables = tuple[Ints, Ints]
"""The answer of the smaller log, and the difference that the larger one adds, without noise."""


def views_for(pair: Pair) -> Mapping[str, View]:
    """Return the views of an attacker who knows both logs."""
    return {**VIEWS, "transcript": LikelihoodRatioAttack(pair)}


class LikelihoodRatioAttack:
    """Compares every answer of a transcript with those of both logs."""

    def __init__(self, pair: Pair) -> None:
        self._logs = pair.smaller, pair.added
        self._by_case = pair.smaller_by_case, pair.added_by_case
        self._asked: dict[object, tuple[VariantCounts, VariantCounts]] = {}
        self._short: dict[object, Tables] = {}
        self._long: dict[object, Tables] = {}
        self._cells: dict[object, tuple[Mapping[Word, int], Mapping[Word, int]]] = {}

    def __call__(self, outcome: Outcome) -> Features:
        """Return the values of the transcript, and the log-likelihood ratio of its answers."""
        found = view_transcript(outcome)
        total = 0.0
        for answer in outcome.answers:
            if isinstance(answer.values, Mapping):
                nearer = self._nearer_cells(answer, answer.values)
                if nearer is not None:
                    # Not a whole table: not added to the others, and absent if no cell is reported.
                    found[NEARER, answer.query.name] = nearer
                continue
            smaller, added = self._tables(answer)
            beyond = answer.values - smaller
            nearer = int((np.abs(beyond) - np.abs(beyond - added)).sum())
            found[NEARER, answer.query.name] = nearer
            total += nearer * float(answer.epsilon)
        found[NEARER, ALL] = round(total * UNIT)
        return found

    def _tables(self, answer: Answer) -> Tables:
        """Both answers without noise; tables add up, so that the added cases have their own."""
        query: Query = answer.query  # type: ignore[assignment]
        short = len(answer.values) <= SHORT_TABLE
        kept, most = (
            (self._short, CACHED_SHORT_TABLES) if short else (self._long, CACHED_LONG_TABLES)
        )
        key = (answer.max_length, answer.activities, query)
        tables = kept.get(key)
        if tables is None:
            if len(kept) >= most:
                kept.clear()
            logs = self._cases_at(answer) if query.by_case else self._at(answer)
            smaller, added = (query.table(log) for log in logs)
            tables = kept[key] = smaller, added
        return tables

    def _cases_at(self, answer: Answer) -> list[CaseBatch]:
        """The cases of both logs one by one; they are never truncated."""
        return [log.project_onto(answer.activities) for log in self._by_case if log is not None]

    def _nearer_cells(self, answer: Answer, shown: Mapping[Word, int]) -> int | None:
        """The distances of the reported cells in which the logs differ; None if there are none."""
        key = (answer.max_length, answer.activities, answer.query)
        if key not in self._cells:
            smaller, added = self._at(answer)
            self._cells[key] = _cells(answer.query, smaller), _cells(answer.query, added)
        less, more = self._cells[key]
        words = [word for word in more if word in shown]
        if not words:
            return None
        beyond = np.array([shown[word] - less.get(word, 0) for word in words])
        return int((np.abs(beyond) - np.abs(beyond - [more[word] for word in words])).sum())

    def _at(self, answer: Answer) -> tuple[VariantCounts, VariantCounts]:
        """Both logs as the query read them: truncated, with some of the activities."""
        key = answer.max_length, answer.activities
        if key not in self._asked:
            smaller, added = self._logs
            if answer.max_length is not None:
                smaller = smaller.truncate(answer.max_length, by_length=True)
                added = added.truncate(answer.max_length, by_length=True)
            if len(self._asked) >= CACHED_LONG_TABLES:
                self._asked.clear()
            self._asked[key] = (
                smaller.project_onto(answer.activities),
                added.project_onto(answer.activities),
            )
        return self._asked[key]


def _cells(query: Query | SparseQuery, log: VariantCounts) -> Mapping[Word, int]:
    return Counter(query.counts(log))  # type: ignore[union-attr]
