"""Cases as a Spark DataFrame: how rows become events, and events cases that count.

Everything that orders is a value of the rows of one case, or of one person's cases.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Row, Window, functions

from ...errors import ReadError, Statement
from ..attributes import column_of
from ..cells import TOO_LARGE, Use, spark_sql
from ..columns import Columns
from ..lifecycle import START
from ..notices import BLANK
from ..options import JOINER
from ..source import Log
from ..time_format import mixed_times, only_iso
from ..variant_counter import check_unique

ZONED = r":.*(Z|[+-][0-9]{2}:?[0-9]{2})\s*$"
"""How text ends that is a time with its zone."""


def events_of(
    log: Log, columns: Columns, frame: DataFrame, *, with_values: bool = False
) -> DataFrame:
    """Give each row as a DataFrame.

    With `with_values` it has the texts of all attributes. And it has case_id, activity, parts,
    person, time_us, the flags lone, missing, untimed, stamped and truncated, the rank by which
    rows of a case are ordered, and `first`, by which cases are.
    """
    kinds = dict(frame.dtypes)

    def text(name: str, use: Use = "value") -> Column:
        return functions.expr(spark_sql.text(_quoted(name), kinds[name], use))

    parts = [text(part, "name") for part in columns.activity]
    lone = functions.lit(columns.timestamp is not None)
    missing = functions.lit(False)
    for part in parts:
        lone, missing = lone & part.isNull(), missing | part.isNull()
    stamp, time, number = functions.lit(0), functions.lit(0), functions.lit(None)
    if columns.timestamp is not None:
        stamp, time, number = _stamp(columns.timestamp, kinds[columns.timestamp])
    untimed = time.isNull() & number.isNull()
    by_time = [time.isNull(), time, number.isNull(), number]
    if not log.source.declared.is_ordered:
        # What order rows lie in may change with any other row: only what they say counts.
        rank, first = by_time, by_time
    else:
        place = _place()
        rank, first = [*by_time, *place] if log.timed else place, place
    person = functions.lit(None).cast("string")
    if columns.person is not None:
        person = text(columns.person, "name")
        person = functions.when(functions.btrim(person, functions.lit(BLANK)) != "", person)
    truncated = functions.lit(False)
    if columns.truncated is not None:
        truncated = functions.coalesce(
            functions.expr(f"try_cast(cast({_quoted(columns.truncated)} AS string) AS boolean)"),
            functions.lit(False),
        )
    texts = [
        text(column_of(each, frame.columns)).alias(f"value_{place}")
        for place, each in enumerate(columns.attributes * with_values)
    ]
    return frame.select(
        *texts,
        text(columns.case, "id").alias("case_id"),
        functions.concat_ws(JOINER, *parts).alias("activity"),
        functions.array(*parts).alias("parts"),
        (lone & stamp.isNull()).alias("lone"),
        missing.alias("missing"),
        untimed.alias("untimed"),
        stamp.isNotNull().alias("stamped"),
        time.isNotNull().alias("dated"),
        number.isNotNull().alias("plain"),
        _microseconds(kinds.get(columns.timestamp or ""), columns.timestamp, time).alias("time_us"),
        _too_large(columns, kinds).alias("too_large"),
        _struct(rank).alias("rank"),
        _struct(first).alias("first"),
        person.alias("person"),
        truncated.alias("truncated"),
    )


def _stamp(name: str, kind: str) -> tuple[Column, Column, Column]:
    """Give a time stamp, the time that it is, and the number that text is which is no time."""
    none = functions.lit(None)
    if kind in spark_sql.MOMENTS:
        return _column(name), _column(name), none
    if spark_sql.is_number(kind):
        known = functions.expr(spark_sql.known(_quoted(name), kind))
        return known, functions.expr(spark_sql.time_number(_quoted(name), kind)), none
    sql = spark_sql.text(_quoted(name), kind)
    stamp = functions.expr(sql)
    # Spark takes 2020 for a year: text that is a number is none, as in all other readers.
    number = functions.expr(f"try_cast({sql} AS decimal(38, 9))")
    zoned = stamp.rlike(ZONED)
    time = functions.when(
        number.isNull(),
        functions.when(zoned, functions.try_to_timestamp(stamp)).otherwise(
            functions.expr(spark_sql.in_utc(sql))
        ),
    )
    return stamp, time, number


def _too_large(columns: Columns, kinds: Mapping[str, str]) -> Column:
    """Name the column in which a row has a number that may be another one as well."""
    found = functions.lit(None).cast("string")
    for name, use in columns.uses.items():
        test = spark_sql.too_large(_quoted(name), kinds.get(name, ""), use)
        if test is not None:
            found = functions.when(functions.expr(test), name).otherwise(found)
    return found


@dataclass(frozen=True, kw_only=True)
class TextRows:
    """Rows as text, in their order."""

    frame: DataFrame
    """The columns that were asked for."""
    times: tuple[str, ...]
    """Those that are no text but microseconds since 1970."""


def text_of(log: Log, columns: Columns, frame: DataFrame, names: list[str]) -> TextRows:
    """Give columns of all rows: of files in the order of the files, else by what rows say."""
    kinds, uses = dict(frame.dtypes), columns.uses
    refused = frame.select(functions.max(_too_large(columns, kinds))).first()
    _refuse_too_large(log, None if refused is None else refused[0])
    dated = tuple(name for name in columns.times if kinds[name] in spark_sql.MOMENTS)
    fields = {
        name: functions.expr(spark_sql.text(_quoted(name), kinds[name], uses.get(name, "value")))
        for name in names
    }
    fields |= {name: _microseconds(kinds[name], name, _column(name)) for name in dated}
    is_ordered = log.source.declared.is_ordered
    order = _place() if is_ordered else _order_of_rows(columns, fields, dated)
    frame = _in_order(frame, list(fields.values()), order)
    return TextRows(frame=frame, times=dated)


def _in_order(frame: DataFrame, fields: Sequence[Column], order: Sequence[Column]) -> DataFrame:
    """Give the fields of all rows, ordered by columns that are not given."""
    # Under other names, because nobody knows what columns are called.
    named = [field.alias(f"field_{place}") for place, field in enumerate(fields)]
    keys = [key.alias(f"key_{place}") for place, key in enumerate(order)]
    by = [functions.col(f"key_{place}").asc_nulls_last() for place in range(len(keys))]
    ordered = frame.select(*named, *keys).orderBy(*by)
    return ordered.select(*(f"field_{place}" for place in range(len(fields))))


def _order_of_rows(
    columns: Columns, fields: Mapping[str, Column], dated: Sequence[str]
) -> list[Column]:
    """Order rows by time unless that is text, then by activity, start before end, and all else."""
    order = [fields[name] for name in columns.activity]
    if columns.lifecycle is not None:
        word = functions.lower(functions.trim(fields[columns.lifecycle]))
        order.append(~functions.coalesce(word == START, functions.lit(False)))
    times = [fields[name] for name in dated if name == columns.timestamp]
    return [*times, *order, *fields.values()]


def _refuse_too_large(log: Log, column: str | None) -> None:
    """Refuse a column of numbers of which two names may have become one."""
    if column is not None:
        raise ReadError(log.name, Statement("read.cell.column", column=column, what=TOO_LARGE))


def _column(name: str) -> Column:
    return functions.col(_quoted(name))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _place() -> list[Column]:
    """Where a row of a file stands."""
    return [
        functions.col("_metadata.file_path"),
        functions.col("_metadata.file_block_start"),
        # A part of a file is read by one task, from its beginning to its end.
        functions.monotonically_increasing_id(),
    ]


def _microseconds(kind: str | None, column: str | None, time: Column) -> Column:
    """Give a time as microseconds since 1970; missing where the stamp is no time."""
    if column is None or kind is None or spark_sql.is_number(kind):
        return functions.lit(None).cast("bigint")
    if kind in ("timestamp_ntz", "date"):
        return functions.expr(f"unix_micros({spark_sql.in_utc(_quoted(column))})")
    return functions.unix_micros(time)


def _struct(fields: list[Column]) -> Column:
    """Make one value of several, compared field by field."""
    return functions.struct(*(field.alias(f"field_{i}") for i, field in enumerate(fields)))


def survey(log: Log, events: DataFrame) -> tuple[list[str], int]:
    """Find all activities in the order of their names; refuse rows that cannot be counted.

    Gives also the number of events without a time stamp that can be read, where that is needed.
    """
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
            functions.max("too_large").alias("too_large"),
            functions.max("dated").alias("dated"),
            functions.max("plain").alias("plain"),
        )
        .collect()
    )
    _refuse_wrong(log, found)
    untimed = sum(row.untimed for row in found) if log.timed else 0
    names = [JOINER.join(row.parts) for row in found if row.events]
    check_unique(log.name, names)
    return sorted(names), untimed


def _refuse_wrong(log: Log, found: Sequence[Row]) -> None:
    """Refuse rows that cannot be counted."""
    for column in {row.too_large for row in found} - {None}:
        _refuse_too_large(log, column)
    for what in ("case", "activity"):
        if _has(found, what):
            raise ReadError(log.name, Statement(f"read.table.no_{what}"))
    if log.timed and log.columns is not None:
        _refuse_times(log, found, log.columns.timestamp or "")


def _refuse_times(log: Log, found: Sequence[Row], stamp: str) -> None:
    """Refuse times next to numbers, and text of which none can be read."""
    if _has(found, "dated") and _has(found, "plain"):
        raise ReadError(log.name, mixed_times(stamp))
    is_timed = any(row.untimed < row.events for row in found)
    if _has(found, "unread") and not is_timed:
        raise ReadError(log.name, only_iso(stamp))


def _has(found: Sequence[Row], what: str) -> bool:
    return any(row[what] for row in found)


def cases_of(
    log: Log, events: DataFrame, names: list[str], *, with_times: bool = False
) -> DataFrame:
    """Give each case as a DataFrame: case_id, variant (ids), times, truncated, varies, counted.

    Which cases of a person count is decided by that person's cases alone: in files the first that
    begin, in a DataFrame the first by time, and among those by case id.
    """
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
    values = [name for name in events.columns if name.startswith("value_")]
    event = functions.struct("rank", "activity_id", *(["time_us"] * with_times), *values)
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
        # Cases of nobody are kept apart, as all of them together may be too many for one task.
        alone = functions.when(functions.col("person").isNull(), functions.col("case_id"))
        cases_of_person = Window.partitionBy("person", alone).orderBy("first", "case_id")
        place = functions.row_number().over(cases_of_person)
        counted = functions.col("person").isNull() | (place <= log.max_cases)
    variant = functions.transform("events", lambda event: event["activity_id"])
    times = functions.transform("events", lambda event: event["time_us"]).alias("times")
    texts = functions.array(*(functions.col(f"events.{value}") for value in values))
    none = functions.array().cast("array<array<string>>")
    return cases.select(
        "case_id",
        variant.alias("variant"),
        *([times] * with_times),
        *([(texts if values else none).alias("values")] * with_times),
        "truncated",
        "varies",
        counted.alias("counted"),
    )
