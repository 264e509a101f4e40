"""The claims of the SaCoFa paper's section V, and whether they hold in what was measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .registry import BY_NAME
from .summary import Spread, Summary

BASELINE, SACOFA, TWO_THRESHOLDS, CERTIFIED = (
    "laplace",
    "sacofa",
    "sacofa, two thresholds",
    "certified",
)
"""The series of the reproduction."""

EVEN = 0.01
"""Medians this close are called even."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One thing the paper reports: how two series differ in one measure."""

    says: str
    measure: str
    better: str
    """The series that is claimed to be better, where it is."""
    other: str
    expected: Callable[[str, str], str]
    """For a log and ε: what the paper sees there, one of `above`, `not above` or `even`."""

    def cells(self, summary: Summary) -> list[Cell]:
        """Judge the claim for every log and ε where both series were run."""
        found = []
        for log in summary.logs:
            for epsilon in summary.epsilons(log):
                left, right = (
                    summary.spread(self.measure, log, series, epsilon)
                    for series in (self.better, self.other)
                )
                if left is not None and right is not None:
                    found.append(Cell(log, epsilon, left, right, self.expected(log, epsilon)))
        return found

    def report(self, summary: Summary) -> Iterator[str]:
        """The lines of a Markdown section: claim, figures, verdict."""
        cells = self.cells(summary)
        holds = sum(cell.holds for cell in cells)
        verdict = (
            "holds" if holds == len(cells) else "does not hold" if not holds else "holds in part"
        )
        yield f"### {self.says}"
        yield ""
        yield (
            f"**{verdict.capitalize()}**: in {holds} of {len(cells)} cases."
            if cells
            else ("**Not measured.**")
        )
        yield ""
        if not cells:
            return
        title = BY_NAME[self.measure].title
        yield f"| log | ε | {title}, {self.better} | {title}, {self.other} | paper | here | |"
        yield "|---|---|---|---|---|---|---|"
        for cell in cells:
            mark = "holds" if cell.holds else "**differs**"
            yield (
                f"| {cell.log} | {cell.epsilon} | {cell.better} | {cell.other} "
                f"| {cell.expected} | {cell.seen} | {mark} |"
            )
        yield ""


@dataclass(frozen=True)
class Cell:
    """A claim for one log and ε."""

    log: str
    epsilon: str
    better: Spread
    other: Spread
    expected: str

    @property
    def seen(self) -> str:
        """How the medians stand to each other."""
        difference = self.better.median - self.other.median
        if math.isclose(difference, 0, abs_tol=EVEN):
            return "even"
        if difference < 0:
            return "below"
        return "well above" if self.better.low > self.other.high else "above"

    @property
    def holds(self) -> bool:
        """Whether what is seen is what the paper reports."""
        accepted = {
            "above": ("above", "well above"),
            "not above": ("even", "below"),
            "even": ("even",),
        }
        return self.seen in accepted[self.expected]


CLAIMS = (
    Claim(
        says="SaCoFa's F-score is well above the baseline's; on par for Traffic fines at ε = 0.01",
        measure="f_score",
        better=SACOFA,
        other=BASELINE,
        expected=lambda log, epsilon: (
            "even" if (log, epsilon) == ("Traffic fines", "0.01") else "above"
        ),
    ),
    Claim(
        says="SaCoFa's models generalize better",
        measure="generalization",
        better=SACOFA,
        other=BASELINE,
        expected=lambda log, epsilon: "above",
    ),
    Claim(
        says="SaCoFa's cases are more often normal, clearly so on CoSeLoG and Sepsis",
        measure="normal",
        better=SACOFA,
        other=BASELINE,
        expected=lambda log, epsilon: "above",
    ),
    Claim(
        says="Two thresholds instead of one help only on Traffic fines",
        measure="f_score",
        better=TWO_THRESHOLDS,
        other=SACOFA,
        expected=lambda log, epsilon: "above" if log == "Traffic fines" else "not above",
    ),
)
