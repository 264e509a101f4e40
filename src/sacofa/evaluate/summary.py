"""Summary of the rows of an experiment: medians and quartiles over repetitions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from .registry import BY_NAME
from .runs import DONE, LIMIT, ORIGINAL, Row

QUARTILES = (0.25, 0.5, 0.75)
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
    """The rows of an experiment by log, series and ε, and the runs without a result."""

    def __init__(self, rows: Sequence[Row]) -> None:
        """Take the rows."""
        self.rows = rows

    @property
    def logs(self) -> list[str]:
        """Names of the logs, in the order of their first run."""
        return _distinct(row.log for row in self.rows)

    def series(self, log: str | None = None) -> list[str]:
        """Names of the series, without those of the original, in the order of their first run."""
        rows = (row for row in self.rows if log in (None, row.log))
        return [
            name for name in _distinct(row.series for row in rows) if name not in (ORIGINAL, LIMIT)
        ]

    def epsilons(self, log: str) -> list[str]:
        """Every requested ε, the largest first."""
        asked = _distinct(row.epsilon for row in self.rows if row.log == log and row.epsilon)
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
        return Spread(*np.quantile(values, QUARTILES).tolist()) if values else None

    def median(self, measure: str, log: str, series: str, epsilon: str = "") -> float:
        """Return the median of a measure; NaN if no run has a result."""
        spread = self.spread(measure, log, series, epsilon)
        return math.nan if spread is None else spread.median

    def spent(self, log: str, series: str, epsilon: str) -> str:
        """Return the ε of the whole release as text."""
        found = {row.spent for row in self._select(log, series, epsilon) if row.spent is not None}
        return " / ".join("∞" if math.isinf(e) else f"{e:g}" for e in sorted(found)) or "–"

    def times(self, log: str, series: str, epsilon: str) -> str:
        """Return whether times were released."""
        found = {row.times for row in self._select(log, series, epsilon) if row.times}
        return " / ".join(sorted(found)) or "–"

    def without_result(self, log: str, series: str, epsilon: str) -> str:
        """Return how many runs have no measures, by their state."""
        states = [row.status for row in self._select(log, series, epsilon) if row.status != DONE]
        return ", ".join(f"{states.count(state)} {state}" for state in _distinct(states))

    def table(self, measures: Sequence[str] | None = None) -> Iterator[str]:
        """Return the lines of a Markdown table of medians.

        Args:
            measures: Names of measures. None takes all that apply: those of time and attributes
                are left out if no log has any.

        Returns:
            A line for each log, ε and series.
        """
        measures = self._measured() if measures is None else measures
        yield markdown_row(*TABLE_KEYS, *(BY_NAME[name].title for name in measures))
        yield markdown_row(*["---"] * len(TABLE_KEYS), *["--:"] * len(measures))
        for log in self.logs:
            for series, title in ((ORIGINAL, "*original*"), (LIMIT, "*sampling limit*")):
                if self._select(log, series, ""):
                    keys = (log, "", title, "", "", "")
                    yield markdown_row(*keys, *self._medians(measures, log, series, ""))
            for epsilon, series in product(self.epsilons(log), self.series(log)):
                if self._select(log, series, epsilon):
                    yield self._row(measures, log, series, epsilon)

    def _row(self, measures: Sequence[str], log: str, series: str, epsilon: str) -> str:
        """Return the line of one series at one ε."""
        group = log, series, epsilon
        runs, lost = len(self._select(*group)), self.without_result(*group)
        return markdown_row(
            log,
            epsilon,
            series,
            self.spent(*group),
            self.times(*group),
            f"{runs} ({lost})" if lost else runs,
            *self._medians(measures, *group),
        )

    def _measured(self) -> list[str]:
        """The measures that apply."""
        found = {name for row in self.rows for name in row.measures}
        return [name for name in BY_NAME if name in found or not BY_NAME[name].timed]

    def _medians(self, measures: Sequence[str], *group: str) -> list[str]:
        medians = (self.median(measure, *group) for measure in measures)
        return ["–" if math.isnan(median) else f"{median:.3f}" for median in medians]

    def _select(self, log: str, series: str, epsilon: str) -> list[Row]:
        wanted = (log, series, epsilon)
        return [row for row in self.rows if (row.log, row.series, row.epsilon) == wanted]


def markdown_row(*cells: object) -> str:
    """Return one line of a Markdown table."""
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
