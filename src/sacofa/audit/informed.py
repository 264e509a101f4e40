"""What an attacker who knows both logs makes of the transcript of `certified`.

Every look is a table of whole numbers with discrete Laplace noise on each. Whoever knows both logs
knows both tables without noise. All that an answer x then says for one log against the other is by
how much it is nearer, |x − smaller| − |x − larger|, added up over the cells of a table and, each
times its price, over all tables. No other guess from these answers is better, and this one needs no
runs to be learnt from: on a real log, whose candidates differ from run to run, it is what counts.
Of the histogram only some cells are shown, and what the others say depends on thresholds: whether
a cell is there, and how near if it is, has to be learnt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ..mechanisms.certified import Certified
from ..mechanisms.certified.lengths import bin_edges, choose_length
from ..mechanisms.certified.looks import VOTE_UNITS, Ints, Looks
from ..mechanisms.protocol import Mechanism, Outcome
from ..privacy.noise import Noise
from ..semantics.language import Word
from ..variants import VariantCounts
from .pairs import Pair, cells_of
from .views import VIEWS, Features, View, look_at_transcript

NEARER = "nearer to the larger log:"
ALL = "all tables"
UNIT = 10_000
"""What all tables say together is told in whole parts of ε, of this size."""
KEPT = 10_000
"""Answers about so many short lists of candidates are kept: the same ones come up again."""
SHORT = 8
"""Longer lists hardly ever do."""
FREE = Fraction(1)

Tables = tuple[Ints, Ints]
"""What the smaller log answers, and by how much the answer of the larger one is more."""
Compared = tuple[str, float, Ints, Tables]
"""A look: its name, the price of one vote, the noisy answer and the answers of both logs."""


def views_for(mechanism: Mechanism, pair: Pair) -> Mapping[str, View]:
    """What to look at; where it is known how, with the eyes of someone who knows both logs."""
    if isinstance(mechanism, Certified):
        return {**VIEWS, "transcript": Informed(mechanism, pair)}
    return VIEWS


class Silence(Noise):
    """No noise: who knows a log knows its answers."""

    def laplace(self, epsilon: Fraction, size: int) -> Ints:
        """Add nothing."""
        return np.zeros(size, dtype=np.int64)


class Informed:
    """Looks at a transcript, and compares every answer in it with those of both logs."""

    def __init__(self, mechanism: Certified, pair: Pair) -> None:
        self._mechanism = mechanism
        self._logs = pair.smaller, pair.added
        self._known: dict[int | None, _Known] = {}
        prices = mechanism.prices
        self._prices = {
            "size": float(prices.size.noise),
            "lengths": float(prices.length.noise),
            "steps": float(prices.semantics.noise / VOTE_UNITS),
            "search": float(prices.search.noise),
        }
        self._last = float(prices.last_unnamed.noise), float(prices.last_named.noise)

    def __call__(self, outcome: Outcome) -> Features:
        """Every value of the transcript, and how much nearer each look is to the larger log."""
        found = look_at_transcript(outcome)
        total = 0.0
        for name, price, answer, (smaller, added) in self._compare(outcome.transcript):
            if len(answer):
                beyond = answer - smaller
                nearer = int((np.abs(beyond) - np.abs(beyond - added)).sum())
                found[NEARER, name] = nearer
                total += nearer * price
        found[NEARER, ALL] = round(total * UNIT)
        return found

    def _compare(self, transcript: Mapping[str, Any]) -> Iterator[Compared]:
        prices, max_length = self._prices, self._mechanism.max_length
        whole = self._cut(None)
        yield "size", prices["size"], transcript["size"], whole.ask("size", _size)
        if max_length is None:
            edges, lengths = bin_edges(self._mechanism.longest), transcript["lengths"]
            tables = whole.ask("lengths", lambda looks: looks.lengths(edges, FREE))
            yield "lengths", prices["lengths"], lengths, tables
            max_length = choose_length(edges, lengths, self._mechanism.prices.length.noise)
        cut = self._cut(max_length)
        yield "steps", prices["steps"], transcript["steps"], cut.ask("steps", _steps)
        named = transcript.get("named")
        if named is not None:
            # No table: not added to the others, and nothing where it is not shown.
            yield "named", 0.0, *cut.cells(named)
        for name, price in (("search", prices["search"]), ("last", self._last[named is not None])):
            candidates, votes = zip(*transcript[name].items(), strict=True)
            yield name, price, np.array(votes), cut.nearest(candidates)

    def _cut(self, max_length: int | None) -> _Known:
        """Both logs cut at a length; None leaves them whole."""
        if max_length not in self._known:
            smaller, added = self._logs
            if max_length is not None:
                smaller, added = (log.cut(max_length, by_length=True) for log in (smaller, added))
            self._known[max_length] = _Known(smaller, added)
        return self._known[max_length]


class _Known:
    """What both logs answer without noise."""

    def __init__(self, smaller: VariantCounts, added: VariantCounts) -> None:
        self._looks = Looks(smaller, Silence()), Looks(added, Silence())
        self._cells = cells_of(smaller), cells_of(added)
        self._kept: dict[object, Tables] = {}

    def ask(self, key: object, question: Callable[[Looks], Ints]) -> Tables:
        """The answers to a question; asked once."""
        tables = self._kept.get(key)
        if tables is None:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            tables = self._kept[key] = self._both(question)
        return tables

    def nearest(self, candidates: tuple[tuple[int, ...], ...]) -> Tables:
        """The votes for the nearest candidate."""

        def question(looks: Looks) -> Ints:
            return looks.nearest("vote", candidates, FREE)

        return self.ask(candidates, question) if len(candidates) <= SHORT else self._both(question)

    def _both(self, question: Callable[[Looks], Ints]) -> Tables:
        # Tables add up over cases, so the added cases have one of their own.
        smaller, added = (question(looks) for looks in self._looks)
        return smaller, added

    def cells(self, shown: Mapping[Word, int]) -> tuple[Ints, Tables]:
        """Of the cells that the logs differ in those that are shown, with the counts of both."""
        smaller, added = self._cells
        words = [word for word in added if word in shown]
        values = [(shown[word], smaller.get(word, 0), added[word]) for word in words]
        answer, less, more = np.array(values, dtype=np.int64).reshape(-1, 3).T
        return answer, (less, more)


def _size(looks: Looks) -> Ints:
    return np.array([looks.size(FREE)])


def _steps(looks: Looks) -> Ints:
    return looks.steps(FREE).ravel()
