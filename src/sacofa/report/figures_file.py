"""Writes the figures of a release, with their margins, as CSV, JSON or Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from ..errors import OutputError
from ..events.csv_injection import escape_formula
from ..events.duckdb.database import as_os_error, borrowed
from ..events.duckdb.sql import literal
from ..release.anonymize import Release
from .figures import ReleasedFigure, list_figures

FORMAT = "sacofa-figures-2"
TABLES = (".csv", ".json", ".parquet")
"""What a table of figures can be written as."""
PAGES = (".html", ".htm")
COLUMNS = {
    "kind": "VARCHAR",
    "name": "VARCHAR",
    "value": "VARCHAR",
    "activities": "VARCHAR[]",
    "finished": "BOOLEAN",
    "count": "BIGINT",
    "count_margin": "BIGINT",
    "share": "DOUBLE",
    "share_margin": "DOUBLE",
    "seconds": "DOUBLE",
    "seconds_low": "DOUBLE",
    "seconds_high": "DOUBLE",
    "below_margin": "BOOLEAN",
}
"""The columns of a table, in their order, with their types in Parquet."""


def is_table(path: Path) -> bool:
    """Tell whether a file is to be a table of figures, and not a page."""
    suffix = path.suffix.lower()
    if suffix not in (*TABLES, *PAGES):
        known = f"{', '.join(TABLES[:-1])} or {TABLES[-1]}"
        raise OutputError(path, f'unknown suffix "{suffix}": a page is .html, a table {known}')
    return suffix in TABLES


def write_figures(release: Release, path: Path) -> None:
    """Write the figures of a release to a file, in the format that the end of its name tells."""
    figures, suffix = list_figures(release), path.suffix.lower()
    if suffix == ".parquet":
        _write_parquet(figures, path)
    elif suffix == ".csv":
        _write_csv(figures, path)
    else:
        _write_json(release, figures, path)


def _write_csv(figures: Sequence[ReleasedFigure], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([_cell(getattr(figure, name)) for name in COLUMNS] for figure in figures)


def _cell(value: object) -> object:
    if isinstance(value, tuple):
        # Names hold any character: only as JSON it is clear where one ends.
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return str(value).lower()
    return escape_formula(value) if isinstance(value, str) else value


def _write_json(release: Release, figures: Sequence[ReleasedFigure], path: Path) -> None:
    certificate = release.certificate
    head = {
        "format": FORMAT,
        "epsilon": None if certificate.epsilon is None else str(certificate.epsilon),
        "sha256": certificate.sha256,
        "verdict": None if certificate.verdict is None else str(certificate.verdict),
        "margin": "in 95 of 100 runs a figure is off by no more than its margin",
        "below_margin": "there may be none of it in the original log",
    }
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(head, ensure_ascii=False, indent=1)[:-2] + ',\n "figures": [')
        for number, figure in enumerate(figures):
            # What a kind of figure has not is left out.
            content = {key: value for key, value in asdict(figure).items() if value is not None}
            file.write(f"{',' if number else ''}\n  {json.dumps(content, ensure_ascii=False)}")
        file.write("\n ]}\n")


def _write_parquet(figures: Sequence[ReleasedFigure], path: Path) -> None:
    import duckdb

    listed: list[Any] = [
        [list(value) if isinstance(value, tuple) else value for value in column]
        for column in zip(
            *([getattr(figure, name) for name in COLUMNS] for figure in figures), strict=True
        )
    ] or [[] for _ in COLUMNS]
    chosen = ", ".join(f'unnest(?::{kind}[]) AS "{name}"' for name, kind in COLUMNS.items())
    try:
        with borrowed(None) as database:
            database.execute(f"CREATE TABLE figures AS SELECT {chosen}", listed)
            database.execute(f"COPY figures TO {literal(path)} (FORMAT parquet, COMPRESSION zstd)")
    except duckdb.Error as error:
        raise as_os_error(error) from None


assert tuple(COLUMNS) == tuple(field.name for field in fields(ReleasedFigure))
