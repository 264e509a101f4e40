"""Spark gives the same counts as DuckDB, to the last case, whatever happens to its machines."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from sacofa.errors import ColumnsError, ReadError
from sacofa.logs import count_variants, read_log, write_variants
from sacofa.variants import VariantCounts

from .nasty import NAMES
from .test_tables import frame, slowly, tied

pyspark = pytest.importorskip("pyspark", reason="the extra spark is not installed")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java, which is not installed", allow_module_level=True)

QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "America/New_York",
}


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """A small Spark with several partitions."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[3]")
    for key, value in {
        **QUIET,
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "5",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.files.maxPartitionBytes": "8192",
        "spark.sql.files.openCostInBytes": "1",
    }.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    yield spark
    spark.stop()


@pytest.mark.parametrize("order", ["file", "time"])
def test_ties_from_files_and_frames(order: str, session: Any, tmp_path: Path) -> None:
    """A log full of ties, in many partitions, gives the one right answer."""
    rows = tied(30_000, 7)
    data = frame(rows)
    folder = tmp_path / "lake"
    folder.mkdir()
    # The later files are the larger ones, because Spark starts with those.
    for part, (start, end) in enumerate([(0, 2_000), (2_000, 9_000), (9_000, 30_000)]):
        data.iloc[start:end].to_parquet(folder / f"part {part}.parquet", row_group_size=1_000)
        data.iloc[start:end].to_csv(tmp_path / f"part {part}.csv", index=False)
    expected = slowly(rows, order)
    lake = read_log(folder, engine="spark", order=order)
    assert session.read.parquet(str(folder)).rdd.getNumPartitions() > 5
    assert count_variants(lake) == expected
    assert count_variants(read_log(tmp_path / "*.csv", engine="spark", order=order)) == expected
    data.to_parquet(tmp_path / "whole.parquet", row_group_size=1_000)
    whole = session.read.parquet(str(tmp_path / "whole.parquet"))
    assert whole.rdd.getNumPartitions() > 5
    assert count_variants(read_log(whole, order=order)) == expected


def test_the_papers_logs(session: Any, logs: Path) -> None:
    """All three logs are counted as DuckDB counts them."""
    for name in ("receipt", "sepsis", "traffic_fines"):
        path = logs / f"{name}.parquet"
        assert count_variants(read_log(path, engine="spark")) == count_variants(path)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_nasty_names_cut_and_empty_cases(suffix: str, session: Any, tmp_path: Path) -> None:
    """Releases come back as they were written."""
    variants = VariantCounts.of(
        {(name, "x", name): i + 1 for i, name in enumerate(NAMES)} | {(): 2},
        unfinished={(): 3, ("x",): 1},
    )
    write_variants(variants, tmp_path / f"log.{suffix}")
    assert count_variants(read_log(tmp_path / f"log.{suffix}", engine="spark")) == variants


def test_people_and_parts(session: Any) -> None:
    """People with several cases and joined activities work as in files."""
    data = session.createDataFrame(
        [
            ("1", "a", "x", "ann"),
            ("2", "b", "x", "ann"),
            ("3", "c", "x", None),
            ("4", "c", "x", None),
        ],
        "`case` string, name string, step string, who string",
    ).coalesce(1)
    log = read_log(data, activity=["name", "step"], person="who", max_cases=1)
    assert count_variants(log) == VariantCounts.of({("a+x",): 1, ("c+x",): 2})


def test_bad_tables(session: Any, tmp_path: Path) -> None:
    """What cannot be counted is one clear line."""
    columns = "case_id string, activity string, ts timestamp"
    for row, what in (
        ((None, "a", None), "without case"),
        (("1", None, datetime(2020, 1, 1)), "without activity"),
        (("1", "a", None), "without timestamp"),
    ):
        data = session.createDataFrame([row], columns)
        with pytest.raises(ReadError, match=what):
            count_variants(read_log(data, order="time"))
    with pytest.raises(ColumnsError, match="columns there: x"):
        read_log(session.createDataFrame([(1,)], "x int"))
    (tmp_path / "log.parquet").write_text("no parquet")
    with pytest.raises(ReadError, match="Spark failed") as caught:
        count_variants(read_log(tmp_path / "log.parquet", engine="spark"))
    assert "\n" not in str(caught.value)


KILLING = '''
import json, os, signal, sys, threading, time
from pathlib import Path
from pyspark.sql import SparkSession
from sacofa.logs import count_variants, read_log

builder = SparkSession.builder.master("local-cluster[2,1,512]")
for key, value in json.loads(sys.argv[2]).items():
    builder = builder.config(key, value)
session = builder.getOrCreate()
session.sparkContext.setLogLevel("OFF")

EXECUTOR = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"

def executors():
    """Find the executors among the processes that this one started."""
    parents, commands = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "stat").read_text().rsplit(")", 1)[1]
                parents[int(entry.name)] = int(status.split()[1])
                commands[int(entry.name)] = (entry / "cmdline").read_bytes()
            except OSError:
                continue
    for pid, command in commands.items():
        above = parents[pid]
        while above in parents and above != os.getpid():
            above = parents[above]
        if above == os.getpid() and EXECUTOR in command.split(bytes(1)):
            yield pid

killed = []

def kill():
    tracker = session.sparkContext.statusTracker()
    hit = set()
    while len(killed) < 2:
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info and info.numTasks > 5 and info.numCompletedTasks > 1 and stage not in hit:
                hit.add(stage)
                victim = next(executors(), None)
                if victim is not None:
                    os.kill(victim, signal.SIGKILL)
                    killed.append(victim)
        time.sleep(0.02)

threading.Thread(target=kill, daemon=True).start()
# Every row takes a moment, so that machines die while they are at work.
moment = "coalesce(reflect('java.lang.Thread', 'sleep', 2L), '') <> 'x'"
slow = session.read.parquet(sys.argv[1]).where(moment)
found = count_variants(read_log(slow, order="time"))
print(json.dumps({"killed": len(killed), "variants": [[list(v), n] for v, n in found]}))
session.stop()
'''  # fmt: skip


@pytest.mark.slow
def test_machines_that_die_change_nothing(tmp_path: Path) -> None:
    """Executors that are killed at work are replaced, and every case is counted once."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("finding the executors needs /proc")
    rows = tied(2_000, 8)
    frame(rows).to_parquet(tmp_path / "log.parquet", row_group_size=100)
    settings = {
        **QUIET,
        "spark.executor.memory": "512m",
        "spark.driver.memory": "512m",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.files.maxPartitionBytes": "2048",
        "spark.sql.files.openCostInBytes": "1",
    }
    answer = subprocess.run(
        [sys.executable, "-c", KILLING, str(tmp_path / "log.parquet"), json.dumps(settings)],
        capture_output=True, text=True, timeout=400, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr[-2000:]
    found = json.loads(answer.stdout.splitlines()[-1])
    assert found["killed"] == 2
    expected = slowly(rows, "time")
    assert [(tuple(v), n) for v, n in found["variants"]] == list(expected)
