"""The mechanism `certified`: semantics-aware, and ε-differentially private as a whole.

The log is asked up to six queries, each through noise that its share of ε pays for. In between,
only answers are read:

1. how many cases there are, and where to truncate them if nobody said;
2. votes for directly-follows steps; those that pass are the semantics, and a chain over them draws
   sequences;
3. if the log is large enough, the variants that can be shown as they are;
4. a list of candidates; each case votes for the nearest one; the best are kept and varied;
5. a final vote over the new list decides how many cases each candidate gets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ...privacy.accounting import Spend
from ...queries.session import Session
from ...unit import Unit
from ..protocol import TRUNCATION, Output, Progress, Promise
from .frequent import all_threshold
from .run import CertifiedRun
from .settings import CertifiedSettings

INVENTED = (
    "A released variant stands for the cases nearest to it; it need not have occurred itself."
)


@dataclass(frozen=True, kw_only=True)
class Certified(CertifiedSettings):
    """A release that costs exactly ε, needs no tuning and does not fail whatever the log is."""

    name = "certified"
    supports_distributed = True
    minimal: ClassVar = {"max_length": 2, "min_candidates": 2, "max_candidates": 2}
    """Settings of the smallest run that keeps the promise: what an audit repeats many times."""

    def settings(self) -> Mapping[str, object]:
        """The settings that the certificate repeats."""
        return {
            "epsilon": self.price,
            "max_length": self.max_length or "chosen under a share of ε",
            "rules": "none" if self.rules is None else str(self.rules.source),
        }

    def promise(self, unit: Unit) -> Promise:
        """What is promised, and at what price: the same for every unit, whose noise differs."""
        split = self.split
        lines = (
            ("size", "size: the number of cases", split.size),
            ("length", "max_length: the lengths of cases", split.length),
            ("semantics", "semantics: votes for directly-follows steps", split.semantics),
            (
                "counts",
                "counts: frequent variants, and votes for the nearest candidate",
                split.counts,
            ),
        )
        assumptions = [
            f"max_length is public: {self.max_length}."
            if self.max_length is not None
            else f"The upper bound on max_length ({self.max_length_bound:,}) is public."
        ]
        if self.rules is not None:
            assumptions.append(f"The rules are public: {self.rules.source}.")
        return Promise(
            accesses=tuple(
                Spend(what=what, epsilon=share * self.price, line=line)
                for line, what, share in lines
                if share
            ),
            assumptions=tuple(assumptions),
            not_promised=(INVENTED, TRUNCATION),
        )

    def shown_from(self, unit: Unit, activities: int) -> int | None:
        """From how many cases on any variant is shown, in a log that is large enough."""
        if self.max_length is None:
            return None
        per_cell = self.split.frequent * self.price / unit.max_cases
        return all_threshold(per_cell, activities, self.max_length)

    def run(self, session: Session, progress: Progress | None = None) -> Output:
        """Ask the log, and make a release of the answers."""
        return CertifiedRun(self, session).release(progress)
