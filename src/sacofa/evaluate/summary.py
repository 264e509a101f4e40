"""Summary of the rows of an experiment: medians and quartiles over repetitions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from .registry import BY_NAME
from .runs import DONE, LIMIT, ORIGINAL, Row

TABLE_KEYS = ("log", "ε asked for", "series", "ε spent", "times", "runs")
"""Columns of the table before the measures."""


@dataclass(frozen=True)
class Spread:
    """Median and quartiles of one measure."""

    low: float
    median: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.3f} ({self.low:.3f} – {self.high:.3f})"


class Summary:
    """The rows of an experiment by log, series and ε, in the order of their first run."""

    def __init__(self, rows: Sequence[Row]) -> None:
        """Take the rows."""
        self.rows = rows
        self.logs = list(dict.fromkeys(row.log for row in rows))
        """Names of the logs."""
        names = dict.fromkeys(row.series for row in rows)
        self.series = [name for name in names if name not in (ORIGINAL, LIMIT)]
        """Names of the series, without those of the original."""

    def epsilons(self, log: str) -> list[str]:
        """Every requested ε, the largest first."""
        asked = dict.fromkeys(row.epsilon for row in self.rows if row.log == log and row.epsilon)
        return sorted(asked, key=Fraction, reverse=True)

    def values(self, measure: str, log: str, series: str, epsilon: str = "") -> list[float]:
        """Return a measure of all runs that have a result."""
        return [
            row.measures[measure]
            for row in self._select(log, series, epsilon)
            if row.status == DONE and measure in row.measures
        ]

    def spread(self, measure: str, log: str, series: str, epsilon: str = "") -> Spread | None:
        """Return median and quartiles of a measure; None if no run has a result."""
        values = self.values(measure, log, series, epsilon)
        return Spread(*np.quantile(values, (0.25, 0.5, 0.75)).tolist()) if values else None

    def median(self, measure: str, log: str, series: str, epsilon: str = "") -> float:
        """Return the median of a measure; NaN if no run has a result."""
        spread = self.spread(measure, log, series, epsilon)
        return math.nan if spread is None else spread.median

    def spent(self, log: str, series: str, epsilon: str) -> str:
        """Return the ε of the whole release as text."""
        found = {row.spent for row in self._select(log, series, epsilon) if row.spent is not None}
        return " / ".join("∞" if math.isinf(e) else f"{e:g}" for e in sorted(found)) or "–"

    def table(self, measures: Sequence[str] = ()) -> Iterator[str]:
        """Return a Markdown table of medians, with a line for each log, ε and series.

        Measures of times and attributes are omitted if no log has any.
        """
        found = set[str]().union(*(row.measures for row in self.rows))
        measures = measures or [n for n in BY_NAME if n in found or not BY_NAME[n].timed]
        yield markdown_row(*TABLE_KEYS, *(BY_NAME[name].title for name in measures))
        yield markdown_row(*["---"] * len(TABLE_KEYS), *["--:"] * len(measures))
        for log in self.logs:
            own = [("", ORIGINAL), ("", LIMIT)]
            for epsilon, series in (*own, *product(self.epsilons(log), self.series)):
                if self._select(log, series, epsilon):
                    yield self._row(measures, log, series, epsilon)

    def _row(self, measures: Sequence[str], log: str, series: str, epsilon: str) -> str:
        details: Iterable[object] = (f"*{series}*", "", "", "")
        if epsilon:
            details = self._details(log, series, epsilon)
        medians = (self.median(name, log, series, epsilon) for name in measures)
        figures = ("–" if math.isnan(median) else f"{median:.3f}" for median in medians)
        return markdown_row(log, epsilon, *details, *figures)

    def _details(self, *group: str) -> Iterator[object]:
        """Return the series, what was spent, whether times were released, and the runs."""
        rows = self._select(*group)
        lost = Counter(row.status for row in rows if row.status != DONE)
        states = ", ".join(f"{number} {state}" for state, number in lost.items())
        yield group[1]
        yield self.spent(*group)
        yield " / ".join(sorted({row.times for row in rows if row.times})) or "–"
        yield f"{len(rows)} ({states})" if states else len(rows)

    def _select(self, log: str, series: str, epsilon: str) -> list[Row]:
        wanted = (log, series, epsilon)
        return [row for row in self.rows if (row.log, row.series, row.epsilon) == wanted]


def markdown_row(*cells: object) -> str:
    """Return one line of a Markdown table."""
    return "| " + " | ".join(str(cell) for cell in cells) + " |"
