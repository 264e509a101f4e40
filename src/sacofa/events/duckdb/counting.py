"""Counts the variants of partitions of whole cases, or collects their cases with their times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...kernel.cases import NO_TIME
from ...kernel.unit import Unit
from ...kernel.variants import VariantCounts
from ..case_store import CaseStore
from .database import first_row
from .partitions import Partition, limited
from .rows import BEGAN, DONE, Ordering
from .survey import Survey

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

HASHED_CASE = "hash(case_id)"
"""Sort key of cases: shorter than ids, which then break ties."""


def count_parts(
    survey: Survey, parts: Iterable[Partition], names: list[str], unit: Unit
) -> VariantCounts:
    """Count the variants of partitions, whose rows have the columns of an order and `flags`."""
    order, database, several = survey.order, survey.database, False
    truncated = "bool_or(truncated)" if "truncated" in survey.flags else "false"
    database.execute(
        f"CREATE TABLE counted (variant {order.code}[], truncated BOOLEAN, number BIGINT)"
    )
    long: list[tuple[NDArray[Any], bool]] = []
    for place, part in enumerate(parts):
        sql, several = part.sql, place > 0
        if "stage" in survey.flags:
            sql = join_instances(sql, order, timed=False)
        if not part.long:
            database.execute(
                "INSERT INTO counted SELECT variant, truncated, count(*) AS number FROM "
                f"(SELECT {order.variant} AS variant, {truncated} AS truncated FROM {sql} "
                "GROUP BY case_id) GROUP BY variant, truncated"
            )
            continue
        with limited(database):
            events = _fetch(
                database,
                f"SELECT {order.activity} AS activity_id FROM {sql} "
                f"WHERE place IS NOT NULL ORDER BY {order.by}",
            )
        (is_truncated,) = first_row(database, f"SELECT {truncated} FROM {sql}")
        long.append((events["activity_id"], not is_truncated))
    # The order of lists is the order of variants: by activity ids, shorter first. What is left
    # of one part has room where that had; to set a limit takes longer than a small log.
    with limited(database) if several else nullcontext():
        database.execute(
            "CREATE TABLE merged AS "
            "SELECT variant, truncated, sum(number)::BIGINT AS number FROM counted "
            "GROUP BY variant, truncated ORDER BY variant, truncated"
        )
    rows = _fetch(
        database, "SELECT len(variant) AS length, NOT truncated AS complete, number FROM merged"
    )
    ids = _fetch(database, "SELECT unnest(variant) AS activity_id FROM merged")["activity_id"]
    if not long:
        return VariantCounts(
            activities=tuple(names),
            activity_ids=ids.astype(np.int32),
            offsets=np.concatenate(([0], np.cumsum(rows["length"], dtype=np.int64))),
            counts=rows["number"],
            complete=rows["complete"],
            unit=unit,
        )
    return VariantCounts.from_arrays(
        names,
        np.concatenate([ids, *(case for case, _ in long)]),
        np.concatenate([rows["length"], [len(case) for case, _ in long]]),
        np.concatenate([rows["number"], np.ones(len(long), dtype=np.int64)]),
        np.concatenate([rows["complete"], [complete for _, complete in long]]),
        unit,
    )


def collect_parts(
    survey: Survey, parts: Iterable[Partition], store: CaseStore, *, started: bool
) -> None:
    """Store the cases of partitions with their times and values.

    Rows of a part are sorted by case and then in the order of events, and passed on in columns. The
    numbers of rows per case, in the same order, are the boundaries of cases. `started` are cases
    with a known start of work: from another event, or from began_us.
    """
    order, database = survey.order, survey.database
    values = [f"value_{place}" for place in range(len(survey.texts))]
    complete = "NOT bool_or(truncated)" if "truncated" in survey.flags else "true"
    is_staged = "stage" in survey.flags
    known = ["start_us"] * is_staged + ["began_us", f"({NO_TIME})::BIGINT"]
    start = f", coalesce({', '.join(known)}) AS starts" * started
    for part in parts:
        if is_staged:
            part = replace(part, sql=join_instances(part.sql, order, timed=True))
        with _held(database, part) as rows:
            cases = _fetch(
                database,
                f"SELECT count(place) AS length, {complete} AS complete, {HASHED_CASE} AS apart "
                f"FROM {rows} GROUP BY case_id ORDER BY apart, case_id",
            )
            if not len(cases["apart"]):
                continue
            alike = np.any(cases["apart"][1:] == cases["apart"][:-1])
            events = _fetch(
                database,
                f"SELECT {', '.join([f'{order.activity} AS activity_ids', *values])}, "
                f"coalesce(time_us, ({NO_TIME})::BIGINT) AS times{start} FROM {rows} "
                f"WHERE place IS NOT NULL ORDER BY {HASHED_CASE}{', case_id' * bool(alike)}, "
                f"{order.by}",
            )
        events |= {"lengths": cases["length"], "complete": cases["complete"]}
        store.add_part(events, [events.pop(value) for value in values])


@contextmanager
def _held(database: DuckDBPyConnection, part: Partition) -> Iterator[str]:
    """Make the rows of a part available to several queries, using little memory for long parts."""
    if part.long:
        with limited(database):
            yield part.sql
    else:
        database.execute(f"CREATE OR REPLACE TEMP TABLE part AS SELECT * FROM {part.sql}")
        yield "part"
        database.execute("DROP TABLE part")


def _fetch(database: DuckDBPyConnection, sql: str) -> dict[str, NDArray[Any]]:
    found = database.execute(sql).fetchnumpy()
    return {name: np.asarray(column) for name, column in found.items()}


def join_instances(sql: str, order: Ordering, *, timed: bool) -> str:
    """Return rows without the starts that were joined (see `lifecycle`), for all cases of a part.

    Of one activity of one case, in order, let s and c be the starts and the completions so far. A
    completion finds no start where c - s reaches a new height; of the others, the n-th belongs to
    the n-th start. `timed` adds start_us, when work began.
    """
    of_one = f"PARTITION BY case_id, {order.activity}"
    so_far = f"({of_one} ORDER BY {order.by} ROWS UNBOUNDED PRECEDING)"
    counted = (
        f"SELECT *, count_if(stage = {BEGAN}) OVER {so_far} AS s, "
        f"count_if(stage = {DONE}) OVER {so_far} AS c FROM {sql}"
    )
    alone = f"SELECT *, greatest(max(c - s) OVER {so_far}, 0) AS alone FROM ({counted})"
    placed = (
        f"SELECT *, max(c) OVER ({of_one}) - max(alone) OVER ({of_one}) AS pairs, "
        f"CASE WHEN stage = {BEGAN} THEN s WHEN alone = coalesce(lag(alone) OVER "
        f"({of_one} ORDER BY {order.by}), 0) THEN c - alone END AS pair FROM ({alone})"
    )
    began = ""
    if timed:
        # A start without a completion is an event too, and its start is its time stamp.
        first = f"max(CASE WHEN stage = {BEGAN} THEN time_us END) OVER ({of_one}, pair)"
        began = f", CASE WHEN pair IS NOT NULL THEN {first} END AS start_us"
    return (
        "(SELECT * EXCLUDE (s, c, alone, pairs, pair) REPLACE (CASE WHEN place IS NULL "
        f"OR (stage = {BEGAN} AND pair <= pairs) THEN NULL ELSE place END AS place){began} "
        f"FROM ({placed}))"
    )
