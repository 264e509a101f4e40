"""Logs on a Spark cluster (extra `spark`): counted there, so that only variants come to the driver.

Where even those are too many, they stay on the cluster (module `distributed`).

Takes a Spark DataFrame, or files that Spark reads. The order of rows is that of the files: by the
name of the file, by the part of it that a task reads, and by the place in that part. Each event
carries its place, and the events of a case are sorted by it, so neither the number of partitions
nor a task that is run again changes the result. A DataFrame has no order of its own, as a shuffle
may change it with every other row: events are ordered by time, those without any last, and ties by
the activity's name.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from ...errors import MissingExtraError, ReadError, SettingError
from ...variants import VariantCounts
from ..bounded_file import Progress
from ..case_store import CaseStore, StoredCases
from ..columns import Columns, resolve_columns
from ..duckdb.events import names_as_meant
from ..duckdb.source import csv_header
from ..notices import BLANK, notify_counts, unreadable_times
from ..options import JOINER, ReadOptions
from ..source import Log, Notify, Source
from ..variant_counter import check_unique
from .distributed import SparkVariants
from .errors import clear_errors, first_line

ZONED = r":.*(Z|[+-][0-9]{2}:?[0-9]{2})\s*$"
"""How text ends that is a time with its zone."""

_NULL = "\ufdd0\ufdd1"
"""Stands for a missing value while CSV is parsed: not the empty text, which is a name."""


def find(source: Source, options: ReadOptions) -> Columns:
    """Find the columns of a table."""
    return resolve_columns(source.name, list_columns(source), options)


def list_columns(source: Source) -> list[str]:
    """List the columns of a table."""
    _functions()
    with clear_errors(source.name):
        names: list[str] = _open(source).columns
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ReadError(source.name, f'has two columns called "{twice}"')
    return names


def count(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Count the variants on the cluster, and bring them here."""
    with distribute(log, progress, notify) as variants:
        return variants.gather()


