"""A Spark that dies whole; machines that die one by one are in test_cluster."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sacofa import Ledger
from sacofa.errors import ReadError
from sacofa.events.spark import clear_errors

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
         "--no-time", "--epsilon", "1", "--ledger", ledger, "--dataset", "d"],
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


def test_workers_of_another_version_are_named() -> None:
    """PySpark buries the reason under a traceback of its worker."""
    from pyspark.errors import PySparkException

    why = "An exception was thrown from the Python worker:\n[PYTHON_VERSION_MISMATCH] …"
    with pytest.raises(ReadError, match="PYSPARK_PYTHON"), clear_errors("log"):
        raise PySparkException(why)
