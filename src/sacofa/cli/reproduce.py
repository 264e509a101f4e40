"""`sacofa reproduce`: the experiments of the SaCoFa paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..errors import ReadError
from ..evaluate.experiment import TIME_LIMIT, Execution
from ..evaluate.reproduction import Reproduction, find_logs
from ..evaluate.reproduction import reproduce as reproduce_paper
from ..events import count_variants, open_log
from .compare import Folder, TimeLimit, Workers, kept_when_interrupted, runs_of, show_outcome
from .show import progress_bar

QUICK_LOGS = ("CoSeLoG", "Sepsis")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("reproduce")(reproduce)


def reproduce(
    logs: Annotated[
        Path,
        typer.Option(
            "--logs", help="The folder with receipt, sepsis and traffic_fines (XES or Parquet)."
        ),
    ],
    output: Folder,
    quick: Annotated[
        bool, typer.Option("--quick", help="2 repetitions, without Traffic fines.")
    ] = False,
    repeat: Annotated[
        int | None, typer.Option("--repeat", help="Repetitions.", show_default="10, or 2 if quick")
    ] = None,
    prune_finished: Annotated[
        bool,
        typer.Option(
            "--prune-finished/--keep-finished",
            help="Prune finished prefixes as the paper's text says, or keep them as its program.",
        ),
    ] = False,
    workers: Workers = None,
    time_limit: TimeLimit = TIME_LIMIT,
) -> None:
    """Repeat the experiments of the SaCoFa paper and report which of its claims hold.

    Needs the extras evaluate and map.
    """
    wanted = Reproduction(repeat=repeat or (2 if quick else 10), prune_finished=prune_finished)
    if quick:
        wanted = Reproduction(repeat=wanted.repeat, logs=QUICK_LOGS, prune_finished=prune_finished)
    paths = find_logs(logs, wanted.settings)
    for setting in wanted.settings:
        if setting.log not in paths:
            raise ReadError(logs, f"has no {setting.file}.xes.gz, .xes, .parquet or .csv")
    originals = {name: count_variants(open_log(path, order="file")) for name, path in paths.items()}
    with kept_when_interrupted(), progress_bar(Console(stderr=True)) as stage:
        rows = reproduce_paper(
            originals,
            wanted,
            output,
            Execution(workers=workers, time_limit=time_limit, progress=runs_of(stage)),
        )
    show_outcome(rows, output, Console(highlight=False))
