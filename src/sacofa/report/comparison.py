"""Tables of measures: of a release, and of what `sacofa compare` tried. Confidential."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

from ..errors import ReadError, Statement
from ..evaluate import Measures
from ..evaluate.registry import BY_NAME, MEASURES, Measure
from ..evaluate.runs import HEADER, Row


def list_measures(measures: Measures, limit: Measures) -> list[tuple[str, ...]]:
    """The lines of a table of measures: title, value, limit, which is better, and the meaning."""
    limits = {name: f"{value:.3f}" for name, value in limit.items()}
    values = [
        (BY_NAME[name], f"{value:.3f}", limits.get(name, "")) for name, value in measures.items()
    ]
    return [(one.title, value, best, one.better, one.meaning) for one, value, best in values]


@dataclass(frozen=True, kw_only=True)
class ComparisonTable:
    """Medians and quartiles of every setting that was tried."""

    columns: tuple[str, ...]
    keys: int
    """How many of the columns say what was tried."""
    rows: tuple[tuple[str, ...], ...]


def read_comparison(folder: str | Path) -> ComparisonTable:
    """Read the runs in the folder that `sacofa compare` wrote."""
    path = Path(folder) / "runs.csv"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            header, *lines = csv.reader(file) or [[]]
        if header != HEADER:
            raise ValueError
        rows = [Row.from_cells(line) for line in lines]
    except OSError as error:
        raise ReadError(path, Statement("file.unreadable", why=error.strerror or "")) from None
    except (ValueError, csv.Error):
        raise ReadError(path, Statement("file.no_runs")) from None
    return _summarize(rows)


def _summarize(rows: list[Row]) -> ComparisonTable:
    """The number of runs of each setting, and the medians of their measures."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        key = (row.series, row.epsilon or "–", _spent(row), row.times or "–")
        groups.setdefault(key, []).append(row)
    found = set[str]().union(*(row.measures for row in rows))
    shown = [measure for measure in MEASURES if measure.name in found or not measure.timed]
    headings = str(Statement("report.comparison_columns")).split(" | ")
    return ComparisonTable(
        columns=(*headings, *(measure.title for measure in shown)),
        keys=len(headings) - 1,
        rows=tuple((*key, str(len(runs)), *_middles(runs, shown)) for key, runs in groups.items()),
    )


def _middles(runs: list[Row], shown: list[Measure]) -> list[str]:
    return [_middle(runs, measure.name) for measure in shown]


def _spent(row: Row) -> str:
    """The ε of a run, which is known only if the run was made."""
    if row.spent is None:
        return "–"
    return "∞" if row.spent == float("inf") else f"{row.spent:g}"


def _middle(runs: list[Row], name: str) -> str:
    """The median and the quartiles; a run without a value, such as a timeout, is left out."""
    values = [value for run in runs if (value := run.measures.get(name)) is not None]
    if not values:
        return "–"
    if len(values) == 1:
        return f"{values[0]:.3f}"
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return f"{middle:.3f} ({low:.3f}–{high:.3f})"
