"""Collects the cases of partitions with their times: the same as are counted, in the same order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...cases import NO_TIME
from ..case_store import CaseStore, StoredCases
from .counting import LongCase, PartitionCounter
from .partitions import Partition


@dataclass(kw_only=True)
class CaseCollector(PartitionCounter):
    """What was collected so far; rows have a time_us, too."""

    store: CaseStore
    """Where cases go."""
    texts: list[list[str]]
    """The different texts of each attribute: rows have places among them, value_0, value_1, …"""
    started: bool = False
    """Whether it is known when work began: from another event, or from the column began_us."""

    @property
    def timed(self) -> bool:
        """Whether times are asked for."""
        return True

    def __post_init__(self) -> None:
        """Nothing is counted, so there is no table to make."""

    @property
    def needed(self) -> list[str]:
        """What is needed of rows besides their case and what they are ordered by."""
        began = ["began_us"] * self.started
        return [*super().needed, "time_us", *began, *self._values, *self.order.columns[1:]]

    @property
    def _values(self) -> list[str]:
        return [f"value_{place}" for place in range(len(self.texts))]

    def stored(self, names: list[str]) -> StoredCases:
        """Give the cases of all partitions."""
        if self.unit.person is not None:
            self._count_first_cases(self.unit.max_cases)
        for case in self._long:
            assert case.times is not None
            self.store.add_part(
                case.activity_ids,
                case.times,
                np.array([len(case.activity_ids)]),
                np.array([case.complete]),
                case.starts if self.started else None,
                case.values,
            )
        return self.store.close(names, self.texts)

    @property
    def _case_type(self) -> str:
        values = "".join(f", {value} INTEGER" for value in self._values)
        start = ", start_us BIGINT" * self.started
        return f"STRUCT(activity_id {self.code}, time_us BIGINT{start}{values})[]"

    def _events_of_a_case(self) -> str:
        values = "".join(f", {value} := {value}" for value in self._values)
        start = f", start_us := {self._start}" * self.started
        event = (
            f"struct_pack(activity_id := {self.order.activity}, time_us := {_TIME}{start}{values})"
        )
        events = f"list({event} ORDER BY {self.order.by})"
        return f"coalesce({events} FILTER ({self.order.activity} IS NOT NULL), [])"

    def _count(self, cases: str) -> None:
        """Write down the cases of a part."""
        # Both answers come from one table, so that cases are in the same order in both.
        self.database.execute(
            f"CREATE OR REPLACE TEMP TABLE part AS SELECT variant, truncated FROM ({cases})"
        )
        rows = self._fetch("SELECT len(variant) AS length, NOT truncated AS complete FROM part")
        events = self._fetch(
            "SELECT event.activity_id AS activity_id, event.time_us AS time_us"
            + ", event.start_us AS start_us" * self.started
            + "".join(f", event.{value} AS {value}" for value in self._values)
            + " "
            "FROM (SELECT unnest(variant) AS event FROM part)"
        )
        self.database.execute("DROP TABLE part")
        if len(rows["length"]):
            self.store.add_part(
                events["activity_id"],
                events["time_us"],
                rows["length"],
                rows["complete"],
                events["start_us"] if self.started else None,
                [events[value] for value in self._values],
            )

    def _long_case(self, part: Partition, more: str = "") -> LongCase:
        values = "".join(f", {value}" for value in self._values)
        more = f", {_TIME} AS time_us, {self._start} AS start_us{values}"
        return super()._long_case(part, more)

    @property
    def _start(self) -> str:
        """When the work on an event began."""
        known = (["start_us"] * self.staged) + (["began_us"] * self.started)
        return f"coalesce({', '.join([*known, f'({NO_TIME})::BIGINT'])})"


_TIME = f"coalesce(time_us, ({NO_TIME})::BIGINT)"