def distribute(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> SparkVariants:
    """Count the variants on the cluster, and leave them there."""
    _functions()
    columns = log.columns
    assert columns is not None
    with clear_errors(log.name):
        events = events_of(log, columns)
        names, untimed = survey(log, columns, events)
        meant = names_as_meant(log, names)
        cases = cases_of(log, events, names)
        dropped = varying = 0
        if notify is not None and log.max_cases is not None:
            dropped, varying = _odd_cases(cases)
        frame = count_on_cluster(cases)
    variants = SparkVariants(log.name, frame, meant, log.unit)
    if log.max_cases is not None:
        # Only cases that are counted may tell which activities there are.
        meant = variants.used()
    if progress is not None:
        progress(1.0)
    notify_counts(
        notify, untimed=untimed, varying=varying, dropped=dropped, max_cases=log.max_cases
    )
    return variants.project_onto(sorted(meant))


def cases(log: Log, progress: Progress | None = None, notify: Notify | None = None) -> StoredCases:
    """Give the cases with their times; they are brought here, partition by partition."""
    _functions()
    columns = log.columns
    assert columns is not None
    store = CaseStore(log.name, log.unit)
    dropped = varying = 0
    with clear_errors(log.name):
        events = events_of(log, columns)
        names, untimed = survey(log, columns, events)
        meant = names_as_meant(log, names)
        found = cases_of(log, events, names, with_times=True)
        for row in found.toLocalIterator(prefetchPartitions=True):
            dropped += not row.counted
            varying += row.varies
            if row.counted:
                store.add([meant[i] for i in row.variant], row.times, truncated=row.truncated)
    if progress is not None:
        progress(1.0)
    notify_counts(
        notify, untimed=untimed, varying=varying, dropped=dropped, max_cases=log.max_cases
    )
    return store.close()


def count_on_cluster(cases: Any) -> Any:
    """Count the variants as a DataFrame: variant (ids), truncated and number."""
    functions = _functions()
    counted = cases.where("counted").groupBy("variant", "truncated")
    return counted.agg(functions.count("*").alias("number"))


def cases_of(log: Log, events: Any, names: list[str], *, with_times: bool = False) -> Any:
    """Give each case as a DataFrame: case_id, variant (ids), times, truncated, varies, counted.

    Which cases of a person count is decided by that person's cases alone: in files the first that
    begin, in a DataFrame the first by time, and among those by case id.
    """
    functions = _functions()
    # As JSON text, because a frame made from Python objects would need Python on every machine.
    listed = json.dumps([{"activity": name, "activity_id": i} for i, name in enumerate(names)])
    ids = events.sparkSession.range(1).select(
        functions.inline(
            functions.from_json(
                functions.lit(listed), "array<struct<activity: string, activity_id: int>>"
            )
        )
    )
    numbered = events.join(functions.broadcast(ids), "activity", "left")
    # Ids are in the order of names, and rank is missing in no field that decides.
    event = functions.struct("rank", "activity_id", *(["time_us"] * with_times))
    last = functions.coalesce("activity_id", functions.lit(len(names)))
    person = functions.when(
        functions.col("person").isNotNull(), functions.struct("rank", last, "person")
    )
    cases = numbered.groupBy("case_id").agg(
        functions.sort_array(
            functions.collect_list(functions.when(~functions.col("lone"), event))
        ).alias("events"),
        functions.max("truncated").alias("truncated"),
        functions.min(person)["person"].alias("person"),
        functions.coalesce(
            functions.min("person") != functions.max("person"), functions.lit(False)
        ).alias("varies"),
        functions.min("first").alias("first"),
    )
    counted = functions.lit(True)
    if log.max_cases is not None:
        from pyspark.sql import Window

        # Cases of nobody are kept apart, as all of them together may be too many for one task.
        alone = functions.when(functions.col("person").isNull(), functions.col("case_id"))
        cases_of_person = Window.partitionBy("person", alone).orderBy("first", "case_id")
        place = functions.row_number().over(cases_of_person)
        counted = functions.col("person").isNull() | (place <= log.max_cases)
    variant = functions.transform("events", lambda event: event["activity_id"])
    times = functions.transform("events", lambda event: event["time_us"]).alias("times")
    return cases.select(
        "case_id",
        variant.alias("variant"),
        *([times] * with_times),
        "truncated",
        "varies",
        counted.alias("counted"),
    )


def _odd_cases(cases: Any) -> tuple[int, int]:
    """Count the cases that are left out, and those with more than one person."""
    functions = _functions()
    row = cases.agg(
        functions.count(functions.when(~functions.col("counted"), 1)).alias("dropped"),
        functions.count(functions.when(functions.col("varies"), 1)).alias("varying"),
    ).first()
    return row.dropped, row.varying


def events_of(log: Log, columns: Columns) -> Any:
    """Give each row as a DataFrame.

    It has case_id, activity, parts, person, time_us, the flags lone, missing, untimed, stamped and
    truncated, the rank by which rows of a case are ordered, and `first`, by which cases are.
    """
    functions = _functions()
    frame = _open(log.source)

    def column(name: str) -> Any:
        return functions.col("`" + name.replace("`", "``") + "`")

    parts = [column(part).cast("string") for part in columns.activity]
    lone = functions.lit(columns.timestamp is not None)
    missing = functions.lit(False)
    for part in parts:
        lone, missing = lone & part.isNull(), missing | part.isNull()
    stamp = column(columns.timestamp) if columns.timestamp is not None else functions.lit(0)
    time, number = stamp, functions.lit(None)
    if columns.timestamp is not None and dict(frame.dtypes)[columns.timestamp] == "string":
        # Spark takes 2020 for a year: text that is a number is none, as in all other readers.
        number = stamp.try_cast("decimal(38, 9)")
        zoned = stamp.rlike(ZONED)
        time = functions.when(
            number.isNull(),
            functions.when(zoned, functions.try_to_timestamp(stamp)).otherwise(_in_utc(stamp)),
        )
    untimed = time.isNull() & number.isNull()
    by_time = [time.isNull(), time, number.isNull(), number]
    if log.source.format == "spark frame":
        # What order rows lie in may change with any other row: only what they say counts.
        rank, first = by_time, by_time
    else:
        place = [
            functions.col("_metadata.file_path"),
            functions.col("_metadata.file_block_start"),
            # A part of a file is read by one task, from its beginning to its end.
            functions.monotonically_increasing_id(),
        ]
        rank, first = [*by_time, *place] if log.timed else place, place
    person = functions.lit(None).cast("string")
    if columns.person is not None:
        person = column(columns.person).cast("string")
        person = functions.when(functions.btrim(person, functions.lit(BLANK)) != "", person)
    truncated = functions.lit(False)
    if columns.truncated is not None:
        truncated = functions.coalesce(
            column(columns.truncated).cast("string").cast("boolean"), functions.lit(False)
        )
    return frame.select(
        column(columns.case).cast("string").alias("case_id"),
        functions.concat_ws(JOINER, *parts).alias("activity"),
        functions.array(*parts).alias("parts"),
        (lone & stamp.isNull()).alias("lone"),
        missing.alias("missing"),
        untimed.alias("untimed"),
        stamp.isNotNull().alias("stamped"),
        _microseconds(frame, columns.timestamp, time).alias("time_us"),
        _struct(rank).alias("rank"),
        _struct(first).alias("first"),
        person.alias("person"),
        truncated.alias("truncated"),
    )


def _microseconds(frame: Any, column: str | None, time: Any) -> Any:
    """Give a time as microseconds since 1970; missing where the stamp is no time."""
    functions = _functions()
    kind = dict(frame.dtypes)[column] if column is not None else ""
    if kind not in ("timestamp", "timestamp_ntz", "date", "string"):
        return functions.lit(None).cast("bigint")
    return functions.unix_micros(_in_utc(time) if kind in ("timestamp_ntz", "date") else time)


def _in_utc(time: Any) -> Any:
    """Take a time without a zone for one in UTC, as all readers do, whatever Spark's zone is."""
    functions = _functions()
    text = time.try_cast("timestamp_ntz").cast("string")
    return functions.try_to_timestamp(functions.concat(text, functions.lit("Z")))


def _struct(fields: list[Any]) -> Any:
    """Make one value of several, compared field by field."""
    functions = _functions()
    return functions.struct(*(field.alias(f"field_{i}") for i, field in enumerate(fields)))


def survey(log: Log, columns: Columns, events: Any) -> tuple[list[str], int]:
    """Find all activities in the order of their names; refuse rows that cannot be counted.

    Gives also the number of events without a time stamp that can be read, where that is needed.
    """
    functions = _functions()
    lone = functions.col("lone")
    unread = functions.col("untimed") & ~lone
    found = (
        events.groupBy("parts")
        .agg(
            functions.max(functions.col("case_id").isNull()).alias("case"),
            functions.max(functions.col("missing") & ~lone).alias("activity"),
            functions.count(functions.when(~lone, 1)).alias("events"),
            functions.count(functions.when(unread, 1)).alias("untimed"),
            functions.max(unread & functions.col("stamped")).alias("unread"),
        )
        .collect()
    )
    for what in ("case", "activity"):
        if any(row[what] for row in found):
            raise ReadError(log.name, f"has a row without {what}")
    size = sum(row.events for row in found)
    untimed = sum(row.untimed for row in found) if log.timed else 0
    if untimed and untimed == size and any(row.unread for row in found):
        raise ReadError(log.name, unreadable_times(columns.timestamp or ""))
    names = [JOINER.join(row.parts) for row in found if row.events]
    check_unique(log.name, names)
    return sorted(names), untimed


def _open(source: Source) -> Any:
    if source.format == "spark frame":
        return source.content
    session = _session()
    paths = [str(Path(path).resolve()) for path in source.content]
    if source.format == "parquet":
        return session.read.parquet(*paths)
    header, comma = csv_header(source.content, source.format)
    schema = ", ".join("`" + name.replace("`", "``") + "` string" for name in header)
    return session.read.csv(
        paths, schema=schema, header=True, sep=comma, quote='"', escape='"', multiLine=True,
        mode="FAILFAST", nullValue=_NULL, emptyValue="", enforceSchema=True, encoding="UTF-8",
    )  # fmt: skip


def _functions() -> Any:
    try:
        from pyspark.sql import functions
    except ImportError:
        raise MissingExtraError("PySpark", "spark") from None
    return functions


def _session() -> Any:
    """Take the session that there is, or start one as Spark is configured."""
    _functions()
    from pyspark.sql import SparkSession

    if (running := SparkSession.getActiveSession()) is not None:
        return running
    try:
        quiet = SparkSession.builder.config("spark.ui.showConsoleProgress", "false")
        session = quiet.appName("sacofa").getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
        return session
    except Exception as error:  # Spark raises what it likes when it cannot start Java.
        raise SettingError("engine", "spark", f"able to start: {first_line(error)}") from None
