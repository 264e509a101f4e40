"""A log is measured with its times where they are its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sacofa.base.batches import gather
from sacofa.evaluate.evaluate import read_measured
from sacofa.events import open_log
from sacofa.kernel.variants import VariantCounts
from tests.written import write_variants

LOG = VariantCounts.of({("a", "b"): 2, ("b",): 1})


@pytest.mark.parametrize("suffix", ["xes", "csv", "parquet"])
def test_times_are_read_unless_they_are_made_up(tmp_path: Path, suffix: str) -> None:
    """Variants are read in any case."""
    path = tmp_path / f"log.{suffix}"
    write_variants(LOG, path)
    made_up = read_measured(open_log(path))
    assert made_up.variants == LOG
    assert made_up.by_case is None
    write_variants(LOG, path, times=np.array([5, 6, 3, 9, 1]), force=True)
    timed = read_measured(open_log(path))
    assert timed.variants == LOG
    assert timed.by_case is not None
    times = gather(timed.by_case).times
    assert times is not None
    assert sorted((times // 1_000_000).tolist()) == [1, 3, 5, 6, 9]


def test_a_log_without_a_time_column(tmp_path: Path) -> None:
    """It has none, and neither have counted variants."""
    table = tmp_path / "log.csv"
    table.write_text("case,activity\n1,a\n")
    write_variants(LOG, tmp_path / "log.json")
    for path in (table, tmp_path / "log.json"):
        assert read_measured(open_log(path)).by_case is None
