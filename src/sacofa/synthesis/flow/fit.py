"""The numbers of cases that explain all answers at once: non-negative least squares.

The chosen representatives stand for many cases each and were chosen by the last vote alone. The
other answers were paid for as well. So a pool of sequences gets the numbers of cases that
would have given all answers, as far as noise lets one tell, and that stray no further from the
representatives than that takes: the pull towards them is the strongest under which what is left
unexplained is what noise explains (the discrepancy principle of Morozov).

Floating-point numbers are no danger here: all of this reads noisy answers only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...kernel.language import Ids
from .evidence import Evidence, System

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Floats = NDArray[np.float64]

PASSES = 6
ROUNDS = 50
"""The solver passes over all numbers so often, and goes down so many rounds each time."""
SAME = 0.01
"""If no number of cases moves by more in a pass, it was the last."""
STRAY = (6.0, 12.0, 24.0, 48.0, 96.0, 192.0)
"""How far all numbers together may stray from the representatives', in scales of the last vote's
noise: the more sequences there are, the less each of them may."""
ENOUGH = 0.8
"""What may be left of the noise's squares: a fit explains some noise as well."""
NEARLY = 1.08
"""What may be left instead, times the least that can be."""
BEYOND = 1.5
"""What is left unexplained of an answer counts from so many scales of its noise on."""


def fit(
    evidence: Evidence,
    pool: Sequence[Ids],
    prior: Mapping[Ids, int],
    noise: float,
) -> dict[Ids, float]:
    """Find the numbers of cases; `noise` is 1/scale of the last vote's."""
    pool = list(dict.fromkeys([*prior, *pool]))
    system = evidence.system(pool)
    start = np.array([float(prior.get(ids, 0)) for ids in pool])
    with _one_thread():
        weights = _stray(system, start, noise)
    return dict(zip(pool, weights.tolist(), strict=True))


def unexplained(
    evidence: Evidence, fitted: Mapping[Ids, float], proposals: Sequence[Ids], number: int
) -> list[Ids]:
    """Choose the proposals that would explain most of what a fit leaves unexplained.

    Only of what is beyond noise, or they would explain that.
    """
    known = {ids: cases for ids, cases in fitted.items() if cases > 0}
    system = evidence.system([*known, *proposals])
    with _one_thread():
        missing = system.missing(np.array([*known.values(), *[0.0] * len(proposals)]))
        beyond = np.sign(missing) * np.maximum(np.abs(missing) - BEYOND, 0.0)
        # What a sequence adds everywhere else would then be too much.
        gains = (system.along(beyond) / system.norms())[len(known) :]
    best = np.argsort(-gains, kind="stable")[:number].tolist()
    return [proposals[i] for i in best if gains[i] > 0]


def _one_thread() -> AbstractContextManager[object]:
    """Reckon in one thread.

    Matrices are small: threads would wait for one another for half of the time, and the last digits
    would depend on how many there are.
    """
    limited: AbstractContextManager[object] = _threads().limit(limits=1, user_api="blas")
    return limited


@cache
def _threads() -> ThreadpoolController:
    # Looking which libraries are there takes longer than a small fit.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _stray(system: System, start: Floats, noise: float) -> Floats:
    """Stray from the start as little as explains the answers."""
    gram = Gram(system.rows @ system.rows.T)
    pull = system.rows @ system.answers
    tried: list[tuple[float, Floats]] = []
    weights = start
    for stray in STRAY:
        ridge = (noise / stray) ** 2 * len(start)
        weights = solve(gram, pull, ridge, start, weights)
        tried.append((system.misfit(weights), weights))
        if tried[-1][0] <= ENOUGH * system.expected:
            return weights
    # By chance, or for want of better sequences, more is left than noise explains.
    enough = NEARLY * tried[-1][0]
    return next(weights for misfit, weights in tried if misfit <= enough)


class Gram:
    """A Gram matrix, and the part of it that was asked for last: it often is the next one, too."""

    def __init__(self, whole: Floats) -> None:
        self.whole = whole
        self._places = b""
        self._part = whole[:0, :0], 1.0

    def part(self, places: NDArray[np.intp]) -> tuple[Floats, float]:
        """These rows and columns, and an upper bound of their largest eigenvalue."""
        asked = places.tobytes()
        if asked != self._places:
            part = self.whole[np.ix_(places, places)]
            self._places, self._part = asked, (part, _largest(part))
        return self._part


def solve(gram: Gram, pull: Floats, ridge: float, start: Floats, weights: Floats) -> Floats:
    """Minimize w·G·w/2 − p·w + r·|w − start|²/2 over w ≥ 0.

    Most numbers are 0 and stay so: rounds go on among those that are not, or should not be.
    """
    target = pull + ridge * start
    for _ in range(PASSES):
        some = weights.nonzero()[0]
        slope = weights[some] @ gram.whole[some] + ridge * weights - target
        moving = ((weights > 0) | (slope < 0)).nonzero()[0]
        if not len(moving):
            break
        before = weights[moving]
        weights = weights.copy()
        weights[moving] = _descend(*gram.part(moving), ridge, target[moving], before)
        if np.abs(weights[moving] - before).max() < SAME:
            break
    return weights


def _descend(gram: Floats, largest: float, ridge: float, target: Floats, weights: Floats) -> Floats:
    """Go down by accelerated projected gradients.

    Momentum is lost whenever it leads uphill (O'Donoghue and Candès, 2015).
    """
    bound = largest + ridge
    ahead, momentum = weights, 1.0
    for _ in range(ROUNDS):
        slope = gram @ ahead + ridge * ahead - target
        new = np.maximum(ahead - slope / bound, 0.0)
        if np.abs(new - ahead).max() < SAME / 2:
            return new
        if (ahead - new) @ (new - weights) > 0:
            momentum = 1.0
        following = (1 + sqrt(1 + 4 * momentum * momentum)) / 2
        ahead = new + (momentum - 1) / following * (new - weights)
        weights, momentum = new, following
    return weights


def _largest(gram: Floats) -> float:
    """An upper bound of the largest eigenvalue that is nearly reached."""
    vector = np.ones(len(gram))
    value = 1.0
    for _ in range(12):
        vector = gram @ vector
        value = sqrt(vector @ vector)
        if not value:
            return 1.0
        vector /= value
    return 1.2 * value
