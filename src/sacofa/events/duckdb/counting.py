"""Counts the variants of partitions of whole cases, and adds them up.

Where only so many cases of a person count, it is not known in a part which those are. So each case
is written down with its person and its first row, and cases are partitioned again, by person.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...kernel.unit import Unit
from ...kernel.variants import VariantCounts
from .database import first_row
from .instances import joined
from .ordering import Ordering
from .partitions import Partition, limited, partition
from .sql import files_literal, literal
from .survey import Survey

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, kw_only=True)
class LongCase:
    """A case that was put in order by itself."""

    activity_ids: NDArray[Any]
    """What its events did."""
    complete: bool
    """False where it went on but was truncated."""


@dataclass(kw_only=True)
class PartitionCounter:
    """What was counted so far.

    Rows have a case_id, the columns of the ordering, where there are such the flag `truncated`, and
    where cases of a person are limited its `person` and the `row_number`.
    """

    database: DuckDBPyConnection = field(repr=False)
    """Where counting is done."""
    survey: Survey
    """What is known of the rows."""
    unit: Unit
    """What is protected: of a person, this many cases count at most."""
    folder: Path
    """Where cases are written down."""
    varying: int = 0
    """How many cases have more than one person."""
    dropped: int = 0
    """How many cases are left out, because their person has more than count."""
    _parts: int = 0
    _long: list[LongCase] = field(default_factory=list, repr=False)
    _written: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.database.execute(
            f"CREATE TABLE counted (variant {self.survey.code}[], truncated BOOLEAN, number BIGINT)"
        )

    @property
    def order(self) -> Ordering:
        """How events are put in order."""
        return self.survey.order

    @property
    def needed(self) -> list[str]:
        """What is needed of rows besides their case and what they are ordered by."""
        needed = ["truncated"] * self.survey.truncated + ["stage"] * self.survey.staged
        return needed if self.unit.person is None else [*needed, "person", "row_number"]

    def add(self, part: Partition) -> None:
        """Count the variants of a part."""
        self._parts += 1
        if self.survey.staged:
            part = replace(part, sql=joined(part.sql, self.order, timed=False))
        truncated = "bool_or(truncated)" if self.survey.truncated else "false"
        variant, long = self.order.variant, "NULL::INTEGER"
        if part.long:
            variant, long = f"NULL::{self.survey.code}[]", f"{len(self._long)}"
            self._long.append(self._long_case(part))
        if self.unit.person is not None:
            self._write(
                f"SELECT {variant} AS variant, {truncated} AS truncated, {long} AS long_case, "
                f"{self._whose} FROM {part.sql} GROUP BY case_id"
            )
        elif not part.long:
            self._count(
                f"SELECT {variant} AS variant, {truncated} AS truncated FROM {part.sql} "
                "GROUP BY case_id"
            )

    def total(self, names: list[str]) -> VariantCounts:
        """Add up the variants of all partitions."""
        if self.unit.person is not None:
            self._count_first_cases(self.unit.max_cases)
        # The order of lists is the order of variants: by activity ids, shorter first. What is left
        # of one part has room where that had; to set a limit takes longer than a small log.
        with limited(self.database) if self._parts > 1 else nullcontext():
            self.database.execute(
                "CREATE TABLE merged AS "
                "SELECT variant, truncated, sum(number)::BIGINT AS number FROM counted "
                "GROUP BY variant, truncated ORDER BY variant, truncated"
            )
        rows = self._fetch(
            "SELECT len(variant) AS length, NOT truncated AS complete, number FROM merged"
        )
        steps = self._fetch("SELECT unnest(variant) AS activity_id FROM merged")["activity_id"]
        lengths, complete, counts = rows["length"], rows["complete"], rows["number"]
        if self._long:
            return VariantCounts.from_arrays(
                names,
                np.concatenate([steps, *(case.activity_ids for case in self._long)]),
                np.concatenate([lengths, [len(case.activity_ids) for case in self._long]]),
                np.concatenate([counts, np.ones(len(self._long), dtype=np.int64)]),
                np.concatenate([complete, [case.complete for case in self._long]]),
                self.unit,
            )
        return VariantCounts(
            activities=tuple(names),
            activity_ids=steps.astype(np.int32),
            offsets=np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))),
            counts=counts,
            complete=complete,
            unit=self.unit,
        )

    @property
    def _whose(self) -> str:
        """Whose case it is, its first row, and whether it has several persons: aggregates."""
        # The case alone decides whose it is: the first person that is not blank.
        return (
            f"min(row_number) AS first_row, arg_min(person, {self.order.rank}) AS person, "
            # What is missing has a hash, too; it is nobody, and no second person.
            "coalesce(min(hash(person)) FILTER (person IS NOT NULL) "
            "<> max(hash(person)) FILTER (person IS NOT NULL), false) AS varies"
        )

    def _count(self, cases: str) -> None:
        self.database.execute(
            "INSERT INTO counted SELECT variant, truncated, count(*) AS number "
            f"FROM ({cases}) GROUP BY variant, truncated"
        )

    def _write(self, cases: str) -> None:
        self._written.append(self.folder / f"{len(self._written)}.parquet")
        self.database.execute(
            f"COPY ({cases}) TO {literal(self._written[-1])} "
            "(FORMAT parquet, COMPRESSION uncompressed)"
        )

    def _long_case(self, part: Partition) -> LongCase:
        """Put a single case in order, on disk if need be."""
        order, truncated = self.order, False
        with limited(self.database):
            events = self._fetch(
                f"SELECT {order.activity} AS activity_id FROM {part.sql} "
                f"WHERE {order.activity} IS NOT NULL ORDER BY {order.by}"
            )
        if self.survey.truncated:
            (truncated,) = first_row(self.database, f"SELECT bool_or(truncated) FROM {part.sql}")
        return LongCase(activity_ids=events["activity_id"], complete=not truncated)

    def _count_first_cases(self, most: int) -> None:
        """Count cases without a person, and the first of each person, as the source has them."""
        written = f"read_parquet({files_literal(self._written)})"
        of_nobody = f"{written} WHERE person IS NULL"
        of_persons = f"{written} WHERE person IS NOT NULL"
        kept = self._count_kept(of_nobody)
        cases, self.varying = first_row(
            self.database, f"SELECT count(*), coalesce(count_if(varies), 0) FROM {of_persons}"
        )
        counted = 0
        source = f"(SELECT * FROM {of_persons})"
        for part in partition(self.database, source, cases, numbered=True, by="person"):
            # Only cases of one person are compared, and the first row is that of one case alone.
            first = (
                f"SELECT unnest(list_sort(list(first_row))[:{most}]) AS first_row "
                f"FROM {part.sql} GROUP BY person"
            )
            kept += self._count_kept(f"{part.sql} SEMI JOIN ({first}) USING (first_row)")
            (number,) = first_row(
                self.database,
                f"SELECT coalesce(sum(least(size, {most})), 0)::BIGINT "
                f"FROM (SELECT count(*) AS size FROM {part.sql} GROUP BY person)",
            )
            counted += number
        self.dropped = cases - counted
        self._long = [self._long[place] for place in kept]

    def _count_kept(self, cases: str) -> list[int]:
        """Count cases that were written down, and give the places of the long ones."""
        self._count(
            "SELECT variant, truncated FROM "
            f"(SELECT variant, truncated, long_case FROM {cases}) WHERE long_case IS NULL"
        )
        if not self._long:
            return []
        found = self.database.execute(f"SELECT DISTINCT long_case FROM {cases}").fetchall()
        return [place for (place,) in found if place is not None]

    def _fetch(self, sql: str) -> dict[str, NDArray[Any]]:
        found = self.database.execute(sql).fetchnumpy()
        return {name: np.asarray(column) for name, column in found.items()}
