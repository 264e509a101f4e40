"""Logs on a Spark cluster (extra `spark`): counted there, so that only variants come to the driver.

If even those are too many, they stay on the cluster (module `distributed`). Cases with times and
attributes are read by the reader of tables: files by this machine, rows of a frame as copies.

The order of rows in files is by file, part and place, which each event carries: neither partitions
nor repeated tasks change it. A DataFrame has no defined order, as a shuffle may change it: events
are ordered by time, those without a time last, and ties by activity.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from pyspark.sql import DataFrame, SparkSession, functions

from ...base.cells import BLANK
from ...errors import ReadError, SettingError, Statement
from ...kernel.variants import VariantCounts
from ..bounded_file import Progress
from ..case_store import check_unique
from ..cells import TOO_LARGE, Use, spark_sql
from ..columns import Columns
from ..duckdb import events as tables
from ..duckdb.csv_files import check_alike, read_heads
from ..duckdb.csv_rows import check_rows
from ..duckdb.parquet_files import has_several_types
from ..duckdb.source import open_database
from ..duckdb.staging import csv_line
from ..frames import check_names
from ..notices import Notify, notify_counts
from ..options import JOINER, ReadOptions
from ..source import Log, Source
from ..time_format import times_unread
from . import check_installed, clear_errors, first_line
from .distributed import SparkVariants, gather

_NULL = "\ufdd0\ufdd1"
"""Marks a missing value while CSV is parsed; the empty text is a name."""
PLACE = "_metadata.file_path, _metadata.file_block_start, monotonically_increasing_id()"
"""The place of a row in a file: one task reads a part of a file from beginning to end."""

kinds, cases = tables.kinds, tables.cases


def find(source: Source, options: ReadOptions) -> Columns:
    """Find the columns of a table that Spark can read."""
    check_installed()
    with clear_errors(source.name):
        _open(source)
    columns = tables.find(source, options)
    if source.format == "parquet":
        with open_database(source.name) as database:
            # Spark takes the types of one file for those of all.
            has_several_types(database, source.content, columns, frozenset())
    return columns


def count(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Count the variants on the cluster, and bring them here."""
    frame, names = _counted(log, notify)
    counted = gather(log.name, frame, names, log.unit)
    return counted.project_onto(_reported(log, counted, progress))


