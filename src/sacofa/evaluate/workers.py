"""Work spread over processes, with a time limit for each task that really ends it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import Generic, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Lost:
    """A task without a result."""

    why: str
    timed_out: bool = False


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spread(
    work: Callable[[Task], Result], tasks: Sequence[Task], *, workers: int, time_limit: float
) -> Iterator[tuple[Task, Result | Lost]]:
    """Do all tasks, and give each with its result as soon as it is there.

    A task that takes longer than `time_limit` seconds is lost, and its process is killed. So is one
    that raises an error or whose process dies. Processes are fresh, so `work` and the tasks
    must be of kinds that can be pickled.
    """
    waiting = iter(tasks)
    pool = [_Worker(work, time_limit) for _ in range(min(workers, len(tasks)))]
    busy = dict(zip(pool, waiting, strict=False))
    try:
        for worker, task in busy.items():
            worker.give(task)
        while busy:
            first = min(worker.deadline for worker in busy)
            ready = wait([worker.pipe for worker in busy], max(0.0, first - monotonic()))
            for worker in filter(lambda one: one.pipe in ready or one.late, [*busy]):
                task, result = busy.pop(worker), worker.take(worker.pipe in ready)
                for following in islice(waiting, 1):
                    worker.give(following)
                    busy[worker] = following
                yield task, result
    finally:
        for worker in pool:
            worker.stop()


class _Worker(Generic[Task, Result]):
    """One process that does one task at a time."""

    def __init__(self, work: Callable[[Task], Result], time_limit: float) -> None:
        self._work, self._time_limit = work, time_limit
        self.deadline = 0.0
        self._start()

    @property
    def late(self) -> bool:
        return monotonic() >= self.deadline

    def _start(self) -> None:
        # Forking a process that runs threads (as database and number libraries do) can lock up.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._work), daemon=True)
        with _interrupts_ignored():
            self._process.start()
        theirs.close()

    def give(self, task: Task) -> None:
        self.deadline = monotonic() + self._time_limit
        with contextlib.suppress(OSError):  # it died while idle; take() finds out and says so
            self.pipe.send(task)

    def take(self, ready: bool) -> Result | Lost:
        """Take the result; if there is none, the process is replaced."""
        lost = Lost(f"not done within {self._time_limit:g} s", timed_out=True)
        if ready:
            try:
                result: Result | Lost = self.pipe.recv()
                return result
            except (EOFError, OSError):
                lost = Lost("the process died; there may be too little memory")
        self.stop()
        self._start()
        return lost

    def stop(self) -> None:
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _serve(pipe: Connection[object, Task], work: Callable[[Task], object]) -> None:
    """Do tasks until the other side is gone."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            task = pipe.recv()
            try:
                result = work(task)
            except Exception as error:
                result = Lost(f"{type(error).__name__}: {error}")
            pipe.send(result)


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Start processes that leave an interrupt (Ctrl-C reaches them all) to this one."""
    if threading.current_thread() is not threading.main_thread():  # signals cannot be set there
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
