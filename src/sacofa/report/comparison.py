"""What `sacofa compare` measured at other settings, summed up for an internal report. Secret."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

from ..errors import ReadError
from ..evaluate.registry import MEASURES
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
        raise ReadError(path, f"cannot be read: {error.strerror}") from None
    except (ValueError, csv.Error):
        raise ReadError(path, "does not hold the runs of `sacofa compare`") from None
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        spent = "–" if row.spent is None else "∞" if row.spent == float("inf") else f"{row.spent:g}"
        # What a run really costs is known only where it was made.
        key = (row.series, row.epsilon or "–", spent, row.times or "–")
        groups.setdefault(key, []).append(row)
    found = {name for row in rows for name in row.measures}
    shown = [measure for measure in MEASURES if measure.name in found or not measure.timed]
    return ComparisonTable(
        columns=(
            "what",
            "ε asked for",
            "ε spent",
            "times",
            "runs",
            *(measure.title for measure in shown),
        ),
        keys=4,
        rows=tuple(
            (*key, str(len(group)), *(_middle(group, measure.name) for measure in shown))
            for key, group in groups.items()
        ),
    )


def _middle(runs: list[Row], name: str) -> str:
    """The median and the quartiles; a run without a value, such as a timeout, is left out."""
    values = [value for run in runs if (value := run.measures.get(name)) is not None]
    if not values:
        return "–"
    if len(values) == 1:
        return f"{values[0]:.3f}"
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return f"{middle:.3f} ({low:.3f}–{high:.3f})"
