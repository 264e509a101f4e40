"""Spark with machines that are killed at work: a program that the tests start.

    python -m tests.logs.spark.dying counting|looking LOG SETTINGS

prints, as JSON, what came of it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
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


def count_while_dying(session: Any, log: str) -> dict[str, object]:
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
                    below = processes_below(os.getpid())
                    for victim in [pid for pid, words in below.items() if EXECUTOR in words][:1]:
                        os.kill(victim, signal.SIGKILL)
                        killed.append(victim)
            time.sleep(0.02)

    threading.Thread(target=kill, daemon=True).start()
    # Every row takes a moment, so that machines die while they are at work.
    moment = "coalesce(reflect('java.lang.Thread', 'sleep', 2L), '') <> 'x'"
    slow = session.read.parquet(log).where(moment)
    found = count_variants(open_log(slow, order="time"))
    return {"killed": len(killed), "variants": [[list(v), n] for v, n in found]}


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


def main(what: str, log: str, settings: str) -> None:
    """Start a small cluster, and do as asked."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local-cluster[2,1,512]")
    for key, value in json.loads(settings).items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    work = {"counting": count_while_dying, "looking": look_while_dying}[what]
    sys.stdout.write(json.dumps(work(session, log)) + "\n")
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
