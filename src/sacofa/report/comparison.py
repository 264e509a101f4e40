"""Tables of measures of a release, and of the runs of `sacofa compare`. Confidential."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import ReadError, Statement
from ..evaluate import Measures
from ..evaluate.registry import BY_NAME
from ..evaluate.runs import Row, measures_of, read_rows


@dataclass(frozen=True, kw_only=True)
class ComparisonTable:
    """Medians and quartiles for every series and ε."""

    columns: tuple[str, ...]
    keys: int
    """Number of leading columns that identify the series and ε."""
    rows: tuple[tuple[str, ...], ...]


def list_measures(measures: Measures, limit: Measures) -> list[tuple[str, ...]]:
    """Return the rows of a table of measures: title, value, limit, direction and meaning."""
    limits = {name: f"{value:.3f}" for name, value in limit.items()}
    values = [(BY_NAME[n], f"{value:.3f}", limits.get(n, "")) for n, value in measures.items()]
    return [(one.title, value, best, one.better, one.meaning) for one, value, best in values]


def read_comparison(folder: str | Path) -> ComparisonTable:
    """Read the runs in the folder that `sacofa compare` wrote."""
    path = Path(folder) / "runs.csv"
    try:
        rows = read_rows(path.read_bytes())
    except OSError as error:
        raise ReadError(path, Statement("file.unreadable", why=error.strerror or "")) from None
    except ValueError:
        raise ReadError(path, Statement("file.no_runs")) from None
    return _summarize(rows)


def _summarize(rows: list[Row]) -> ComparisonTable:
    """Return the number of runs for each setting, and the medians of their measures."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(_setting(row), []).append(row)
    shown = measures_of(rows)
    headings = str(Statement("report.comparison_columns")).split(" | ")
    return ComparisonTable(
        columns=(*headings, *(measure.title for measure in shown)),
        keys=len(headings) - 1,
        rows=tuple(
            (*key, str(len(runs)), *(_spread(runs, measure.name) for measure in shown))
            for key, runs in groups.items()
        ),
    )


def _setting(row: Row) -> tuple[str, ...]:
    """Return the series and ε of a run; ε is known only if the run was made."""
    spent = "" if row.spent is None else f"{row.spent:g}".replace("inf", "∞")
    return tuple(cell or "–" for cell in (row.series, row.epsilon, spent, row.times))


def _spread(runs: list[Row], name: str) -> str:
    """Return the median and the quartiles; runs without a value, such as a timeout, are omitted."""
    values = [value for run in runs if (value := run.measures.get(name)) is not None]
    if len(values) < 2:
        return f"{values[0]:.3f}" if values else "–"
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
    return f"{middle:.3f} ({low:.3f}–{high:.3f})"
