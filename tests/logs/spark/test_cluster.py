"""A standalone cluster: a master and two workers, whose Python is not that of the driver."""

from __future__ import annotations

import json
import os
import site
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

import sacofa

from ..duckdb.test_events import frame, slowly, tied
from ..servers import QUIET, need_spark

START = 60
"""How many seconds the cluster may take to come up."""


@pytest.fixture
def workers_python(tmp_path: Path) -> Path:
    """A Python environment of its own, with this package and what it needs."""
    folder = tmp_path / "environment"
    venv.create(folder, symlinks=True)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    needed = [Path(sacofa.__file__).parents[1], Path(__file__).parents[3], *site.getsitepackages()]
    (packages / "needed.pth").write_text("".join(f"{path}\n" for path in needed))
    return folder / "bin" / "python"


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """The address of a master with two workers, on the loopback interface."""
    need_spark()
    import pyspark

    home = Path(pyspark.__file__).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    there = f"spark://127.0.0.1:{port}"
    # The machines of a cluster know nothing of the Python that the tests run in.
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL"))
    }
    environment |= {"SPARK_HOME": str(home), "SPARK_LOCAL_DIRS": str(tmp_path / "scratch")}
    run = [str(home / "bin" / "spark-class")]
    deploy = "org.apache.spark.deploy"
    commands = [
        [*run, f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port),
         "--webui-port", "0"],
        *[[*run, f"{deploy}.worker.Worker", there, "--host", "127.0.0.1", "--cores", "1",
           "--memory", "700m", "--webui-port", "0", "--work-dir", str(tmp_path / f"worker {i}")]
          for i in range(2)],
    ]  # fmt: skip
    said = tmp_path / "cluster.log"
    with said.open("wb") as log:
        machines = [
            subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=tmp_path)
            for command in commands
        ]
        try:
            end = time.monotonic() + START
            while said.read_text(errors="replace").count("Registering worker") < 2:
                if time.monotonic() > end:
                    pytest.fail(f"the cluster does not come up: {said.read_text()[-2000:]}")
                time.sleep(0.1)
            yield there
        finally:
            for machine in reversed(machines):
                machine.terminate()
            for machine in machines:
                machine.wait(30)


@pytest.mark.slow
def test_a_standalone_cluster(master: str, workers_python: Path, tmp_path: Path) -> None:
    """Two workers with a Python of their own count and release as one machine does."""
    rows = tied(2_000, 10)
    frame(rows).to_parquet(tmp_path / "log.parquet", row_group_size=200)
    settings = {
        **QUIET,
        "spark.executor.memory": "512m",
        "spark.driver.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
        # No work before both are there.
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
        "spark.cores.max": "2",
    }
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYSPARK_PYTHON": str(workers_python),
    }
    answer = subprocess.run(
        [sys.executable, "-m", "tests.logs.spark.on_cluster", master,
         str(tmp_path / "log.parquet"), json.dumps(settings)],
        capture_output=True, text=True, timeout=300, env=environment,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr[-3000:]
    found = json.loads(answer.stdout.splitlines()[-1])
    # A frame has no order of its own, so ties go by name.
    expected = slowly(sorted(rows, key=lambda row: (row[2], row[1])), "time")
    assert [(tuple(variant), count) for variant, count in found["variants"]] == list(expected)
    assert found["pythons"] == [str(workers_python.parents[1])] != [found["driver"]]
    assert found["executors"] == 2
    assert found["same"]
