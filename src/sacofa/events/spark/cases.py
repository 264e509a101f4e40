"""Cases as a Spark DataFrame: how rows become events, and events cases that count.

Everything that orders is a value of the rows of one case, or of one person's cases.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from pyspark.sql import DataFrame, functions

from ...base.cells import BLANK
from ...errors import ReadError, Statement
from ..attributes import column_of
from ..case_store import check_unique
from ..cells import TOO_LARGE, Use, spark_sql
from ..columns import Columns
from ..lifecycle import START
from ..options import JOINER
from ..source import Log
from ..time_format import mixed_times, only_iso

PLACE = "_metadata.file_path, _metadata.file_block_start, monotonically_increasing_id()"
"""Where a row of a file stands: a part of a file is read by one task, from beginning to end."""


def quoted(name: str) -> str:
    """Give the name of a column as SQL has it."""
    return "`" + name.replace("`", "``") + "`"


def _literal(text: str) -> str:
    return "'" + "".join(f"\\u{ord(letter):04x}" for letter in text) + "'"


class _Cells:
    """The cells of a DataFrame, as SQL."""

    def __init__(self, columns: Columns, frame: DataFrame) -> None:
        self.columns, self.kinds = columns, dict(frame.dtypes)

    def text(self, name: str | None, use: Use = "value") -> str:
        """A column as text; missing if there is none."""
        if name is None:
            return "cast(NULL AS string)"
        return spark_sql.text(quoted(name), self.kinds[name], use)

    def micros(self, name: str, time: str) -> str:
        """A time as microseconds since 1970; missing if the stamp is not a time."""
        kind = self.kinds[name]
        if spark_sql.is_number(kind):
            return "cast(NULL AS bigint)"
        zoneless = kind in ("timestamp_ntz", "date")
        return f"unix_micros({spark_sql.in_utc(quoted(name)) if zoneless else time})"

    def stamp(self, name: str | None) -> tuple[str, str, str, str]:
        """A time stamp as it stands there; the time that it is, or number; and as microseconds."""
        if name is None:
            return "0", "0", "NULL", "cast(NULL AS bigint)"
        stamp, time, number = spark_sql.stamp(quoted(name), self.kinds[name])
        return stamp, time, number, self.micros(name, time)

    @property
    def too_large(self) -> str:
        """The column in which a row has a number that may be another one as well."""
        tests = [
            f"WHEN {test} THEN {_literal(name)} "
            for name, use in self.columns.uses.items()
            if (test := spark_sql.too_large(quoted(name), self.kinds.get(name, ""), use))
        ]
        return f"CASE {''.join(tests)}END" if tests else "cast(NULL AS string)"


def _ranked(fields: str) -> str:
    """One value of several, compared field by field."""
    return f"struct({fields})"


def events_of(
    log: Log, columns: Columns, frame: DataFrame, *, with_values: bool = False
) -> DataFrame:
    """Give each row as a DataFrame, `with_values` also with the texts of all attributes.

    It has case_id, activity, parts, person, time_us, too_large, the flags lone, missing, untimed,
    stamped, dated, plain and truncated, the rank by which rows of a case are ordered, and `first`,
    by which cases are.
    """
    cells = _Cells(columns, frame)
    parts = [cells.text(part, "name") for part in columns.activity]
    stamp, time, number, micros = cells.stamp(columns.timestamp)
    unsaid = " AND ".join(f"{part} IS NULL" for part in (*parts, stamp))
    by_time = f"{time} IS NULL, {time}, {number} IS NULL, {number}"
    # What order rows of a frame lie in may change with any other row: only what they say counts.
    rank = first = by_time
    if log.source.declared.is_ordered:
        rank, first = f"{by_time}, {PLACE}" if log.timed else PLACE, PLACE
    person = cells.text(columns.person, "name")
    fields = {
        "case_id": cells.text(columns.case, "id"),
        "activity": f"concat_ws('{JOINER}', {', '.join(parts)})",
        "parts": f"array({', '.join(parts)})",
        "lone": "false" if columns.timestamp is None else unsaid,
        "missing": " OR ".join(f"{part} IS NULL" for part in parts),
        "untimed": f"{time} IS NULL AND {number} IS NULL",
        "stamped": f"{stamp} IS NOT NULL",
        "dated": f"{time} IS NOT NULL",
        "plain": f"{number} IS NOT NULL",
        "time_us": micros,
        "too_large": cells.too_large,
        "rank": _ranked(rank),
        "first": _ranked(first),
        "person": f"CASE WHEN btrim({person}, {_literal(BLANK)}) <> '' THEN {person} END",
        "truncated": f"coalesce(try_cast({cells.text(columns.truncated)} AS boolean), false)",
    }
    for place, each in enumerate(columns.attributes if with_values else ()):
        fields[f"value_{place}"] = cells.text(column_of(each, frame.columns))
    return frame.selectExpr(*(f"{sql} AS {name}" for name, sql in fields.items()))


def text_of(columns: Columns, frame: DataFrame, names: list[str]) -> DataFrame:
    """Give columns of all rows as text, ordered by what rows say.

    Times that are not text are microseconds since 1970.
    """
    cells = _Cells(columns, frame)
    fields = {name: cells.text(name, columns.uses.get(name, "value")) for name in names}
    for name in dated(columns, cells.kinds):
        fields[name] = cells.micros(name, quoted(name))
    # Under other names, because nobody knows what columns are called.
    named = [f"{field} AS field_{place}" for place, field in enumerate(fields.values())]
    order = _ranked(", ".join(_order_of_rows(columns, fields, cells.kinds)))
    return frame.selectExpr(*named, f"{order} AS key").orderBy("key").drop("key")


def dated(columns: Columns, kinds: Mapping[str, str]) -> list[str]:
    """The columns of times that are not text."""
    return [name for name in columns.times if kinds[name] in spark_sql.MOMENTS]


def _order_of_rows(
    columns: Columns, fields: Mapping[str, str], kinds: Mapping[str, str]
) -> Iterator[str]:
    """Order rows by time unless that is text, then by activity, start before end, and all else."""
    keys = [fields[name] for name in columns.activity]
    if columns.lifecycle is not None:
        word = f"lower(trim({fields[columns.lifecycle]}))"
        keys.append(f"NOT coalesce({word} = '{START}', false)")
    times = [fields[name] for name in dated(columns, kinds) if name == columns.timestamp]
    for key in (*times, *keys, *fields.values()):
        yield f"{key} IS NULL, {key}"


def _refuse_too_large(source: str, column: str | None) -> None:
    """Refuse a column of numbers of which two names may have become one."""
    if column:
        raise ReadError(source, Statement("read.cell.column", column=column, what=TOO_LARGE))


def survey(log: Log, events: DataFrame) -> tuple[list[str], int]:
    """Find all activities in the order of their names; refuse rows that cannot be counted.

    Gives also the number of events without a time stamp that can be read, where that is needed.
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
    _refuse_too_large(log.name, max((row.too_large for row in found), default=None))
    total = {what: sum(int(row[what]) for row in found) for what in list(asked)[:-1]}
    _refuse_wrong(log, total)
    names = [JOINER.join(row.parts) for row in found if row.events]
    check_unique(log.name, names)
    return sorted(names), total["untimed"] if log.timed else 0


