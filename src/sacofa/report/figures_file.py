"""Writes the figures of a release, with their margins, as CSV, JSON or Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import get_args, get_origin, get_type_hints

from ..errors import OutputError, Statement
from ..events.csv_injection import escape_formula
from ..events.duckdb.database import as_os_error, borrowed, literal
from ..release.anonymize import Release
from .figures import ReleasedFigure, list_figures

FORMAT = "sacofa-figures-2"
TABLES = (".csv", ".json", ".parquet")
"""What a table of figures can be written as."""
PAGES = (".html", ".htm")
_TYPES = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}


def _parquet_type(hint: object) -> str:
    """The type of a column in Parquet."""
    kind = next(iter(get_args(hint)), hint)
    if get_origin(kind) is tuple:
        return "VARCHAR[]"
    return _TYPES[kind if isinstance(kind, type) else str]


COLUMNS = {name: _parquet_type(hint) for name, hint in get_type_hints(ReleasedFigure).items()}
"""The columns of a table, in their order, with their types in Parquet: the fields of a figure."""


def is_table(path: Path) -> bool:
    """Tell whether a file is to be a table of figures, and not a page."""
    suffix = path.suffix.lower()
    if suffix not in (*TABLES, *PAGES):
        raise OutputError(path, Statement("file.not_a_report", suffix=suffix, tables=TABLES))
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
        "margin": str(Statement("report.margin")),
        "below_margin": str(Statement("report.below_margin")),
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

    listed: list[list[object]] = [
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
