"""Readers with mistakes that the law must find, each put in place of what is right."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sacofa.events.duckdb import events, staging
from sacofa.events.duckdb.stamps import TimeKey
from sacofa.events.spark import reader


def database_ties_by_row(patch: pytest.MonkeyPatch) -> None:
    """Ties go by the number of a row in the answer of the server."""
    patch.setattr(staging, "_order", lambda kinds, columns: ["row_number() OVER ()"])


def database_first_cases_by_row(patch: pytest.MonkeyPatch) -> None:
    """The first cases of a person are those that the server gives first."""
    right = staging._order

    def wrong(kinds: Any, columns: Any) -> list[str]:
        time, _, *others = right(kinds, columns)
        return [time, "row_number() OVER ()", *others]

    patch.setattr(staging, "_order", wrong)


def spark_ties_by_id(patch: pytest.MonkeyPatch) -> None:
    """Ties, and the first cases of a person, go by the ids that Spark gives to rows."""
    right = reader._rank

    def wrong(columns: Any, types: Any, then: list[str]) -> str:
        return right(columns, types, ["monotonically_increasing_id()", *then])

    patch.setattr(reader, "_rank", wrong)


def _rewrite_whose(patch: pytest.MonkeyPatch, change: Callable[[str], str]) -> None:
    right = events._whose
    patch.setattr(events, "_whose", lambda order: change(right(order)))


def person_of_the_first_row(patch: pytest.MonkeyPatch) -> None:
    """The first row of a case says whose it is, even if it says nothing."""
    _rewrite_whose(
        patch,
        lambda sql: re.sub(
            r"arg_min\(person, (.*?)\) AS person", r"arg_min({'p': person}, \1).p AS person", sql
        ),
    )


def any_person_of_a_case(patch: pytest.MonkeyPatch) -> None:
    """Another person of a case is taken than the certificate says."""
    _rewrite_whose(
        patch, lambda sql: re.sub(r"arg_min\(person, .*?\) AS person", "max(person) AS person", sql)
    )


def no_bound(patch: pytest.MonkeyPatch) -> None:
    """All cases of a person are counted."""
    right = events._choose

    def wrong(log: Any, table: Any, notify: Any) -> Any:
        options = replace(log.options, max_cases=10**6)
        return right(replace(log, options=options), table, notify)

    patch.setattr(events, "_choose", wrong)


def times_like_the_first(patch: pytest.MonkeyPatch) -> None:
    """Whether text is a time or a number is told by the first row of the file."""
    right = events.survey

    def wrong(rows: Any) -> Any:
        sql, _ = rows.stamps["stamp"]
        first = rows.database.execute(
            f"SELECT try_cast({sql} AS DOUBLE) FROM {rows.table.sql} "
            f"WHERE {sql} IS NOT NULL LIMIT 1"
        ).fetchone()
        kind = "TIMESTAMPTZ" if first is None or first[0] is None else "DECIMAL(38, 9)"
        if rows.timed:
            key = TimeKey(time=f"try_cast(stamp AS {kind})")
            vars(rows).update(texts=[], keys={"stamp": key})
        return right(rows)

    patch.setattr(events, "survey", wrong)
