"""Margins of error of times and attributes: shares of cases and values, and median waits.

Shares come of tables of cells, as counts do in module `margins`, and so does their expected squared
error. It grows with the share, so it is kept as a line over the shares of one distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..base.cells import OTHER, cells_of
from ..kernel.attributes import Attribute
from ..kernel.cases import CaseBatch, Values
from ..kernel.queries.attributes import CaseAttribute, EventAttribute
from ..kernel.queries.durations import bins
from ..kernel.queries.protocol import Answer
from ..kernel.queries.times import Arrivals, CycleTime, Gaps
from .flow.margins import SURE, SURE_OF_SUM, Compared
from .margins import Margins, ShareMargin, Step
from .released import Columns, ReleasedColumn
from .times.rows import within

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MANY_CELLS = 200
"""Fewer noisy cells do not say how full cells usually are: each is taken as its answer says."""
UNKNOWN = 0.5
"""The median lies somewhere among the waits."""
WITHIN_BIN = 0.29
"""The standard deviation of a place in a bin of which nothing is known: √(1/12) of its share."""


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
    return replace(
        margins,
        cycle_time=_of_cycle_times(named[CycleTime.name], released),
        begin=_of_begins(named[Arrivals.name], released),
        waits=_of_waits(named[Gaps.name], released),
    )


def _compared(answer: Answer, released: CaseBatch) -> Compared:
    return Compared.of(answer, released, sparse=len(answer.values) >= MANY_CELLS)


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
        alone = (0, 1) if fixed < 0 else (1, 0)
        column = table[:, alone.index(1)]
        size = float(column @ (squares * weights) / max(float(column @ column), 1e-300))
        fixed, slope = (0.0, size) if fixed < 0 else (size, 0.0)
    return ShareMargin(fixed=fixed**0.5, slope=slope)


def _squares(compared: Compared, groups: Ints, number: int, per_vote: Floats) -> Floats:
    """The expected squared error of each of so many groups of cells."""
    off = np.bincount(groups, compared.expected - compared.released, number)
    variance = np.bincount(groups, compared.variance, number)
    squares: Floats = per_vote**2 * (variance + off**2)
    return squares


def _of_cycle_times(answer: Answer, released: CaseBatch) -> tuple[float, ...]:
    """Of each bin that people use; half by its own error, half by that of bins with its share."""
    assert isinstance(answer.query, CycleTime)
    rung = answer.query.rung
    asked = min(rung, 0)
    shares, squares = _of_cases(_compared(answer, released), within(rung, asked), bins(asked))
    line = _line(shares, squares)
    typical = np.array([line.of(share) for share in shares.tolist()]) ** 2
    found = SURE * np.sqrt((squares + typical) / 2)
    # Bins of several that people use were asked together: their shares may lie in any of them.
    together = np.bincount(within(0, asked)) > 1
    found = np.where(together, np.hypot(found, shares), found)
    return tuple(np.minimum(found, 1.0)[within(0, asked)].tolist())


def _of_begins(answer: Answer, released: CaseBatch) -> ShareMargin:
    """Of months: as noise, and more where the release is further from its answers than noise is."""
    compared = Compared.of(answer, released, sparse=False)
    there = compared.released > 0
    if not there.any():
        return ShareMargin(fixed=1.0, slope=0.0)
    off = (compared.expected - compared.released)[there]
    square = max(float((off**2).mean()), float(compared.variance[0]))
    return ShareMargin(fixed=SURE * square**0.5 / float(compared.released.sum()), slope=0.0)


def _of_cases(compared: Compared, groups: Ints, number: int) -> tuple[Floats, Floats]:
    """Shares and their expected squared errors where each case has one vote."""
    held = np.bincount(groups, compared.released, number)
    per_vote = np.full(number, 1 / max(float(held.sum()), 1e-9))
    return held * per_vote, _squares(compared, groups, number, per_vote)


def _of_attribute(
    answer: Answer, released: CaseBatch, column: ReleasedColumn, attribute: Attribute
) -> ShareMargin:
    """Of the values of cases or events that have any."""
    query = answer.query
    assert isinstance(query, CaseAttribute | EventAttribute)
    cells, size = _cells(column, attribute), cells_of(attribute.known)
    values = Values(name=attribute.key, of_case=attribute.of_case, cells=cells, size=size)
    compared = _compared(answer, replace(released, attributes=(values,)))
    # Behind all rows of a table of events there is one cell for cases without any value.
    groups = np.append(np.arange(query.rows * query.size) % query.size, size)
    groups = groups[: len(compared.released)]
    # Noise in rows that the release holds to have no values never reaches a share.
    empty = np.add.reduceat(compared.released, np.arange(0, len(groups), query.size)) == 0
    groups[np.repeat(empty, query.size)[: len(groups)]] = size
    counts = np.bincount(cells, minlength=size)[: size - 1].astype(np.float64)
    votes = np.bincount(groups, compared.released, size + 1)[: size - 1]
    usual = counts.sum() / max(float(votes.sum()), 1e-9)
    per_vote = np.divide(counts, votes, out=np.full(size - 1, usual), where=votes > 0)
    per_vote /= max(float(counts.sum()), 1.0)
    everywhere = np.append(per_vote, [0.0, 0.0])
    squares = _squares(compared, groups, size + 1, everywhere)[: size - 1]
    line = _line(counts / max(float(counts.sum()), 1.0), squares)
    domain = attribute.known
    return ShareMargin(
        fixed=SURE * line.fixed,
        slope=SURE**2 * line.slope,
        edges=domain.bin_edges,
    )


def _cells(column: ReleasedColumn, attribute: Attribute) -> NDArray[np.int32]:
    """The cell of the domain for each released value."""
    domain = attribute.known
    missing = cells_of(domain) - 1
    places = [domain.values if text == OTHER else domain.cell(text) for text in column.texts]
    return np.array([*places, missing], dtype=np.int32)[column.codes]


@dataclass(frozen=True, eq=False)
class _Row:
    """A row of duration bins: what it is expected to hold, and what the release has."""

    expected: Floats
    variance: Floats
    released: Floats

    def median_square(self) -> float:
        """The expected squared error of the share of waits that are shorter than the median."""
        whole, have = float(self.expected.sum()), float(self.released.sum())
        if whole <= 0 or have <= 0:
            return UNKNOWN**2
        upto = np.cumsum(self.released) / have
        middle = int(np.searchsorted(upto, 0.5))
        ends = [self._square(end, whole, have) for end in (middle, middle + 1)]
        # Where in its bin the median lies was not asked.
        inside = float(self.released[middle]) / have * WITHIN_BIN
        return max(ends) + inside**2

    def _square(self, end: int, whole: float, have: float) -> float:
        share = float(self.expected[:end].sum()) / whole
        noise = float(
            self.variance[:end].sum() * (1 - share) ** 2 + self.variance[end:].sum() * share**2
        )
        return noise / whole**2 + (share - float(self.released[:end].sum()) / have) ** 2


def _of_waits(answer: Answer, released: CaseBatch) -> dict[Step, float]:
    """Of the median wait of each directly-follows pair of the release."""
    query = answer.query
    assert isinstance(query, Gaps)
    compared = _compared(answer, released)
    inside = np.ones(len(released.activity_ids), dtype=np.bool_)
    inside[released.offsets[:-1][released.lengths > 0]] = False
    ends = np.flatnonzero(inside)
    ids = released.activity_ids.astype(np.int64)
    pairs = np.unique(ids[ends - 1] * query.activities + ids[ends])
    found: dict[Step, float] = {}
    for a, b in zip(*(part.tolist() for part in np.divmod(pairs, query.activities)), strict=True):
        row = int(query.row_of(np.array([a]), np.array([b]))[0])
        if row >= len(query.steps):
            # It shares a row with others: its own waits were not asked for.
            found[released.activities[a], released.activities[b]] = UNKNOWN
            continue
        cells = slice(int(query.starts[row]), int(query.starts[row + 1]))
        square = _Row(
            np.maximum(compared.expected[cells], 0.0),
            compared.variance[cells],
            compared.released[cells],
        ).median_square()
        size = min(SURE_OF_SUM * square**0.5, UNKNOWN)
        found[released.activities[a], released.activities[b]] = size
    return found
