"""`sacofa compare`: mechanisms side by side on one log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..errors import ReadError
from ..evaluate.comparison import Comparison
from ..evaluate.comparison import compare as compare_mechanisms
from ..evaluate.evaluate import read_measured, variants_of
from ..evaluate.experiment import TIME_LIMIT, Execution, Progress
from ..evaluate.runs import DONE, Row
from ..events import ReadOptions, open_log
from ..mechanisms.registry import MECHANISMS
from ..release.publish import Stage
from .options import LogPath, takes_read_options
from .show import progress_bar

Folder = Annotated[
    Path,
    typer.Option("-o", "--output", help="Output folder; an interrupted comparison resumes there."),
]
Workers = Annotated[
    int | None, typer.Option("--workers", help="Processes at a time.", show_default="all cores")
]
TimeLimit = Annotated[float, typer.Option("--time-limit", help="Seconds that one run may take.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare")(compare)


@takes_read_options
def compare(
    log: LogPath,
    output: Folder,
    epsilon: Annotated[
        list[str], typer.Option("--epsilon", help="A price; repeat it.", metavar="NUMBER")
    ],
    mechanism: Annotated[
        list[str] | None,
        typer.Option(
            "--mechanism", help="A mechanism; repeat it.", metavar="NAME", show_default="all"
        ),
    ] = None,
    repeat: Annotated[int, typer.Option("--repeat", help="Runs of each mechanism at each ε.")] = 10,
    max_length: Annotated[
        int | None,
        typer.Option(
            "--max-length", help="Cut longer cases.", show_default="what 95 % do not exceed"
        ),
    ] = None,
    prune: Annotated[
        int | None,
        typer.Option(
            "--prune", help="Threshold of sacofa and laplace.", show_default="2.5 divided by ε"
        ),
    ] = None,
    workers: Workers = None,
    time_limit: TimeLimit = TIME_LIMIT,
    *,
    options: ReadOptions,
) -> None:
    """Compare mechanisms on a log. The answer is secret: it comes from the log without noise."""
    comparison = Comparison(
        mechanisms=mechanism or list(MECHANISMS),
        epsilons=epsilon,
        repeat=repeat,
        max_length=max_length,
        prune=prune,
    )
    cases = read_measured(open_log(log, options))
    if not variants_of(cases).cases:
        raise ReadError(log, "has no cases")
    with kept_when_interrupted(), progress_bar(Console(stderr=True)) as stage:
        rows = compare_mechanisms(
            cases,
            comparison,
            output,
            name=Path(log).name.partition(".")[0],
            execution=Execution(workers=workers, time_limit=time_limit, progress=runs_of(stage)),
        )
    show_outcome(rows, output, Console(highlight=False))


@contextmanager
def kept_when_interrupted() -> Iterator[None]:
    """Say that an interrupt lost nothing."""
    try:
        yield
    except KeyboardInterrupt as error:
        error.args = ("runs that were done are kept, repeat to go on",)
        raise


def runs_of(stage: Stage | None) -> Progress | None:
    """Show how many runs are done, and the time left."""
    if stage is None:
        return None
    return lambda done, total: stage(f"{total} runs", done / total)


def show_outcome(rows: Sequence[Row], folder: Path, console: Console) -> None:
    """Say where the results are, and which runs have none."""
    lost = [row for row in rows if row.status != DONE]
    console.print(f"{len(rows) - len(lost)} runs measured: {folder / 'README.md'}", soft_wrap=True)
    for row in lost:
        console.print(
            f"{row.status}: {row.log}, {row.series}, ε = {row.epsilon}, "
            f"repetition {row.repetition}: {row.note}",
            soft_wrap=True,
            markup=False,
        )
    console.print("Secret: these figures come from the original log without noise.")
