"""Counts the variants of partitions of whole cases, or collects their cases with their times."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...kernel.cases import NO_TIME
from ...kernel.unit import Unit
from ...kernel.variants import VariantCounts
from ..case_store import CaseStore
from .database import first_row
from .partitions import Partition, limited
from .rows import join_instances
from .survey import Survey

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Arrays = dict[str, NDArray[Any]]

APART = "hash(case_id)"
"""What cases are sorted by: shorter than ids, which only tell those apart that share it."""


@dataclass(kw_only=True)
class VariantSum:
    """The variants that were counted so far."""

    database: DuckDBPyConnection = field(repr=False)
    """Where counting is done."""
    survey: Survey
    """What is known of the rows."""
    _parts: int = 0
    _long: list[tuple[NDArray[Any], bool]] = field(default_factory=list, repr=False)
    """The activity ids of cases that were put in order by themselves; whether they are complete."""

    def __post_init__(self) -> None:
        code = self.survey.order.code
        self.database.execute(
            f"CREATE TABLE counted (variant {code}[], truncated BOOLEAN, number BIGINT)"
        )

    @property
    def needed(self) -> list[str]:
        """What is needed of rows besides their case and what they are ordered by."""
        return ["truncated"] * self.survey.truncated + ["stage"] * self.survey.staged

    def add(self, part: Partition) -> None:
        """Count the variants of a part."""
        self._parts += 1
        order, sql = self.survey.order, part.sql
        if self.survey.staged:
            sql = join_instances(sql, order, timed=False)
        truncated = "bool_or(truncated)" if self.survey.truncated else "false"
        if not part.long:
            self.database.execute(
                "INSERT INTO counted SELECT variant, truncated, count(*) AS number FROM "
                f"(SELECT {order.variant} AS variant, {truncated} AS truncated FROM {sql} "
                "GROUP BY case_id) GROUP BY variant, truncated"
            )
            return
        with limited(self.database):
            events = _fetch(
                self.database,
                f"SELECT {order.activity} AS activity_id FROM {sql} "
                f"WHERE place IS NOT NULL ORDER BY {order.by}",
            )
        (is_truncated,) = first_row(self.database, f"SELECT {truncated} FROM {sql}")
        self._long.append((events["activity_id"], not is_truncated))

    def total(self, names: list[str], unit: Unit) -> VariantCounts:
        """Add up the variants of all partitions."""
        # The order of lists is the order of variants: by activity ids, shorter first. What is left
        # of one part has room where that had; to set a limit takes longer than a small log.
        with limited(self.database) if self._parts > 1 else nullcontext():
            self.database.execute(
                "CREATE TABLE merged AS "
                "SELECT variant, truncated, sum(number)::BIGINT AS number FROM counted "
                "GROUP BY variant, truncated ORDER BY variant, truncated"
            )
        rows = _fetch(
            self.database,
            "SELECT len(variant) AS length, NOT truncated AS complete, number FROM merged",
        )
        unnested = _fetch(self.database, "SELECT unnest(variant) AS activity_id FROM merged")
        steps, lengths, counts = unnested["activity_id"], rows["length"], rows["number"]
        if self._long:
            ids = [ids for ids, _ in self._long]
            return VariantCounts.from_arrays(
                names,
                np.concatenate([steps, *ids]),
                np.concatenate([lengths, [*map(len, ids)]]),
                np.concatenate([counts, np.ones(len(ids), dtype=np.int64)]),
                np.concatenate([rows["complete"], [complete for _, complete in self._long]]),
                unit,
            )
        return VariantCounts(
            activities=tuple(names),
            activity_ids=steps.astype(np.int32),
            offsets=np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))),
            counts=counts,
            complete=rows["complete"],
            unit=unit,
        )


@dataclass(kw_only=True)
class CaseCollector:
    """The cases that were collected so far: the same as are counted.

    Rows of a part are sorted by case and then in the order of events, and handed over as they are,
    in columns. How many rows each case has, asked in the same order, says where cases end.
    """

    database: DuckDBPyConnection = field(repr=False)
    """Where rows are sorted."""
    survey: Survey
    """What is known of the rows."""
    store: CaseStore
    """Where cases go."""
    started: bool
    """Whether it is known when work began: from another event, or from the column began_us."""

    @property
    def needed(self) -> list[str]:
        """What is needed of rows besides their case and what they are ordered by."""
        survey = self.survey
        flags = ["truncated"] * survey.truncated + ["stage"] * survey.staged
        return [*flags, "time_us", *["began_us"] * self.started, *self._values]

    @property
    def _values(self) -> list[str]:
        return [f"value_{place}" for place in range(len(self.survey.texts))]

    def add(self, part: Partition) -> None:
        """Write down the cases of a part."""
        order, survey = self.survey.order, self.survey
        if survey.staged:
            sql = join_instances(part.sql, order, timed=True)
            part = replace(part, sql=sql, stored=False)
        complete = "NOT bool_or(truncated)" if survey.truncated else "true"
        known = ["start_us"] * survey.staged + ["began_us", f"({NO_TIME})::BIGINT"]
        start = f", coalesce({', '.join(known)}) AS starts" * self.started
        with self._held(part) as rows:
            cases = _fetch(
                self.database,
                f"SELECT count(place) AS length, {complete} AS complete, {APART} AS apart "
                f"FROM {rows} GROUP BY case_id ORDER BY apart, case_id",
            )
            if not len(cases["apart"]):
                return
            alike = np.any(cases["apart"][1:] == cases["apart"][:-1])
            events = _fetch(
                self.database,
                f"SELECT {', '.join([f'{order.activity} AS activity_ids', *self._values])}, "
                f"coalesce(time_us, ({NO_TIME})::BIGINT) AS times{start} FROM {rows} "
                f"WHERE place IS NOT NULL ORDER BY {APART}{', case_id' * bool(alike)}, {order.by}",
            )
        events |= {"lengths": cases["length"], "complete": cases["complete"]}
        self.store.add_part(events, [events.pop(value) for value in self._values])

    @contextmanager
    def _held(self, part: Partition) -> Iterator[str]:
        """Hold the rows of a part while they are asked; of a long one with little memory."""
        if part.long:
            with limited(self.database):
                yield part.sql
        elif part.stored:
            yield part.sql
        else:
            self.database.execute(f"CREATE OR REPLACE TEMP TABLE part AS SELECT * FROM {part.sql}")
            yield "part"
            self.database.execute("DROP TABLE part")


def _fetch(database: DuckDBPyConnection, sql: str) -> Arrays:
    found = database.execute(sql).fetchnumpy()
    return {name: np.asarray(column) for name, column in found.items()}
