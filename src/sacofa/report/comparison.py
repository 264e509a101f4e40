"""What `sacofa compare` measured at other settings, summed up for an internal report. Secret."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

from ..errors import ReadError, Statement
from ..evaluate.registry import MEASURES, Measure
from ..evaluate.runs import HEADER, Row


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
    """The medians of each setting."""
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
        rows=tuple((*key, *_line(group, shown)) for key, group in groups.items()),
    )


def _line(group: list[Row], shown: list[Measure]) -> list[str]:
    """The number of runs with the same settings, and their measures."""
    return [str(len(group)), *(_middle(group, measure.name) for measure in shown)]


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
