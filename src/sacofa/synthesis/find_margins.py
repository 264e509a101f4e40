"""Margins of error of a release of `certified`: from its answers and what was made of them, alone.

The error of a released figure has two parts. Each answer leaves open what is behind its noise; and
a release does not agree with the answers where its model is wrong, or where it took noise for
behaviour. So the expected squared error of a sum of cells is

    (count per vote)² · (Σ variance of each cell, given its answer
                         + (Σ expected cell − Σ what the release would have answered)²)

where expectation and variance of a cell given its noisy answer are those of `flow.answers.shrink`.
To counts of pairs and activities the error of the number of events adds, which the answer about
lengths reveals. The disagreement of one figure is a noisy sample of its error: half of it is
replaced by that of figures of similar count. The squared error of shares grows with the share, so
it is kept as a line over the shares of one distribution. All of it is post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..base.cells import OTHER, cells_of
from ..kernel.attributes import Attribute
from ..kernel.cases import CaseBatch, Values
from ..kernel.queries.attributes import CaseAttribute, EventAttribute
from ..kernel.queries.durations import bins
from ..kernel.queries.flow import CaseLengths, NearestCandidate, StepVotes
from ..kernel.queries.histogram import AllSequences
from ..kernel.queries.protocol import Answer, Part, Query
from ..kernel.queries.times import Arrivals, CycleTime, Gaps
from ..kernel.variants import VariantCounts
from .flow.answers import cases_margin, count_cases, shrink
from .margins import Margins, ShareMargin, Step, Variant, VariantMargins
from .numerics import NEGLIGIBLE, Floats, Ints
from .released import Columns, ReleasedColumn
from .thresholds import SHAPES, VARIANCE
from .times.rows import within


@dataclass(frozen=True, kw_only=True)
class MarginTuning:
    """How expected squared errors become margins."""

    sure: float = 1.96
    """A normal error stays within as many roots of its expected square in 95 of 100 runs."""
    sure_of_sum: float = 1.5
    """The same for figures that several answers hold in place: the events of an activity, by the
    pairs that lead to it and from it, and a median, by all bins. Chosen with the next two values on
    Receipt, Sepsis, traffic fines, the hospital example and generated logs, 8 to 20 runs each."""
    similar: int = 5
    """Figures are compared with the fifth of all figures whose counts are nearest."""
    lookalikes: int = 12
    """Cases that differ from a candidate vote for it where no other candidate is nearer. The list
    of candidates is as long as noise allows, so their number grows with noise: up to that many
    scales of the last vote, on the same logs at ε = 1 and 0.1."""
    many_cells: int = 200
    """Fewer noisy cells do not say how full cells usually are: each is taken as it was answered."""
    within_bin: float = 0.29
    """Standard deviation of a place in a bin of which nothing is known: √(1/12) of its share."""
    unknown: float = 0.5
    """The margin of a median of which nothing is known."""


TUNING = MarginTuning()


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
    def of(cls, answer: Answer, released: Part, *, sparse: bool | None = None) -> Compared:
        """Ask the release what the log was asked.

        Most cells of a `sparse` answer are empty; if omitted, answers with many cells are sparse.
        """
        query, scale = cast(Query, answer.query), float(answer.epsilon)
        assert not isinstance(answer.values, Mapping)
        noisy = np.asarray(answer.values, dtype=np.float64).ravel() * scale
        expected, variance = noisy, np.full(len(noisy), VARIANCE)
        if sparse or (sparse is None and len(answer.values) >= TUNING.many_cells):
            expected, variance = shrink(noisy, SHAPES[type(answer.noise)])
        own = query.table(released).astype(np.float64) * scale
        return cls(expected, variance, own)

    def squared_error(self, cells: NDArray[np.intp], count: float, usual: float) -> float:
        """The expected squared error of a count that follows from the votes in some cells."""
        votes = float(self.released[cells].sum())
        per_vote = count / votes if votes else usual
        off = float((self.expected[cells] - self.released[cells]).sum())
        return per_vote**2 * (float(self.variance[cells].sum()) + off**2)

    def squared_errors(self, groups: Ints, number: int, per_vote: Floats) -> Floats:
        """The expected squared error of each of `number` groups of cells."""
        off = np.bincount(groups, self.expected - self.released, number)
        squares: Floats = per_vote**2 * (np.bincount(groups, self.variance, number) + off**2)
        return squares


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
        cases=cases_margin(variance, SHAPES[type(answers[0].noise)]),
        variants=_of_variants(answers, released),
        activities=by_activity,
        steps=by_step,
    )


def sizes(counts: Floats, squares: Floats, sure: float) -> list[int]:
    """Margins of figures of one kind with these counts and expected squared errors."""
    if not len(counts):
        return []
    width = max(-(-len(counts) // TUNING.similar), min(TUNING.similar, len(counts)))
    order = np.argsort(counts, kind="stable")
    near, number = (
        np.convolve(values, np.ones(width), "same")
        for values in (squares[order], np.ones(len(counts)))
    )
    typical = np.empty(len(counts))
    typical[order] = (near / number)[: len(counts)]
    found: Floats = np.ceil(sure * np.sqrt((squares + typical) / 2))
    return [max(int(size), 1) for size in found.tolist()]


def _length_error(answer: Answer, released: VariantCounts) -> float:
    """The expected error of the released number of events, as a part of that number.

    Votes for pairs do not reveal how long cases are: longer cases give less of a vote to each pair.
    The votes for lengths add up to the number of events, as they interpolate between lengths.
    """
    assert isinstance(answer.query, CaseLengths)
    edges = np.array(answer.query.edges, dtype=np.float64)
    compared = Compared.of(answer, released.project_onto(answer.activities), sparse=True)
    # The log was asked before cases were truncated: far longer ones are noise, or cannot be seen.
    last = int(np.flatnonzero(compared.released).max(initial=0)) + 1
    edges, off = edges[:last], (compared.expected - compared.released)[:last]
    square = float(edges @ off) ** 2 + float(edges**2 @ compared.variance[:last])
    return float(np.sqrt(square)) / max(float(edges @ compared.released[:last]), NEGLIGIBLE)


def _of_steps(
    answer: Answer, released: VariantCounts, length_error: float
) -> tuple[dict[Step, int], dict[str, int]]:
    """Of each directly-follows pair, and of each activity by what leads to it and from it."""
    assert isinstance(answer.query, StepVotes)
    part = released.project_onto(answer.activities)
    compared = Compared.of(answer, part, sparse=True)
    end, counts = answer.query.activities, step_counts(part)
    cells = np.arange(counts.size).reshape(counts.shape)
    usual = float(counts.sum() / max(float(compared.released.sum()), NEGLIGIBLE))
    places = [*answer.activities, None]
    pairs = np.argwhere(counts > 0).tolist()
    amounts = np.array([counts[a, b] for a, b in pairs], dtype=np.float64)
    squares = np.array(
        [compared.squared_error(cells[a, b : b + 1], counts[a, b], usual) for a, b in pairs]
    )
    squares += (amounts * length_error) ** 2
    by_step = zip(pairs, sizes(amounts, squares, TUNING.sure), strict=True)
    events = counts[:, :end].sum(axis=0).astype(np.float64)
    there = np.flatnonzero(events).tolist()
    both = [
        [compared.squared_error(around, events[a], usual) for around in (cells[:, a], cells[a])]
        for a in there
    ]
    squares = np.array([np.mean(each) for each in both])
    squares += (events[there] * length_error) ** 2
    by_activity = zip(there, sizes(events[there], squares, TUNING.sure_of_sum), strict=True)
    return (
        {(places[a], places[b]): size for (a, b), size in by_step},
        {answer.activities[a]: size for a, size in by_activity},
    )


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
    published, candidates = _published(answers), _candidates(final)
    listed: dict[Variant, int] = {}
    for (sequence, count), complete in zip(released, released.complete.tolist(), strict=True):
        variant = tuple(sequence), complete
        if published is not None and variant in published:
            noisy, variance = published[variant]
            listed[variant] = ceil(TUNING.sure * np.sqrt(variance + (noisy - count) ** 2))
        elif variant[0] in candidates:
            mean, variance = candidates[variant[0]]
            more = TUNING.sure**2 * (variance + max(mean - count, 0) ** 2)
            # Frequent ones would have been published individually.
            scale = 1 / float(final.epsilon)
            fewer = count if published is not None else min(count, TUNING.lookalikes * scale)
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
    expected, variance = shrink(np.asarray(final.values).ravel() * scale, SHAPES[type(final.noise)])
    return {
        tuple(final.activities[i] for i in ids): (mean / scale, square / scale**2)
        for ids, mean, square in zip(
            final.query.candidates, expected.tolist(), variance.tolist(), strict=True
        )
    }


def add_share_margins(
    margins: Margins,
    answers: Sequence[Answer],
    released: CaseBatch,
    columns: Columns,
    attributes: Sequence[Attribute],
) -> Margins:
    """Add the margins of times and attributes to those of the flow."""
    if not released.cases:
        return margins
    named = {answer.query.name: answer for answer in answers}
    shares: dict[str, ShareMargin] = {}
    for column, attribute in zip(columns, attributes, strict=False):
        answer = named[f"attribute {attribute.key}"]
        shares[attribute.key] = _of_attribute(answer, released, column, attribute)
    margins = replace(margins, attributes=shares)
    if CycleTime.name not in named:
        return margins
    compared = Compared.of(named[Arrivals.name], released, sparse=False)
    begin, there = ShareMargin(fixed=1.0, slope=0.0), compared.released > 0
    if there.any():
        # As noise, and more where the release is further from its answers than noise is.
        off = (compared.expected - compared.released)[there]
        square = max(float((off**2).mean()), float(compared.variance[0]))
        fixed = TUNING.sure * sqrt(square) / float(compared.released.sum())
        begin = ShareMargin(fixed=fixed, slope=0.0)
    return replace(
        margins,
        cycle_time=_of_cycle_times(named[CycleTime.name], released),
        begin=begin,
        waits=_of_waits(named[Gaps.name], released),
    )


def _line(shares: Floats, squares: Floats) -> ShareMargin:
    """The line over shares that expected squared errors lie about: neither part is below 0."""
    there = shares > 0
    shares, squares = shares[there], squares[there]
    if not len(shares):
        return ShareMargin(fixed=1.0, slope=0.0)
    # Errors of large squares are large, too.
    weights = 1 / (squares.mean() + squares)
    table = np.stack([np.ones(len(shares)), shares], axis=1) * weights[:, None]
    fixed, slope = np.linalg.lstsq(table, squares * weights, rcond=None)[0].tolist()
    if fixed < 0 or slope < 0:
        column = table[:, 1 if fixed < 0 else 0]
        size = float(column @ (squares * weights) / max(float(column @ column), NEGLIGIBLE))
        fixed, slope = (0.0, size) if fixed < 0 else (size, 0.0)
    return ShareMargin(fixed=sqrt(fixed), slope=slope)


def _of_cycle_times(answer: Answer, released: CaseBatch) -> tuple[float, ...]:
    """Of each bin that people use; half by its own error, half by that of bins with its share."""
    assert isinstance(answer.query, CycleTime)
    rung = answer.query.rung
    asked = min(rung, 0)
    compared, groups, number = Compared.of(answer, released), within(rung, asked), bins(asked)
    held = np.bincount(groups, compared.released, number)
    per_vote = np.full(number, 1 / max(float(held.sum()), NEGLIGIBLE))
    shares, squares = held * per_vote, compared.squared_errors(groups, number, per_vote)
    line = _line(shares, squares)
    typical = np.array([line.of(share) for share in shares.tolist()]) ** 2
    found = TUNING.sure * np.sqrt((squares + typical) / 2)
    # Bins of several that people use were asked together: their shares may lie in any of them.
    together = np.bincount(within(0, asked)) > 1
    found = np.where(together, np.hypot(found, shares), found)
    return tuple(np.minimum(found, 1.0)[within(0, asked)].tolist())


def _of_attribute(
    answer: Answer, released: CaseBatch, column: ReleasedColumn, attribute: Attribute
) -> ShareMargin:
    """Of the values of cases or events that have any."""
    query, domain = answer.query, attribute.known
    assert isinstance(query, CaseAttribute | EventAttribute)
    size = cells_of(domain)
    # The cell of the domain for each released value; the last is that of missing ones.
    places = [domain.values if text == OTHER else domain.cell(text) for text in column.texts]
    cells = np.array([*places, size - 1], dtype=np.int32)[column.codes]
    values = Values(name=attribute.key, of_case=attribute.of_case, cells=cells, size=size)
    compared = Compared.of(answer, replace(released, attributes=(values,)))
    # Behind all rows of a table of events there is one cell for cases without any value.
    groups = np.append(np.arange(query.rows * query.size) % query.size, size)
    groups = groups[: len(compared.released)]
    # Noise in rows that the release holds to have no values never reaches a share.
    empty = np.add.reduceat(compared.released, np.arange(0, len(groups), query.size)) == 0
    groups[np.repeat(empty, query.size)[: len(groups)]] = size
    counts = np.bincount(cells, minlength=size)[: size - 1].astype(np.float64)
    votes = np.bincount(groups, compared.released, size + 1)[: size - 1]
    usual = counts.sum() / max(float(votes.sum()), NEGLIGIBLE)
    per_vote = np.divide(counts, votes, out=np.full(size - 1, usual), where=votes > 0)
    per_vote /= max(float(counts.sum()), 1.0)
    squares = compared.squared_errors(groups, size + 1, np.append(per_vote, [0.0, 0.0]))
    line = _line(counts / max(float(counts.sum()), 1.0), squares[: size - 1])
    return ShareMargin(
        fixed=TUNING.sure * line.fixed,
        slope=TUNING.sure**2 * line.slope,
        edges=domain.bin_edges,
    )


def _of_waits(answer: Answer, released: CaseBatch) -> dict[Step, float]:
    """Of the median wait of each directly-follows pair of the release."""
    query = answer.query
    assert isinstance(query, Gaps)
    compared = Compared.of(answer, released)
    inside = np.ones(len(released.activity_ids), dtype=np.bool_)
    inside[released.offsets[:-1][released.lengths > 0]] = False
    ends, ids = np.flatnonzero(inside), released.activity_ids.astype(np.int64)
    pairs = np.unique(ids[ends - 1] * query.activities + ids[ends])
    before, after = np.divmod(pairs, query.activities)
    found: dict[Step, float] = {}
    for a, b, row in zip(
        before.tolist(), after.tolist(), query.row_of(before, after).tolist(), strict=True
    ):
        size = TUNING.unknown
        # A pair that shares a row with others was not asked for its own waits.
        if row < len(query.steps):
            square = _median_square(compared, slice(*query.starts[row : row + 2].tolist()))
            size = min(TUNING.sure_of_sum * sqrt(square), TUNING.unknown)
        found[released.activities[a], released.activities[b]] = size
    return found


def _median_square(compared: Compared, cells: slice) -> float:
    """The expected squared error of the share of waits in a row that are below their median."""
    expected, released = np.maximum(compared.expected[cells], 0.0), compared.released[cells]
    variance = compared.variance[cells]
    whole, have = float(expected.sum()), float(released.sum())
    if whole <= 0 or have <= 0:
        return TUNING.unknown**2
    middle = int(np.searchsorted(np.cumsum(released) / have, 1 / 2))
    squares = []
    for end in (middle, middle + 1):
        share = float(expected[:end].sum()) / whole
        noise = float(variance[:end].sum() * (1 - share) ** 2 + variance[end:].sum() * share**2)
        squares.append(noise / whole**2 + (share - float(released[:end].sum()) / have) ** 2)
    # Where in its bin the median lies was not asked.
    inside = float(released[middle]) / have * TUNING.within_bin
    return max(squares) + inside**2
