"""One measured number, and the file of all of them that documents are written from."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from sacofa import __version__

FILE = Path(__file__).parent / "figures.json"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One measured number, with what it takes to measure it again."""

    name: str
    """Its place, from the general to the particular, such as `certified/Receipt/1/similarity`."""
    value: float | None
    """The median, where there are several runs; None where no finite number holds."""
    unit: str = ""
    """Nothing for a share or a ratio."""
    low: float | None = None
    """The lower quartile, or for a mean its standard error below."""
    high: float | None = None
    """The upper quartile, or for a mean its standard error above."""
    runs: int = 1
    seeds: str = ""
    """The seeds of the runs; empty where nothing is drawn."""
    command: str = ""
    date: str = ""
    version: str = ""

    def signed(self, command: str) -> Figure:
        """The figure with the command that measured it, the day and the version."""
        day = datetime.now(UTC).date().isoformat()
        return replace(self, command=command, date=day, version=__version__)


def median(
    name: str, values: Sequence[float], *, unit: str = "", seeds: str = "", digits: int = 4
) -> Figure:
    """The figure of several runs: median and quartiles."""
    low, middle, high = (round(float(v), digits) for v in np.quantile(values, (0.25, 0.5, 0.75)))
    return Figure(
        name=name, value=middle, low=low, high=high, unit=unit, runs=len(values), seeds=seeds
    )


def read_figures(path: Path = FILE) -> dict[str, Figure]:
    """All figures of the file by their names."""
    if not path.exists():
        return {}
    entries = json.loads(path.read_text(encoding="utf-8"))
    return {name: Figure(name=name, **entry) for name, entry in entries.items()}


def keep_figures(figures: Iterable[Figure], path: Path = FILE) -> None:
    """Write figures over those of the same names; others stay."""
    kept = read_figures(path)
    kept.update((figure.name, figure) for figure in figures)
    _write(kept, path)


def drop_others(command: str, measured: Collection[str], path: Path = FILE) -> None:
    """Drop the figures of a command that its last complete run did not measure any more."""
    kept = read_figures(path)
    if measured:
        kept = {n: one for n, one in kept.items() if one.command != command or n in measured}
        _write(kept, path)


def _write(kept: Mapping[str, Figure], path: Path) -> None:
    lines = (f"{json.dumps(n)}: {_entry(kept[n])}" for n in sorted(kept))
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _entry(figure: Figure) -> str:
    """A figure on a line, without what it does not have."""
    entry = {key: value for key, value in asdict(figure).items() if value not in (None, "")}
    del entry["name"]
    if figure.value is None or math.isinf(figure.value):
        entry["value"] = None
    return json.dumps(entry, ensure_ascii=False)
