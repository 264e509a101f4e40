"""Clopper–Pearson bounds: the ε that a number of right guesses proves.

Somebody flips a fair coin, runs the mechanism on one of two neighbouring logs and shows you the
outcome. You guess which log it was, or pass. Under ε-differential privacy every guess, whatever it
is based on, is right with probability at most e^ε / (1 + e^ε). If `right` of `guesses` are right,
the probability p of a right guess is at least BetaInv(doubt; right, guesses − right + 1), except
with probability `doubt` (Clopper and Pearson, 1934), and ε is at least ln(p / (1 − p)).
"""

from __future__ import annotations

import math
from bisect import bisect_left

MAX_EPSILON = 100.0
"""No number of guesses that can be made proves a larger ε."""


def prove_epsilon(right: int, guesses: int, doubt: float) -> float:
    """Return a lower bound on ε, between 0 and 100, that is too high with probability `doubt`."""
    from scipy.special import betainccinv, betaincinv

    if right <= 0:
        return 0.0
    wrong = guesses - right + 1
    # 1 − p by its own function: for nearly certain guesses the difference would lose its digits.
    p, q = float(betaincinv(right, wrong, doubt)), float(betainccinv(wrong, right, doubt))
    if p <= 0.5:
        return 0.0
    return min(math.log(p / q), MAX_EPSILON) if q else MAX_EPSILON


def least_refuted(claimed: float, guesses: int, doubt: float) -> float:
    """Return the smallest ε that is expected to refute a claim.

    Args:
        claimed: The claimed ε.
        guesses: Number of guesses, each of which is right as often as ε allows.
        doubt: Probability that a true claim is refuted.

    Returns:
        The ε; infinite if even guesses that are all right prove no more than the claim.
    """
    rights = range(guesses)
    least = bisect_left(rights, True, key=lambda n: prove_epsilon(n, guesses, doubt) > claimed)
    return math.log(least / (guesses - least)) if least < guesses else math.inf
