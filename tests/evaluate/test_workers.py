"""Tasks are spread over processes; one that hangs, dies or fails costs only itself."""

from __future__ import annotations

import os
import time

import pytest

from sacofa.evaluate.experiment import Lost, available_cores, spread


def square_or_worse(task: int | str) -> int:
    """Square a number, or misbehave as told."""
    if task == "hang":
        time.sleep(3600)
    if task == "die":
        os._exit(3)
    if task == "fail":
        raise ValueError("no such luck")
    assert isinstance(task, int)
    return task * task


def test_every_task_gets_its_own_result() -> None:
    """More tasks than processes."""
    results = dict(spread(square_or_worse, range(20), workers=3, time_limit=60))
    assert results == {n: n * n for n in range(20)}


def test_what_is_lost_is_told_and_the_rest_is_done() -> None:
    """A process that hangs is killed; the tasks behind it are done by a new one."""
    tasks: list[int | str] = ["hang", "die", 2, "fail", 3]
    results = dict(spread(square_or_worse, tasks, workers=1, time_limit=5))
    assert results == {
        "hang": Lost("not done within 5 s", timed_out=True),
        "die": Lost("the process died; there may be too little memory"),
        2: 4,
        "fail": Lost("ValueError: no such luck"),
        3: 9,
    }


def test_no_tasks() -> None:
    """Nothing to do is done at once."""
    assert list(spread(square_or_worse, [], workers=2, time_limit=1)) == []


def test_processes_end_with_the_work(capfd: pytest.CaptureFixture[str]) -> None:
    """Stopping half-way leaves no process behind."""
    import multiprocessing

    results = spread(square_or_worse, [1, "hang", "hang"], workers=2, time_limit=60)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert multiprocessing.active_children() == []
    assert available_cores() >= 1
