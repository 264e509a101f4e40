"""The experiments of section V of the SaCoFa paper, repeated, with `certified` next to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..kernel.variants import VariantCounts
from ..mechanisms.protocol import Mechanism
from ..mechanisms.registry import make_mechanism
from ..release import anonymize
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
from .registry import BY_NAME
from .runs import Row, Run
from .summary import Spread, Summary, markdown_row

BASELINE, SACOFA, CERTIFIED = "laplace", "sacofa", "certified"
TWO_THRESHOLDS = "sacofa, two thresholds"
"""The fourth series of the reproduction."""


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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
    Setting("CoSeLoG", "receipt", 10, (
        Thresholds("1", 3), Thresholds("0.1", 25, 22), Thresholds("0.01", 220, 200))),
    Setting("Sepsis", "sepsis", 23, (
        Thresholds("1", 4), Thresholds("0.1", 20, 15), Thresholds("0.01", 190, 150))),
    Setting("Traffic fines", "traffic_fines", 9, (
        Thresholds("1", 2), Thresholds("0.1", 20, 15), Thresholds("0.01", 150, 120))),
)  # fmt: skip

MAIN_SERIES = (BASELINE, SACOFA, CERTIFIED)
FIGURES = (
    Figure("f_score", series=MAIN_SERIES),
    Figure("generalization", series=MAIN_SERIES),
    Figure("normal", series=MAIN_SERIES),
    Figure("f_score", name="pruning", series=(SACOFA, TWO_THRESHOLDS)),
    Figure("similarity", series=MAIN_SERIES),
)
"""The four figures of the paper, and similarity, which puts a high F-score into perspective."""
DRAWN_MODELS = ("CoSeLoG", "0.01")
"""The log and ε whose models the paper draws."""
FILE_SUFFIXES = (".parquet", ".xes.gz", ".xes", ".csv")
"""Formats of the logs, in the order in which they are preferred."""
EVEN = 0.01
"""Largest difference of medians that is called even."""
ACCEPTED = {
    "above": ("above", "well above"),
    "not above": ("even", "below"),
    "even": ("even",),
}
"""For each expectation, the observations that confirm it."""


@dataclass(frozen=True)
class Claim:
    """A claim about how two series differ in one measure.

    Attributes:
        says: The claim.
        measure: Name of the measure.
        better: The series that is claimed to be better.
        other: The series that it is compared with.
        expected: For a log and ε, a key of `ACCEPTED`: the observation in the paper.
    """

    says: str
    measure: str
    better: str
    other: str
    expected: Callable[[str, str], str] = lambda log, epsilon: "above"

    def cells(self, summary: Summary) -> list[Cell]:
        """Return a result for every log and ε for which both series were run."""
        found = []
        for log in summary.logs:
            for epsilon in summary.epsilons(log):
                left = summary.spread(self.measure, log, self.better, epsilon)
                right = summary.spread(self.measure, log, self.other, epsilon)
                if left is not None and right is not None:
                    found.append(Cell(log, epsilon, left, right, self.expected(log, epsilon)))
        return found

    def report(self, summary: Summary) -> Iterator[str]:
        """Return the lines of a Markdown section: claim, verdict, figures."""
        cells = self.cells(summary)
        yield from (f"### {self.says}", "")
        if not cells:
            yield from ("**Not measured.**", "")
            return
        holds = sum(cell.holds for cell in cells)
        verdict = "Holds" if holds == len(cells) else "Holds in part" if holds else "Does not hold"
        yield from (f"**{verdict}**: in {holds} of {len(cells)} cases.", "")
        title = BY_NAME[self.measure].title
        columns = (f"{title}, {self.better}", f"{title}, {self.other}")
        yield markdown_row("log", "ε", *columns, "paper", "here", "")
        yield markdown_row(*["---"] * 7)
        for cell in cells:
            mark = "holds" if cell.holds else "**differs**"
            yield markdown_row(
                cell.log, cell.epsilon, cell.better, cell.other, cell.expected, cell.seen, mark
            )
        yield ""


@dataclass(frozen=True)
class Cell:
    """The result of a claim for one log and ε."""

    log: str
    epsilon: str
    better: Spread
    other: Spread
    expected: str

    @property
    def seen(self) -> str:
        """How the medians compare."""
        difference = self.better.median - self.other.median
        if math.isclose(difference, 0, abs_tol=EVEN):
            return "even"
        if difference < 0:
            return "below"
        return "well above" if self.better.low > self.other.high else "above"

    @property
    def holds(self) -> bool:
        """Whether the result confirms the paper."""
        return self.seen in ACCEPTED[self.expected]


CLAIMS = (
    Claim(
        "SaCoFa's F-score is well above the baseline's; on par for Traffic fines at ε = 0.01",
        "f_score", SACOFA, BASELINE,
        lambda log, epsilon: "even" if (log, epsilon) == ("Traffic fines", "0.01") else "above",
    ),
    Claim("SaCoFa's models generalize better", "generalization", SACOFA, BASELINE),
    Claim(
        "SaCoFa's cases are more often normal, clearly so on CoSeLoG and Sepsis",
        "normal", SACOFA, BASELINE,
    ),
    Claim(
        "Two thresholds instead of one help only on Traffic fines",
        "f_score", TWO_THRESHOLDS, SACOFA,
        lambda log, epsilon: "above" if log == "Traffic fines" else "not above",
    ),
)  # fmt: skip


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
            Series(setting.log, name, thresholds.epsilon, mechanism)
            for setting in self.settings
            for thresholds in setting.thresholds
            for name, mechanism in self._mechanisms(setting.max_length, thresholds)
        ]
        return plan_runs([setting.log for setting in self.settings], series, self.repeat)

    def _mechanisms(self, length: int, thresholds: Thresholds) -> Iterator[tuple[str, Mechanism]]:
        """Return the mechanism of each series for one log and ε."""
        base = {"epsilon": thresholds.epsilon, "max_length": length}
        paper = {**base, "prune_finished": self.prune_finished}
        for name in (BASELINE, SACOFA):
            yield name, make_mechanism(name, {**paper, "prune": thresholds.prune})
        if thresholds.prune_harmless is not None:
            two = {
                "prune_harmful": thresholds.prune,
                "prune_harmless": thresholds.prune_harmless,
            }
            yield TWO_THRESHOLDS, make_mechanism(SACOFA, paper | two)
        yield CERTIFIED, make_mechanism(CERTIFIED, base)


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
    models = {}
    for run in runs:
        # The models of the first repetition, released again from its seed.
        drawn = (run.log, run.epsilon) == DRAWN_MODELS and run.series in (BASELINE, SACOFA)
        if drawn and run.repetition == 1 and run.mechanism is not None:
            released = anonymize(originals[run.log], run.mechanism, seed=run.seed).variants
            if released.events:
                title = f"{run.series}, {run.log}, ε = {run.epsilon}"
                models[title] = discover_model(released)
    if models:
        draw_models(models, folder, "models")
    write_report(folder, _report(Summary(rows), reproduction))
    return rows


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
        *(f"![{figure.file}]({figure.file}.svg)" for figure in FIGURES),
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
        if path := next((path for path in paths if path.is_file()), None):
            found[setting.log] = path
    return found
