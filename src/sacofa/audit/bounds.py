"""Lower bounds on a claim from guesses; each is too high at most with a given probability.

A claim is ε; or ε at a δ; or, with a budget in ρ, the ε at δ that its ρ implies.

**ε.** A guess is right with probability at most e^ε / (1 + e^ε) (module `audit`).

**ε at δ.** A mechanism is (ε, δ)-private for two logs if and only if each of its two outcomes is
processed from one bit of randomised response with ε, except that the log is given away with
probability δ (Kairouz, Oh and Viswanath, 2015). So of n runs at most k give the log away, except
with probability P(Binomial(n, δ) > k). Without k of the right guesses the first bound is valid.

**ρ.** Let a run guess right with probability r, wrong with w and not at all otherwise. On the other
log, what is right and wrong would change places. So the Rényi divergence of (r, w) and (w, r) is at
most αρ for every α ≥ 1, because neither a guess nor a coin increases it. The bound takes the lowest
r and the highest w that agree with the runs (Clopper and Pearson). The part of δ for variants that
are published individually (`selection`) gives runs away as above.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..kernel.accounting import epsilon_of
from ..mechanisms.protocol import Promise

Floats = NDArray[np.float64]

MAX_EPSILON = 100.0
"""No number of guesses that can be made proves a larger ε."""
ORDERS = 1.5, 2.0, 3.0, 5.0, 9.0, 17.0, 33.0
"""The α for which Rényi divergences are compared, next to α = 1."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The claim that an audit attacks.

    Attributes:
        epsilon: The claimed ε.
        delta: The δ that it is claimed with.
        selection: The part of δ for variants that are published individually.
        in_rho: Whether it follows from a budget in ρ, so that a ρ refutes it.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    selection: Fraction = Fraction(0)
    in_rho: bool = False

    @classmethod
    def of(cls, promise: Promise) -> Claim | None:
        """Return the claim of a promise; None without a finite ε."""
        if promise.epsilon is None:
            return None
        selection = promise.budget.selection if promise.budget else Fraction(0)
        return cls(
            epsilon=promise.epsilon,
            delta=promise.delta,
            selection=selection,
            in_rho=promise.delta > 0,
        )

    def given_away(self, runs: int, doubt: float, *, by_rho: bool) -> int:
        """Return how many runs δ gives away at most, except with probability `doubt`."""
        from scipy.special import bdtrc

        delta = float(self.selection if by_rho else self.delta)
        return bisect_left(range(runs), True, key=lambda n: bdtrc(n, runs, delta) <= doubt)

    def prove(
        self, right: int, guesses: int, runs: int, doubt: float, *, by_rho: bool = False
    ) -> float:
        """Return a lower bound on ε at δ, from 0 to 100, too high with probability `doubt`."""
        if self.delta:
            doubt /= 2
        given = self.given_away(runs, doubt, by_rho=by_rho) if self.delta else 0
        if right <= given:
            return 0.0
        if not by_rho:
            return prove_epsilon(right - given, guesses - given, doubt)
        return self.epsilon_of(prove_rho(right - given, guesses - right, runs, given, doubt))

    def epsilon_of(self, rho: float) -> float:
        """Return the ε at δ that a ρ implies."""
        return min(float(epsilon_of(Fraction(rho), self.delta - self.selection)), MAX_EPSILON)

    def least_refuted(self, guesses: int, runs: int, doubt: float, *, by_rho: bool) -> float:
        """Return the smallest ε that is expected to refute this claim.

        Args:
            guesses: Number of guesses, each of which is right as often as ε allows.
            runs: Number of runs.
            doubt: Probability that a true claim is refuted.
            by_rho: Attack ρ: the ε is that of Gaussian noise, and shows in every run.

        Returns:
            The ε; infinite if even guesses that are all right prove no more than the claim.
        """

        def refutes(right: int) -> bool:
            return self.prove(right, guesses, runs, doubt, by_rho=by_rho) > self.epsilon

        least = bisect_left(range(guesses), True, key=refutes)
        if least >= guesses:
            return math.inf
        if by_rho and guesses == runs:
            from scipy.special import ndtri

            # Half-way between two normal distributions, the guess is right with Φ(√(2ρ) / 2).
            return self.epsilon_of(2 * float(ndtri(least / runs)) ** 2)
        return math.log(least / (guesses - least))


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


def prove_rho(right: int, wrong: int, runs: int, given: int, doubt: float) -> float:
    """Return a lower bound on ρ that is too high with probability `doubt`.

    Args:
        right: Number of right guesses, without those in runs that were given away.
        wrong: Number of wrong guesses.
        runs: Number of runs.
        given: Number of runs among them that were given away, at most.
        doubt: Probability that the bound is too high.

    Returns:
        The bound.
    """
    from scipy.special import betainccinv, betaincinv

    low = float(betaincinv(right, runs - right + 1, doubt / 2))
    others = max(runs - given - wrong, 0)
    high = float(betainccinv(wrong + 1, others, doubt / 2)) if others else 1.0
    return float(rho_of(np.array(low), np.array(min(high, 1 - low))))


def rho_of(right: Floats, wrong: Floats) -> Floats:
    """Return the smallest ρ that allows these probabilities of a right and of a wrong guess."""
    ratio = np.log(np.maximum(right, wrong) / wrong)
    least = (right - wrong) * ratio  # α = 1: the Kullback–Leibler divergence
    for order in ORDERS:
        total = right * (np.exp((order - 1) * ratio) + np.exp(-order * ratio))
        least = np.maximum(least, np.log(total + 1 - right - wrong) / order / (order - 1))
    return np.where(right > wrong, least, 0.0)
