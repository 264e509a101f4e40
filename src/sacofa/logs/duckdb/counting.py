"""Counts the variants of partitions of whole cases, and adds them up.

Where only so many cases of a person count, it is not known in a part which those are. So each case
is written down with its person and its first row, and cases are partitioned again, by person.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...unit import Unit
from ...variants import VariantCounts
from .ordering import Ordering
from .partitions import Partition, limited, partition
from .source import file_literal, literal


@dataclass(kw_only=True)
class PartitionCounter:
    """What was counted so far.

    Rows have case c, the columns of the ordering, where there are such the flag `cut`, and where
    cases of a person are limited its `person` and the `row` itself.
    """

    database: Any = field(repr=False)
    """Where counting is done."""
    order: Ordering
    """How events are put in order."""
    code: str
    """The type of activity ids."""
    cut: bool
    """Whether rows say that their case was cut."""
    unit: Unit
    """What is protected: of a person, so many cases count at most."""
    folder: Path
    """Where cases are written down."""
    _long: list[tuple[NDArray[Any], bool]] = field(default_factory=list, repr=False)
    """Activity ids of each long case, and whether it is finished."""
    _written: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.database.execute(f"CREATE TABLE counted (v {self.code}[], cut BOOLEAN, n BIGINT)")

    def add(self, part: Partition) -> None:
        """Count the variants of a part."""
        cut = "bool_or(cut)" if self.cut else "false"
        variant, long = self.order.variant, "NULL::INTEGER"
        if part.long:
            variant, long = f"NULL::{self.code}[]", f"{len(self._long)}"
            self._long.append(self._long_case(part))
        if self.unit.person is not None:
            first = "min(row) AS r, arg_min(struct_pack(p := person), row).p AS p"
            self._write(
                f"SELECT {variant} AS v, {cut} AS cut, {long} AS long, {first} "
                f"FROM {part.sql} GROUP BY c"
            )
        elif not part.long:
            self._count(f"SELECT {variant} AS v, {cut} AS cut FROM {part.sql} GROUP BY c")

    def total(self, names: list[str]) -> VariantCounts:
        """Add up the variants of all partitions."""
        if self.unit.person is not None:
            self._count_first_cases(self.unit.max_cases)
        # The order of lists is the order of variants: by activity ids, shorter first.
        with limited(self.database):
            self.database.execute(
                "CREATE TABLE merged AS SELECT v, cut, sum(n)::BIGINT AS n FROM counted "
                "GROUP BY v, cut ORDER BY v, cut"
            )
        rows = self._fetch("SELECT len(v) AS l, NOT cut AS f, n FROM merged")
        steps = self._fetch("SELECT unnest(v) AS i FROM merged")["i"]
        lengths, complete, counts = rows["l"], rows["f"], rows["n"]
        if self._long:
            return VariantCounts.from_arrays(
                names,
                np.concatenate([steps, *(case for case, _ in self._long)]),
                np.concatenate([lengths, [len(case) for case, _ in self._long]]),
                np.concatenate([counts, np.ones(len(self._long), dtype=np.int64)]),
                np.concatenate([complete, [flag for _, flag in self._long]]),
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

    def _count(self, cases: str) -> None:
        self.database.execute(
            f"INSERT INTO counted SELECT v, cut, count(*) AS n FROM ({cases}) GROUP BY v, cut"
        )

    def _write(self, cases: str) -> None:
        self._written.append(self.folder / f"{len(self._written)}.parquet")
        self.database.execute(
            f"COPY ({cases}) TO {literal(self._written[-1])} "
            "(FORMAT parquet, COMPRESSION uncompressed)"
        )

    def _long_case(self, part: Partition) -> tuple[NDArray[Any], bool]:
        """Put a single case in order, on disk if need be."""
        order = self.order
        with limited(self.database):
            steps = self._fetch(
                f"SELECT {order.activity} AS i FROM {part.sql} "
                f"WHERE {order.activity} IS NOT NULL ORDER BY {order.by}"
            )["i"]
        if not self.cut:
            return steps, True
        (cut,) = self.database.execute(f"SELECT bool_or(cut) FROM {part.sql}").fetchone()
        return steps, not cut

    def _count_first_cases(self, most: int) -> None:
        """Count cases without a person, and the first of each person, as the source has them."""
        written = f"read_parquet([{', '.join(file_literal(file) for file in self._written)}])"
        free, bound = f"{written} WHERE p IS NULL", f"{written} WHERE p IS NOT NULL"
        kept = self._count_kept(free)
        (cases,) = self.database.execute(f"SELECT count(*) FROM {bound}").fetchone()
        by_person = f"(SELECT p AS c, v, cut, long, r FROM {bound})"
        for part in partition(self.database, by_person, cases, numbered=True):
            first = f"SELECT unnest(list_sort(list(r))[:{most}]) AS r FROM {part.sql} GROUP BY c"
            kept += self._count_kept(f"{part.sql} SEMI JOIN ({first}) USING (r)")
        self._long = [self._long[place] for place in kept]

    def _count_kept(self, cases: str) -> list[int]:
        """Count cases that were written down, and give the places of the long ones."""
        self._count(f"SELECT * FROM (SELECT v, cut, long FROM {cases}) WHERE long IS NULL")
        if not self._long:
            return []
        found = self.database.execute(f"SELECT DISTINCT long FROM {cases}").fetchall()
        return [place for (place,) in found if place is not None]

    def _fetch(self, sql: str) -> dict[str, NDArray[Any]]:
        found = self.database.execute(sql).fetchnumpy()
        return {name: np.asarray(column) for name, column in found.items()}
