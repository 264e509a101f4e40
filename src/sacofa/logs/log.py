"""A log: where it is and how to read it. Nothing is read until it is counted."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

from ..errors import SettingError, nearest
from ..variants import VariantCounts
from .columns import Columns, activity_names
from .formats import SUFFIXES, Format, find_files
from .stream import Progress

Order = Literal["file", "time"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Log:
    """Where an event log is, and how its cases are read."""

    source: Any = field(repr=False)
    """The files, or the frame."""
    name: str
    """What the log is called in messages."""
    format: Format
    """How it is stored."""
    columns: Columns | None
    """What holds what; nothing for counted variants."""
    order: Order
    """Events of a case as the file has them, or by time with ties as the file has them."""
    max_cases: int | None
    """How many cases of one person are counted at most."""
    trusted: bool
    """Whether guards against hostile files are off."""


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
    trusted: bool = False,
) -> Log:
    """Open a log: files (XES, CSV, TSV, Parquet, JSON variants) or a frame.

    A path may be a pattern (`logs/*.parquet`) or a folder, whose files are taken in the order of
    their names, as one log. Frames are those of pandas, polars and pyarrow. Columns are found by
    names in common use unless they are given. With `person` and `max_cases`, the first max_cases
    cases of each person are counted, in the order of the file, so that which ones depends on
    nobody else; a case whose person is missing is a person of its own. Files that are gzip bombs,
    or whose cases are beyond belief, are refused unless they are `trusted`.
    """
    if order not in get_args(Order):
        raise SettingError("order", order, "file or time")
    if format is not None and format not in SUFFIXES.values():
        known = sorted(set(SUFFIXES.values()))
        raise SettingError("format", format, f"one of {', '.join(known)}.{nearest(format, known)}")
    if max_cases is not None and max_cases < 1:
        raise SettingError("max_cases", max_cases, "1 or more")
    if (person is None) != (max_cases is None):
        name, value = ("max_cases", max_cases) if person is None else ("person", person)
        raise SettingError(name, value, "given together with person and max_cases")
    timed = order == "time"
    activity_names(activity)
    given: dict[str, Any] = {
        "case": case, "activity": activity, "timestamp": timestamp, "person": person,
    }  # fmt: skip
    columns: Columns | None = None
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        source, kind = find_files(name, cast("Format | None", format))
    else:
        from .relation import frame_name

        name, kind = frame_name(source), "frame"
    if kind == "xes":
        from .xes import find_attributes

        columns = find_attributes(source, **given, timed=timed, trusted=trusted)
    elif kind != "json":
        from .tables import find_table_columns

        columns = find_table_columns(source, name, kind, **given, timed=timed, trusted=trusted)
    return Log(
        source=source, name=name, format=kind, columns=columns, order=cast(Order, order),
        max_cases=max_cases, trusted=trusted,
    )  # fmt: skip


def count_variants(source: Any, *, progress: Progress | None = None) -> VariantCounts:
    """Count how many cases took each variant of a log, or of anything that `read_log` takes.

    The result is secret.
    """
    log = source if isinstance(source, Log) else read_log(source)
    if log.columns is None:
        from .variants_json import read_variants

        return read_variants(log.source[0], trusted=log.trusted)
    if log.format == "xes":
        from .xes import count_xes

        return count_xes(
            log.source,
            log.columns,
            timed=log.order == "time",
            max_cases=log.max_cases,
            trusted=log.trusted,
            progress=progress,
        )
    from .tables import count_table

    return count_table(log, progress)
