"""`sacofa reproduce`: the experiments of the SaCoFa paper."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from ..errors import ReadError, Statement
from ..evaluate.reproduction import Reproduction, find_logs
from ..evaluate.reproduction import reproduce as reproduce_paper
from ..events import count_variants, open_log
from .compare import Executing, Folder, kept_when_interrupted, runs_of, show_outcome
from .options import Fields
from .show import progress_bar

QUICK_LOGS = ("CoSeLoG", "Sepsis")
QUICK_RUNS = 2


@dataclass(frozen=True, kw_only=True)
class Experiments:
    """The part of the experiments that is repeated.

    Attributes:
        quick: 2 repetitions, without Traffic fines.
        repeat: Number of repetitions. Default: 10, or 2 with --quick.
        prune_finished: Prune finished prefixes like the text of the paper. Default: keep them like
            its program.
    """

    quick: bool = False
    repeat: int | None = None
    prune_finished: bool = False

    def wanted(self) -> Reproduction:
        """The experiments."""
        wanted = Reproduction(prune_finished=self.prune_finished)
        if self.quick:
            wanted = replace(wanted, logs=QUICK_LOGS, repeat=QUICK_RUNS)
        return wanted if self.repeat is None else replace(wanted, repeat=self.repeat)


def reproduce(
    logs: Annotated[
        Path,
        typer.Option(
            help="The folder with receipt, sepsis and traffic_fines (XES, Parquet or CSV)."
        ),
    ],
    output: Folder,
    experiments: Annotated[
        Experiments, Fields(flags={"prune_finished": ("--prune-finished/--keep-finished",)})
    ],
    execution: Executing,
) -> None:
    """Repeat the experiments of the SaCoFa paper and report which of its claims hold.

    Needs the extras evaluate and map.
    """
    wanted = experiments.wanted()
    paths = find_logs(logs, wanted.settings)
    for setting in wanted.settings:
        if setting.log not in paths:
            raise ReadError(logs, Statement("file.no_log", name=setting.file))
    originals = {name: count_variants(open_log(path, order="file")) for name, path in paths.items()}
    with kept_when_interrupted(), progress_bar() as stage:
        rows = reproduce_paper(
            originals, wanted, output, replace(execution, progress=runs_of(stage))
        )
    show_outcome(rows, output)
