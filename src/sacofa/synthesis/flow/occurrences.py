"""What the votes for activities tell: which are there, which are common, which a case repeats.

Everything here reads noisy votes only.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from ...kernel.queries.flow import FULL_WEIGHT, VOTE_UNITS, ActivityVotes
from ..thresholds import smallest_threshold

Ints = NDArray[np.int64]

FALSE_ACTIVITIES = Fraction(6)
"""Expected number of activities that no case has and that are kept all the same."""
FALSE_REPEATS = Fraction(3)
"""So many activities that no case repeats may look repeated, expected."""
AGAIN = Fraction(1)
"""An activity repeats itself if its votes for that are as many noise scales."""
COMMON = 3
"""From as many noise scales of votes on, the steps of an activity count less than others'."""
LEAST_WEIGHT = 6
"""They count no less than that, however common it is: what many do is asked for as well."""


def step_weights(votes: Ints, epsilon: Fraction, query: ActivityVotes) -> tuple[int, ...]:
    """What the steps of each activity count in the votes for steps: the less, the commoner it is.

    A case has one vote, and what nearly all cases do needs little of it to be known. So a case
    that does something rare gives most of its vote to that: else what a twentieth of the cases does
    drowns in noise.
    """
    # A case gives so many times as many votes to what it repeats.
    times = max(query.for_repeats // (VOTE_UNITS - query.for_repeats), 1)
    return tuple(
        max(round(FULL_WEIGHT * COMMON / max(total * epsilon, Fraction(COMMON))), LEAST_WEIGHT)
        for total in (votes[:, 0] + votes[:, 1] // times).tolist()
    )


def activities_there(votes: Ints, epsilon: Fraction) -> list[int]:
    """Choose the activities that stand out from noise; at least one, if there is any.

    The more there are to choose from, the more votes it takes. `epsilon` is 1/scale of the noise
    of one vote.
    """
    if not len(votes):
        return []
    total, most = votes.sum(axis=1), votes.max(axis=1)
    bound = smallest_threshold(epsilon, len(votes), FALSE_ACTIVITIES)
    # Two cells have half as much noise again as one.
    places: list[int] = np.flatnonzero((most >= bound) | (2 * total >= 3 * bound)).tolist()
    return places or [int(total.argmax())]


def activities_repeated(votes: Ints, epsilon: Fraction) -> dict[int, int]:
    """Find the activities that cases surely repeat, with the votes for that.

    The more there are, the more it takes.
    """
    if not len(votes):
        return {}
    bound = smallest_threshold(epsilon, len(votes), FALSE_REPEATS)
    places: list[int] = np.flatnonzero(votes[:, 1] >= bound).tolist()
    return {activity: int(votes[activity, 1]) for activity in places}


def activities_once(votes: Ints, epsilon: Fraction, least: Fraction = AGAIN) -> frozenset[int]:
    """Find the activities that cases do not repeat, as far as noise lets one see."""
    places: list[int] = np.flatnonzero(votes[:, 1] < ceil(least / epsilon)).tolist()
    return frozenset(places)
