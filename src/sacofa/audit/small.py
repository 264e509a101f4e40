"""Mechanisms in their smallest form: the same code and promise, made to run often and show much.

Nothing here is what a person would release a log with. Settings that the promise does not depend
on are turned down, so that a run on a small log takes about a millisecond.
"""

from __future__ import annotations

from dataclasses import replace

from ..mechanisms.certified import Certified
from ..mechanisms.certified.named import all_threshold
from ..mechanisms.choose import Choice, make_mechanism
from ..mechanisms.paper import Laplace, Sacofa
from ..mechanisms.protocol import Mechanism

MAX_LENGTH = 2
PRUNE = 2
CANDIDATES = 2
ACTIVITIES = 2
"""How many activities the pairs around a threshold have."""
THRESHOLD = 10
"""The threshold that is tried with a mechanism that does not tell its own."""


def make_small(name: str, choice: Choice) -> Mechanism:
    """Make the mechanism of a name as small as can be, but for what the choice says."""
    if choice.max_length is None:
        choice = replace(choice, max_length=MAX_LENGTH)
    unsaid = (choice.prune, choice.prune_harmless, choice.prune_harmful) == (None, None, None)
    if name in (Laplace.name, Sacofa.name) and unsaid:
        choice = replace(choice, prune=PRUNE)
    mechanism = make_mechanism(name, choice)
    if isinstance(mechanism, Certified):
        return replace(mechanism, fewest_candidates=CANDIDATES, most_candidates=CANDIDATES)
    return mechanism


def threshold_of(mechanism: Mechanism) -> int:
    """The count from which a mechanism shows a variant, as far as that is known beforehand."""
    if isinstance(mechanism, Laplace):
        return mechanism.prune
    if isinstance(mechanism, Sacofa):
        return mechanism.prune_harmless
    if isinstance(mechanism, Certified) and mechanism.max_length is not None:
        price = mechanism.shares.named * mechanism.epsilon / mechanism.unit.max_cases
        return all_threshold(price, ACTIVITIES, mechanism.max_length)
    return THRESHOLD
