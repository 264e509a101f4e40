"""Opens logs and counts their variants. Nothing but names of columns is read until then."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from ..cases import Cases
from ..errors import SettingError
from ..variants import VariantCounts
from .bounded_file import Progress
from .columns import Columns
from .formats import Format, find_files
from .frames import frame_name
from .options import Engine, Order, ReadOptions
from .source import Log, Notify, Reader, Source

if TYPE_CHECKING:
    from .spark.distributed import SparkVariants

READERS: dict[Format, str] = {
    "xes": "xes",
    "json": "variants_json",
    "csv": "duckdb.events",
    "tsv": "duckdb.events",
    "parquet": "duckdb.events",
    "frame": "duckdb.events",
    "spark frame": "spark.reader",
    "postgresql": "postgresql",
}
"""The module that reads each format."""

ENGINES: dict[Engine, tuple[str, tuple[Format, ...]]] = {
    "r4pm": ("r4pm", ("xes",)),
    "spark": ("spark.reader", ("csv", "tsv", "parquet")),
}
"""Other modules that can be asked for, and the formats that they read."""

UNORDERED: tuple[Format, ...] = ("spark frame", "postgresql")
"""Sources that have no order of their own: what looks like one may change with any other row."""

PERIODS: tuple[Format, ...] = ("xes", "csv", "tsv", "parquet", "frame")
"""Sources that can be read period by period."""

FILE_FIRST: tuple[Format, ...] = ("xes", "json")
"""Formats whose order of events is meant: time stamps are often coarser than it."""


def open_log(source: Any, options: ReadOptions | None = None, **more: Any) -> Log:
    """Open a log: files (XES, CSV, TSV, Parquet, JSON variants), a frame or a database.

    A path may be a pattern (`logs/*.parquet`) or a folder, whose files are taken in the order of
    their names, as one log. Frames are those of pandas, polars, pyarrow and Spark. A database is
    `postgresql://…` with a query. Columns are found by names in common use unless they are given.

    How it is read is said with `options`, or with the fields of `ReadOptions` as keywords. With
    `person` and `max_cases`, at most max_cases cases of each person are kept; which ones depends on
    that person's cases alone. What does not exist is refused here, before anything is read.
    """
    if more:
        options = replace(options or ReadOptions(), **more)
    options = options or ReadOptions()
    opened = find_source(source, options)
    module = READERS[opened.format]
    if options.engine is not None:
        module, formats = ENGINES[options.engine]
        if opened.format not in formats:
            raise SettingError("engine", options.engine, f"left out for {opened.format}")
    reader = cast(Reader, import_module(f".{module}", __package__))
    if opened.format in UNORDERED:
        if options.order == "file":
            raise SettingError(
                "order", "file", "time: rows of a database or a cluster have no order of their own"
            )
        options = replace(options, order="time")
    columns = reader.find(opened, options)
    if options.period is not None:
        _check_periods(opened, options, columns)
    return Log(
        source=opened,
        columns=columns,
        order=options.order or _default_order(opened.format, columns),
        options=options,
        reader=reader,
    )


def _check_periods(opened: Source, options: ReadOptions, columns: Columns | None) -> None:
    """Refuse a period for a log that cannot be read so."""
    if opened.format not in PERIODS or options.engine is not None:
        what = opened.format if options.engine is None else options.engine
        raise SettingError("period", options.period, f"left out for {what}: give files or frames")
    if columns is None or columns.timestamp is None:
        raise SettingError(
            "period", options.period, "left out: no time stamps are declared (name them: timestamp)"
        )


def _default_order(format: Format, columns: Columns | None) -> Order:
    timed = columns is not None and columns.timestamp is not None
    return "time" if timed and format not in FILE_FIRST else "file"


def count_variants(
    source: Any, *, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Count how many cases took each variant of a log, or of anything that `open_log` takes.

    The result is secret, and so is what `notify` is told: it is for the person who holds the log.
    """
    log = source if isinstance(source, Log) else open_log(source)
    return log.reader.count(log, progress, notify)


def read_cases(
    source: Any, *, progress: Progress | None = None, notify: Notify | None = None
) -> Cases:
    """Read the cases of a log with their times: variants, and the same cases one by one.

    The result is secret. Only who asks for times needs this: it takes longer than counting, and
    room on the disk. What is on the disk goes when `by_case` is closed, or forgotten.
    """
    log = source if isinstance(source, Log) else open_log(source)
    by_case = log.reader.cases(log, progress, notify)
    variants = by_case.variants()
    return Cases(variants=variants, by_case=by_case.project_onto(variants.activities))


def distribute_variants(
    source: Any, *, progress: Progress | None = None, notify: Notify | None = None
) -> SparkVariants:
    """Count the variants of a log that Spark reads, and leave them on the cluster.

    The result is secret. It is a context: when it is left, the cluster forgets the variants.
    """
    log = source if isinstance(source, Log) else open_log(source)
    if not is_distributed(log):
        raise SettingError("engine", log.source.format, "spark, to leave variants on a cluster")
    from .spark.reader import distribute

    return distribute(log, progress, notify)


def is_distributed(log: Log) -> bool:
    """Whether a log's variants can be left where they are counted."""
    return hasattr(log.reader, "distribute")


def find_source(source: Any, options: ReadOptions) -> Source:
    """Find where a log is and how it is stored; which column holds what is not asked yet."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if path.startswith(("postgresql://", "postgres://")):
            if options.query is None:
                raise SettingError("query", None, "given for a database")
            from .postgresql import public_name

            return Source(
                name=public_name(path), format="postgresql", content=path, query=options.query
            )
    if options.query is not None:
        raise SettingError("query", options.query, "left out unless the log is a database")
    if isinstance(source, (str, os.PathLike)):
        files, found = find_files(os.fspath(source), cast("Format | None", options.format))
        return Source(name=os.fspath(source), format=found, content=files, trusted=options.trusted)
    name = frame_name(source)
    spark = name.startswith("Spark")
    return Source(name=name, format="spark frame" if spark else "frame", content=source)
