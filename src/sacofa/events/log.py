"""Opens logs and counts their variants. Nothing but names of columns is read until then."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..base.files import identity
from ..errors import ReadError, SettingError
from ..kernel.cases import Cases
from ..kernel.variants import VariantCounts
from .attributes import pairs_of, tell_unnamed
from .bounded_file import Progress
from .columns import Columns
from .formats import Format, find_files
from .frames import frame_name, is_pm4py, is_query
from .options import Engine, Order, ReadOptions
from .source import Log, Notify, Reader, Source
from .standard_input import NAME, StandardInput

if TYPE_CHECKING:
    from .spark.distributed import SparkVariants

READERS: dict[Format, str] = {
    "xes": "xes",
    "json": "variants_json",
    "csv": "duckdb.events",
    "tsv": "duckdb.events",
    "xlsx": "duckdb.events",
    "ods": "duckdb.events",
    "jsonl": "duckdb.events",
    "parquet": "duckdb.events",
    "pm4py log": "pm4py_log",
    "relation": "duckdb.events",
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

UNORDERED: tuple[Format, ...] = ("spark frame", "postgresql", "relation")
"""Sources that have no order of their own: what looks like one may change with any other row."""

PERIODS: tuple[Format, ...] = ("xes", "csv", "tsv", "parquet", "frame")
"""Sources that can be read period by period."""

FAMILIES_APART: dict[str, Format] = {"Spark": "spark frame", "DuckDB": "relation"}
"""Frames that are not read like others."""

FORMED = ("duckdb.events", "pm4py_log")
"""Modules that read time stamps in whatever form they are written."""

REMOTE = ("spark.reader", "postgresql")
"""Modules that can give rows as they are, to be read like a table where that is needed."""

FORM_OPTIONS: dict[str, tuple[Format, ...]] = {
    "encoding": ("csv", "tsv"),
    "header": ("csv", "tsv", "xlsx", "ods"),
    "skip_rows": ("csv", "tsv", "xlsx", "ods"),
    "sheet": ("xlsx", "ods"),
}
"""Options about the form of a file, and the formats that have it."""

FILE_FIRST: tuple[Format, ...] = ("xes", "json", "pm4py log")
"""Formats whose order of events is meant: time stamps are often coarser than it."""


def open_log(source: Any, options: ReadOptions | None = None, **more: Any) -> Log:
    """Open a log: files (XES, tables, spreadsheets, JSON), a frame or a database.

    A path may be a pattern (`logs/*.parquet`) or a folder, whose files are taken in the order of
    their names, as one log; so are the files of a list, in its order; `-` is standard input.
    Frames are those of pandas, polars, pyarrow and Spark, relations of DuckDB, and logs of pm4py. A
    database is `postgresql://…` with a query. Columns are found by names in common use unless they
    are given.

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
        if options.encoding is not None or options.header:
            raise SettingError("engine", options.engine, "left out with encoding and header")
        if opened.format not in formats:
            raise SettingError("engine", options.engine, f"left out for {opened.format}")
    reader = cast(Reader, import_module(f".{module}", __package__))
    if options.time_format is not None and module not in (*FORMED, *REMOTE):
        raise SettingError(
            "time_format", options.time_format, f"left out for {options.engine or opened.format}"
        )
    for option in ("start", "lifecycle"):
        known = (*FORMED, *REMOTE, "xes", "r4pm")
        if getattr(options, option) is not None and module not in known:
            where = options.engine or opened.format
            raise SettingError(option, getattr(options, option), f"left out for {where}")
    if opened.format in UNORDERED:
        if options.order == "file":
            raise SettingError(
                "order", "file", "time: rows of a database or a cluster have no order of their own"
            )
        options = replace(options, order="time")
    columns = reader.find(opened, options)
    if module in REMOTE and columns is not None:
        says_more = columns.start or columns.lifecycle or columns.joined
        if options.time_format is not None or says_more:
            from .brought import BroughtReader

            reader = BroughtReader(cast(Any, reader))
            columns = reader.find(opened, options)
    if options.attribute and (columns is None or not columns.attributes):
        raise SettingError(
            "attribute", options.attribute[0], f"left out: {opened.format} is read without any"
        )
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
    _announce(log, notify)
    return log.reader.count(log, progress, notify)


