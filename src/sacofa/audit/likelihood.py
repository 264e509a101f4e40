"""What an attacker who knows both logs makes of the answers of any mechanism.

Every query is a table of whole numbers with discrete Laplace noise on each. Whoever knows both logs
knows both tables without noise: the query itself makes them. All that an answer x then says for one
log against the other is by how much it is nearer, |x − smaller| − |x − larger|, added up over the
cells of a table and, each times its price, over all tables. No other guess from these answers is
better, and this one needs no runs to be learnt from: on a real log, whose candidates differ from
run to run, it is what counts. Of a sparse query only some cells are shown, and what the others say
depends on thresholds: whether a cell is there, and how near if it is, has to be learnt.
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
"""What all tables say together is told in whole parts of ε, of this size."""
SHORT = 8
"""Queries with few cells come up again and again; longer lists of candidates hardly ever do."""
KEPT = 10_000
"""So many tables of few cells are kept."""
KEPT_LONG = 16
"""And so many of many cells."""

Tables = tuple[Ints, Ints]
"""What the smaller log answers, and by how much the answer of the larger one is more."""


def views_for(pair: Pair) -> Mapping[str, View]:
    """What to look at, with the eyes of someone who knows both logs."""
    return {**VIEWS, "transcript": LikelihoodRatioAttack(pair)}


class LikelihoodRatioAttack:
    """Looks at a transcript, and compares every answer in it with those of both logs."""

    def __init__(self, pair: Pair) -> None:
        self._logs = pair.smaller, pair.added
        self._by_case = pair.smaller_by_case, pair.added_by_case
        self._asked: dict[object, tuple[VariantCounts, VariantCounts]] = {}
        self._short: dict[object, Tables] = {}
        self._long: dict[object, Tables] = {}
        self._cells: dict[object, tuple[Mapping[Word, int], Mapping[Word, int]]] = {}

    def __call__(self, outcome: Outcome) -> Features:
        """Every value of the transcript, and how much nearer each answer is to the larger log."""
        found = view_transcript(outcome)
        total = 0.0
        for answer in outcome.answers:
            if isinstance(answer.values, Mapping):
                nearer = self._nearer_cells(answer, answer.values)
                if nearer is not None:
                    # No whole table: not added to the others, and nothing where it is not shown.
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
        """What both logs answer without noise; tables add up, so the added cases have their own."""
        query: Query = answer.query  # type: ignore[assignment]
        kept, most = (self._short, KEPT) if len(answer.values) <= SHORT else (self._long, KEPT_LONG)
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
        """The cases of both logs one by one, which are never truncated."""
        return [log.project_onto(answer.activities) for log in self._by_case if log is not None]

    def _nearer_cells(self, answer: Answer, shown: Mapping[Word, int]) -> int | None:
        """How much nearer the shown cells are, of those in which the logs differ; None: none is."""
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
        """Both logs as they were when the query was asked: truncated, of some activities."""
        key = answer.max_length, answer.activities
        if key not in self._asked:
            smaller, added = self._logs
            if answer.max_length is not None:
                smaller = smaller.truncate(answer.max_length, by_length=True)
                added = added.truncate(answer.max_length, by_length=True)
            if len(self._asked) >= KEPT_LONG:
                self._asked.clear()
            self._asked[key] = (
                smaller.project_onto(answer.activities),
                added.project_onto(answer.activities),
            )
        return self._asked[key]


def _cells(query: Query | SparseQuery, log: VariantCounts) -> Mapping[Word, int]:
    return Counter(query.counts(log))  # type: ignore[union-attr]
