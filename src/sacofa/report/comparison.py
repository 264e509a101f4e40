"""Tables of measures of a release, and of the runs of `sacofa compare`. Confidential."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..base.files import unreadable
from ..errors import ReadError, Statement
from ..evaluate import Measures
from ..evaluate.registry import BY_NAME
from ..evaluate.runs import Row, Summary, measures_of, read_rows


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
        raise unreadable(path, error) from None
    except ValueError:
        raise ReadError(path, Statement("file.no_runs")) from None
    return _summarize(rows)


def _summarize(rows: list[Row]) -> ComparisonTable:
    """Return the runs of each setting, and the medians and quartiles of their measures."""
    summary, shown = Summary(rows), measures_of(rows)
    headings = str(Statement("report.comparison_columns")).split(" | ")

    def line(log: str, series: str, epsilon: str) -> tuple[str, ...]:
        _, *details = summary.describe(log, series, epsilon)
        spreads = (summary.spread(measure.name, log, series, epsilon) for measure in shown)
        return (series, epsilon or "–", *details, *(str(spread or "–") for spread in spreads))

    return ComparisonTable(
        columns=(*headings, *(measure.title for measure in shown)),
        keys=len(headings) - 1,
        rows=tuple(line(*setting) for setting in summary.settings()),
    )
