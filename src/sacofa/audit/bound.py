"""What a guessing game proves: a lower bound on ε.

Someone flips a fair coin, runs the mechanism on one of two neighbouring logs and shows the outcome.
You guess which log it was, or pass. Under ε-differential privacy every guess, whatever it is made
from, is right with probability at most e^ε / (1 + e^ε). So with `right` of `guesses` right, the
probability p of a right guess is known to be at least BetaInv(doubt; right, guesses − right + 1)
(Clopper and Pearson), and ε is at least ln(p / (1 − p)).
"""

from __future__ import annotations

import math

HIGHEST = 100.0
"""No number of guesses that can be made proves a larger ε."""
STEPS = 60
TINY = 1e-300


def prove_epsilon(right: int, guesses: int, doubt: float) -> float:
    """The ε that so many right guesses prove, wrong with probability `doubt` at most."""
    if right <= 0 or _at_least(right, guesses, 0.0) > doubt:
        return 0.0
    low, high = 0.0, HIGHEST
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _at_least(right, guesses, middle) <= doubt else (low, middle)
    return low


def least_refuted(claimed: float, guesses: int, doubt: float) -> float:
    """The ε that so many guesses refute a claim with, if each is right as often as ε allows.

    Infinite where even guesses that are all right prove no more than the claim.
    """
    low, high = 0, guesses
    while low < high:
        middle = (low + high) // 2
        if prove_epsilon(middle, guesses, doubt) > claimed:
            high = middle
        else:
            low = middle + 1
    return math.log(high / (guesses - high)) if high < guesses else math.inf


def _at_least(right: int, guesses: int, epsilon: float) -> float:
    """P(at least so many of the guesses are right), each with p = e^ε / (1 + e^ε)."""
    p, q = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
    a, b = right, guesses - right + 1
    # The fraction converges fast on one side of the mean; on the other its complement does.
    if p * (a + b + 2) < a + 1:
        return _below(a, b, p, q)
    return 1 - _below(b, a, q, p)


def _below(a: int, b: int, x: float, y: float) -> float:
    """The regularised incomplete beta function I_x(a, b), with y = 1 − x, by Lentz's fraction."""
    front = math.exp(
        math.lgamma(a + b)
        - math.lgamma(a)
        - math.lgamma(b)
        + a * math.log(x)
        + b * math.log(y)
        - math.log(a)
    )
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 10_000 + 10 * math.isqrt(a + b)):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _not_zero(1 + even * d)
        c = _not_zero(1 + even / c)
        fraction *= c * d
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _not_zero(1 + odd * d)
        c = _not_zero(1 + odd / c)
        change = c * d
        fraction *= change
        if abs(change - 1) < 1e-15:
            break
    return min(1.0, front * fraction)


def _not_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY
