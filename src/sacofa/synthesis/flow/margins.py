"""Margins of error of a release of `certified`: from its answers and what was made of them, alone.

The error of a released figure has two parts. Each answer leaves open what is behind its noise; and
a release does not agree with the answers where its model is wrong, or where it took noise for
behaviour. So the expected squared error of a sum of cells is

    (count per vote)² · (Σ variance of each cell, given its answer
                         + (Σ expected cell − Σ what the release would have answered)²)

where expectation and variance of a cell given its noisy answer are those of module `shrink`. To
counts of pairs and activities the error of the number of events adds, which the answer about
lengths reveals. The
disagreement of one figure is a noisy sample of its error: half of it is replaced by that of figures
of similar count. All of it is post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...kernel.queries.flow import CaseLengths, NearestCandidate, StepVotes
from ...kernel.queries.histogram import AllSequences
from ...kernel.queries.protocol import Answer, Part, Query
from ...kernel.variants import VariantCounts
from ..margins import Margins, Step, Variant, VariantMargins
from .shrink import NOISE, shrink
from .size import cases_margin, count_cases

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SURE = 1.96
"""A normal error stays within as many roots of its expected square in 95 of 100 runs."""
SURE_OF_SUM = 1.5
"""The same for figures that several answers hold in place: the events of an activity, by the pairs
that lead to it and from it, and a median, by all bins. Chosen with the two values below on Receipt,
Sepsis, traffic fines, the hospital example and generated logs, 8 to 20 runs each."""
SIMILAR = 5
"""Figures are compared with the fifth of all figures whose counts are nearest."""
LOOKALIKES = 12
"""Cases that differ from a candidate vote for it where no other candidate is nearer. The list of
candidates is as long as noise allows, so their number grows with noise: up to that many scales of
the last vote, on the same logs at ε = 1 and 0.1."""


@dataclass(frozen=True, eq=False)
class Compared:
    """An answer next to what the release would have answered, in scales of its noise."""

    expected: Floats
    """What each cell is expected to hold."""
    variance: Floats
    """The variance of that."""
    released: Floats
    """The release's own answer."""

    @classmethod
    def of(cls, answer: Answer, released: Part, *, sparse: bool = True) -> Compared:
        """Ask the release what the log was asked; most cells of a `sparse` answer are empty."""
        query, scale = cast(Query, answer.query), float(answer.epsilon)
        assert not isinstance(answer.values, Mapping)
        noisy = np.asarray(answer.values, dtype=np.float64).ravel() * scale
        expected, variance = noisy, np.full(len(noisy), NOISE)
        if sparse:
            expected, variance = shrink(noisy)
        own = query.table(released).astype(np.float64) * scale
        return cls(expected, variance, own)

    def squared_error(self, cells: NDArray[np.intp] | slice, per_vote: float) -> float:
        """The expected squared error of a figure that is `per_vote` for each vote in some cells."""
        off = float((self.expected[cells] - self.released[cells]).sum())
        return per_vote**2 * (float(self.variance[cells].sum()) + off**2)


def find_flow_margins(answers: Sequence[Answer], released: VariantCounts) -> Margins:
    """The margins of everything but times and attributes."""
    if not released.cases:
        return Margins()
    _, variance = count_cases(answers)
    steps = next((a for a in answers if isinstance(a.query, StepVotes)), None)
    lengths = next((a for a in answers if isinstance(a.query, CaseLengths)), None)
    off = 0.0 if lengths is None else _length_error(lengths, released)
    by_step, by_activity = ({}, {}) if steps is None else _of_steps(steps, released, off)
    return Margins(
        cases=cases_margin(variance),
        variants=_of_variants(answers, released),
        activities=by_activity,
        steps=by_step,
    )


