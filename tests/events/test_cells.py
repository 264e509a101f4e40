"""A cell has the same text in memory and in every database, whatever the type of its column."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from sacofa.events import open_log
from sacofa.events.cells import CellError, duckdb_sql, spark_sql, text_of
from sacofa.events.duckdb.source import open_database, open_table
from sacofa.events.duckdb.staging import staged
from sacofa.kernel.attributes import Attribute

NUMBERS = {
    "0": 0.0,
    "1": 1.0,
    "-7": -7.0,
    "0.5": 0.5,
    "0.1": 0.1,
    "-2.25": -2.25,
    "0.0001": 0.0001,
    "1e-05": 0.00001,
    "1.5e-07": 1.5e-7,
    "123456.789": 123456.789,
    "12345678.5": 12345678.5,
    "1234567890123.25": 1234567890123.25,
    "9007199254740991": 2.0**53 - 1,
    "9007199254740992": 2.0**53,
    "9999999999999998": 9999999999999998.0,
    "1e+16": 1e16,
    "2.0251231140500124e+16": 20251231140500124.0,
    "1e+300": 1e300,
    "inf": float("inf"),
    "-inf": -float("inf"),
}
"""Doubles by their text."""
WHOLE = {
    "1": 1,
    "-9007199254740991": 1 - 2**53,
    "9007199254740991": 2**53 - 1,
    "9007199254740992": 2**53 + 1,
    "2.0251231140500124e+16": 20251231140500123,
    "-9.223372036854776e+18": -(2**63),
}
"""Whole numbers of 64 bits by their text: large ones are the nearest double."""
MOMENTS = {
    "2020-01-31 00:00:00": "2020-01-31",
    "2020-01-31 14:05:00.5": "2020-01-31 14:05:00.5",
    "1969-12-31 23:59:59.123456": "1969-12-31 23:59:59.123456",
    "0987-01-31 01:02:03.00001": "0987-01-31 01:02:03.00001",
}
"""Moments without a zone by their text."""


def of(family: str) -> list[tuple[str, str, str]]:
    """Give cells of all types of a database: the type, what stands in the cell, and its text."""
    return [
        *((kind_of_number, repr(value), text) for kind_of_number in DOUBLES[family]
          for text, value in NUMBERS.items()),
        *((LONG[family], str(value), text) for text, value in WHOLE.items()),
        *((kind_of_moment, value, text + zone) for kind_of_moment, zone in ZONES[family].items()
          for text, value in MOMENTS.items() if (kind_of_moment, text[0]) != ("TIMESTAMP_NS", "0")),
        ("decimal(38, 4)", "100.0000", "100"),
        ("decimal(38, 4)", "1.2500", "1.25"),
        ("decimal(38, 4)", "-0.0001", "-0.0001"),
        ("decimal(38, 10)", "0.0000000250", "0.000000025"),
        ("decimal(38, 10)", "-0.0000000001", "-0.0000000001"),
        ("decimal(38, 10)", "0", "0"),
        ("decimal(38, 0)", str(10**20 + 1), str(10**20 + 1)),
        ("date", "2020-01-31", "2020-01-31"),
        ("boolean", "true", "true"),
        ("boolean", "false", "false"),
    ]  # fmt: skip


DOUBLES = {"duckdb": ["DOUBLE"], "spark": ["double"], "postgresql": ["float8"]}
LONG = {"duckdb": "BIGINT", "spark": "bigint", "postgresql": "int8"}
ZONES = {
    "duckdb": {"TIMESTAMP": "", "TIMESTAMP_NS": "", "TIMESTAMPTZ": "+00"},
    "spark": {"timestamp_ntz": "", "timestamp": "+00"},
    "postgresql": {"timestamp": "", "timestamptz": "+00"},
}


def in_zone(kind: str, value: str) -> str:
    """Name the zone of a moment where its type has one, whatever the zone of the session is."""
    return f"{value}{'' if ':' in value else ' 00:00:00'}+00:00" if kind in INSTANTS else value


INSTANTS = ("TIMESTAMPTZ", "timestamp", "timestamptz")


def test_values_in_memory_have_the_text_of_the_rule() -> None:
    """Values of Python, NumPy and pandas."""
    cells: list[tuple[Any, str | None]] = [
        *((value, text) for text, value in NUMBERS.items()),
        *((np.float64(value), text) for text, value in NUMBERS.items()),
        *((value, text) for text, value in WHOLE.items()),
        *((np.int64(value), text) for text, value in WHOLE.items()),
        *((dt.datetime.fromisoformat(value), text) for text, value in MOMENTS.items()),
        *((pd.Timestamp(f"{v}").tz_localize("UTC").tz_convert("Asia/Tokyo"), f"{t}+00")
          for t, v in MOMENTS.items()),
        (pd.Timestamp("1969-12-31 23:59:59.123456789"), "1969-12-31 23:59:59.123456"),
        (np.datetime64("2020-01-31T14:05:00.500000000"), "2020-01-31 14:05:00.5"),
        (dt.date(2020, 1, 31), "2020-01-31"),
        (dt.time(14, 5, 0, 500_000), "14:05:00.5"),
        (True, "true"), (np.bool_(False), "false"), (10**400, "inf"),
        (Decimal("100.00"), "100"), (Decimal("1E+3"), "1000"), (Decimal("-0.0"), "0"),
        (-0.0, "0"), (None, None), (float("nan"), None), (pd.NaT, None), (pd.NA, None),
        (Decimal("NaN"), None), (np.datetime64("NaT"), None),
        ("é", "é"), ("b\ud800", "b?"), ("", ""), ("1.0", "1.0"),
    ]  # fmt: skip
    assert [text_of(value) for value, _ in cells] == [text for _, text in cells]


@pytest.mark.parametrize(
    "value", [dt.timedelta(1), np.timedelta64(1, "s"), pd.Timedelta(1), [1], {"a": 1}, b"a",
              np.array([1, 2])],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_has_no_text_is_refused(value: Any) -> None:
    """Lengths of time, and what is nested."""
    with pytest.raises(CellError, match="write the column as text"):
        text_of(value)


def test_large_numbers_name_nothing() -> None:
    """Where two names could become one, none is read; whole numbers tell cases apart."""
    large = 2**53 + 1
    assert text_of(large, "id") == str(large)
    for value, use in ((large, "name"), (float(large), "name"), (float(large), "id")):
        with pytest.raises(CellError, match=r"2\^53 or more"):
            text_of(value, use)  # type: ignore[arg-type]
    assert text_of(float(2**53 - 1), "name") == text_of(2**53 - 1, "name") == str(2**53 - 1)
    assert text_of(Decimal(large), "name") == str(large)


def test_duckdb_says_the_same() -> None:
    """Each cell as a column of its own type."""
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'America/New_York'")
        database.execute("SET TimeZone = 'UTC'")
        for kind, value, text in of("duckdb"):
            cell = f"'{in_zone(kind, value)}'::{kind}"
            (called,) = database.execute(f"SELECT typeof({cell})").fetchall()[0]
            sql, canonical = duckdb_sql.canonical(f"({cell})", called)
            found = database.execute(f"SELECT {duckdb_sql.text(sql, canonical)}").fetchall()
            assert found == [(text,)], (kind, value)
        for value in ("nan", "-0.0"):
            sql, canonical = duckdb_sql.canonical(f"'{value}'::FLOAT", "FLOAT")
            found = database.execute(f"SELECT {duckdb_sql.text(sql, canonical)}").fetchall()
            assert found == [(text_of(float(value)),)]


def test_postgresql_says_the_same(address: str) -> None:
    """Each cell as a column of its own type."""
    cells = [*of("postgresql"), ("float8", "-0.0", "0"), ("float8", "NaN", None)]
    fields = ", ".join(
        f"'{in_zone(kind, value)}'::{kind} AS c{place}"
        for place, (kind, value, _) in enumerate(cells)
    )
    query = f"SELECT 'one' AS case_id, 'a' AS activity, now() AS time, {fields}"
    log = open_log(address, query=query)
    assert log.columns is not None
    attributes = tuple(Attribute(name=f"c{place}", of_case=False) for place in range(len(cells)))
    columns = replace(log.columns, attributes=attributes)
    with staged(log.source, columns) as here, open_database("log") as database:
        table = open_table(database, here, columns)
        texts = ", ".join(table.text(each.name) for each in attributes)
        found = database.execute(f"SELECT {texts} FROM {table.sql}").fetchone()
    assert found == tuple(text for *_, text in cells)


def test_spark_says_the_same(session: Any) -> None:
    """Each cell as a column of its own type, whatever the zone of the session is."""
    cells = [*of("spark"), ("double", "-0.0", "0")]
    columns = [f"cast('{in_zone(kind, value)}' AS {kind})" for kind, value, _ in cells]
    # Columns of a table, as constants would be worked out in another way.
    frame = session.range(1).selectExpr(*(f"{sql} AS c{i}" for i, sql in enumerate(columns)))
    kinds = dict(frame.dtypes)
    texts = [spark_sql.text(name, kinds[name]) for name in frame.columns]
    (found,) = frame.selectExpr(*texts).collect()
    assert list(found) == [text for _, _, text in cells]
