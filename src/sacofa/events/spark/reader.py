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

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from pyspark.sql import DataFrame, SparkSession, functions

from ...errors import SettingError, Statement
from ...kernel.variants import VariantCounts
from ..attributes import values_of
from ..bounded_file import Progress
from ..case_store import Case, CaseStore, StoredCases
from ..cells.duckdb_sql import INSTANT
from ..cells.spark_sql import NESTED, check_type, value_type
from ..columns import Columns, resolve_columns
from ..duckdb.csv_files import check_alike, read_heads
from ..duckdb.csv_rows import check_rows
from ..duckdb.events import names_as_meant, texts_as_meant
from ..duckdb.parquet_files import has_several_types, lengths_of_time, refuse_other_roles
from ..duckdb.source import looking
from ..duckdb.staging import csv_line
from ..frames import check_names
from ..notices import Notify, notify_counts
from ..options import ReadOptions
from ..source import Log, Source, resolve_table
from . import check_installed, clear_errors, first_line
from .cases import cases_of, dated, events_of, quoted, survey, text_of
from .distributed import SparkVariants, gather

_NULL = "\ufdd0\ufdd1"
"""Stands for a missing value while CSV is parsed: not the empty text, which is a name."""


def find(source: Source, options: ReadOptions) -> Columns:
    """Find the columns of a table."""
    types = _types(source)
    if source.format != "parquet":
        return resolve_table(source.name, options, _kinds(types), lambda it: check_type(types[it]))
    with looking(source.name) as database:
        if len(source.content) > 1:
            columns = resolve_columns(source.name, [*types], options)
            refuse_other_roles(database, source.content, [*types], columns, options)
        types |= dict.fromkeys(lengths_of_time(database, source.content), "interval")
        columns = resolve_table(
            source.name, options, _kinds(types), lambda it: check_type(types[it])
        )
        # Spark takes the types of one file for those of all.
        has_several_types(database, source.content, columns, frozenset())
    return columns


def kinds(source: Source) -> dict[str, str]:
    """List the columns of a table with their types, in the words of XES."""
    return _kinds(_types(source))


def _kinds(types: Mapping[str, str]) -> dict[str, str]:
    return {name: value_type(kind) for name, kind in types.items()}


def _types(source: Source) -> dict[str, str]:
    """The type of each column."""
    check_installed()
    with clear_errors(source.name):
        frame = _open(source)
        check_names(source.name, frame.columns)
        return dict(frame.dtypes)


def count(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Count the variants on the cluster, and bring them here."""
    frame, names = _counted(log, notify)
    counted = gather(log.name, frame, names, log.unit)
    return counted.project_onto(_told(log, counted, progress))


def distribute(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> SparkVariants:
    """Count the variants on the cluster, and leave them there."""
    frame, names = _counted(log, notify)
    variants = SparkVariants(log.name, frame, names, log.unit)
    return variants.project_onto(_told(log, variants, progress))


def _told(log: Log, counted: VariantCounts | SparkVariants, progress: Progress | None) -> list[str]:
    """The activities that a count tells of, in order: that of persons only of those it counts."""
    names = counted.activities if log.max_cases is None else counted.used()
    if progress is not None:
        progress(1.0)
    return sorted(names)


def _counted(log: Log, notify: Notify | None) -> tuple[DataFrame, list[str]]:
    """Count the variants: a frame that is not yet worked out, and the names of activities."""
    columns = log.columns
    assert columns is not None
    with clear_errors(log.name):
        events = events_of(log, columns, _open(log.source))
        names, untimed = survey(log, events)
        meant = names_as_meant(log, names)
        cases = cases_of(log, events, names)
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


def cases(log: Log, progress: Progress | None = None, notify: Notify | None = None) -> StoredCases:
    """Give the cases with their times; they are brought here, partition by partition."""
    assert log.columns is not None
    store = CaseStore(log.name, log.unit, log.attributes)
    dropped = varying = 0
    with clear_errors(log.name):
        events = events_of(log, log.columns, _open(log.source), with_values=True)
        names, untimed = survey(log, events)
        meant = names_as_meant(log, names)
        found = cases_of(log, events, names, with_times=True)
        for row in found.toLocalIterator(prefetchPartitions=True):
            dropped += not row.counted
            varying += row.varies
            if row.counted:
                texts = [
                    [text if text is None else texts_as_meant(log, [text])[0] for text in each]
                    for each in row["values"]
                ]
                activities = [meant[i] for i in row.variant]
                values = values_of(log.attributes, texts)
                store.add(Case(activities, row.truncated, times=row.times, values=values))
    if progress is not None:
        progress(1.0)
    notify_counts(
        notify, untimed=untimed, varying=varying, dropped=dropped, max_cases=log.max_cases
    )
    return store.close()


def types(source: Source) -> dict[str, str]:
    """The columns of a DataFrame with their types, as DuckDB calls them."""
    called = {"int": "BIGINT", "float": "DOUBLE", "date": INSTANT, "boolean": "BOOLEAN"}
    found = {}
    for name, kind in _types(source).items():
        known = "INTERVAL" if kind.startswith("interval") else called.get(value_type(kind))
        found[name] = "BLOB" if kind.startswith(NESTED) else known or "VARCHAR"
        if kind.startswith("decimal"):
            found[name] = "DECIMAL"
    return found


def rows(source: Source, columns: Columns, names: list[str]) -> Iterator[bytes]:
    """Give these columns of a DataFrame as lines of CSV, ordered by what rows say."""
    with clear_errors(source.name):
        frame = _open(source)
        times = {names.index(name) for name in dated(columns, dict(frame.dtypes))}
        ordered = text_of(columns, frame, names)
        for row in ordered.toLocalIterator(prefetchPartitions=True):
            yield csv_line([
                str(np.datetime64(value, "us")) if place in times and value is not None else value
                for place, value in enumerate(row)
            ])  # fmt: skip


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
        paths, schema=schema, header=True, sep=head.comma, quote='"', escape='"', multiLine=True,
        mode="FAILFAST", nullValue=_NULL, emptyValue="", enforceSchema=True, encoding="UTF-8",
    )  # fmt: skip
    if len(header) < 2:
        return frame
    # Lines that repeat the header are ignored, as in all readers.
    again = functions.lit(True)
    for column, name in zip(header, head.names, strict=True):
        again &= functions.col(quoted(column)).eqNullSafe(functions.lit(name or None))
    return frame.where(~again)


def _session() -> SparkSession:
    """Take the session that there is, or start one as Spark is configured."""
    if (running := SparkSession.getActiveSession()) is not None:
        return running
    try:
        quiet = SparkSession.builder.config("spark.ui.showConsoleProgress", "false")
        session = quiet.appName("sacofa").getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
        return session
    except Exception as error:  # Spark raises what it likes when it cannot start Java.
        must = Statement("read.spark.able_to_start", why=first_line(error))
        raise SettingError("engine", "spark", must) from None
