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
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import TypeVar

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
    """Do all tasks, and give each with its result, or `Lost`, as soon as it is there.

    A task that takes longer than `time_limit` seconds is lost, and its process is killed. So is one
    that raises an error or whose process dies. Processes are fresh, so `work` and the tasks
    must be of kinds that can be pickled.
    """
    waiting = iter(tasks)
    pool: dict[Connection, BaseProcess] = {}
    busy: dict[Connection, tuple[Task, float]] = {}
    try:
        while True:
            for task in islice(waiting, workers - len(busy)):
                pipe = next((one for one in pool if one not in busy), None) or _start(work, pool)
                with contextlib.suppress(OSError):  # it died while idle: noticed below
                    pipe.send(task)
                busy[pipe] = task, monotonic() + time_limit
            if not busy:
                return
            first = min(deadline for _, deadline in busy.values())
            ready = wait([*busy], max(0.0, first - monotonic()))
            for pipe, (task, deadline) in [*busy.items()]:
                if pipe in ready or monotonic() >= deadline:
                    del busy[pipe]
                    result: Result | Lost = _take(pipe, pool, time_limit)  # type: ignore[assignment]
                    yield task, result
    finally:
        for pipe in [*pool]:
            _stop(pipe, pool)


def _start(work: Callable[[Task], object], pool: dict[Connection, BaseProcess]) -> Connection:
    """Start a process that leaves an interrupt (Ctrl-C reaches them all) to this one."""
    # Forking a process that runs threads (as database and number libraries do) can lock up.
    context = multiprocessing.get_context("spawn")
    pipe, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, work), daemon=True)
    # Signals can be set in the main thread only.
    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None
    try:
        process.start()
    finally:
        if main:
            signal.signal(signal.SIGINT, before)
    theirs.close()
    pool[pipe] = process
    return pipe


def _take(pipe: Connection, pool: dict[Connection, BaseProcess], time_limit: float) -> object:
    """Take a result; a process that has none is stopped."""
    lost = Lost(f"not done within {time_limit:g} s", timed_out=True)
    try:
        if pipe.poll():
            return pipe.recv()
    except (EOFError, OSError):
        lost = Lost("the process died; there may be too little memory")
    _stop(pipe, pool)
    return lost


def _stop(pipe: Connection, pool: dict[Connection, BaseProcess]) -> None:
    process = pool.pop(pipe)
    process.kill()
    process.join()
    pipe.close()


def _serve(pipe: Connection, work: Callable[[Task], object]) -> None:
    """Do tasks until the other side is gone."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            task = pipe.recv()
            try:
                result = work(task)
            except Exception as error:
                result = Lost(f"{type(error).__name__}: {error}")
            pipe.send(result)
