"""Comparison of mechanisms on one log, at several values of ε."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from ..base.epsilon import parse_epsilon
from ..errors import SettingError, Statement
from ..kernel.variants import VariantCounts
from ..mechanisms.protocol import Mechanism
from ..mechanisms.registry import MECHANISMS, make_mechanism
from ..mechanisms.settings import settings_of
from .experiment import (
    Execution,
    Figure,
    check_at_least,
    plan_runs,
    run_experiment,
    write_report,
)
from .registry import Measured, variants_of
from .runs import Row, Run

COMMON_LENGTH = 0.95
"""Share of the cases that are not truncated by the default length of the papers' mechanisms."""
PRUNE_SCALES = Fraction(5, 2)
"""Default pruning threshold in scales of the noise, about what the paper chose."""
FIGURES = ("steps", "activity", "similarity", "f_score", "generalization", "normal")
"""The measures that are plotted."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The mechanisms that are compared, their budgets, and the number of repetitions.

    Attributes:
        mechanisms: Name of a mechanism. Repeat for several. Default: all.
        epsilons: Privacy budget. Repeat for several.
        repeat: Number of runs of each mechanism at each ε.
        max_length: Length at which cases are truncated. Default: the length that 95 % of the cases
            do not exceed; `certified` chooses it within its ε.
        prune: Pruning threshold of the papers' mechanisms. Default: 2.5/ε.
    """

    mechanisms: Sequence[str] = tuple(MECHANISMS)
    epsilons: Sequence[str]
    repeat: int = 10
    max_length: int | None = None
    prune: int | None = None

    def __post_init__(self) -> None:
        check_at_least("repeat", self.repeat)
        for name in ("mechanisms", "epsilons"):
            given = getattr(self, name)
            if not given or len(set(given)) != len(given):
                raise SettingError(name, ", ".join(given), Statement("must.once_each"))
        # Wrong settings are refused before any log is read; the length is known only then.
        for mechanism in self.mechanisms:
            for epsilon in self.epsilons:
                self._make(mechanism, epsilon, self.max_length or 1)

    def runs(self, name: str, log: VariantCounts) -> list[Run]:
        """List the runs on a log."""
        length = self.max_length
        if not length:
            order = np.argsort(log.lengths)
            place = np.searchsorted(np.cumsum(log.counts[order]), COMMON_LENGTH * log.cases)
            length = max(1, int(log.lengths[order][place]))
        series = [
            Run(log=name, series=each, epsilon=e, mechanism=self._make(each, e, length))
            for each in self.mechanisms
            for e in self.epsilons
        ]
        return plan_runs([name], series, self.repeat)

    def _make(self, name: str, epsilon: str, max_length: int) -> Mechanism:
        settings: dict[str, object] = {
            "epsilon": epsilon,
            "max_length": self.max_length if name == "certified" else max_length,
            "prune": self.prune or default_prune(parse_epsilon("epsilon", epsilon)),
        }
        # Settings that a mechanism does not have are left out; an unknown name is refused below.
        kinds = [MECHANISMS[name]] if name in MECHANISMS else []
        known = {entry.option for kind in kinds for entry in settings_of(kind)}
        return make_mechanism(name, {n: settings[n] for n in settings if n in known})


def default_prune(epsilon: Fraction) -> int:
    """Return a threshold of 2.5 times the scale of the noise, at least 2."""
    return max(2, math.ceil(PRUNE_SCALES / epsilon))


def compare(
    log: Measured,
    comparison: Comparison,
    folder: Path,
    *,
    name: str = "log",
    execution: Execution | None = None,
) -> list[Row]:
    """Compare mechanisms on a log; the folder receives runs.csv, figures and README.md.

    All results are confidential. `name` is the name of the log in them.
    """
    variants = variants_of(log)
    if not variants.cases:
        raise SettingError("log", None, Statement("must.log_with_cases"))
    runs = comparison.runs(name, variants)
    figures = [Figure(measure, measure) for measure in FIGURES]
    rows = run_experiment(runs, {name: log}, folder, figures, execution or Execution())
    write_report(folder, "comparison", rows, figures, name=name)
    return rows
