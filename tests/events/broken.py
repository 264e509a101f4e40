"""Readers with mistakes that the law must find, each put in place of what is right."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sacofa.events import postgresql
from sacofa.events.duckdb import counting, events, survey
from sacofa.events.duckdb.ordering import TimeKey
from sacofa.events.spark import cases


def database_ties_by_row(patch: pytest.MonkeyPatch) -> None:
    """Ties go by the number of a row in the answer of the server."""
    right = postgresql._rows

    def wrong(session: Any, log: Any) -> Any:
        rows = right(session, log)
        sql = rows.sql.replace("SELECT ", "SELECT row_number() OVER () AS row_number, ", 1)
        return replace(rows, sql=sql, order="time_key, row_number")

    patch.setattr(postgresql, "_rows", wrong)


def database_first_cases_by_row(patch: pytest.MonkeyPatch) -> None:
    """The first cases of a person are those that the server gives first."""
    database_ties_by_row(patch)
    right = postgresql._cases

    def wrong(log: Any, rows: Any) -> str:
        named = replace(rows, order="time_key, part_0, person")
        return right(log, named).replace(
            "min(time_key) AS first_time", "min(row_number) AS first_time"
        )

    patch.setattr(postgresql, "_cases", wrong)


def spark_ties_by_id(patch: pytest.MonkeyPatch) -> None:
    """Ties, and the first cases of a person, go by the ids that Spark gives to rows."""
    from pyspark.sql import functions

    right = cases._struct
    patch.setattr(
        cases,
        "_struct",
        lambda fields: right([*fields, functions.monotonically_increasing_id()]),
    )


def _rewrite_cases(patch: pytest.MonkeyPatch, change: Callable[[str], str]) -> None:
    right = counting.PartitionCounter._write

    def wrong(self: Any, cases: str) -> None:
        right(self, change(cases))

    patch.setattr(counting.PartitionCounter, "_write", wrong)


def person_of_the_first_row(patch: pytest.MonkeyPatch) -> None:
    """The first row of a case says whose it is, even if it says nothing."""
    _rewrite_cases(
        patch,
        lambda sql: re.sub(
            r"arg_min\(person, (.*?)\) AS person", r"arg_min({'p': person}, \1).p AS person", sql
        ),
    )


def any_person_of_a_case(patch: pytest.MonkeyPatch) -> None:
    """Another person of a case is taken than the certificate says."""
    _rewrite_cases(
        patch, lambda sql: re.sub(r"arg_min\(person, .*?\) AS person", "max(person) AS person", sql)
    )


def no_bound(patch: pytest.MonkeyPatch) -> None:
    """All cases of a person are counted."""
    right = counting.PartitionCounter._count_first_cases
    patch.setattr(
        counting.PartitionCounter, "_count_first_cases", lambda self, most: right(self, 10**6)
    )


def times_like_the_first(patch: pytest.MonkeyPatch) -> None:
    """Whether text is a time or a number is told by the first row of the file."""
    right = survey.survey

    def wrong(database: Any, name: str, rows: Any) -> Any:
        first = database.execute(
            f"SELECT try_cast({rows.stamp_sql} AS DOUBLE) FROM {rows.table.sql} "
            f"WHERE {rows.stamp_sql} IS NOT NULL LIMIT 1"
        ).fetchone()
        kind = "TIMESTAMPTZ" if first is None or first[0] is None else "DECIMAL(38, 9)"
        if rows.timed:
            read = f"try_cast({rows.stamp_sql} AS {kind})"
            vars(rows)["times"] = TimeKey(time=read, date=read)
        return right(database, name, rows)

    patch.setattr(events, "survey", wrong)
