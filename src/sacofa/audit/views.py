"""Views: what an attacker observes of an outcome, as named values.

An absent value (a variant that was not released) is different from every value that is present.

An attacker who knows both logs has one more view, derived from the queries. Every query is a table
of whole numbers with discrete Laplace noise on each cell. Both tables without noise are known,
because the query itself computes them. The log-likelihood ratio of an answer x is
ε (|x − smaller| − |x − larger|), added up over the cells of a table and over all tables. No other
test of these answers is better (Neyman and Pearson), and this one needs no training: on a real log,
whose candidates differ from run to run, it finds most.

A sparse query reports some cells only, and the evidence of the others depends on thresholds.
Whether a cell is reported, and its distance if it is, has to be learned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..kernel.language import Word
from ..kernel.queries.protocol import Answer, Ints, Query, SparseQuery
from ..kernel.variants import VariantCounts
from ..mechanisms.protocol import Outcome
from .pairs import Pair

Feature = tuple[Hashable, ...]
"""The name of a value: the part of the outcome, and the place in it."""
Features = dict[Feature, int]
Result = TypeVar("Result")
View = Callable[[Outcome], Features]
"""Turns an outcome into values; values that it omits cannot be used against the mechanism."""

PRESENT = 1
NEARER = "nearer to the larger log:"
ALL = "all tables"
UNIT = 10_000
"""The log-likelihood ratio of all tables is a whole multiple of 1/10000."""
SHORT_TABLE = 8
"""Tables with few cells repeat from run to run; longer lists of candidates rarely do."""
CACHED = {"short": 10_000, "long": 16, "logs": 16}
"""Number of tables, and of truncated logs, that are kept."""


def view_release(outcome: Outcome) -> Features:
    """Return the features of a release: variants, number of cases, times, attributes."""
    released = outcome.log.variants
    counts = released.counts.tolist()
    words = zip(released.sequences(), released.complete.tolist(), strict=True)
    found: Features = {("variant", word): count for word, count in zip(words, counts, strict=True)}
    found["cases",] = sum(counts)
    found["variants",] = len(counts)
    if outcome.log.times is not None and len(outcome.log.times):
        found.update(_extreme_times(released, outcome.log.times))
    for column in outcome.log.columns:
        counts = np.bincount(column.codes + 1, minlength=len(column.texts) + 1).tolist()
        found["attribute", column.key, "missing"] = counts[0]
        for text, count in zip(column.texts, counts[1:], strict=True):
            found["attribute", column.key, "is", text] = count
    return found


def _extreme_times(released: VariantCounts, times: NDArray[np.int64]) -> Features:
    lengths = np.repeat(released.lengths, released.counts)
    case = np.repeat(np.arange(len(lengths)), lengths)
    gaps = np.diff(times)[case[1:] == case[:-1]]
    ends, filled = np.cumsum(lengths), lengths > 0
    took = times[ends[filled] - 1] - times[ends[filled] - lengths[filled]]
    return {
        ("times", "earliest"): int(times.min()),
        ("times", "latest"): int(times.max()),
        ("times", "longest gap"): int(gaps.max(initial=0)),
        ("times", "longest case"): int(took.max(initial=0)),
        ("times", "all cases"): int(took.sum()),
    }


def view_transcript(outcome: Outcome) -> Features:
    """Return every value in the transcript: the noisy answers that the mechanism received."""
    found: Features = {}
    _flatten((), outcome.transcript, found)
    return found


VIEWS: Mapping[str, View] = {"release": view_release, "transcript": view_transcript}
"""The views that fit any mechanism."""


def _flatten(path: Feature, part: object, found: Features) -> None:
    """Name every value: numbers by their place, anything else by itself."""
    if isinstance(part, np.ndarray):
        found.update(zip(_places(path, part.size), part.ravel().tolist(), strict=True))
    elif isinstance(part, int | float | np.number | np.bool_):
        found[path] = part  # type: ignore[assignment]
    elif isinstance(part, Sequence | Mapping) and not isinstance(part, str):
        for key, value in part.items() if isinstance(part, Mapping) else enumerate(part):
            _flatten((*path, key), value, found)
    else:
        found[(*path, part)] = PRESENT


@lru_cache(maxsize=256)
def _places(path: Feature, size: int) -> tuple[Feature, ...]:
    """Names of the values of an array. Cached, because they are the same in every run."""
    return tuple((*path, i) for i in range(size))


def describe_feature(feature: Feature, activities: Sequence[str]) -> str:
    """Return a feature in words."""
    return " ".join(_say(part, activities) for part in feature)


def _say(part: Hashable, activities: Sequence[str]) -> str:
    if isinstance(part, tuple):
        if len(part) == 2 and isinstance(part[0], tuple):
            word, finished = part
            return _say(word, activities) + ("" if finished else " (cut)")
        return "⟨" + ", ".join(activities[i] for i in part) + "⟩"
    return str(part)


def views_for(pair: Pair) -> Mapping[str, View]:
    """Return the views of an attacker who knows both logs."""
    return {**VIEWS, "transcript": LikelihoodRatioAttack(pair)}


class LikelihoodRatioAttack:
    """Compares every answer of a transcript with those of both logs."""

    def __init__(self, pair: Pair) -> None:
        self._logs = pair.smaller, pair.added
        self._by_case = pair.smaller_by_case, pair.added_by_case
        self._kept: dict[str, dict[object, object]] = {"short": {}, "long": {}, "logs": {}}

    def __call__(self, outcome: Outcome) -> Features:
        """Return the values of the transcript, and the log-likelihood ratio of its answers."""
        found = view_transcript(outcome)
        total = 0.0
        for answer in outcome.answers:
            if isinstance(answer.values, Mapping):
                less, more = self._cached(answer, "long", self._cells)
                words = [word for word in more if word in answer.values]
                values, smaller, added = (
                    np.array([cells.get(word, 0) for word in words], dtype=np.int64)
                    for cells in (answer.values, less, more)
                )
                # Not a whole table: not added to the others, and absent if no cell is reported.
                if not words:
                    continue
            else:
                values = answer.values
                kind = "short" if len(values) <= SHORT_TABLE else "long"
                smaller, added = self._cached(answer, kind, self._tables)
            beyond = values - smaller
            nearer = int((np.abs(beyond) - np.abs(beyond - added)).sum())
            found[NEARER, answer.query.name] = nearer
            if not isinstance(answer.values, Mapping):
                total += nearer * float(answer.epsilon)
        found[NEARER, ALL] = round(total * UNIT)
        return found

    def _cells(self, answer: Answer) -> tuple[Mapping[Word, int], Mapping[Word, int]]:
        """The cells of a sparse query in the smaller log, and those that the larger one adds."""
        query: SparseQuery = answer.query  # type: ignore[assignment]
        smaller, added = self._logs_of(answer)
        return Counter(query.counts(smaller)), Counter(query.counts(added))

    def _tables(self, answer: Answer) -> tuple[Ints, Ints]:
        """The table of the smaller log, and what the larger one adds: tables add up."""
        query: Query = answer.query  # type: ignore[assignment]
        if query.by_case:  # cases one by one are never truncated
            batches = (
                log.project_onto(answer.activities) for log in self._by_case if log is not None
            )
            smaller, added = (query.table(batch) for batch in batches)
        else:
            smaller, added = (query.table(log) for log in self._logs_of(answer))
        return smaller, added

    def _logs_of(self, answer: Answer) -> tuple[VariantCounts, VariantCounts]:
        """Both logs as the query read them: truncated, with some of the activities."""
        return self._cached(answer, "logs", self._as_read)

    def _as_read(self, answer: Answer) -> tuple[VariantCounts, VariantCounts]:
        smaller, added = self._logs
        if answer.max_length is not None:
            smaller = smaller.truncate(answer.max_length, by_length=True)
            added = added.truncate(answer.max_length, by_length=True)
        return smaller.project_onto(answer.activities), added.project_onto(answer.activities)

    def _cached(self, answer: Answer, kind: str, make: Callable[[Answer], Result]) -> Result:
        kept = self._kept[kind]
        key = answer.max_length, answer.activities, answer.query if kind != "logs" else None
        if key not in kept:
            if len(kept) >= CACHED[kind]:
                kept.clear()
            kept[key] = make(answer)
        return kept[key]  # type: ignore[return-value]
