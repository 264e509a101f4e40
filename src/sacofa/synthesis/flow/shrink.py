"""What a cell likely holds, given its noisy answer and those of all others: empirical Bayes.

Most steps never happen, and most candidates are nobody's nearest. The highest answers of many such
cells are noise, and whatever was made of them would explain noise. How many cells are empty and how
full the others are is read off all answers together: the distribution under which they are
likeliest (Kiefer and Wolfowitz, 1956), with Laplace's noise. Each cell then has an expected number
and a variance under it. Everything here reads noisy answers only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CLEAR = 20
"""From so many noise scales on, an answer is taken as it is."""
PER_SCALE = 4
"""Numbers are looked at in such parts of a noise scale."""
ROUNDS = 60
"""So often the distribution is improved; more changes hardly anything."""
NOISE = 2.0
"""The variance of Laplace's noise, in squares of its scale."""


def shrink(answers: Floats) -> tuple[Floats, Floats]:
    """What each cell is expected to hold, and the variance of that, all in noise scales."""
    # Below 0 an answer says no more than 0 does: the chances of all numbers are the same.
    places = np.rint(np.clip(answers, 0, CLEAR) * PER_SCALE).astype(np.int64)
    hidden = answers < CLEAR
    cells = np.bincount(places[hidden], minlength=PER_SCALE * CLEAR + 1)
    numbers = np.arange(cells.size + PER_SCALE) / PER_SCALE
    chances = np.exp(-np.abs(np.arange(cells.size)[:, None] / PER_SCALE - numbers))
    # Half of the cells are empty and anything else is as likely, to begin with.
    prior = np.full(numbers.size, 0.5 / (numbers.size - 1))
    prior[0] = 0.5
    for _ in range(ROUNDS if hidden.any() else 0):
        prior = cells @ _given(chances, prior) / cells.sum()
    likely = _given(chances, prior)
    means = likely @ numbers
    variances = likely @ numbers**2 - means**2
    return (
        np.where(hidden, means[places], answers),
        np.where(hidden, variances[places], NOISE),
    )


def _given(chances: Floats, prior: Floats) -> Floats:
    """How likely each number is, given each answer."""
    joint = chances * prior
    result: Floats = joint / joint.sum(axis=1, keepdims=True)
    return result
