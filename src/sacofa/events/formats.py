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
    """A module that reads logs, and what it can do. It has the functions of `source.Reader`."""

    module: str
    """Its name inside this package."""
    name: str | None = None
    """What people call it if it is an alternative to the built-in reader."""
    reads_time_formats: bool = False
    """Whether it reads time stamps in any declared form."""
    reads_periods: bool = False
    """Whether it reads a single period."""
    compares_order: bool = False
    """Whether it can compare the order of rows with that of their times (`ComparingReader`)."""
    brings_rows: bool = False
    """Whether it counts elsewhere, and leaves more than that to the reader of tables."""
    distributes: bool = False
    """Whether it can leave variants where they are counted."""


TABLES = Engine(
    module="duckdb.events", reads_time_formats=True, reads_periods=True, compares_order=True
)
SPARK = Engine(
    module="spark.reader",
    name="spark",
    reads_time_formats=True,
    brings_rows=True,
    distributes=True,
)
BROUGHT = Engine(module="duckdb.events", reads_time_formats=True)
"""Reads rows that a server gives, and files that an other engine does not read as asked."""
PM4PY = Engine(module="pm4py_log", reads_time_formats=True, compares_order=True)
XES = Engine(module="xes", reads_periods=True)
COUNTED = Engine(module="variants_json")


@dataclass(frozen=True, kw_only=True)
class Format:
    """How a log is stored, and what follows from that."""

    name: str
    """What it is called, in `ReadOptions.format` and in messages."""
    suffixes: tuple[str, ...] = ()
    """How the names of its files end."""
    engines: tuple[Engine, ...] = (TABLES,)
    """What can read it; the first does unless another one is asked for."""
    rows: Rows | None = None
    """Gives the rows of a file, for formats of other packages."""
    is_read_by_row: bool = False
    """Whether rows are read one by one, and written down as a table for the reader of tables."""
    names_are_in_cases: bool = False
    """Whether names of columns are parts of the cases, so that one case may change them."""
    options: tuple[str, ...] = ()
    """The options about the form of a file that it has."""
    is_ordered: bool = True
    """Whether rows have an order of their own. Else what looks like one may change with any row."""
    order_is_meant: bool = False
    """Whether that order says more than time stamps, which are often coarser."""
    is_packed: bool = False
    """Whether files are packed already, and cannot be read as a stream."""
    is_one_file: bool = False
    """Whether a log is a single file."""
    remote: str | None = None
    """The module that gives its rows where they are elsewhere. It is a `source.Remote`."""

    @property
    def has_periods(self) -> bool:
        """Whether it can be read period by period."""
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
    Format(name="postgresql", engines=(BROUGHT,), is_ordered=False, remote="postgresql"),
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
"""The format for each end of a file name."""
FORM_OPTIONS = tuple(dict.fromkeys(option for each in BUILT_IN for option in each.options))
"""All options about the form of a file."""
