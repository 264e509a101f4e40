"""The experiments of section V of the SaCoFa paper, repeated, with `certified` next to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..kernel.variants import VariantCounts
from ..mechanisms.registry import make_mechanism
from ..release import anonymize
from .drawing import draw_models
from .experiment import (
    Execution,
    Figure,
    check_at_least,
    plan_runs,
    run_experiment,
    write_report,
)
from .extras import require_modules
from .measures.model import discover_model
from .registry import BY_NAME
from .runs import Row, Run, Spread, Summary, markdown_row

BASELINE, SACOFA, CERTIFIED = "laplace", "sacofa", "certified"
TWO_THRESHOLDS = "sacofa, two thresholds"
"""The fourth series of the reproduction."""


class Setting(NamedTuple):
    """The settings of the paper for one log."""

    log: str
    file: str  # without suffix
    max_length: int
    thresholds: Mapping[str, tuple[int, int | None]]
    """For each ε, the common threshold, and the lower one of semantics-aware pruning."""


SETTINGS = (
    Setting("CoSeLoG", "receipt", 10, {"1": (3, None), "0.1": (25, 22), "0.01": (220, 200)}),
    Setting("Sepsis", "sepsis", 23, {"1": (4, None), "0.1": (20, 15), "0.01": (190, 150)}),
    Setting(
        "Traffic fines", "traffic_fines", 9, {"1": (2, None), "0.1": (20, 15), "0.01": (150, 120)}
    ),
)

MAIN_SERIES = (BASELINE, SACOFA, CERTIFIED)
FIGURES = (
    *(Figure(name, name, MAIN_SERIES) for name in ("f_score", "generalization", "normal")),
    Figure("pruning", "f_score", (SACOFA, TWO_THRESHOLDS)),
    Figure("similarity", "similarity", MAIN_SERIES),
)
"""The four figures of the paper, and similarity, which puts a high F-score into perspective."""
DRAWN_MODELS = ("CoSeLoG", "0.01")
"""The log and ε whose models the paper draws."""
PRUNED = {
    True: "as the paper's text says: every prefix below its threshold is dropped",
    False: "as the published program does, whose results the paper shows: finished prefixes, and "
    "those of full length, are never dropped",
}
"""Description of the pruning in reports, with and without `prune_finished`."""
FILE_SUFFIXES = (".parquet", ".xes.gz", ".xes", ".csv")
"""Formats of the logs, in the order in which they are preferred."""
EVEN_MEDIANS = 0.01
"""Largest difference of medians that counts as even."""
ACCEPTED = {"above": {"above", "well above"}, "not above": {"even", "below"}, "even": {"even"}}
"""For each expectation, the observations that confirm it."""


def observe(better: Spread, other: Spread) -> str:
    """Return how the medians of two series compare."""
    difference = better.median - other.median
    if math.isclose(difference, 0, abs_tol=EVEN_MEDIANS):
        return "even"
    if difference < 0:
        return "below"
    return "well above" if better.low > other.high else "above"


@dataclass(frozen=True)
class Claim:
    """A claim that one series is better than another in one measure."""

    says: str
    measure: str
    better: str
    other: str
    expected: Callable[[str, str], str] = lambda log, epsilon: "above"
    """For a log and ε, a key of `ACCEPTED`: the observation in the paper."""

    def report(self, summary: Summary) -> Iterator[str]:
        """Return the lines of a Markdown section: claim, verdict, figures."""
        lines, holds = [], 0
        for log in summary.logs:
            for epsilon in summary.epsilons(log):
                left = summary.spread(self.measure, log, self.better, epsilon)
                right = summary.spread(self.measure, log, self.other, epsilon)
                if left is None or right is None:
                    continue
                expected, seen = self.expected(log, epsilon), observe(left, right)
                confirmed = seen in ACCEPTED[expected]
                holds += confirmed
                mark = "holds" if confirmed else "**differs**"
                lines.append(markdown_row(log, epsilon, left, right, expected, seen, mark))
        yield from (f"### {self.says}", "")
        if not lines:
            yield from ("**Not measured.**", "")
            return
        verdict = "Holds" if holds == len(lines) else "Holds in part" if holds else "Does not hold"
        title = BY_NAME[self.measure].title
        columns = (f"{title}, {self.better}", f"{title}, {self.other}")
        yield from (f"**{verdict}**: in {holds} of {len(lines)} cases.", "")
        yield markdown_row("log", "ε", *columns, "paper", "here", "")
        yield markdown_row(*["---"] * 7)
        yield from (*lines, "")


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
    """The part of the paper's experiments that is repeated; `PRUNED` describes the pruning."""

    repeat: int = 10
    logs: tuple[str, ...] = tuple(setting.log for setting in SETTINGS)
    prune_finished: bool = False

    def __post_init__(self) -> None:
        check_at_least("repeat", self.repeat)

    @property
    def settings(self) -> list[Setting]:
        """The settings of the chosen logs."""
        return [setting for setting in SETTINGS if setting.log in self.logs]

    def runs(self) -> list[Run]:
        """List the runs: of each mechanism at each ε."""
        series = []
        for setting in self.settings:
            for epsilon, (prune, harmless) in setting.thresholds.items():
                base = {"epsilon": epsilon, "max_length": setting.max_length}
                paper = {**base, "prune_finished": self.prune_finished}
                one = {**paper, "prune": prune}
                chosen = [(BASELINE, BASELINE, one), (SACOFA, SACOFA, one)]
                if harmless is not None:
                    two = {**paper, "prune_harmful": prune, "prune_harmless": harmless}
                    chosen.append((TWO_THRESHOLDS, SACOFA, two))
                for name, kind, settings in (*chosen, (CERTIFIED, CERTIFIED, base)):
                    mechanism = make_mechanism(kind, settings)
                    run = Run(log=setting.log, series=name, epsilon=epsilon, mechanism=mechanism)
                    series.append(run)
        return plan_runs([setting.log for setting in self.settings], series, self.repeat)


