"""Variants that Spark counted and that stay where they are, a part in each partition.

Jobs on the parts are Python functions: the machines of the cluster need this package, too.
"""

from __future__ import annotations

import pickle
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, TypeVar

import numpy as np
from pyspark.sql import Column, DataFrame, SparkSession, functions

from ...kernel.unit import ONE_CASE, Unit
from ...kernel.variants import VariantCounts
from . import clear_errors

Result = TypeVar("Result")
Job = Callable[[int, VariantCounts], Result]


class SparkVariants(AbstractContextManager["SparkVariants"]):
    """Counted variants on a cluster, kept there until they are closed (or left as a context)."""

    def __init__(
        self,
        name: str,
        frame: DataFrame,
        activities: Sequence[str],
        unit: Unit = ONE_CASE,
        kept: list[DataFrame] | None = None,
    ) -> None:
        """Keep a frame of distinct variants with the columns variant (ids), truncated and number.

        The rows of a partition are sorted and cached. If a machine is lost, they are computed
        again: the same rows get into the same partition, in the same order.
        """
        self.activities = tuple(activities)
        self.unit = unit
        self._name = name
        with clear_errors(name):
            self._frame = frame.sortWithinPartitions("variant", "truncated").persist()
            # All derived objects share one list, so that closing any of them releases all.
            self._kept = [] if kept is None else kept
            self._kept.append(self._frame)
            number = functions.spark_partition_id()
            rows = self._frame.groupBy(number.alias("part")).count().collect()
        self._sizes = dict(sorted((row["part"], row["count"]) for row in rows))

    def __len__(self) -> int:
        """The number of different variants."""
        return sum(self._sizes.values())

    @property
    def parts(self) -> Sequence[int]:
        """The indices of the partitions with any variant."""
        return tuple(self._sizes)

    def truncate(self, max_length: int, *, by_length: bool = False) -> SparkVariants:
        """Truncate longer cases at max_length, as `VariantCounts.truncate` does."""
        length = functions.size("variant")
        truncated = functions.col("truncated") | (length > max_length)
        if by_length:
            truncated = length >= max_length
        return self._again(functions.slice("variant", 1, max_length), truncated, self.activities)

    def project_onto(self, activities: Sequence[str]) -> SparkVariants:
        """Express over other activities, as `VariantCounts.project_onto` does."""
        if tuple(activities) == self.activities:
            return self
        ids = {name: i for i, name in enumerate(activities)}
        new = functions.lit([ids.get(name, -1) for name in self.activities] or [-1])
        moved = functions.transform("variant", lambda i: functions.get(new, i))
        kept = functions.filter(moved, lambda i: i >= 0)
        return self._again(kept, functions.col("truncated"), activities)

    def map_parts(self, job: Job[Result]) -> list[Result]:
        """Run a job on every partition on the cluster; return one result per partition.

        If the task of a partition runs several times, one result is used. Jobs are deterministic,
        so it does not matter which.
        """
        _find_python(self._frame.sparkSession)
        with clear_errors(self._name):
            work = partial(_work, activities=self.activities, job=job)
            rows = self._frame.mapInArrow(work, "result binary").collect()
        return [pickle.loads(zlib.decompress(row.result)) for row in rows]

    def gather(self) -> VariantCounts:
        """Collect all variants on this machine."""
        return gather(self._name, self._frame, self.activities, self.unit)

    def used(self) -> list[str]:
        """The names of the activities that occur."""
        with clear_errors(self._name):
            ids = self._frame.select(functions.explode("variant").alias("activity_id"))
            rows = ids.distinct().collect()
        return [self.activities[i] for i in sorted(row.activity_id for row in rows)]

    def close(self) -> None:
        """Drop the variants on the cluster, and all that were derived from them."""
        with clear_errors(self._name):
            for frame in self._kept:
                frame.unpersist()

    def __exit__(self, *error: object) -> None:
        # After an error the cluster may be gone; the first error is the one to report.
        if error[1] is None:
            self.close()

    def _again(
        self, variant: Column, truncated: Column, activities: Sequence[str]
    ) -> SparkVariants:
        """Change all variants, and add up those that became equal."""
        equal = self._frame.groupBy(variant.alias("variant"), truncated.alias("truncated"))
        frame = equal.agg(functions.sum("number").alias("number"))
        return SparkVariants(self._name, frame, activities, self.unit, self._kept)


def gather(name: str, frame: DataFrame, activities: Sequence[str], unit: Unit) -> VariantCounts:
    """Collect a frame of distinct variants, with variant (ids), truncated and number."""
    complete: dict[tuple[str, ...], int] = {}
    truncated: dict[tuple[str, ...], int] = {}
    with clear_errors(name):
        # One partition at a time, so that at most one is in memory as rows.
        for row in frame.toLocalIterator(prefetchPartitions=True):
            variant = tuple(activities[i] for i in row.variant)
            (truncated if row.truncated else complete)[variant] = row.number
    return VariantCounts.of(complete, activities, truncated, unit)


def _find_python(session: SparkSession) -> None:
    """On one machine, let Spark use this Python: the first on the path may lack this package."""
    from pyspark.sql.utils import is_remote

    if not is_remote():
        context = session.sparkContext
        if str(context.master).startswith("local") and context.pythonExec == "python3":
            context.pythonExec = sys.executable


def _work(batches: Iterable[Any], *, activities: tuple[str, ...], job: Job[Any]) -> Iterator[Any]:
    """Do a job on one part; runs on the machines of the cluster."""
    import pyarrow
    from pyspark import TaskContext

    rows = list(batches)
    if not sum(map(len, rows)):
        return
    table = pyarrow.Table.from_batches(rows).combine_chunks()
    context = TaskContext.get()
    assert context is not None
    (variants,) = table["variant"].chunks
    lengths = variants.value_lengths().to_numpy()
    part = VariantCounts(
        activities=activities,
        activity_ids=variants.flatten().to_numpy().astype(np.int32, copy=False),
        offsets=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]),
        counts=table["number"].to_numpy().astype(np.int64, copy=False),
        complete=~table["truncated"].to_numpy(),
    )
    result = zlib.compress(pickle.dumps(job(context.partitionId(), part)), 1)
    yield pyarrow.RecordBatch.from_pydict({"result": [result]})
