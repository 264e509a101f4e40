"""Mechanisms turn secret counts into private ones: the only layer where counts and noise meet."""

from ..base.epsilon import Epsilon, parse_epsilon
from .certified import Certified, Plan, plan
from .paper import ADMIT_NONE, Laplace, Sacofa
from .protocol import Capabilities, Mechanism, Outcome, Output, Promise, perform
from .released import ReleasedLog

__all__ = [
    "ADMIT_NONE",
    "Capabilities",
    "Certified",
    "Epsilon",
    "Laplace",
    "Mechanism",
    "Outcome",
    "Output",
    "Plan",
    "Promise",
    "ReleasedLog",
    "Sacofa",
    "parse_epsilon",
    "perform",
    "plan",
]