def reproduce(
    originals: Mapping[str, VariantCounts],
    reproduction: Reproduction,
    folder: Path,
    execution: Execution | None = None,
) -> list[Row]:
    """Repeat experiments of the paper; the folder gets runs.csv, figures, models and README.md."""
    require_modules("pygraphviz", extra="map")
    runs = reproduction.runs()
    rows = run_experiment(runs, originals, folder, FIGURES, execution or Execution())
    models = {}
    for run in runs:  # the models of the first repetition, released again from its seed
        drawn = (run.log, run.epsilon, run.repetition) == (*DRAWN_MODELS, 1)
        if drawn and run.series in (BASELINE, SACOFA) and run.mechanism is not None:
            released = anonymize(originals[run.log], run.mechanism, seed=run.seed).variants
            if released.events:
                title = f"{run.series}, {run.log}, ε = {run.epsilon}"
                models[title] = discover_model(released)
    if models:
        draw_models(models, folder, "models")
    summary = Summary(rows)
    write_report(
        folder,
        "reproduction",
        rows,
        FIGURES,
        repeat=reproduction.repeat,
        pruned=PRUNED[reproduction.prune_finished],
        claims="\n".join(line for claim in CLAIMS for line in claim.report(summary)),
        log=DRAWN_MODELS[0],
        epsilon=DRAWN_MODELS[1],
    )
    return rows


def find_logs(folder: Path, settings: Sequence[Setting] = SETTINGS) -> dict[str, Path]:
    """Find the paper's logs in a folder by the names of their files."""
    found = {}
    for setting in settings:
        paths = (folder / f"{setting.file}{suffix}" for suffix in FILE_SUFFIXES)
        if path := next((path for path in paths if path.is_file()), None):
            found[setting.log] = path
    return found
