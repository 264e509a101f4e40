"""What a log says of its times is read from every format; a log that says nothing has its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sacofa.events import open_log
from sacofa.events.released import time_mark
from sacofa.kernel.variants import VariantCounts
from tests.written import write_variants

LOG = VariantCounts.of({("a", "b"): 2})


@pytest.mark.parametrize("suffix", ["xes", "xes.gz", "csv", "parquet"])
def test_released_files_say_what_their_times_are(tmp_path: Path, suffix: str) -> None:
    """Private or made up."""
    path = tmp_path / f"out [1].{suffix}"
    write_variants(LOG, path)
    assert time_mark(open_log(path)) == "artificial"
    write_variants(LOG, path, times=np.arange(4), force=True)
    assert time_mark(open_log(path)) == "private"


def test_other_logs_say_nothing(tmp_path: Path) -> None:
    """Neither do counted variants, nor a table without rows."""
    table = tmp_path / "log.csv"
    table.write_text("case,activity,time\n1,a,2020-01-01\n")
    assert time_mark(open_log(table)) is None
    table.write_text("case,activity,time,sacofa:time\n")
    assert time_mark(open_log(table)) is None
    xes = tmp_path / "log.xes"
    event = '<event><string key="concept:name" value="sacofa:time"/></event>'
    xes.write_text(f"<log><trace>{event}</trace></log>")
    assert time_mark(open_log(xes)) is None
    write_variants(LOG, tmp_path / "log.json")
    assert time_mark(open_log(tmp_path / "log.json")) is None
