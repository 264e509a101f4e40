"""A standalone cluster: a master and two workers, whose Python is not that of the driver.

It is started once, and all that is looked at here is done on it one after the other.
"""

from __future__ import annotations

import os
import site
import socket
import subprocess
import threading
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import sacofa
from tests.conftest import LOGS

from ..duckdb.test_events import frame, slowly, tied
from ..processes import needs_proc
from ..servers import need_spark, spark_for_small_logs
from . import on_cluster

START = 60
"""How many seconds the cluster may take to come up."""
LONGEST = 400
"""After so many seconds it is killed: nobody waits for ever for a cluster that hangs."""
ROWS = tied(2_000, 10)


def make_python(folder: Path) -> Path:
    """Make a Python environment of its own, with this package and what it needs."""
    venv.create(folder, symlinks=True)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    needed = [Path(sacofa.__file__).parents[1], Path(__file__).parents[3], *site.getsitepackages()]
    (packages / "needed.pth").write_text("".join(f"{path}\n" for path in needed))
    return folder / "bin" / "python"


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[int]]]:
    """Start a master with two workers, on the loopback interface: its address, their processes."""
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
    environment |= {"SPARK_HOME": str(home), "SPARK_LOCAL_DIRS": str(folder / "scratch")}
    run = [str(home / "bin" / "spark-class")]
    deploy = "org.apache.spark.deploy"
    commands = [
        [*run, f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port),
         "--webui-port", "0"],
        *[[*run, f"{deploy}.worker.Worker", there, "--host", "127.0.0.1", "--cores", "1",
           "--memory", "700m", "--webui-port", "0", "--work-dir", str(folder / f"worker {i}")]
          for i in range(2)],
    ]  # fmt: skip
    said = folder / "cluster.log"
    with said.open("wb") as log:
        machines = [
            subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder)
            for command in commands
        ]
        watch = threading.Timer(LONGEST, lambda: [machine.kill() for machine in machines])
        watch.start()
        try:
            end = time.monotonic() + START
            while said.read_text(errors="replace").count("Registering worker") < 2:
                if time.monotonic() > end:
                    pytest.fail(f"the cluster does not come up: {said.read_text()[-2000:]}")
                time.sleep(0.1)
            yield there, [machine.pid for machine in machines[1:]]
        finally:
            watch.cancel()
            for machine in reversed(machines):
                machine.terminate()
            for machine in machines:
                machine.wait(30)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What came of the work on the cluster."""
    need_spark()
    folder = tmp_path_factory.mktemp("cluster")
    frame(ROWS).to_parquet(folder / "log.parquet", row_group_size=100, coerce_timestamps="us")
    workers_python = make_python(folder / "environment")
    settings = {
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "3",
        # No work before both are there.
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
        "spark.cores.max": "2",
    }
    with (
        cluster(folder) as (master, workers),
        pytest.MonkeyPatch.context() as patched,
    ):
        patched.setenv("PYSPARK_PYTHON", str(workers_python))
        with spark_for_small_logs(master, settings) as session:
            answer = on_cluster.work(
                session, folder / "log.parquet", LOGS / "receipt.parquet", folder, workers
            )
    return answer | {"python": workers_python.parents[1]}


# A frame has no order of its own, so ties go by name.
EXPECTED = slowly(sorted(ROWS, key=lambda row: (row[2], row[1])), "time")


@pytest.mark.slow
def test_a_standalone_cluster(found: Any) -> None:
    """Two workers with a Python of their own count and release as one machine does."""
    calm = found["calm"]
    assert calm["variants"] == EXPECTED
    assert calm["pythons"] == [str(found["python"])] != [calm["driver"]]
    assert calm["executors"] == 2
    assert calm["same"]


@needs_proc
@pytest.mark.slow
def test_machines_that_die_change_nothing(found: Any) -> None:
    """Executors that are killed at work are replaced, and every case is counted once."""
    dying = found["counting"]
    assert dying["killed"] == 2
    assert dying["variants"] == EXPECTED


@needs_proc
@pytest.mark.slow
def test_a_machine_that_dies_with_its_noise_draws_the_same_again(logs: Path, found: Any) -> None:
    """Machines die after noise was drawn; the cells are counted again, and have their old noise."""
    dying = found["looking"]
    assert dying["died"] == [True, True]
    assert dying["named"]
    assert dying["variants"] > 1
    assert dying["same"]
