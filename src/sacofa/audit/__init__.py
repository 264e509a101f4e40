"""Audits of mechanisms: a lower bound on ε that anyone can reproduce.

| module | content |
|---|---|
| `audit` | an audit from pairs of logs to findings |
| `bounds` | lower bounds on ε, with and without δ, and on ρ (Clopper–Pearson) |
| `pairs` | neighbouring logs to distinguish, around a log and built-in ones |
| `views` | features of an outcome, and the likelihood-ratio attack on a transcript |
| `guess` | evidence of features; learning how to guess |
| `neighbours` | a check of any way to read logs |
"""

from .audit import Finding, audit, make_minimal, threshold_of
from .bounds import Claim
from .neighbours import Event, Violation, check_neighbours
from .pairs import (
    Pair,
    attribute_pairs,
    attribute_persons_pair,
    built_in_pairs,
    pairs_around,
    persons_around,
    persons_pair,
    timed_pairs,
    timed_persons_pair,
)

__all__ = [
    "Claim",
    "Event",
    "Finding",
    "Pair",
    "Violation",
    "attribute_pairs",
    "attribute_persons_pair",
    "audit",
    "built_in_pairs",
    "check_neighbours",
    "make_minimal",
    "pairs_around",
    "persons_around",
    "persons_pair",
    "threshold_of",
    "timed_pairs",
    "timed_persons_pair",
]
