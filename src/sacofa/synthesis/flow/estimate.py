"""The numbers of cases that explain all answers at once.

The numbers w are those that stray least, in relative entropy, from a start s, given how far the
answers y are from what the sequences would have answered, T·w, in units of their noise:

    Σ (w log(w / s) − w + s)  +  Σ (y − T·w)² / (2 h),     h = hold + sampling · T²·s

The second term of h is a part of the variance that the answers of a random sample of the start
would have. Without it, answers with little noise ask more of a finite pool than it can give, and
the fit explains them by coincidences of the pool. The dual problem is smooth, convex and without
bounds. Everything here reads noisy answers only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...kernel.language import Ids
from ..numerics import minimize_convex, one_thread
from .evidence import Evidence, Nearest

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class EstimateTuning:
    """Parameters of the fit."""

    holds: tuple[float, ...] = (16.0, 4.0, 1.0, 0.25, 0.0625)
    """What a case that moves by one unit of entropy costs, in squares of noise scales: from strong
    to weak, as long as a weaker one explains clearly more."""
    gain: float = 1.01
    """A weaker hold has to lower the squares of what is left unexplained by this factor."""
    sampling: float = 0.05
    """Part of the variance of a random sample to within which an answer is explained."""
    least: float = 1e-3
    """Part of the votes that all sequences get alike: what has no case cannot be multiplied."""
    most: float = 30.0
    """No number is multiplied by more than e to this power on the way."""
    rounds: int = 150
    """The solver stops after that many."""


TUNING = EstimateTuning()


def spread(numbers: Mapping[Ids, float], cases: int) -> dict[Ids, float]:
    """Multiply numbers so that they add up to this many cases."""
    whole = sum(numbers.values())
    return {ids: number * cases / whole for ids, number in numbers.items()}


def share_out(
    drawn: Mapping[Ids, int], candidates: Mapping[Ids, float], nearest: Nearest, cases: int
) -> dict[Ids, float]:
    """Divide the votes of each candidate between itself and the samples nearest to it.

    A candidate keeps the part of its votes that corresponds to how often samples near it repeat:
    the part that was sampled once estimates what was not seen yet (Good and Turing).
    """
    pool = list(dict.fromkeys([*candidates, *drawn]))
    times = np.array([float(drawn.get(ids, 0)) for ids in pool])
    places = np.array(nearest.places(pool), dtype=np.int64)
    votes = np.array(list(candidates.values()))

    def near(values: Floats) -> Floats:
        return np.bincount(places, values, minlength=len(votes)).astype(np.float64)

    sampled, single = near(times), near((times == 1).astype(np.float64))
    own = np.where(sampled > 0, 1 - (single + 1) / (sampled + 1), 1.0)
    shares = (votes * (1 - own) / np.maximum(sampled, 1.0))[places] * times
    shares[: len(votes)] += own * votes
    shares += max(TUNING.least * shares.sum(), 1.0) / len(shares)
    return spread(dict(zip(pool, shares.tolist(), strict=True)), cases)


def estimate(evidence: Evidence, start: Mapping[Ids, float]) -> dict[Ids, float]:
    """Find the numbers of cases nearest to a start, all above 0, that explain the answers."""
    from scipy.sparse import csr_array

    system = evidence.system(list(start))
    first = np.array(list(start.values()))
    shape = (system.size, len(system.answers))
    adds = csr_array((system.amounts, (system.owners, system.cells)), shape=shape)
    variances = system.variances(first)
    weights, left, prices = first, np.inf, np.zeros(shape[1])
    for hold in TUNING.holds:
        slack = hold + TUNING.sampling * variances
        with one_thread():
            prices = _prices(adds, first, system.answers, slack, prices)
        tried = _moved(adds, first, prices)
        misfit = system.misfit(tried)
        if misfit * TUNING.gain > left:
            break
        weights, left = tried, misfit
    return dict(zip(start, weights.tolist(), strict=True))


def _prices(adds: csr_array, first: Floats, answers: Floats, slack: Floats, near: Floats) -> Floats:
    """The prices of cells that minimize the dual; the search begins near others."""
    by_cell = adds.T.tocsr()
    # In these units all prices bend the dual alike.
    units = np.sqrt(adds.power(2).T @ first + slack)

    def dual(scaled: Floats) -> tuple[float, Floats]:
        prices = scaled / units
        weights = _moved(adds, first, prices)
        value = weights.sum() + (slack * prices) @ prices / 2 - prices @ answers
        return float(value), (by_cell @ weights + slack * prices - answers) / units

    best: Floats = minimize_convex(dual, near * units, max_rounds=TUNING.rounds) / units
    return best


def _moved(adds: csr_array, first: Floats, prices: Floats) -> Floats:
    """The numbers of cases at these prices: each is multiplied by those of its cells."""
    moved: Floats = first * np.exp(np.minimum(adds @ prices, TUNING.most))
    return moved
