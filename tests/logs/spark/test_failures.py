"""Machines of a Spark cluster that die, some or all of them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from sacofa import Ledger

from ..duckdb.test_events import frame, slowly, tied
from ..processes import needs_proc, processes_below
from ..servers import QUIET

pytest.importorskip("pyspark", reason="the extra spark is not installed")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java, which is not installed", allow_module_level=True)

ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(sys.path),
    "PYSPARK_PYTHON": sys.executable,
}


def on_dying_machines(what: str, log: Path, folder: Path, **more: str) -> Any:
    """Start the program whose machines die; what it prints."""
    settings = {
        **QUIET,
        "spark.executor.memory": "512m",
        "spark.driver.memory": "512m",
        "spark.sql.shuffle.partitions": "3",
        **more,
    }
    answer = subprocess.run(
        [sys.executable, "-m", "tests.logs.spark.dying", what, log, json.dumps(settings)],
        capture_output=True, text=True, timeout=400, cwd=folder, env=ENVIRONMENT,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr[-2000:]
    return json.loads(answer.stdout.splitlines()[-1])


@needs_proc
@pytest.mark.slow
def test_machines_that_die_change_nothing(tmp_path: Path) -> None:
    """Executors that are killed at work are replaced, and every case is counted once."""
    rows = tied(2_000, 8)
    frame(rows).to_parquet(tmp_path / "log.parquet", row_group_size=100)
    small = {
        "spark.sql.files.maxPartitionBytes": "2048",
        "spark.sql.files.openCostInBytes": "1",
    }
    found = on_dying_machines("counting", tmp_path / "log.parquet", tmp_path, **small)
    assert found["killed"] == 2
    assert [(tuple(v), n) for v, n in found["variants"]] == list(
        slowly(sorted(rows, key=lambda row: (row[2], row[1])), "time")
    )


@needs_proc
@pytest.mark.slow
def test_a_machine_that_dies_with_its_noise_draws_the_same_again(
    logs: Path, tmp_path: Path
) -> None:
    """Machines die after noise was drawn; the cells are counted again, and have their old noise."""
    found = on_dying_machines("looking", logs / "receipt.parquet", tmp_path)
    assert found["died"] == [True, True]
    assert found["named"]
    assert found["variants"] > 1
    assert found["same"]


@needs_proc
def test_a_cluster_that_dies_whole(logs: Path, tmp_path: Path) -> None:
    """The command ends with one line; nothing is spent, and nothing is written."""
    ledger, output, scratch = (tmp_path / name for name in ("ledger", "out.parquet", "scratch"))
    # Spark reads its settings from a file.
    (tmp_path / "spark-defaults.conf").write_text(
        "".join(f"{key} {value}\n" for key, value in QUIET.items())
    )
    environment = ENVIRONMENT | {
        "SPARK_CONF_DIR": str(tmp_path),
        "SPARK_LOCAL_DIRS": str(scratch),
    }
    run = [sys.executable, "-m", "sacofa"]
    subprocess.run([*run, "ledger", "budget", ledger, "d", "1"], check=True, capture_output=True)
    with subprocess.Popen(
        [*run, "anonymize", logs / "traffic_fines.parquet", "-o", output, "--engine", "spark",
         "--epsilon", "1", "--ledger", ledger, "--dataset", "d"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=tmp_path,
    ) as command:  # fmt: skip
        # It is in the midst of counting when there is something to shuffle.
        while not list(scratch.rglob("shuffle_*")) and command.poll() is None:
            time.sleep(0.01)
        for pid, words in processes_below(command.pid).items():
            if Path(os.fsdecode(words[0])).name == "java":
                os.kill(pid, signal.SIGKILL)
        _, said = command.communicate(timeout=120)
    assert command.returncode == 1
    complaint = [line for line in said.splitlines() if line.startswith("sacofa:")]
    assert len(complaint) == 1
    assert "Spark failed: the connection to it was lost" in complaint[0]
    assert "Traceback" not in said
    assert not output.exists()
    assert Ledger(ledger).account("d").left == 1
