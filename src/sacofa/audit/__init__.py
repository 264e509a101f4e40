"""Try what a mechanism claims: a lower bound on ε that anyone can reproduce.

bound     what right guesses prove
views     what an attacker may look at
pairs     neighbouring logs to tell apart
timed_pairs  the same with times
attribute_pairs  the same with attributes
neighbours  a check of any way to read logs
likelihood  what an attacker makes of a transcript who knows both logs
minimal   mechanisms that run fast
sample    what was seen in many runs
weigh     what a value says
guess     learning to guess
neighbours  whether a way to read logs keeps neighbours neighbours
runs      running a mechanism many times
audit     all of it
neighbours  whether a way to read logs keeps neighbours neighbours
"""

from .attribute_pairs import attribute_pairs, attribute_persons_pair
from .audit import Finding, audit
from .minimal import make_minimal, threshold_of
from .neighbours import Event, Violation, check_neighbours
from .pairs import Pair, built_in_pairs, pairs_around, persons_around, persons_pair
from .timed_pairs import timed_pairs, timed_persons_pair

__all__ = [
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
