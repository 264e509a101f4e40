"""Work for a standalone Spark cluster: a log is counted and released, while machines are killed.

Functions that give what came of it. Workers are the processes below which the cluster starts its
executors.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from sacofa import Certified, anonymize
from sacofa.events import count_variants, distribute_variants, open_log
from sacofa.events.spark.distributed import SparkVariants
from sacofa.kernel.variants import VariantCounts
from tests.events.processes import processes_below

EXECUTOR = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"
Job = Callable[[int, VariantCounts], Any]


def where(number: int, part: VariantCounts) -> tuple[str, str]:
    """A job that tells which Python does it, and for which executor."""
    # Each executor works in a folder of its own.
    return sys.prefix, os.getcwd()


def count_and_release(session: Any, log: Path) -> dict[str, Any]:
    """Count a log after a shuffle, and release it from the cluster and from here."""
    frame = session.read.parquet(str(log)).repartition(4)
    mechanism = Certified(epsilon=Fraction(1), max_length=3)
    here = count_variants(open_log(frame))
    with distribute_variants(open_log(frame)) as there:
        places = there.map_parts(where)
        same = (
            anonymize(there, mechanism, seed=3).variants
            == anonymize(here, mechanism, seed=3).variants
        )
    return {
        "variants": here,
        "pythons": sorted({python for python, _ in places}),
        "executors": len({executor for _, executor in places}),
        "driver": sys.prefix,
        "same": same,
    }


def executors(workers: list[int]) -> list[int]:
    """The processes that do the work."""
    below = [process for worker in workers for process in processes_below(worker).items()]
    return [pid for pid, words in below if EXECUTOR in words]


def count_while_dying(session: Any, log: Path, workers: list[int]) -> dict[str, Any]:
    """Count a log; two executors are killed while tasks are running."""
    killed: list[int] = []
    over = threading.Event()

    def kill() -> None:
        tracker = session.sparkContext.statusTracker()
        hit = set()
        while len(killed) < 2 and not over.is_set():
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if info and info.numTasks > 5 and info.numCompletedTasks > 1 and stage not in hit:
                    hit.add(stage)
                    for victim in executors(workers)[:1]:
                        os.kill(victim, signal.SIGKILL)
                        killed.append(victim)
            time.sleep(0.02)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    session.conf.set("spark.sql.files.maxPartitionBytes", "2048")
    session.conf.set("spark.sql.files.openCostInBytes", "1")
    # Every row takes a moment, so that machines die while they are at work.
    moment = "coalesce(reflect('java.lang.Thread', 'sleep', 2L), '') <> 'x'"
    slow = session.read.parquet(str(log)).where(moment)
    found = count_variants(open_log(slow, order="time"))
    over.set()
    killer.join()
    for setting in ("maxPartitionBytes", "openCostInBytes"):
        session.conf.unset(f"spark.sql.files.{setting}")
    return {"killed": len(killed), "variants": found}


def look_while_dying(log: Path, folder: Path) -> dict[str, Any]:
    """Release what stays on the cluster twice with one seed, once with machines that die."""
    honest, done, died = SparkVariants.map_parts, [], []

    def deadly(self: SparkVariants, job: Job) -> list[Any]:
        done.append(job)
        # After the size and the steps, variants are shown by name, stage by stage.
        if len(done) not in (3, 4):
            return honest(self, job)
        mark = folder / f"died {len(done)}"
        victim = self.parts[len(done) % len(self.parts)]
        result = honest(self, partial(do_and_die, job=job, victim=victim, mark=mark))
        died.append(mark.exists())
        return result

    mechanism = Certified(epsilon=20, max_length=6)
    with distribute_variants(open_log(log, engine="spark")) as variants:
        calm = anonymize(variants, mechanism, seed=7)
        with patch.object(SparkVariants, "map_parts", deadly):
            dying = anonymize(variants, mechanism, seed=7)
    return {
        "died": died,
        "named": any(note.code == "note.frequent" for note in dying.certificate.notes),
        "variants": len(calm.variants),
        "same": calm.variants == dying.variants,
    }


def do_and_die(number: int, part: VariantCounts, *, job: Job, victim: int, mark: Path) -> Any:
    """Do the job; the first time, die with the whole machine before anyone hears of it."""
    result = job(number, part)
    if number == victim and not mark.exists():
        mark.touch()
        pid = os.getpid()
        while EXECUTOR not in Path(f"/proc/{pid}/cmdline").read_bytes().split(bytes(1)):
            pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        os.kill(pid, signal.SIGKILL)
    return result


def work(
    session: Any, log: Path, receipt: Path, folder: Path, workers: list[int]
) -> dict[str, dict[str, Any]]:
    """Do all of it, one after the other: to start the machines takes longer than their work."""
    # The machines need what is done here, and nothing that tests need.
    from pyspark.cloudpickle import register_pickle_by_value

    register_pickle_by_value(sys.modules[__name__])
    answer = {"calm": count_and_release(session, log)}
    if Path("/proc/self").exists():
        answer["counting"] = count_while_dying(session, log, workers)
        if receipt.exists():
            answer["looking"] = look_while_dying(receipt, folder)
    return answer
