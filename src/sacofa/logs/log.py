"""Opens logs and counts their variants. Nothing is read until it is counted."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast, get_args

from ..errors import SettingError, nearest
from ..variants import VariantCounts
from .columns import Wanted
from .formats import SUFFIXES, Format, find_files
from .frames import frame_name
from .source import Log, Order, Reader, Source
from .stream import Progress

if TYPE_CHECKING:
    from .spark_parts import SparkVariants

READERS: dict[Format, str] = {
    "xes": "xes",
    "json": "variants_json",
    "csv": "tables",
    "tsv": "tables",
    "parquet": "tables",
    "frame": "tables",
    "spark frame": "spark",
    "postgresql": "postgresql",
}
"""The module that reads each format."""

ENGINES: dict[str, tuple[Format, ...]] = {"r4pm": ("xes",), "spark": ("csv", "tsv", "parquet")}
"""Other modules that can be asked for, and the formats that they read."""


def read_log(
    source: Any,
    *,
    case: str | None = None,
    activity: str | Sequence[str] | None = None,
    timestamp: str | None = None,
    order: str = "file",
    person: str | None = None,
    max_cases: int | None = None,
    format: str | None = None,
    query: str | None = None,
    engine: str | None = None,
    trusted: bool = False,
) -> Log:
    """Open a log: files (XES, CSV, TSV, Parquet, JSON variants), a frame or a database.

    A path may be a pattern (`logs/*.parquet`) or a folder, whose files are taken in the order of
    their names, as one log. Frames are those of pandas, polars, pyarrow and Spark. A database is
    `postgresql://…` with a query. Columns are found by names in common use unless they are given.

    With `person` and `max_cases`, the first max_cases cases of each person are counted, in the
    order of the source, so that which ones depends on nobody else; a case whose person is missing
    is a person of its own. The engine `r4pm` reads XES faster with more memory, `spark` reads
    tables on a cluster. Files that are gzip bombs, or whose cases are beyond belief, are refused
    unless they are `trusted`.
    """
    if order not in get_args(Order):
        raise SettingError("order", order, "file or time")
    if format is not None and format not in SUFFIXES.values():
        known = sorted(set(SUFFIXES.values()))
        raise SettingError("format", format, f"one of {', '.join(known)}.{nearest(format, known)}")
    if engine is not None and engine not in ENGINES:
        raise SettingError("engine", engine, f"one of {', '.join(ENGINES)}")
    if max_cases is not None and max_cases < 1:
        raise SettingError("max_cases", max_cases, "1 or more")
    if (person is None) != (max_cases is None):
        name, value = ("max_cases", max_cases) if person is None else ("person", person)
        raise SettingError(name, value, "given together with person and max_cases")
    wanted = Wanted(
        case=case,
        activity=(activity,) if isinstance(activity, str) else tuple(activity or ()),
        timestamp=timestamp,
        person=person,
        timed=order == "time",
    )
    opened = _open(source, cast("Format | None", format), query, trusted)
    if engine is not None and opened.format not in ENGINES[engine]:
        raise SettingError("engine", engine, f"left out for {opened.format}")
    reader = cast(Reader, import_module(f".{engine or READERS[opened.format]}", __package__))
    return Log(
        source=opened,
        columns=reader.find(opened, wanted),
        order=cast(Order, order),
        max_cases=max_cases,
        reader=reader,
    )


def count_variants(source: Any, *, progress: Progress | None = None) -> VariantCounts:
    """Count how many cases took each variant of a log, or of anything that `read_log` takes.

    The result is secret.
    """
    log = source if isinstance(source, Log) else read_log(source)
    return log.reader.count(log, progress)


def scatter_variants(source: Any, *, progress: Progress | None = None) -> SparkVariants:
    """Count the variants of a log that Spark reads, and leave them on the cluster.

    The result is secret. It is a context: when it is left, the cluster forgets the variants.
    """
    log = source if isinstance(source, Log) else read_log(source)
    if not scatters(log):
        raise SettingError("engine", log.source.format, "spark, to leave variants on a cluster")
    from .spark import scatter

    return scatter(log, progress)


def scatters(log: Log) -> bool:
    """Whether a log's variants can be left where they are counted."""
    return hasattr(log.reader, "scatter")


def _open(source: Any, format: Format | None, query: str | None, trusted: bool) -> Source:
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if path.startswith(("postgresql://", "postgres://")):
            if query is None:
                raise SettingError("query", query, "given for a database")
            from .postgresql import public_name

            return Source(name=public_name(path), format="postgresql", content=path, query=query)
    if query is not None:
        raise SettingError("query", query, "left out unless the log is a database")
    if isinstance(source, (str, os.PathLike)):
        files, found = find_files(os.fspath(source), format)
        return Source(name=os.fspath(source), format=found, content=files, trusted=trusted)
    name = frame_name(source)
    spark = name.startswith("Spark")
    return Source(name=name, format="spark frame" if spark else "frame", content=source)
