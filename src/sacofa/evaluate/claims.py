"""The claims of section V of the SaCoFa paper, and whether measured results confirm them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .registry import BY_NAME
from .summary import Spread, Summary, markdown_row

BASELINE, SACOFA, TWO_THRESHOLDS, CERTIFIED = (
    "laplace",
    "sacofa",
    "sacofa, two thresholds",
    "certified",
)
"""The series of the reproduction."""
EVEN = 0.01
"""Largest difference of medians that is called even."""
ACCEPTED = {
    "above": ("above", "well above"),
    "not above": ("even", "below"),
    "even": ("even",),
}
"""For each expectation, the observations that confirm it."""


@dataclass(frozen=True, kw_only=True)
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
    expected: Callable[[str, str], str]

    def cells(self, summary: Summary) -> list[Cell]:
        """Return a result for every log and ε for which both series were run."""
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
        """Return the lines of a Markdown section: claim, verdict, figures."""
        cells = self.cells(summary)
        yield f"### {self.says}"
        yield ""
        if not cells:
            yield from ("**Not measured.**", "")
            return
        holds = sum(cell.holds for cell in cells)
        verdict = "Holds" if holds == len(cells) else "Holds in part" if holds else "Does not hold"
        yield f"**{verdict}**: in {holds} of {len(cells)} cases."
        yield ""
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
