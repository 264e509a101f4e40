"""Formats that are read: declared once, for files, messages, web app and command line alike.

A format of another package is a `Format` under the entry point group `sacofa.readers`. It needs a
function that yields rows of cells; everything after that is the reader of tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ..base.extensions import load_extensions

GROUP = "sacofa.readers"
"""The entry point group of formats."""

Rows = Callable[[Path, bool], Iterator[list[object]]]
"""Yields the names of the columns, then the cells of each event. It is given the file, and whether
the file is trusted, so that guards against hostile files may be off."""


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A module that reads logs, and its capabilities. It has the functions of `source.Reader`."""

    module: str
    """Its name inside this package."""
    name: str | None = None
    """Its name in options, if it is an alternative to the built-in reader."""
    reads_time_formats: bool = False
    """Whether it reads time stamps in any declared format."""
    reads_periods: bool = False
    """Whether it can read a single period."""
    compares_order: bool = False
    """Whether it can compare the order of rows with that of their times (`ComparingReader`)."""
    distributes: bool = False
    """Whether it counts on a cluster, and leaves everything else to the reader of tables."""


TABLES = Engine(
    module="duckdb.events", reads_time_formats=True, reads_periods=True, compares_order=True
)
SPARK = Engine(module="spark.reader", name="spark", reads_time_formats=True, distributes=True)
PM4PY = Engine(module="pm4py_log", reads_time_formats=True, compares_order=True)
XES = Engine(module="xes", reads_periods=True)
COUNTED = Engine(module="variants_json")


@dataclass(frozen=True, kw_only=True)
class Format:
    """A file format or kind of source, and its properties."""

    name: str
    """The name in `ReadOptions.format` and in messages."""
    suffixes: tuple[str, ...] = ()
    """The suffixes of its files."""
    engines: tuple[Engine, ...] = (TABLES,)
    """The engines that can read it; the first is the default."""
    rows: Rows | None = None
    """Returns the rows of a file, for formats of other packages."""
    is_read_by_row: bool = False
    """Whether rows are read one by one and written to a table for the reader of tables."""
    names_are_in_cases: bool = False
    """Whether column names are part of the cases, so that one case may change them."""
    options: tuple[str, ...] = ()
    """The options about the form of a file that it has."""
    is_ordered: bool = True
    """Whether rows have a defined order. Otherwise any row may change the order of others."""
    order_is_meant: bool = False
    """Whether that order is more precise than time stamps, which are often coarse."""
    is_packed: bool = False
    """Whether files are compressed already and cannot be read as a stream."""
    is_one_file: bool = False
    """Whether a log must be a single file."""
    remote: str | None = None
    """The module that returns the rows of a remote source. It is a `source.Remote`."""

    @property
    def has_periods(self) -> bool:
        """Whether any engine can read a single period."""
        return self.is_ordered and not self.is_read_by_row


CSV = Format(
    name="csv",
    suffixes=(".csv", ".txt"),
    engines=(TABLES, SPARK),
    options=("encoding", "header", "skip_rows"),
)
XLSX = Format(
    name="xlsx",
    suffixes=(".xlsx", ".xlsm"),
    options=("header", "skip_rows", "sheet"),
    is_read_by_row=True,
    is_packed=True,
)
BUILT_IN = (
    Format(name="xes", suffixes=(".xes",), engines=(XES,), order_is_meant=True),
    CSV,
    replace(CSV, name="tsv", suffixes=(".tsv",)),
    XLSX,
    replace(XLSX, name="ods", suffixes=(".ods",)),
    Format(
        name="jsonl", suffixes=(".jsonl", ".ndjson"), is_read_by_row=True, names_are_in_cases=True
    ),
    Format(name="parquet", suffixes=(".parquet", ".pq"), engines=(TABLES, SPARK), is_packed=True),
    Format(
        name="json",
        suffixes=(".json",),
        engines=(COUNTED,),
        order_is_meant=True,
        is_one_file=True,
    ),
    Format(name="frame"),
    Format(name="relation", is_ordered=False),
    Format(name="spark frame", engines=(SPARK,), is_ordered=False, remote="spark.reader"),
    Format(name="pm4py log", engines=(PM4PY,), order_is_meant=True),
    Format(name="postgresql", is_ordered=False, remote="postgresql"),
)


def installed_formats() -> dict[str, Format]:
    """All formats by name: the built-in ones, then those of other packages.

    A format of another package is read row by row. It replaces no built-in one, and no suffix.
    """
    named = {each.name: each for each in BUILT_IN}
    taken = {suffix for each in BUILT_IN for suffix in each.suffixes}
    for _, each in load_extensions(GROUP):
        if isinstance(each, Format) and each.rows and taken.isdisjoint(each.suffixes):
            named.setdefault(each.name, replace(each, is_read_by_row=True))
    return named


FORMATS = installed_formats()
"""All formats, by name."""
SUFFIXES = {suffix: each.name for each in FORMATS.values() for suffix in each.suffixes}
"""The format of each suffix."""
FORM_OPTIONS = tuple(dict.fromkeys(option for each in BUILT_IN for option in each.options))
"""All options about the form of a file."""
