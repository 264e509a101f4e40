"""Logs on a Spark cluster (extra `spark`): counted there, so that only variants come to the driver.

Where even those are too many, they stay on the cluster (module `spark_parts`).

Takes a Spark DataFrame, or files that Spark reads. The order of rows is that of the files: by the
name of the file, by the part of it that a task reads, and by the place in that part. A DataFrame
has the order that its partitions hold. Each event carries its place, and the events of a case are
sorted by it, so neither the number of partitions nor a task that is run again changes the result.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from ...errors import MissingExtraError, ReadError, SettingError
from ...variants import VariantCounts
from ..bounded_file import Progress
from ..columns import Columns, resolve_columns
from ..duckdb.events import names_as_meant
from ..duckdb.source import csv_header
from ..options import JOINER, ReadOptions
from ..source import Log, Notify, Source
from ..variant_counter import check_unique
from .distributed import SparkVariants
from .errors import clear_errors, first_line

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
        events = _events(log, columns)
        names = _survey(log, events)
        meant = names_as_meant(log, names)
        frame = count_on_cluster(log, events, names)
    variants = SparkVariants(log.name, frame, meant, log.unit)
    if log.max_cases is not None:
        # Only cases that are counted may tell which activities there are.
        meant = variants.used()
    if progress is not None:
        progress(1.0)
    return variants.project_onto(sorted(meant))


def count_on_cluster(log: Log, events: Any, names: list[str]) -> Any:
    """Count the variants as a DataFrame: ids v, flag cut and number n."""
    functions = _functions()
    # As JSON text, because a frame made from Python objects would need Python on every machine.
    listed = json.dumps([{"a": name, "i": i} for i, name in enumerate(names)])
    ids = events.sparkSession.range(1).select(
        functions.inline(
            functions.from_json(functions.lit(listed), "array<struct<a: string, i: int>>")
        )
    )
    numbered = events.join(functions.broadcast(ids), "a", "left")
    step = functions.struct("k", "r", "i")
    cases = numbered.groupBy("c").agg(
        functions.sort_array(
            functions.collect_list(functions.when(~functions.col("lone"), step))
        ).alias("steps"),
        functions.max("cut").alias("cut"),
        functions.min(functions.struct("r", "p")).alias("first"),
    )
    if log.max_cases is not None:
        from pyspark.sql import Window

        place = functions.row_number().over(Window.partitionBy("first.p").orderBy("first.r"))
        cases = cases.withColumn("place", place).where(
            functions.col("first.p").isNull() | (functions.col("place") <= log.max_cases)
        )
    variants = cases.select(functions.transform("steps", lambda step: step["i"]).alias("v"), "cut")
    return variants.groupBy("v", "cut").agg(functions.count("*").alias("n"))


def _events(log: Log, columns: Columns) -> Any:
    """Give each row as case c, activity a, order k and r, person p, and the flags lone and cut."""
    functions = _functions()
    frame = _open(log.source)

    def column(name: str) -> Any:
        return functions.col("`" + name.replace("`", "``") + "`")

    parts = [column(part).cast("string") for part in columns.activity]
    nothing = functions.lit(columns.timestamp is not None)
    for part in parts:
        nothing = nothing & part.isNull()
    if columns.timestamp is not None:
        nothing = nothing & column(columns.timestamp).isNull()
    missing = functions.lit(False)
    for part in parts:
        missing = missing | part.isNull()
    key = functions.lit(0)
    if log.timed:
        assert columns.timestamp is not None
        key = column(columns.timestamp)
        if dict(frame.dtypes)[columns.timestamp] == "string":
            key = functions.try_to_timestamp(key)
    place = [functions.monotonically_increasing_id().alias("n")]
    if log.source.format != "spark frame":
        place = [
            functions.col("_metadata.file_path").alias("file"),
            functions.col("_metadata.file_block_start").alias("block"),
            *place,
        ]
    cut = functions.lit(False)
    if columns.truncated is not None:
        cut = functions.coalesce(
            column(columns.truncated).cast("string").cast("boolean"), functions.lit(False)
        )
    return frame.select(
        column(columns.case).cast("string").alias("c"),
        functions.concat_ws(JOINER, *parts).alias("a"),
        functions.array(*parts).alias("parts"),
        nothing.alias("lone"),
        missing.alias("missing"),
        key.alias("k"),
        functions.struct(*place).alias("r"),
        (column(columns.person).cast("string") if columns.person else functions.lit(None)).alias(
            "p"
        ),
        cut.alias("cut"),
    )


def _survey(log: Log, events: Any) -> list[str]:
    """Find all activities in the order of their names; refuse rows that cannot be counted."""
    functions = _functions()
    lone = functions.col("lone")
    found = (
        events.groupBy("parts")
        .agg(
            functions.max(functions.col("c").isNull()).alias("case"),
            functions.max(functions.col("missing") & ~lone).alias("activity"),
            functions.max(functions.col("k").isNull() & ~lone).alias("timestamp"),
            functions.min(lone).alias("lone"),
        )
        .collect()
    )
    for what in ("case", "activity", "timestamp"):
        if any(row[what] for row in found):
            raise ReadError(log.name, f"has a row without {what}")
    names = [JOINER.join(row.parts) for row in found if not row.lone]
    check_unique(log.name, names)
    return sorted(names)


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
