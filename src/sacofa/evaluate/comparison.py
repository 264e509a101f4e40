"""A comparison of mechanisms on one log: what a given ε costs there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from ..base.files import write_whole
from ..errors import SettingError
from ..kernel.epsilon import parse_epsilon
from ..kernel.variants import VariantCounts
from ..mechanisms.protocol import Mechanism
from ..mechanisms.registry import MECHANISMS, make_mechanism
from ..mechanisms.settings import settings_of
from .claims import CERTIFIED
from .evaluate import Measured, variants_of
from .experiment import TIME_LIMIT, Progress, carry_out
from .extras import require_modules
from .figures import draw_boxes
from .runs import LIMIT, ORIGINAL, Row, Run
from .summary import Summary
from .table import RunTable

LIBRARIES = ("pm4py", "sklearn", "rapidfuzz", "ot", "matplotlib")
"""What an experiment needs."""

COMMON_LENGTH = 0.95
"""Without a given length, the papers' mechanisms truncate at one that this part of the cases does
not exceed."""

FIGURES = ("steps", "activity", "similarity", "f_score", "generalization", "normal")

SECRET = (
    "**Secret.** These figures were measured on the original log without any noise. Do not publish "
    "them unless you would publish the log."
)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Which mechanisms are compared, at which prices, and how often."""

    mechanisms: Sequence[str]
    epsilons: Sequence[str]
    repeat: int = 10
    """How often each mechanism is run at each ε."""
    max_length: int | None = None
    """Longer cases are cut here; None takes what 95 % of the cases do not exceed, and leaves
    `certified` to choose under its ε."""
    prune: int | None = None
    """The threshold of the papers' mechanisms; None takes 2.5/ε, about what the paper does."""

    def __post_init__(self) -> None:
        if self.repeat < 1:
            raise SettingError("repeat", self.repeat, "1 or more")
        for name in ("mechanisms", "epsilons"):
            given = getattr(self, name)
            if not given or len(set(given)) != len(given):
                raise SettingError(name, ", ".join(given), "one or more, each once")
        # Refuse what cannot be before any log is read; the length is known only then.
        for mechanism in self.mechanisms:
            for epsilon in self.epsilons:
                self._make(mechanism, epsilon, self.max_length or 1)

    def runs(self, name: str, log: VariantCounts) -> list[Run]:
        """List every run on a log; first repetitions come first."""
        length = self.max_length or _common_length(log)
        made = [
            (mechanism, epsilon, self._make(mechanism, epsilon, length))
            for mechanism in self.mechanisms
            for epsilon in self.epsilons
        ]
        return [
            Run(log=name, series=ORIGINAL),
            Run(log=name, series=LIMIT),
            *(
                Run(
                    log=name,
                    series=mechanism,
                    epsilon=epsilon,
                    mechanism=instance,
                    repetition=repetition,
                )
                for repetition in range(1, self.repeat + 1)
                for mechanism, epsilon, instance in made
            ),
        ]

    def _make(self, name: str, epsilon: str, max_length: int) -> Mechanism:
        price = parse_epsilon("epsilon", epsilon)
        settings: dict[str, Any] = {
            "epsilon": epsilon,
            "max_length": self.max_length if name == CERTIFIED else max_length,
            "prune": self.prune or default_prune(price),
        }
        # What a mechanism does not have is left out; an unknown one is refused with all of them.
        known = (
            {entry.option for entry in settings_of(MECHANISMS[name])} if name in MECHANISMS else ()
        )
        return make_mechanism(name, {n: settings[n] for n in settings if n in known})


def default_prune(epsilon: Fraction) -> int:
    """A threshold that is 2.5 times the scale of the noise, at least 2."""
    return max(2, math.ceil(Fraction(5, 2) / epsilon))


def compare(
    log: Measured,
    comparison: Comparison,
    folder: Path,
    *,
    name: str = "log",
    workers: int | None = None,
    time_limit: float = TIME_LIMIT,
    progress: Progress | None = None,
) -> list[Row]:
    """Compare mechanisms on a log: runs.csv, figures and README.md in a folder, all secret."""
    require_modules(*LIBRARIES)
    variants = variants_of(log)
    if not variants.cases:
        raise SettingError("log", "0 cases", "a log with at least one case")
    rows = carry_out(
        comparison.runs(name, variants),
        {name: log},
        RunTable(folder / "runs.csv"),
        workers=workers,
        time_limit=time_limit,
        progress=progress,
    )
    summary = Summary(rows)
    for measure in FIGURES:
        draw_boxes(summary, measure, folder, measure)
    lines = [
        f"# Mechanisms compared on {name}",
        "",
        SECRET,
        "",
        "Medians over repetitions. *ε spent* is the ε of the whole release by its certificate; ∞ "
        "means that no finite ε is guaranteed. F-score, fitness, precision and generalization are "
        "those of the model mined from the whole release; columns of the *core* are those of its "
        "orderly part, chosen by the same filter for every mechanism. The *sampling limit* is the "
        "result for two random halves of the log: no release can be expected to come closer. "
        "`runs.csv` has one row for each run.",
        "",
        *summary.table(),
        "",
        *(f"![{measure}]({measure}.svg)" for measure in FIGURES),
    ]
    write_text(folder / "README.md", lines)
    return rows


def write_text(path: Path, lines: Sequence[str]) -> None:
    """Write lines to a file, in place of what was there."""
    with write_whole(path, force=True) as part:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _common_length(log: VariantCounts) -> int:
    """The length that most of the cases do not exceed."""
    order = np.argsort(log.lengths)
    place = np.searchsorted(np.cumsum(log.counts[order]), COMMON_LENGTH * log.cases)
    return max(1, int(log.lengths[order][place]))
