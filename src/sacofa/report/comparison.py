"""What `sacofa compare` measured at other settings, summed up for an internal report. Secret."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

from ..errors import ReadError

KEYS = ("log", "mechanism", "epsilon", "settings")
MEASURES = (
    "similarity",
    "f_score",
    "generalization",
    "normal",
    "mass_kept",
    "invented",
    "size_error",
)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Medians and quartiles of every setting that was tried."""

    columns: tuple[str, ...]
    keys: int
    """How many of the columns say what was tried."""
    rows: tuple[tuple[str, ...], ...]


def read_comparison(folder: str | Path) -> Comparison:
    """Read the runs in the folder that `sacofa compare` wrote."""
    path = Path(folder)
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
    if len(files) != 1:
        raise ReadError(path, f"holds {len(files)} CSV files: give a folder with one, of runs")
    try:
        with files[0].open(encoding="utf-8", newline="") as file:
            runs = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ReadError(files[0], f"cannot be read: {error}") from None
    header = tuple(runs[0]) if runs else ()
    keys = tuple(name for name in KEYS if name in header)
    measures = tuple(name for name in MEASURES if name in header)
    if "mechanism" not in keys or not measures:
        raise ReadError(files[0], "does not hold the runs of `sacofa compare`")
    groups: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for run in runs:
        groups.setdefault(tuple(run[key] for key in keys), []).append(run)
    return Comparison(
        columns=(*keys, "runs", *(name.replace("_", " ") for name in measures)),
        keys=len(keys),
        rows=tuple(
            (*key, str(len(group)), *(_middle(files[0], group, name) for name in measures))
            for key, group in groups.items()
        ),
    )


def _middle(path: Path, runs: list[dict[str, str]], name: str) -> str:
    """The median and the quartiles; a run without a value, such as a timeout, is left out."""
    try:
        values = [float(run[name]) for run in runs if run[name] not in ("", None)]
    except ValueError:
        raise ReadError(path, f"the column {name} holds something that is no number") from None
    if not values:
        return "–"
    if len(values) == 1:
        return f"{values[0]:.3f}"
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return f"{middle:.3f} ({low:.3f}–{high:.3f})"
