"""The experiments of section V of the SaCoFa paper, repeated, with `certified` next to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..kernel.variants import VariantCounts
from ..mechanisms.protocol import Mechanism
from ..mechanisms.registry import make_mechanism
from ..release import anonymize
from .claims import BASELINE, CERTIFIED, CLAIMS, SACOFA, TWO_THRESHOLDS
from .drawing import draw_models
from .experiment import (
    Execution,
    Figure,
    Series,
    check_repeat,
    plan_runs,
    run_experiment,
    write_report,
)
from .extras import require_modules
from .measures.model import discover_model
from .runs import Row, Run
from .summary import Summary


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """The thresholds of the paper for one log and ε.

    Attributes:
        epsilon: Value of ε, as text.
        prune: The one threshold of all prefixes.
        prune_harmless: The lower threshold of harmless prefixes, with semantics-aware pruning.
    """

    epsilon: str
    prune: int
    prune_harmless: int | None = None


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The settings of the paper for one log.

    Attributes:
        log: Name of the log.
        file: Name of its file without suffix.
        max_length: Length at which cases are truncated.
        thresholds: Thresholds for each ε.
    """

    log: str
    file: str
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

MAIN_SERIES = (BASELINE, SACOFA, CERTIFIED)
FIGURES = (
    Figure(measure="f_score", name="f_score", series=MAIN_SERIES),
    Figure(measure="generalization", name="generalization", series=MAIN_SERIES),
    Figure(measure="normal", name="normal", series=MAIN_SERIES),
    Figure(measure="f_score", name="pruning", series=(SACOFA, TWO_THRESHOLDS)),
    Figure(measure="similarity", name="similarity", series=MAIN_SERIES),
)
"""The four figures of the paper, and similarity, which puts a high F-score into perspective."""
DRAWN_MODELS = ("CoSeLoG", "0.01")
"""The log and ε whose models the paper draws."""
FILE_SUFFIXES = (".parquet", ".xes.gz", ".xes", ".csv")
"""Formats of the logs, in the order in which they are preferred."""


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """The part of the paper's experiments that is repeated.

    Attributes:
        repeat: Number of repetitions.
        logs: Names of the logs.
        prune_finished: False follows the published program, whose results the paper shows:
            finished prefixes, and those of full length, are never pruned. True follows the
            paper's text.
    """

    repeat: int = 10
    logs: tuple[str, ...] = tuple(setting.log for setting in SETTINGS)
    prune_finished: bool = False

    def __post_init__(self) -> None:
        check_repeat(self.repeat)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings of the chosen logs."""
        return tuple(setting for setting in SETTINGS if setting.log in self.logs)

    def runs(self) -> list[Run]:
        """List the runs."""
        series = [
            Series(log=setting.log, name=name, epsilon=thresholds.epsilon, mechanism=mechanism)
            for setting in self.settings
            for thresholds in setting.thresholds
            for name, mechanism in self.mechanisms(setting.max_length, thresholds).items()
        ]
        return plan_runs([setting.log for setting in self.settings], series, self.repeat)

    def mechanisms(self, max_length: int, thresholds: Thresholds) -> dict[str, Mechanism]:
        """Return the mechanism of each series for one log and ε."""
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
    execution: Execution | None = None,
) -> list[Row]:
    """Repeat the experiments of the paper.

    Args:
        originals: The logs by name.
        reproduction: The part that is repeated.
        folder: Receives runs.csv, figures, models and README.md.
        execution: How the runs are carried out.

    Returns:
        A row for each run.

    Raises:
        MissingExtraError: If a library of the extras `evaluate` or `map` is not installed.
        OutputError: If the folder cannot be written.
    """
    require_modules("pygraphviz", extra="map")
    runs = reproduction.runs()
    rows = run_experiment(runs, originals, folder, FIGURES, execution or Execution())
    _draw_paper_models(originals, reproduction, folder)
    write_report(folder, _report(Summary(rows), reproduction))
    return rows


def _draw_paper_models(
    originals: Mapping[str, VariantCounts], reproduction: Reproduction, folder: Path
) -> None:
    """Draw the models of the first repetition, released again from its seed."""
    models = {}
    for run in reproduction.runs():
        drawn = (run.log, run.epsilon) == DRAWN_MODELS and run.series in (BASELINE, SACOFA)
        if drawn and run.repetition == 1 and run.mechanism is not None:
            release = anonymize(originals[run.log], run.mechanism, seed=run.seed)
            if release.variants.events:
                title = f"{run.series}, {run.log}, ε = {run.epsilon}"
                models[title] = discover_model(release.variants)
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
        "# The SaCoFa paper's experiments, repeated",
        "",
        "Fahrenkrog-Petersen, Kabierski, Rösel, van der Aa and Weidlich: *SaCoFa: Semantics-aware "
        "Control-flow Anonymization for Process Mining*, ICPM 2021, section V.",
        "",
        "All figures were measured on the original logs without noise. The paper's logs are "
        "public; for any other log such figures would be confidential.",
        "",
        f"{reproduction.repeat} repetitions; thresholds of the paper; pruning {pruned}. Figures "
        "are medians (quartiles). *Even*: medians that differ by no more than 0.01; *well above*: "
        "the lower quartile is above the other's upper quartile. An empty release counts as zero.",
        "",
        "## Claims of the paper, and results here",
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
        *(f"![{figure.name}]({figure.name}.svg)" for figure in FIGURES),
        "",
        f"The models of {DRAWN_MODELS[0]} at ε = {DRAWN_MODELS[1]}, first repetition:",
        "",
        "![models](models.svg)",
        "",
        "`runs.csv` has one row for each run.",
    )


def find_logs(folder: Path, settings: Sequence[Setting] = SETTINGS) -> dict[str, Path]:
    """Find the paper's logs in a folder by the names of their files.

    Args:
        folder: The folder.
        settings: The logs that are looked for.

    Returns:
        The path of each log that is there, by its name.
    """
    found = {}
    for setting in settings:
        paths = (folder / f"{setting.file}{suffix}" for suffix in FILE_SUFFIXES)
        path = next((path for path in paths if path.is_file()), None)
        if path is not None:
            found[setting.log] = path
    return found
