"""What a release is good for: predicted errors in the units of the measures, and a word for them.

All of it follows from noisy answers and the release, so it is free of privacy budget.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from fractions import Fraction
from math import ceil
from typing import Any

from ..kernel.epsilon import LARGEST_EPSILON


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


NAMES = {
    "edges": "directly-follows edges",
    "activities": "activity shares",
    "lengths": "case lengths",
    "attributes": "attribute values",
}
EXPECTED = "expected errors:"
NOISY = "Noise is large for this number of cases"
MISFIT = (
    "The released cases disagree with the noisy answers by more than noise explains: the process "
    "is not represented well, and a larger ε may not help."
)
CASES, OR, WOULD_DO = "cases", "or", "would be enough"
PARTS = (
    *(sureness.value for sureness in Sureness), *NAMES.values(), EXPECTED, NOISY, MISFIT, CASES, OR,
    WOULD_DO,
)  # fmt: skip
"""All words of a verdict, for those who translate it."""


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

    def named(self) -> dict[str, float]:
        """Those that are known, by what they are about."""
        return {NAMES[name]: value for name, value in self.known().items()}

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

    def sentence(self, say: Callable[[str], str] = str, number: Callable[[str], str] = str) -> str:
        """The word, the errors, the causes and what would help.

        Args:
            say: Translates each part of the sentence; the parts are those of `PARTS`.
            number: Writes a number as the language does that it is translated into.
        """
        return f"{say(self.sureness.value)} {self.explanation(say, number)}"

    def explanation(
        self, say: Callable[[str], str] = str, number: Callable[[str], str] = str
    ) -> str:
        """The sentence without the word."""
        errors = ", ".join(
            f"{say(name)} {number(f'{min(error, 1.0):.0%}')}"
            for name, error in self.errors.named().items()
        )
        parts = [f"({say(EXPECTED)} {errors})."]
        if Cause.NOISE in self.causes:
            parts.append(f"{say(NOISY)}; {self._remedy(say, number)}.")
        if Cause.MODEL in self.causes:
            parts.append(say(MISFIT))
        return " ".join(parts)

    def __str__(self) -> str:
        """The same in English."""
        return self.sentence()

    def _remedy(self, say: Callable[[str], str], number: Callable[[str], str]) -> str:
        """How many cases, or which ε, would make noise small enough."""
        needed = f"{number(f'{self.cases_needed:,}')} {say(CASES)}"
        if self.epsilon_needed <= LARGEST_EPSILON:
            # Two figures are enough below ten; whole numbers above, never powers of ten.
            epsilon = float(self.epsilon_needed)
            text = f"{epsilon:.2g}" if epsilon < 10 else str(ceil(epsilon))
            needed += f" {say(OR)} ε = {number(text)}"
        return f"{needed} {say(WOULD_DO)}"
