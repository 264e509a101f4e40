"""Views: what an attacker observes of an outcome, as named values.

An absent value (a variant that was not released) is different from every value that is present.

An attacker who knows both logs has one more view, derived from the queries. Every query is a table
of whole numbers with noise on each cell. Both tables without noise are known, because the query
itself computes them. With discrete Laplace noise, the log-likelihood ratio of an answer x is
ε (|x − smaller| − |x − larger|), with discrete Gaussian noise ((x − smaller)² − (x − larger)²) /
(2σ²), added up over the cells of a table and over all tables. No other test of these answers is
better (Neyman and Pearson), and this one needs no training: on a real log, whose candidates differ
from run to run, it finds most.

A sparse query reports some cells only, and the evidence of the others depends on thresholds.
Whether a cell is reported, and its distance if it is, has to be learned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from ..kernel.language import Word
from ..kernel.laws import DiscreteGaussian, Law
from ..kernel.queries.protocol import Ints, Query, SparseQuery
from ..kernel.variants import VariantCounts
from ..mechanisms.protocol import Outcome
from .pairs import Pair

Feature = tuple[Hashable, ...]
"""The name of a value: the part of the outcome, and the place in it."""
Features = dict[Feature, int]
View = Callable[[Outcome], Features]
"""Turns an outcome into values; values that it omits cannot be used against the mechanism."""

PRESENT = 1
NEARER = "nearer to the larger log:"
ALL = "all tables"
UNIT = 10_000
"""The log-likelihood ratio of all tables is a whole multiple of 1/10000."""
TABLES, LOGS = 256, 16
"""Number of tables, and of truncated logs, that are kept."""


def view_release(outcome: Outcome) -> Features:
    """Return the features of a release: variants, number of cases, times, attributes."""
    released = outcome.log.variants
    counts = released.counts.tolist()
    words = zip(released.sequences(), released.complete.tolist(), strict=True)
    found: Features = {("variant", word): count for word, count in zip(words, counts, strict=True)}
    found["cases",] = sum(counts)
    found["variants",] = len(counts)
    times = outcome.log.times
    if times is not None and len(times):
        lengths = np.repeat(released.lengths, released.counts)
        case = np.repeat(np.arange(len(lengths)), lengths)
        ends, filled = np.cumsum(lengths), lengths > 0
        took = times[ends[filled] - 1] - times[ends[filled] - lengths[filled]]
        extremes = {
            "earliest": times.min(),
            "latest": times.max(),
            "longest gap": np.diff(times)[case[1:] == case[:-1]].max(initial=0),
            "longest case": took.max(initial=0),
            "all cases": took.sum(),
        }
        found.update({("times", name): int(value) for name, value in extremes.items()})
    for column in outcome.log.columns:
        counts = np.bincount(column.codes + 1, minlength=len(column.texts) + 1).tolist()
        found["attribute", column.key, "missing"] = counts[0]
        for text, count in zip(column.texts, counts[1:], strict=True):
            found["attribute", column.key, "is", text] = count
    return found


def view_transcript(outcome: Outcome) -> Features:
    """Return every value in the transcript: the noisy answers that the mechanism received."""
    found: Features = {}

    def flatten(path: Feature, part: object) -> None:
        """Name every value: numbers by their place, anything else by itself."""
        if isinstance(part, np.ndarray):
            found.update(zip(_places(path, part.size), part.ravel().tolist(), strict=True))
        elif isinstance(part, int | float | np.number | np.bool_):
            found[path] = part  # type: ignore[assignment]
        elif isinstance(part, Sequence | Mapping) and not isinstance(part, str):
            for key, value in part.items() if isinstance(part, Mapping) else enumerate(part):
                flatten((*path, key), value)
        else:
            found[(*path, part)] = PRESENT

    flatten((), outcome.transcript)
    return found


@lru_cache(maxsize=256)
def _places(path: Feature, size: int) -> tuple[Feature, ...]:
    """Names of the values of an array. Cached, because they are the same in every run."""
    return tuple((*path, i) for i in range(size))


VIEWS: Mapping[str, View] = {"release": view_release, "transcript": view_transcript}
"""The views that fit any mechanism."""


def describe_feature(feature: Feature, activities: Sequence[str]) -> str:
    """Return a feature in words."""

    def describe(part: Hashable) -> str:
        if not isinstance(part, tuple):
            return str(part)
        if len(part) == 2 and isinstance(part[0], tuple):
            word, finished = part
            return describe(word) + ("" if finished else " (cut)")
        return "⟨" + ", ".join(activities[i] for i in part) + "⟩"

    return " ".join(map(describe, feature))


def views_for(pair: Pair) -> Mapping[str, View]:
    """Return the views of an attacker who knows both logs."""
    return {**VIEWS, "transcript": LikelihoodRatioAttack(pair)}


def compare(noise: Law, beyond: Ints, added: Ints) -> tuple[int, float]:
    """How much nearer an answer is to a larger table.

    Args:
        noise: The noise on each cell.
        beyond: How far the answer lies beyond the smaller table.
        added: What the larger table adds.

    Returns:
        A whole number, and its weight: their product is the log-likelihood ratio.
    """
    if isinstance(noise, DiscreteGaussian):
        return int((added * (2 * beyond - added)).sum()), 0.5 / float(noise.sigma_squared)
    return int((np.abs(beyond) - np.abs(beyond - added)).sum()), float(noise.epsilon)


class LikelihoodRatioAttack:
    """Compares every answer of a transcript with those of both logs."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._tables = lru_cache(TABLES)(self._find_tables)
        self._as_read = lru_cache(LOGS)(self._truncate)

    def __reduce__(self) -> tuple[type[LikelihoodRatioAttack], tuple[Pair]]:
        """Another process begins with empty caches."""
        return type(self), (self._pair,)

    def __call__(self, outcome: Outcome) -> Features:
        """Return the values of the transcript, and the log-likelihood ratio of its answers."""
        found = view_transcript(outcome)
        total = 0.0
        for answer in outcome.answers:
            values, sparse = answer.values, isinstance(answer.values, Mapping)
            asked = answer.query, answer.activities, answer.max_length, sparse
            words, smaller, added = self._tables(*asked)  # type: ignore[arg-type]
            if isinstance(values, Mapping):
                shown = [place for place, word in enumerate(words) if word in values]
                # Not a whole table: not added to the others, and absent if no cell is reported.
                if not shown:
                    continue
                smaller, added = smaller[shown], added[shown]
                values = np.array([values[words[place]] for place in shown], dtype=np.int64)
            nearer, weight = compare(answer.noise, values - smaller, added)
            found[NEARER, answer.query.name] = nearer
            if not sparse:
                total += nearer * weight
        found[NEARER, ALL] = round(total * UNIT)
        return found

    def _find_tables(
        self, asked: Query | SparseQuery, names: tuple[str, ...], longest: int | None, sparse: bool
    ) -> tuple[Sequence[Word], Ints, Ints]:
        """The table of the smaller log, and what the larger one adds: tables add up.

        Of a sparse query, the cells to which the larger log adds, and their tables.
        """
        if sparse:
            cells: SparseQuery = asked  # type: ignore[assignment]
            less, more = (Counter(cells.counts(log)) for log in self._as_read(names, longest))
            smaller, added = (
                np.array([counts[word] for word in more], dtype=np.int64) for counts in (less, more)
            )
            return list(more), smaller, added
        query: Query = asked  # type: ignore[assignment]
        if query.by_case:  # cases one by one are never truncated
            by_case = self._pair.smaller_by_case, self._pair.added_by_case
            parts = (log.project_onto(names) for log in by_case if log is not None)
            smaller, added = (query.table(part) for part in parts)
        else:
            smaller, added = (query.table(log) for log in self._as_read(names, longest))
        return (), smaller, added

    def _truncate(
        self, activities: tuple[str, ...], max_length: int | None
    ) -> Sequence[VariantCounts]:
        """Both logs as a query read them: truncated, with some of the activities."""
        logs = [self._pair.smaller, self._pair.added]
        if max_length is not None:
            logs = [log.truncate(max_length, by_length=True) for log in logs]
        return [log.project_onto(activities) for log in logs]
