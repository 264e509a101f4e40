"""What a release is good for: predicted errors in the units of the measures, and a word for them.

All of it follows from noisy answers and the release, so it is free of privacy budget.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from fractions import Fraction
from math import ceil
from typing import Any

from ..base.epsilon import LARGEST_EPSILON
from ..kernel.statements import Statement


class Sureness(Enum):
    """What a release is good for, in a word."""

    RELIABLE = "reliable"
    ROUGH = "rough"
    UNRELIABLE = "unreliable"


class Cause(Enum):
    """Why a release is not reliable."""

    NOISE = "noise"
    """There are too few cases for this ε."""
    MODEL = "model"
    """The released cases disagree with the noisy answers by more than noise explains."""


@dataclass(frozen=True, kw_only=True)
class PredictedErrors:
    """How far figures of each kind are off, about; 0.1 is a tenth. None: not asked for."""

    edges: float
    """Directly-follows edges: total variation distance of their relative frequencies."""
    activities: float
    """Shares of the cases that have each activity: mean absolute error."""
    lengths: float | None = None
    """Case lengths: the part of the cases that has another length."""
    attributes: float | None = None
    """Values of the attribute that is worst: total variation distance."""

    def known(self) -> dict[str, float]:
        """Those that are known, by field."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a release is good for, why, and what would make it better."""

    sureness: Sureness
    """The word."""
    errors: PredictedErrors
    """What is expected."""
    causes: tuple[Cause, ...] = ()
    """Why it is not reliable; empty if it is."""
    cases_needed: int
    """With this number of cases of the same kind, noise would be small enough at this ε."""
    epsilon_needed: Fraction
    """With this ε, noise would be small enough for this log."""

    def to_content(self) -> dict[str, object]:
        """As it stands in a certificate."""
        return {
            "text": str(self.statement),
            "sureness": self.sureness.value,
            "errors": self.errors.known(),
            "causes": [cause.value for cause in self.causes],
            "cases_needed": self.cases_needed,
            "epsilon_needed": str(self.epsilon_needed),
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Verdict:
        """Read it; what is not a verdict raises `ValueError`, `KeyError` or `TypeError`."""
        errors = {str(name): float(value) for name, value in content["errors"].items()}
        cases, epsilon = content["cases_needed"], str(content["epsilon_needed"])
        if type(cases) is not int or not re.fullmatch(
            "[0-9]{1,60}(/[0-9]{1,60})?", epsilon, re.ASCII
        ):
            raise ValueError(content)
        return cls(
            sureness=Sureness(content["sureness"]),
            errors=PredictedErrors(**errors),
            causes=tuple(map(Cause, content["causes"])),
            cases_needed=cases,
            epsilon_needed=Fraction(epsilon),
        )

    @property
    def statement(self) -> Statement:
        """The word, the errors, the causes and what would help."""
        word = Statement(f"verdict.{self.sureness.value}")
        return Statement("verdict.sentence", sureness=word, explanation=self._parts())

    @property
    def explanation(self) -> Statement:
        """The statement without the word."""
        return Statement("verdict.explanation", parts=self._parts())

    def _parts(self) -> list[Statement]:
        """The errors, the causes and what would help."""
        errors = tuple(
            Statement(f"verdict.{name}", error=min(error, 1.0))
            for name, error in self.errors.known().items()
        )
        parts = [Statement("verdict.errors", errors=errors)]
        if Cause.NOISE in self.causes:
            parts.append(Statement("verdict.noise", remedy=self._remedy()))
        if Cause.MODEL in self.causes:
            parts.append(Statement("verdict.model"))
        return parts

    def __str__(self) -> str:
        """The statement in English."""
        return str(self.statement)

    def _remedy(self) -> Statement:
        """How many cases, or which ε, would make noise small enough."""
        if self.epsilon_needed > LARGEST_EPSILON:
            return Statement("verdict.cases_needed", cases=self.cases_needed)
        # Two figures are enough below ten; whole numbers above, never powers of ten.
        epsilon = float(self.epsilon_needed)
        rounded = Fraction(f"{epsilon:.2g}") if epsilon < 10 else Fraction(ceil(epsilon))
        return Statement(
            "verdict.cases_or_epsilon_needed", cases=self.cases_needed, epsilon=rounded
        )