def read_cases(
    source: Any, *, progress: Progress | None = None, notify: Notify | None = None
) -> Cases:
    """Read the cases of a log with their times: variants, and the same cases one by one.

    They have the attributes that the log was opened with. The result is secret. Only who asks for
    times or attributes needs this: it takes longer than counting, and
    room on the disk. What is on the disk goes when `by_case` is closed, or forgotten.
    """
    log = source if isinstance(source, Log) else open_log(source)
    _announce(log, notify)
    by_case = log.reader.cases(log, progress, notify)
    if notify is not None:
        tell_unnamed(by_case.attributes, by_case.outside, notify)
    variants = by_case.variants()
    return Cases(
        variants=variants,
        by_case=by_case.project_onto(variants.activities),
        has_times=log.has_times,
        has_starts=log.has_starts,
        attributes=by_case.attributes,
        pairs=pairs_of(by_case.attributes, log.options.pair),
        assumptions=log.assumptions,
    )


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

    _announce(log, notify)
    return distribute(log, progress, notify)


def _announce(log: Log, notify: Notify | None) -> None:
    """Tell the holder of a log how its times are read, where that was recognised by names."""
    if notify is not None and log.columns is not None:
        for note in log.columns.notes(log.options):
            notify(note)


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
        return _open_files([os.fspath(source)], options)
    if type(source) in (list, tuple) and all(isinstance(p, (str, os.PathLike)) for p in source):
        return _open_files([os.fspath(path) for path in source], options)
    if is_pm4py(source):
        from .pm4py_log import read_memory

        return Source(name="pm4py log", format="pm4py log", content=read_memory(source))
    name = frame_name(source)
    if is_query(source):
        from .duckdb.source import as_relation

        relation, database = as_relation(name, source)
        return Source(name=name, format="relation", content=relation, held=database)
    family = name.partition(" ")[0]
    format = FAMILIES_APART.get(family, "frame")
    return Source(name=name, format=format, content=source)


def _check_different(files: tuple[Path, ...]) -> None:
    """Refuse files that are one, by whatever names and links: their cases would count twice."""
    seen: dict[object, Path] = {}
    for path in files:
        marks = identity(path)
        for mark in marks:
            if mark in seen:
                by = "" if seen[mark] == path else f", as {seen[mark]} too"
                raise ReadError(path, f"is named twice{by}: its cases would count twice")
        seen |= dict.fromkeys(marks, path)


def _open_files(paths: list[str], options: ReadOptions) -> Source:
    """Open files that make up one log, in the order in which they are named."""
    if not paths:
        raise ReadError("a list of files", "is empty: name one or more")
    format = cast("Format | None", options.format)
    held: StandardInput | None = None
    files: tuple[Path, ...]
    name = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1:,} more"
    if NAME in paths:
        if len(paths) > 1:
            raise SettingError("log", ", ".join(paths), "standard input (-) alone, or files")
        if format is None:
            raise SettingError("format", None, "given where the log is standard input (-)")
        held = StandardInput()
        files, found = (held.path,), format
        name = "standard input"
    else:
        files, found = find_files(paths[0], format)
    for path in paths[1:]:
        more, other = find_files(path, format)
        if other != found:
            raise ReadError(path, f"is {other}, and {paths[0]} is {found}: name files of one kind")
        files += more
    if len(files) > 1 and found == "json":
        raise ReadError(paths[1], "variants must be one file")
    _check_different(files)
    for option, formats in FORM_OPTIONS.items():
        value = getattr(options, option)
        if value not in (None, ()) and found not in formats:
            shown = ",".join(value) if isinstance(value, tuple) else value
            raise SettingError(option, shown, f"left out for {found}")
    return Source(
        name=name,
        format=found,
        content=files,
        trusted=options.trusted,
        encoding=options.encoding,
        header=options.header,
        skip_rows=options.skip_rows,
        sheet=options.sheet,
        held=held,
    )
