"""Experiments: many runs over all cores, kept in a table as they finish.

`compare` and `reproduce` describe their runs and their report; everything else happens here.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic, perf_counter
from typing import NamedTuple, TypeVar

from ..base.files import write_text
from ..errors import SettingError, Statement, TooLargeError
from ..kernel.cases import Cases
from ..release import anonymize
from .drawing import draw_boxes
from .evaluate import Evaluator, measured_release
from .extras import require_modules
from .registry import Measured, variants_of
from .runs import (
    DONE,
    FAILED,
    LIMIT,
    ORIGINAL,
    REFUSED,
    TIMEOUT,
    Row,
    Run,
    RunTable,
    Summary,
    digest_of,
)

TIME_LIMIT = 600.0
"""Default limit of one run, in seconds."""
LIBRARIES = ("pm4py", "sklearn", "rapidfuzz", "ot", "matplotlib")
"""Libraries that an experiment needs."""

Task = TypeVar("Task")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]
"""Receives the number of finished runs, and the number of all runs."""


def check_at_least(name: str, value: int, least: int = 1) -> None:
    """Refuse a setting that is too small."""
    if value < least:
        raise SettingError(name, value, Statement("must.at_least", least=least))


@dataclass(frozen=True, kw_only=True)
class Execution:
    """How the runs of an experiment are carried out.

    Attributes:
        workers: Number of processes. Default: one for each core.
        time_limit: Time limit of one run, in seconds.
        progress: Called after each run.
    """

    workers: int | None = None
    time_limit: float = TIME_LIMIT
    progress: Progress | None = None

    def __post_init__(self) -> None:
        check_at_least("workers", 1 if self.workers is None else self.workers)
        if not self.time_limit > 0:
            above = Statement("must.domain.above", low="0")
            raise SettingError("time_limit", self.time_limit, above)


class Figure(NamedTuple):
    """A box plot of one measure, of some series or of all; `file` is a name without suffix."""

    file: str
    measure: str
    series: Sequence[str] | None = None


def plan_runs(logs: Sequence[str], series: Sequence[Run], repeat: int) -> list[Run]:
    """Repeat a run of each series. Each log is measured itself, and against its own halves.

    First repetitions come first, so that all series grow together.
    """
    own = [Run(log=log, series=name) for name in (ORIGINAL, LIMIT) for log in logs]
    return own + [replace(run, repetition=i) for i in range(1, repeat + 1) for run in series]


def run_experiment(
    runs: Sequence[Run],
    originals: Mapping[str, Measured],
    folder: Path,
    figures: Iterable[Figure],
    execution: Execution,
) -> list[Row]:
    """Carry out runs, and write runs.csv and the figures into a folder.

    Runs that the table of the folder has are not repeated. The rows are in the order of the runs.
    """
    require_modules(*LIBRARIES)
    rows = carry_out(runs, originals, RunTable(folder / "runs.csv"), execution)
    summary = Summary(rows)
    for figure in figures:
        draw_boxes(summary, figure.measure, folder / figure.file, figure.series)
    return rows


def write_report(
    folder: Path, kind: str, rows: Sequence[Row], figures: Iterable[Figure], **values: object
) -> None:
    """Write README.md in place of an earlier one, from the template of this kind."""
    template = Path(__file__).with_name(f"{kind}.md").read_text(encoding="utf-8")
    pictures = "\n".join(f"![{figure.file}]({figure.file}.svg)" for figure in figures)
    text = template.format(table="\n".join(Summary(rows).table()), figures=pictures, **values)
    write_text(folder / "README.md", text, force=True)


def carry_out(
    runs: Sequence[Run],
    originals: Mapping[str, Measured],
    table: RunTable,
    execution: Execution,
) -> list[Row]:
    """Carry out the runs that a table does not have yet, and return the rows of all."""
    report = execution.progress or (lambda done, total: None)
    perform = Performer(originals)
    keys = {Row.of(run, perform.digests[run.log], "").key: run for run in runs}
    missing = [run for key, run in keys.items() if key not in table]
    cores = execution.workers or available_cores()
    results = spread(perform, missing, workers=cores, time_limit=execution.time_limit)
    before = len(keys) - len(missing)
    report(before, len(keys))
    for done, (run, row) in enumerate(results, start=before + 1):
        if isinstance(row, Lost):
            status = TIMEOUT if row.timed_out else FAILED
            row = Row.of(run, perform.digests[run.log], status, row.why)
        table.append(row)
        report(done, len(keys))
    return [table[key] for key in keys]


class Performer:
    """Performs runs on some logs; work that concerns a log alone is done once."""

    def __init__(self, originals: Mapping[str, Measured]) -> None:
        """Prepare the logs by name."""
        self._originals = originals
        self.digests = {name: digest_of(log) for name, log in originals.items()}
        self._evaluators: dict[str, Evaluator] = {}

    def __call__(self, run: Run) -> Row:
        """Make the release of a run and measure it."""
        original, digest = self._originals[run.log], self.digests[run.log]
        if run.log not in self._evaluators:
            self._evaluators[run.log] = Evaluator(original)
        evaluator, row = self._evaluators[run.log], Row.of(run, digest, DONE)
        start = perf_counter()
        released = original
        if run.mechanism is not None:
            attributes = original.attributes if isinstance(original, Cases) else ()
            source = original
            if isinstance(original, Cases) and not run.mechanism.capabilities.attributes:
                source = replace(original, attributes=(), pairs=())
            try:
                release = anonymize(source, run.mechanism, seed=run.seed)
            except TooLargeError as error:
                return Row.of(run, digest, REFUSED, str(error))
            released = measured_release(release, attributes)
            epsilon = release.certificate.epsilon
            spent = math.inf if epsilon is None else float(epsilon)
            row = replace(row, spent=spent, times="no" if release.times is None else "yes")
        made = perf_counter()
        measures = evaluator.limit() if run.series == LIMIT else evaluator.measure(released)
        variants = variants_of(released)
        return replace(
            row,
            cases=variants.cases,
            variants=len(variants),
            release_seconds=made - start,
            measure_seconds=perf_counter() - made,
            measures=dict(measures),
        )


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
    """Run all tasks, and yield each with its result, or `Lost`, as soon as it is finished.

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
                idle = [*pool.keys() - busy.keys()]
                pipe = idle[0] if idle else _start(work, pool)
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
    """Start a process that leaves an interrupt (Ctrl-C reaches all processes) to this one."""
    # Forking a process with threads (as database and number libraries start) can deadlock.
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
    """Receive a result; a process that sends none is terminated."""
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
    """Run tasks until the connection is closed."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            task = pipe.recv()
            try:
                result = work(task)
            except Exception as error:
                result = Lost(f"{type(error).__name__}: {error}")
            pipe.send(result)
