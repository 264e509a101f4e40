"""`sacofa generate`: a synthetic log of any size."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import Statement
from ..events.generate import write_sample
from .options import Force
from .show import progress_bar, say


def generate(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The synthetic log: .parquet or .csv.")
    ],
    cases: Annotated[int, typer.Option(help="Number of cases.")],
    activities: Annotated[int, typer.Option(help="Number of different activities.")] = 24,
    seed: Annotated[int, typer.Option(help="Another number gives another log.")] = 0,
    force: Force = False,
) -> None:
    """Generate a synthetic log of any size that looks like a real one, to try things out on."""
    with progress_bar() as stage:
        write_sample(
            output,
            cases=cases,
            activities=activities,
            seed=seed,
            force=force,
            progress=None if stage is None else lambda done: stage("generating", done),
        )
    say(Statement("cli.generated", cases=cases, path=str(output)))
