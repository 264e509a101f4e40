"""Mechanisms turn secret counts into private ones: the only layer where counts and noise meet."""

from .certified import Certified, Plan, plan
from .paper import ADMIT_NONE, Laplace, Sacofa
from .protocol import Mechanism, Outcome, Promise

__all__ = [
    "ADMIT_NONE",
    "Certified",
    "Laplace",
    "Mechanism",
    "Outcome",
    "Plan",
    "Promise",
    "Sacofa",
    "plan",
]
