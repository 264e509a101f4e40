"""Sums up the rows of an experiment: median and quartiles over repetitions, as Markdown tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .registry import BY_NAME
from .runs import DONE, LIMIT, ORIGINAL, Row


@dataclass(frozen=True)
class Spread:
    """Median and quartiles of one measure."""

    low: float
    median: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.3f} ({self.low:.3f} – {self.high:.3f})"


class Summary:
    """The rows of an experiment by log, series and ε; runs without a result are told as such."""

    def __init__(self, rows: Sequence[Row]) -> None:
        """Take the rows."""
        self.rows = rows

    @property
    def logs(self) -> list[str]:
        """The logs, in the order of their first run."""
        return _distinct(row.log for row in self.rows)

    def series(self, log: str | None = None) -> list[str]:
        """The series but the original's, in the order of their first run."""
        rows = (row for row in self.rows if log in (None, row.log))
        return [
            name for name in _distinct(row.series for row in rows) if name not in (ORIGINAL, LIMIT)
        ]

    def epsilons(self, log: str) -> list[str]:
        """Every ε that was asked for, the largest first."""
        asked = _distinct(row.epsilon for row in self.rows if row.log == log and row.epsilon)
        return sorted(asked, key=Fraction, reverse=True)

    def values(self, measure: str, log: str, series: str, epsilon: str = "") -> list[float]:
        """A measure of all runs that were done."""
        return [
            row.measures[measure]
            for row in self._select(log, series, epsilon)
            if row.status == DONE and measure in row.measures
        ]

    def spread(self, measure: str, log: str, series: str, epsilon: str = "") -> Spread | None:
        """Median and quartiles of a measure; None where no run was done."""
        values = self.values(measure, log, series, epsilon)
        return Spread(*np.quantile(values, (0.25, 0.5, 0.75)).tolist()) if values else None

    def median(self, measure: str, log: str, series: str, epsilon: str = "") -> float:
        """The median of a measure; not a number where no run was done."""
        spread = self.spread(measure, log, series, epsilon)
        return math.nan if spread is None else spread.median

    def spent(self, log: str, series: str, epsilon: str) -> str:
        """The ε of the whole release, as people read it."""
        prices = {row.spent for row in self._select(log, series, epsilon) if row.spent is not None}
        return " / ".join("∞" if math.isinf(p) else f"{p:g}" for p in sorted(prices)) or "–"

    def times(self, log: str, series: str, epsilon: str) -> str:
        """Whether times were released."""
        found = {row.times for row in self._select(log, series, epsilon) if row.times}
        return " / ".join(sorted(found)) or "–"

    def without_result(self, log: str, series: str, epsilon: str) -> str:
        """How many runs have no measures, and why."""
        states = [row.status for row in self._select(log, series, epsilon) if row.status != DONE]
        return ", ".join(f"{states.count(state)} {state}" for state in _distinct(states))

    def table(self, measures: Sequence[str] | None = None) -> Iterator[str]:
        """The lines of a Markdown table: medians of each log, ε and series.

        Unless they are chosen, measures of time are left out where no log has times.
        """
        found = {name for row in self.rows for name in row.measures}
        if measures is None:
            measures = [name for name in BY_NAME if name in found or not BY_NAME[name].timed]
        yield _cells(
            "log",
            "ε asked for",
            "series",
            "ε spent",
            "times",
            "runs",
            *(BY_NAME[name].title for name in measures),
        )
        yield _cells(*["---"] * 6, *["--:"] * len(measures))
        for log in self.logs:
            for series, title in ((ORIGINAL, "*original*"), (LIMIT, "*sampling limit*")):
                if self._select(log, series, ""):
                    figures = [_figure(self.median(m, log, series)) for m in measures]
                    yield _cells(log, "", title, "", "", "", *figures)
            for epsilon in self.epsilons(log):
                for series in self.series(log):
                    runs = len(self._select(log, series, epsilon))
                    if not runs:
                        continue
                    lost = self.without_result(log, series, epsilon)
                    yield _cells(
                        log,
                        epsilon,
                        series,
                        self.spent(log, series, epsilon),
                        self.times(log, series, epsilon),
                        f"{runs} ({lost})" if lost else runs,
                        *(_figure(self.median(m, log, series, epsilon)) for m in measures),
                    )

    def _select(self, log: str, series: str, epsilon: str) -> list[Row]:
        wanted = (log, series, epsilon)
        return [row for row in self.rows if (row.log, row.series, row.epsilon) == wanted]


def _figure(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _cells(*cells: object) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
