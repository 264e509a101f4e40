"""`sacofa generate`: a made-up log of any size."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..events.generate import write_sample
from . import options
from .show import progress_bar


def generate(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The made-up log: .parquet or .csv.")
    ],
    cases: Annotated[int, typer.Option("--cases", help="How many cases it has.")],
    activities: Annotated[
        int, typer.Option("--activities", help="How many different activities there are.")
    ] = 24,
    seed: Annotated[int, typer.Option("--seed", help="Another number gives another log.")] = 0,
    force: options.Force = False,
) -> None:
    """Make up a log that looks like a real one, of any size, to try things out on."""
    with progress_bar(Console(stderr=True)) as stage:
        write_sample(
            output,
            cases=cases,
            activities=activities,
            seed=seed,
            force=force,
            progress=None if stage is None else lambda done: stage("making", done),
        )
    Console(highlight=False).print(f"Made up {cases:,} cases: {output}", soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(generate)
