"""The experiments of the SaCoFa paper's section V, made again, with `certified` beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import SettingError
from ..kernel.variants import VariantCounts
from ..mechanisms.protocol import Mechanism
from ..mechanisms.registry import make_mechanism
from ..release.anonymize import anonymize
from .claims import BASELINE, CERTIFIED, CLAIMS, SACOFA, TWO_THRESHOLDS
from .comparison import LIBRARIES, write_text
from .experiment import TIME_LIMIT, Progress, carry_out
from .extras import require_modules
from .figures import draw_boxes
from .measures.model import discover_model
from .net_drawing import draw_models
from .runs import LIMIT, ORIGINAL, Row, Run
from .summary import Summary
from .table import RunTable


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """The paper's thresholds for one log and ε."""

    epsilon: str
    prune: int
    """One threshold for all prefixes."""
    prune_harmless: int | None = None
    """The lower one of harmless prefixes, with semantics-aware pruning."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What the paper did with one log."""

    log: str
    file: str
    """The file's name without its ending."""
    max_length: int
    thresholds: tuple[Thresholds, ...]


SETTINGS = (
    Setting(
        log="CoSeLoG",
        file="receipt",
        max_length=10,
        thresholds=(
            Thresholds(epsilon="1", prune=3),
            Thresholds(epsilon="0.1", prune=25, prune_harmless=22),
            Thresholds(epsilon="0.01", prune=220, prune_harmless=200),
        ),
    ),
    Setting(
        log="Sepsis",
        file="sepsis",
        max_length=23,
        thresholds=(
            Thresholds(epsilon="1", prune=4),
            Thresholds(epsilon="0.1", prune=20, prune_harmless=15),
            Thresholds(epsilon="0.01", prune=190, prune_harmless=150),
        ),
    ),
    Setting(
        log="Traffic fines",
        file="traffic_fines",
        max_length=9,
        thresholds=(
            Thresholds(epsilon="1", prune=2),
            Thresholds(epsilon="0.1", prune=20, prune_harmless=15),
            Thresholds(epsilon="0.01", prune=150, prune_harmless=120),
        ),
    ),
)

MAIN = (BASELINE, SACOFA, CERTIFIED)
FIGURES = (
    ("f_score", "f_score", MAIN),
    ("generalization", "generalization", MAIN),
    ("normal", "normal", MAIN),
    ("f_score", "pruning", (SACOFA, TWO_THRESHOLDS)),
    ("similarity", "similarity", MAIN),
)
"""Measure, name and series of each figure: the paper's four, and one that F needs beside it."""

DRAWN = ("CoSeLoG", "0.01")
"""The log and ε whose models the paper draws."""


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """How much of the paper's experiments is made again."""

    repeat: int = 10
    logs: tuple[str, ...] = tuple(setting.log for setting in SETTINGS)
    prune_finished: bool = False
    """False does as the published program, whose results the paper shows: finished prefixes, and
    those of full length, are never pruned. True follows the paper's text."""

    def __post_init__(self) -> None:
        if self.repeat < 1:
            raise SettingError("repeat", self.repeat, "1 or more")

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings of the chosen logs."""
        return tuple(setting for setting in SETTINGS if setting.log in self.logs)

    def runs(self) -> list[Run]:
        """List every run; first repetitions come first, so that all series grow together."""
        made = [
            (setting.log, t.epsilon, series, mechanism)
            for setting in self.settings
            for t in setting.thresholds
            for series, mechanism in self.mechanisms(setting.max_length, t).items()
        ]
        return [
            *(Run(log=setting.log, series=ORIGINAL) for setting in self.settings),
            *(Run(log=setting.log, series=LIMIT) for setting in self.settings),
            *(
                Run(
                    log=log,
                    series=series,
                    epsilon=epsilon,
                    mechanism=mechanism,
                    repetition=repetition,
                )
                for repetition in range(1, self.repeat + 1)
                for log, epsilon, series, mechanism in made
            ),
        ]

    def mechanisms(self, max_length: int, thresholds: Thresholds) -> dict[str, Mechanism]:
        """The series of one log and ε."""
        base = {"epsilon": thresholds.epsilon, "max_length": max_length}
        paper = {**base, "prune_finished": self.prune_finished}
        one = {**paper, "prune": thresholds.prune}
        made = {
            BASELINE: make_mechanism("laplace", one),
            SACOFA: make_mechanism("sacofa", one),
        }
        if thresholds.prune_harmless is not None:
            two = {
                **paper,
                "prune_harmful": thresholds.prune,
                "prune_harmless": thresholds.prune_harmless,
            }
            made[TWO_THRESHOLDS] = make_mechanism("sacofa", two)
        made[CERTIFIED] = make_mechanism(CERTIFIED, base)
        return made


def reproduce(
    originals: Mapping[str, VariantCounts],
    reproduction: Reproduction,
    folder: Path,
    *,
    workers: int | None = None,
    time_limit: float = TIME_LIMIT,
    progress: Progress | None = None,
) -> list[Row]:
    """Make the paper's experiments: runs.csv, figures, models and README.md in a folder."""
    require_modules(*LIBRARIES)
    require_modules("pygraphviz", extra="map")
    rows = carry_out(
        reproduction.runs(),
        originals,
        RunTable(folder / "runs.csv"),
        workers=workers,
        time_limit=time_limit,
        progress=progress,
    )
    summary = Summary(rows)
    for measure, name, series in FIGURES:
        draw_boxes(summary, measure, folder, name, series)
    _draw_paper_models(originals, reproduction, folder)
    write_text(folder / "README.md", list(_report(summary, reproduction)))
    return rows


