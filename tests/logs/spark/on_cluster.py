"""Work for a standalone Spark cluster: a program that the tests start.

    python -m tests.logs.spark.on_cluster MASTER LOG RECEIPT SETTINGS WORKER…

counts and releases a log, then again while machines are killed at work, and prints, as JSON, what
came of it. WORKER… are the processes below which the cluster starts its executors.
"""

from __future__ import annotations

import json
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

from sacofa import Certified, anonymize
from sacofa.logs import count_variants, distribute_variants, open_log
from sacofa.logs.spark.distributed import SparkVariants
from sacofa.variants import VariantCounts
from tests.logs.processes import processes_below

EXECUTOR = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"
Job = Callable[[int, VariantCounts], Any]


def where(number: int, part: VariantCounts) -> tuple[str, str]:
    """A job that tells which Python does it, and for which executor."""
    # Each executor works in a folder of its own.
    return sys.prefix, os.getcwd()


def spelled(variants: VariantCounts) -> list[list[Any]]:
    """Variants as JSON holds them."""
    return [[list(variant), count] for variant, count in variants]


def count_and_release(session: Any, log: str) -> dict[str, object]:
    """Count a log after a shuffle, and release it from the cluster and from here."""
    frame = session.read.parquet(log).repartition(4)
    mechanism = Certified(epsilon=Fraction(1), max_length=3)
    here = count_variants(open_log(frame))
    with distribute_variants(open_log(frame)) as there:
        places = there.map_parts(where)
        same = (
            anonymize(there, mechanism, seed=3).variants
            == anonymize(here, mechanism, seed=3).variants
        )
    return {
        "variants": spelled(here),
        "pythons": sorted({python for python, _ in places}),
        "executors": len({executor for _, executor in places}),
        "driver": sys.prefix,
        "same": same,
    }


def executors(workers: list[int]) -> list[int]:
    """The processes that do the work."""
    below = [process for worker in workers for process in processes_below(worker).items()]
    return [pid for pid, words in below if EXECUTOR in words]


def count_while_dying(session: Any, log: str, workers: list[int]) -> dict[str, object]:
    """Count a log; two executors are killed while tasks are running."""
    killed: list[int] = []

    def kill() -> None:
        tracker = session.sparkContext.statusTracker()
        hit = set()
        while len(killed) < 2:
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if info and info.numTasks > 5 and info.numCompletedTasks > 1 and stage not in hit:
                    hit.add(stage)
                    for victim in executors(workers)[:1]:
                        os.kill(victim, signal.SIGKILL)
                        killed.append(victim)
            time.sleep(0.02)

    threading.Thread(target=kill, daemon=True).start()
    session.conf.set("spark.sql.files.maxPartitionBytes", "2048")
    session.conf.set("spark.sql.files.openCostInBytes", "1")
    # Every row takes a moment, so that machines die while they are at work.
    moment = "coalesce(reflect('java.lang.Thread', 'sleep', 2L), '') <> 'x'"
    slow = session.read.parquet(log).where(moment)
    found = count_variants(open_log(slow, order="time"))
    for setting in ("maxPartitionBytes", "openCostInBytes"):
        session.conf.unset(f"spark.sql.files.{setting}")
    return {"killed": len(killed), "variants": spelled(found)}


def look_while_dying(session: Any, log: str) -> dict[str, object]:
    """Release what stays on the cluster twice with one seed, once with machines that die."""
    honest, done, died = SparkVariants.map_parts, [], []

    def deadly(self: SparkVariants, job: Job) -> list[Any]:
        done.append(job)
        # After the size and the steps, variants are shown by name, stage by stage.
        if len(done) not in (3, 4):
            return honest(self, job)
        mark = Path.cwd() / f"died {len(done)}"
        victim = self.parts[len(done) % len(self.parts)]
        result = honest(self, partial(do_and_die, job=job, victim=victim, mark=mark))
        died.append(mark.exists())
        return result

    mechanism = Certified(epsilon=20, max_length=6)
    with distribute_variants(open_log(log, engine="spark")) as variants:
        calm = anonymize(variants, mechanism, seed=7)
        SparkVariants.map_parts = deadly  # type: ignore[method-assign]
        dying = anonymize(variants, mechanism, seed=7)
        SparkVariants.map_parts = honest  # type: ignore[method-assign]
    return {
        "died": died,
        "named": any("shown as they are" in note for note in dying.certificate.notes),
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


def main(master: str, log: str, receipt: str, settings: str, *workers: str) -> None:
    """Do all of it, one after the other: to start the machines takes longer than their work."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master)
    for key, value in json.loads(settings).items():
        builder = builder.config(key, value)
    session: Any = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    answer = {"calm": count_and_release(session, log)}
    if Path("/proc/self").exists():
        answer["counting"] = count_while_dying(session, log, [int(worker) for worker in workers])
        if Path(receipt).exists():
            answer["looking"] = look_while_dying(session, receipt)
    sys.stdout.write(json.dumps(answer) + "\n")
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
