"""Collects the cases of partitions with their times: the same cases as are counted.

Rows of a part are sorted by case and then in the order of events, and handed over as they are, in
columns. How many rows each case has, asked in the same order of cases, says where cases end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from ...kernel.cases import NO_TIME
from ..case_store import CaseStore, StoredCases
from .counting import PartitionCounter
from .instances import joined
from .partitions import Partition, limited

APART = "hash(case_id)"
"""What cases are sorted by: shorter than ids, which only tell those apart that share it."""


@dataclass(kw_only=True)
class CaseCollector(PartitionCounter):
    """What was collected so far; rows have a time_us, too."""

    store: CaseStore
    """Where cases go."""
    texts: list[list[str]]
    """The different texts of each attribute: rows have places among them, value_0, value_1, …"""
    started: bool = False
    """Whether it is known when work began: from another event, or from the column began_us."""

    def __post_init__(self) -> None:
        """Nothing is counted; of persons, it is kept which cases count."""
        self.database.execute("CREATE TABLE kept (batch INTEGER, place BIGINT)")

    @property
    def needed(self) -> list[str]:
        """What is needed of rows besides their case and what they are ordered by."""
        began = ["began_us"] * self.started
        return [*super().needed, "time_us", *began, *self._values, *self.order.columns[1:]]

    @property
    def _values(self) -> list[str]:
        return [f"value_{place}" for place in range(len(self.texts))]

    def add(self, part: Partition) -> None:
        """Write down the cases of a part; which of them count may be known only at the end."""
        if self.survey.staged:
            part = replace(part, sql=joined(part.sql, self.order, timed=True), stored=False)
        with self._held(part) as rows:
            complete = "NOT bool_or(truncated)" if self.survey.truncated else "true"
            cases = self._fetch(
                f"SELECT count({self.order.activity}) AS length, {complete} AS complete, "
                f"{APART} AS apart FROM {rows} GROUP BY case_id ORDER BY apart, case_id"
            )
            if not len(cases["apart"]):
                return
            alike = np.any(cases["apart"][1:] == cases["apart"][:-1])
            events = self._fetch(
                f"SELECT {self.order.activity} AS activity_id, "
                f"coalesce(time_us, {_NO_TIME}) AS time_us"
                + f", {self._start} AS start_us" * self.started
                + "".join(f", {value}" for value in self._values)
                + f" FROM {rows} WHERE {self.order.activity} IS NOT NULL "
                f"ORDER BY {APART}{', case_id' * bool(alike)}, {self.order.by}"
            )
            if self.unit.person is not None:
                self._write(
                    f"SELECT {self.store.parts} AS batch, {self._whose}, "
                    f"row_number() OVER (ORDER BY {APART}, case_id) - 1 AS place "
                    f"FROM {rows} GROUP BY case_id"
                )
        self.store.add_part(
            events["activity_id"],
            events["time_us"],
            cases["length"],
            cases["complete"],
            events["start_us"] if self.started else None,
            [events[value] for value in self._values],
        )

    def stored(self, names: list[str]) -> StoredCases:
        """Give the cases of all partitions."""
        if self.unit.person is not None:
            self._count_first_cases(self.unit.max_cases)
            for batch in range(self.store.parts):
                kept = self._fetch(f"SELECT place FROM kept WHERE batch = {batch}")
                self.store.keep(batch, kept["place"])
        return self.store.close(names, self.texts)

    @contextmanager
    def _held(self, part: Partition) -> Iterator[str]:
        """Hold the rows of a part while they are asked; of a long one with little memory."""
        if part.long:
            with limited(self.database):
                yield part.sql
            return
        if part.stored:
            yield part.sql
            return
        self.database.execute(f"CREATE OR REPLACE TEMP TABLE part AS SELECT * FROM {part.sql}")
        yield "part"
        self.database.execute("DROP TABLE part")

    def _count_kept(self, cases: str) -> list[int]:
        """Keep which cases count."""
        self.database.execute(f"INSERT INTO kept SELECT batch, place FROM {cases}")
        return []

    @property
    def _start(self) -> str:
        """When the work on an event began."""
        known = (["start_us"] * self.survey.staged) + (["began_us"] * self.started)
        return f"coalesce({', '.join([*known, _NO_TIME])})"


_NO_TIME = f"({NO_TIME})::BIGINT"