def _draw_paper_models(
    originals: Mapping[str, VariantCounts], reproduction: Reproduction, folder: Path
) -> None:
    """Draw the models of the first repetition, released again from its seed."""
    models = {}
    for run in reproduction.runs():
        drawn = (run.log, run.epsilon) == DRAWN and run.series in (BASELINE, SACOFA)
        if drawn and run.repetition == 1 and run.mechanism is not None:
            release = anonymize(originals[run.log], run.mechanism, seed=run.seed)
            if release.variants.events:
                models[f"{run.series}, {run.log}, ε = {run.epsilon}"] = discover_model(
                    release.variants
                )
    if models:
        draw_models(models, folder, "models")


def _report(summary: Summary, reproduction: Reproduction) -> Iterator[str]:
    pruned = (
        "as the paper's text says: every prefix below its threshold is dropped"
        if reproduction.prune_finished
        else "as the published program does, whose results the paper shows: finished prefixes, and "
        "those of full length, are never dropped"
    )
    yield from (
        "# The SaCoFa paper's experiments, made again",
        "",
        "Fahrenkrog-Petersen, Kabierski, Rösel, van der Aa and Weidlich: *SaCoFa: Semantics-aware "
        "Control-flow Anonymization for Process Mining*, ICPM 2021, section V.",
        "",
        "All figures come from the original logs without noise. That does no harm here, because "
        "the paper's logs are public; with any other log they would be secret.",
        "",
        f"{reproduction.repeat} repetitions; thresholds of the paper; pruning {pruned}. Figures "
        "are medians (quartiles). *Even*: medians that differ by no more than 0.01; *well above*: "
        "the lower quartile is above the other's upper quartile. An empty release counts as zero.",
        "",
        "## What the paper claims, and what is seen here",
        "",
    )
    for claim in CLAIMS:
        yield from claim.report(summary)
    yield from (
        "## All measures",
        "",
        "No times are released. *ε spent* is the ε of the whole release by its certificate. "
        "`laplace` spends ε at each level. `sacofa` learns its rules from the confidential log, so "
        "that no finite ε is guaranteed (∞). `certified` spends the ε that was asked for. Rows "
        "with the same ε asked for therefore do not have the same privacy.",
        "",
        "F-score, fitness, precision and generalization are those of the model mined from the "
        "whole release; columns of the *core* are those of its orderly part, chosen by the same "
        "filter for every mechanism.",
        "",
        *summary.table(),
        "",
        "F alone does not measure fidelity: a release of one frequent variant has a high F. Read "
        "it together with similarity and mass kept.",
        "",
        "## Figures",
        "",
        *(f"![{name}]({name}.svg)" for _, name, _ in FIGURES),
        "",
        f"The models of {DRAWN[0]} at ε = {DRAWN[1]}, first repetition:",
        "",
        "![models](models.svg)",
        "",
        "`runs.csv` has one row for each run.",
    )


def find_logs(folder: Path, settings: Sequence[Setting] = SETTINGS) -> dict[str, Path]:
    """Find the paper's logs in a folder, by the names of their files."""
    found = {}
    for setting in settings:
        for ending in (".parquet", ".xes.gz", ".xes", ".csv"):
            path = folder / f"{setting.file}{ending}"
            if path.is_file():
                found[setting.log] = path
                break
    return found