def _refuse_wrong(log: Log, total: Mapping[str, int]) -> None:
    """Refuse rows without case or activity, times next to numbers, and text that is not a time."""
    for what in ("no_case", "no_activity"):
        if total[what]:
            raise ReadError(log.name, Statement(f"read.table.{what}"))
    if not log.timed or log.columns is None:
        return
    stamp = log.columns.timestamp or ""
    if total["dated"] and total["plain"]:
        raise ReadError(log.name, mixed_times(stamp))
    if total["unread"] and total["untimed"] == total["events"]:
        raise ReadError(log.name, only_iso(stamp))


def cases_of(
    log: Log, events: DataFrame, names: list[str], *, with_times: bool = False
) -> DataFrame:
    """Give each case as a DataFrame: case_id, variant (ids), times, truncated, varies, counted.

    Which cases of a person count is decided by that person's cases alone: in files the first that
    begin, in a DataFrame the first by time, and among those by case id.
    """
    # As JSON text, because a frame made from Python objects would need Python on every machine.
    listed = _literal(json.dumps([{"activity": each, "id": i} for i, each in enumerate(names)]))
    # Ids are in the order of names, and rank is missing in no field that decides.
    values = [name for name in events.columns if name.startswith("value_")]
    event = ", ".join(["rank", "id", *["time_us"] * with_times, *values])
    counted, more = "true", ""
    if log.max_cases is not None:
        # Cases of nobody are kept apart, as all of them together may be too many for one task.
        alone = "person, CASE WHEN person IS NULL THEN case_id END"
        place = f"row_number() OVER (PARTITION BY {alone} ORDER BY first, case_id)"
        counted = f"person IS NULL OR {place} <= {log.max_cases}"
    if with_times:
        texts = ", ".join(f"events.{value}" for value in values)
        lists = f"array({texts})" if values else "cast(array() AS array<array<string>>)"
        more = f", events.time_us AS times, {lists} AS values"
    return events.sparkSession.sql(
        f"""
        WITH ids AS (
            SELECT inline(from_json({listed}, 'array<struct<activity: string, id: int>>'))),
        numbered AS (SELECT /*+ BROADCAST(ids) */ * FROM {{events}} LEFT JOIN ids USING (activity)),
        cases AS (
            SELECT case_id, sort_array(collect_list(
                    CASE WHEN NOT lone THEN struct({event}) END)) AS events,
                max(truncated) AS truncated, min(first) AS first,
                min(CASE WHEN person IS NOT NULL THEN
                    struct(rank, coalesce(id, {len(names)}), person) END).person AS person,
                coalesce(min(person) <> max(person), false) AS varies
            FROM numbered GROUP BY case_id)
        SELECT case_id, events.id AS variant{more}, truncated, varies, {counted} AS counted
        FROM cases
        """,
        events=events,
    )
