"""`sacofa compare`: mechanisms side by side on one log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..errors import ReadError, Statement
from ..evaluate.comparison import Comparison
from ..evaluate.comparison import compare as compare_mechanisms
from ..evaluate.evaluate import read_measured, variants_of
from ..evaluate.experiment import Execution, Progress
from ..evaluate.runs import DONE, Row
from ..events import open_log
from ..release.publish import Stage
from .options import Fields, LogPath, Reading
from .show import progress_bar, say, say_confidential

Folder = Annotated[
    Path,
    typer.Option("-o", "--output", help="Output folder. An interrupted command resumes there."),
]
Executing = Annotated[Execution, Fields(leave_out=("progress",))]


def compare(
    log: LogPath,
    output: Folder,
    comparison: Annotated[
        Comparison,
        Fields(flags={"mechanisms": ("--mechanism",), "epsilons": ("--epsilon",)}),
    ],
    execution: Executing,
    options: Reading,
) -> None:
    """Compare mechanisms on a log. The result is confidential: it comes from the log itself."""
    cases = read_measured(open_log(log, options))
    if not variants_of(cases).cases:
        raise ReadError(log, Statement("log.no_cases"))
    with kept_when_interrupted(), progress_bar() as stage:
        rows = compare_mechanisms(
            cases,
            comparison,
            output,
            name=Path(log).name.partition(".")[0],
            execution=replace(execution, progress=runs_of(stage)),
        )
    show_outcome(rows, output)


@contextmanager
def kept_when_interrupted() -> Iterator[None]:
    """Report that an interrupt lost nothing."""
    try:
        yield
    except KeyboardInterrupt as error:
        error.args = (str(Statement("cli.runs_kept")),)
        raise


def runs_of(stage: Stage | None) -> Progress | None:
    """Show how many runs are done, and the time left."""
    if stage is None:
        return None
    return lambda done, total: stage(f"{total} runs", done / total)


def show_outcome(rows: Sequence[Row], folder: Path) -> None:
    """Report where the results are, and which runs have none."""
    lost = [row for row in rows if row.status != DONE]
    measured = Statement("cli.runs", runs=len(rows) - len(lost), path=str(folder / "README.md"))
    say(measured)
    for row in lost:
        say(
            Statement(
                "cli.lost_run",
                status=row.status,
                log=row.log,
                series=row.series,
                epsilon=row.epsilon or "–",
                repetition=row.repetition,
                note=row.note,
            )
        )
    say_confidential()
