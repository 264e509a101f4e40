"""Try what a mechanism claims: a lower bound on ε that anyone can reproduce.

bound     what right guesses prove
views     what an attacker may look at
pairs     neighbouring logs to tell apart
informed  what an attacker makes of a transcript who knows both logs
small     mechanisms that run fast
sample    what was seen in many runs
weigh     what a value says
guess     learning to guess
runs      running a mechanism many times
audit     all of it
"""

from .audit import Finding, audit
from .pairs import Pair, built_in_pairs, pairs_around, persons_around, persons_pair
from .small import make_small, threshold_of

__all__ = [
    "Finding",
    "Pair",
    "audit",
    "built_in_pairs",
    "make_small",
    "pairs_around",
    "persons_around",
    "persons_pair",
    "threshold_of",
]
