"""What the tests of evaluation share: the paper's logs, and small logs made at random."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import duckdb
import numpy as np
import pytest

from sacofa.kernel.variants import VariantCounts


@pytest.fixture(scope="session")
def original(logs: Path) -> Callable[[str], VariantCounts]:
    """Read one of the paper's logs, straight from its table."""

    @cache
    def read(name: str) -> VariantCounts:
        rows = duckdb.execute(
            "select list(activity order by place) from (select case_id, activity, "
            f"row_number() over () as place from '{logs / name}.parquet') group by case_id"
        ).fetchall()
        return VariantCounts.from_cases(activities for (activities,) in rows)

    return read


@pytest.fixture(scope="session")
def random_log() -> Callable[..., VariantCounts]:
    """Make a small log: walks that mostly go forward through the activities, with noise."""

    def make(
        seed: int, activities: int = 6, variants: int = 12, noise: float = 0.3
    ) -> VariantCounts:
        random = np.random.default_rng(seed)
        counts: dict[tuple[str, ...], int] = {}
        for _ in range(variants):
            walk = [a for a in range(activities) if random.random() > noise]
            for _ in range(random.poisson(2 * noise)):
                walk.insert(int(random.integers(len(walk) + 1)), int(random.integers(activities)))
            name = tuple("abcdefghijklmnopqrstuvwxyz"[a] for a in walk)
            counts[name] = counts.get(name, 0) + int(random.integers(1, 20))
        return VariantCounts.of(counts)

    return make