def distribute(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> SparkVariants:
    """Count the variants on the cluster, and leave them there."""
    frame, names = _counted(log, notify)
    variants = SparkVariants(log.name, frame, names, log.unit)
    return variants.project_onto(_reported(log, variants, progress))


def _reported(
    log: Log, counted: VariantCounts | SparkVariants, progress: Progress | None
) -> list[str]:
    """The activities that a count reports, in order: that of persons only of those it counts."""
    names = counted.activities if log.max_cases is None else counted.used()
    if progress is not None:
        progress(1.0)
    return sorted(names)


def types(source: Source) -> dict[str, str]:
    """The columns of a DataFrame with their types, as DuckDB calls them."""
    check_installed()
    with clear_errors(source.name):
        frame = _open(source)
        check_names(source.name, frame.columns)
        return {name: spark_sql.duckdb_type(kind) for name, kind in frame.dtypes}


def rows(source: Source, columns: Columns, names: list[str]) -> Iterator[bytes]:
    """Yield these columns of a DataFrame as lines of CSV."""
    with clear_errors(source.name):
        frame = _open(source)
        types = dict(frame.dtypes)
        times = {n for n in columns.times if types[n] in spark_sql.MOMENTS}
        fields = {
            n: spark_sql.micros(quoted(n), types[n])
            if n in times
            else spark_sql.text(quoted(n), types[n], columns.uses.get(n, "value"))
            for n in names
        }
        # Renamed, because columns may have any names.
        chosen = frame.selectExpr(*(f"{sql} AS field_{i}" for i, sql in enumerate(fields.values())))
        for row in chosen.toLocalIterator(prefetchPartitions=True):
            yield csv_line([
                str(np.datetime64(value, "us")) if name in times and value is not None else value
                for name, value in zip(names, row, strict=True)
            ])  # fmt: skip


def quoted(name: str) -> str:
    """Quote a column name for SQL."""
    return "`" + name.replace("`", "``") + "`"


def _literal(text: str) -> str:
    return "'" + "".join(f"\\u{ord(letter):04x}" for letter in text) + "'"


def _rank(columns: Columns, types: Mapping[str, str], then: Sequence[str]) -> str:
    """Return the sort key of rows as one value: their time, then the columns `then`."""
    by = list(then)
    if columns.timestamp is not None and columns.timestamp in types:
        by = [*spark_sql.stamp(quoted(columns.timestamp), types[columns.timestamp])[1:], *by]
    return f"struct({', '.join(f'{each} IS NULL, {each}' for each in by or ['0'])})"


def _events(log: Log, columns: Columns, frame: DataFrame) -> DataFrame:
    """Return a DataFrame with one row per event.

    It has case_id, activity, parts, person, too_large, the flags lone, missing, untimed, stamped,
    dated, plain and truncated, the rank that orders the rows of a case, and `first`, which orders
    cases.
    """
    types = dict(frame.dtypes)

    def text(name: str | None, use: Use = "value") -> str:
        if name is None:
            return "cast(NULL AS string)"
        return spark_sql.text(quoted(name), types[name], use)

    case, parts = text(columns.case, "id"), [text(part, "name") for part in columns.activity]
    stamp, time, number = "0", "0", "NULL"
    if columns.timestamp is not None:
        stamp, time, number = spark_sql.stamp(quoted(columns.timestamp), types[columns.timestamp])
    unsaid = " AND ".join(f"{part} IS NULL" for part in (*parts, stamp))
    # Any other row can change the order of rows in a frame: only their content counts.
    rank, first = _rank(columns, types, []), _rank(columns, types, [*parts, case])
    if log.source.declared.is_ordered:
        first = f"struct({PLACE})"
        rank = _rank(columns, types, [first]) if log.timed else first
    person = text(columns.person, "name")
    tests = [
        f"WHEN {test} THEN {_literal(name)} "
        for name, use in columns.uses.items()
        if (test := spark_sql.too_large(quoted(name), types.get(name, ""), use))
    ]
    fields = {
        "case_id": case,
        "activity": f"concat_ws('{JOINER}', {', '.join(parts)})",
        "parts": f"array({', '.join(parts)})",
        "lone": "false" if columns.timestamp is None else unsaid,
        "missing": " OR ".join(f"{part} IS NULL" for part in parts),
        "untimed": f"{time} IS NULL AND {number} IS NULL",
        "stamped": f"{stamp} IS NOT NULL",
        "dated": f"{time} IS NOT NULL",
        "plain": f"{number} IS NOT NULL",
        "too_large": f"CASE {''.join(tests)}END" if tests else "cast(NULL AS string)",
        "rank": rank,
        "first": first,
        "person": f"CASE WHEN btrim({person}, {_literal(BLANK)}) <> '' THEN {person} END",
        "truncated": f"coalesce(try_cast({text(columns.truncated)} AS boolean), false)",
    }
    return frame.selectExpr(*(f"{sql} AS {name}" for name, sql in fields.items()))


def _survey(log: Log, columns: Columns, events: DataFrame) -> tuple[list[str], int]:
    """Find all activities, sorted by name; refuse rows that cannot be counted.

    Also returns the number of events without a readable time stamp, if times are needed.
    """
    asked = {
        "no_case": "max(case_id IS NULL)",
        "no_activity": "max(missing AND NOT lone)",
        "events": "count_if(NOT lone)",
        "untimed": "count_if(untimed AND NOT lone)",
        "unread": "max(untimed AND NOT lone AND stamped)",
        "dated": "max(dated)",
        "plain": "max(plain)",
        "too_large": "coalesce(max(too_large), '')",
    }
    aggregates = (functions.expr(sql).alias(name) for name, sql in asked.items())
    found = events.groupBy("parts").agg(*aggregates).collect()
    if column := max((row.too_large for row in found), default=None):
        raise ReadError(log.name, Statement("read.cell.column", column=column, what=TOO_LARGE))
    total = {what: sum(int(row[what]) for row in found) for what in list(asked)[:-1]}
    _refuse_wrong(log, columns.timestamp or "", total)
    names = [JOINER.join(row.parts) for row in found if row.events]
    check_unique(log.name, names)
    return sorted(names), total["untimed"] if log.timed else 0


def _refuse_wrong(log: Log, stamp: str, total: Mapping[str, int]) -> None:
    """Refuse rows without case or activity, times next to numbers, and text that is not a time."""
    for what in ("no_case", "no_activity"):
        if total[what]:
            raise ReadError(log.name, Statement(f"read.table.{what}"))
    if log.timed and total["dated"] and total["plain"]:
        raise ReadError(log.name, times_unread("mixed", stamp))
    if log.timed and total["unread"] and total["untimed"] == total["events"]:
        raise ReadError(log.name, times_unread("only_iso", stamp))


def _counted(log: Log, notify: Notify | None) -> tuple[DataFrame, list[str]]:
    """Count the variants: a frame that is not yet worked out, and the names of activities."""
    assert log.columns is not None
    with clear_errors(log.name):
        events = _events(log, log.columns, _open(log.source))
        names, untimed = _survey(log, log.columns, events)
        meant = tables.names_as_meant(log, names)
        cases = _cases(log, events, names)
        dropped = varying = 0
        if notify is not None and log.max_cases is not None:
            odd = cases.selectExpr("count_if(NOT counted)", "count_if(varies)").collect()
            dropped, varying = odd[0]
        counted = cases.where("counted").groupBy("variant", "truncated")
        frame = counted.agg(functions.count("*").alias("number"))
    notify_counts(
        notify, untimed=untimed, varying=varying, dropped=dropped, max_cases=log.max_cases
    )
    return frame, meant


def _cases(log: Log, events: DataFrame, names: list[str]) -> DataFrame:
    """Return a DataFrame with one row per case: variant (ids), truncated, varies, counted.

    The cases of a person that count depend on that person's cases alone: in files the first that
    begin, in a DataFrame the first by time, then by activity and case id.
    """
    # As JSON text, because a frame made from Python objects would need Python on every machine.
    listed = _literal(json.dumps([{"activity": each, "id": i} for i, each in enumerate(names)]))
    counted = "true"
    if log.max_cases is not None:
        # Cases without a person are kept apart, as all of them together may be too many for one
        # task.
        alone = "person, CASE WHEN person IS NULL THEN case_id END"
        place = f"row_number() OVER (PARTITION BY {alone} ORDER BY first, case_id)"
        counted = f"person IS NULL OR {place} <= {log.max_cases}"
    # Ids are in the order of names, and rank is missing in no field that decides.
    return events.sparkSession.sql(
        f"""
        WITH ids AS (
            SELECT inline(from_json({listed}, 'array<struct<activity: string, id: int>>'))),
        numbered AS (SELECT /*+ BROADCAST(ids) */ * FROM {{events}} LEFT JOIN ids USING (activity)),
        cases AS (
            SELECT case_id, sort_array(collect_list(
                    CASE WHEN NOT lone THEN struct(rank, id) END)).id AS variant,
                max(truncated) AS truncated, min(first) AS first,
                min(CASE WHEN person IS NOT NULL THEN
                    struct(rank, coalesce(id, {len(names)}), person) END).person AS person,
                coalesce(min(person) <> max(person), false) AS varies
            FROM numbered GROUP BY case_id)
        SELECT variant, truncated, varies, {counted} AS counted FROM cases
        """,
        events=events,
    )


def _open(source: Source) -> DataFrame:
    if source.format == "spark frame":
        frame: DataFrame = source.content
        return frame
    session = _session()
    paths = [str(Path(path).resolve()) for path in source.content]
    if source.format == "parquet":
        return session.read.parquet(*paths)
    heads = read_heads(source)
    head, header = check_alike(heads), heads[0].columns
    check_rows(heads, trusted=source.trusted)
    schema = ", ".join(f"{quoted(name)} string" for name in header)
    frame = session.read.csv(
        paths, schema=schema, header=True, sep=head.separator, quote='"', escape='"',
        multiLine=True, mode="FAILFAST", nullValue=_NULL, emptyValue="", enforceSchema=True,
        encoding="UTF-8",
    )  # fmt: skip
    if len(header) < 2:
        return frame
    # Lines that repeat the header are ignored, as in all readers.
    again = functions.lit(True)
    for column, name in zip(header, head.names, strict=True):
        again &= functions.col(quoted(column)).eqNullSafe(functions.lit(name or None))
    return frame.where(~again)


def _session() -> SparkSession:
    """Return the active session, or start one as Spark is configured."""
    if (running := SparkSession.getActiveSession()) is not None:
        return running
    try:
        quiet = SparkSession.builder.config("spark.ui.showConsoleProgress", "false")
        session = quiet.appName("sacofa").getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
        return session
    except Exception as error:  # Spark raises various exceptions when it cannot start Java.
        must = Statement("read.spark.able_to_start", why=first_line(error))
        raise SettingError("engine", "spark", must) from None