def sizes(counts: Floats, squares: Floats, sure: float) -> list[int]:
    """Margins of figures of one kind with these counts and expected squared errors."""
    if not len(counts):
        return []
    width = max(-(-len(counts) // SIMILAR), min(SIMILAR, len(counts)))
    order = np.argsort(counts, kind="stable")
    window = np.ones(width)
    near = np.convolve(squares[order], window, "same") / np.convolve(
        np.ones(len(counts)), window, "same"
    )
    typical = np.empty(len(counts))
    typical[order] = near[: len(counts)]
    found: Floats = np.ceil(sure * np.sqrt((squares + typical) / 2))
    return [max(int(size), 1) for size in found.tolist()]


def _length_error(answer: Answer, released: VariantCounts) -> float:
    """The expected error of the released number of events, as a part of that number.

    Votes for pairs do not reveal how long cases are: longer cases give less of a vote to each pair.
    The votes for lengths add up to the number of events, as they interpolate between lengths.
    """
    assert isinstance(answer.query, CaseLengths)
    edges = np.array(answer.query.edges, dtype=np.float64)
    compared = Compared.of(answer, released.project_onto(answer.activities))
    # The log was asked before cases were truncated: far longer ones are noise, or cannot be seen.
    last = int(np.flatnonzero(compared.released).max(initial=0)) + 1
    edges, off = edges[:last], (compared.expected - compared.released)[:last]
    square = float(edges @ off) ** 2 + float(edges**2 @ compared.variance[:last])
    return float(np.sqrt(square)) / max(float(edges @ compared.released[:last]), 1e-9)


def _of_steps(
    answer: Answer, released: VariantCounts, length_error: float
) -> tuple[dict[Step, int], dict[str, int]]:
    """Of each directly-follows pair, and of each activity by what leads to it and from it."""
    assert isinstance(answer.query, StepVotes)
    part = released.project_onto(answer.activities)
    compared = Compared.of(answer, part)
    end, counts = answer.query.activities, step_counts(part)
    cells = np.arange(counts.size).reshape(counts.shape)
    usual = counts.sum() / max(float(compared.released.sum()), 1e-9)

    def per_vote(count: float, chosen: NDArray[np.intp]) -> float:
        votes = float(compared.released[chosen].sum())
        return count / votes if votes else float(usual)

    places = [*answer.activities, None]
    pairs = np.argwhere(counts > 0).tolist()
    amounts = np.array([counts[a, b] for a, b in pairs], dtype=np.float64)
    squares = np.array(
        [
            compared.squared_error(cells[a, b : b + 1], per_vote(counts[a, b], cells[a, b : b + 1]))
            for a, b in pairs
        ]
    )
    squares += (amounts * length_error) ** 2
    by_step = {
        (places[a], places[b]): size
        for (a, b), size in zip(pairs, sizes(amounts, squares, SURE), strict=True)
    }
    events = counts[:, :end].sum(axis=0).astype(np.float64)
    there = np.flatnonzero(events).tolist()
    squares = np.array(
        [
            np.mean(
                [
                    compared.squared_error(around, per_vote(events[a], around))
                    for around in (cells[:, a], cells[a])
                ]
            )
            for a in there
        ]
    )
    squares += (events[there] * length_error) ** 2
    found = sizes(events[there], squares, SURE_OF_SUM)
    return by_step, {answer.activities[a]: size for a, size in zip(there, found, strict=True)}


def step_counts(variants: VariantCounts) -> Ints:
    """[a, b]: how often b directly follows a; last are the start (row) and the end (column)."""
    end = len(variants.activities)
    counts = np.zeros((end + 1, end + 1), dtype=np.int64)
    for ids, complete, count in zip(
        variants.sequences(), variants.complete.tolist(), variants.counts.tolist(), strict=True
    ):
        path = [end, *ids, end] if complete else [end, *ids]
        np.add.at(counts, (path[:-1], path[1:]), count)
    return counts


def _of_variants(answers: Sequence[Answer], released: VariantCounts) -> VariantMargins | None:
    """Of variants that were asked for: those published individually, and candidates.

    All others were never asked for: they are likely, given what was answered, and need not occur.
    """
    final = next((a for a in answers if a.query.name == "final"), None)
    if final is None:
        return None
    published = _published(answers)
    candidates = _candidates(final)
    scale = 1 / float(final.epsilon)
    listed: dict[Variant, int] = {}
    for (sequence, count), complete in zip(released, released.complete.tolist(), strict=True):
        variant = tuple(sequence), complete
        if published is not None and variant in published:
            noisy, variance = published[variant]
            listed[variant] = ceil(SURE * np.sqrt(variance + (noisy - count) ** 2))
        elif variant[0] in candidates:
            expected, variance = candidates[variant[0]]
            more = SURE**2 * (variance + max(expected - count, 0) ** 2)
            # Frequent ones would have been published individually.
            fewer = count if published is not None else min(count, LOOKALIKES * scale)
            listed[variant] = ceil(np.sqrt(fewer**2 + more))
    return VariantMargins(listed={v: max(size, 1) for v, size in listed.items()})


def _published(answers: Sequence[Answer]) -> dict[Variant, tuple[int, float]] | None:
    """The noisy counts of variants published individually, with variances; None: not asked."""
    answer = next((a for a in answers if isinstance(a.query, AllSequences)), None)
    if answer is None:
        return None
    assert isinstance(answer.values, Mapping)
    variance = 2 / float(answer.epsilon) ** 2
    return {
        (tuple(answer.activities[i] for i in ids), complete): (count, variance)
        for (ids, complete), count in answer.values.items()
    }


def _candidates(final: Answer) -> dict[tuple[str, ...], tuple[float, float]]:
    """The votes that each candidate is expected to have, with the variance of that."""
    assert isinstance(final.query, NearestCandidate)
    scale = float(final.epsilon)
    expected, variance = shrink(np.asarray(final.values).ravel() * scale)
    return {
        tuple(final.activities[i] for i in ids): (mean / scale, square / scale**2)
        for ids, mean, square in zip(
            final.query.candidates, expected.tolist(), variance.tolist(), strict=True
        )
    }
