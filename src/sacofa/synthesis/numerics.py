"""Numerics that all stages of synthesis share.

SciPy is imported inside the functions that need it, because importing it takes about as long as a
small release. Everything here reads noisy answers only, so floating-point numbers are no danger.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Uniform = Callable[[int], Floats]
"""Returns as many numbers from 0 to below 1."""
ValueAndGradient = Callable[[Floats], tuple[float, Floats]]
"""The value of a function at a point, and its gradient there."""
LITTLE = 1e-300
"""A divisor instead of 0; what it divides is no larger than numbers of seconds, which it bears."""
MAX_ROUNDS = 100
"""Maximum number of rounds of a solver; further rounds hardly change the result."""
NEGLIGIBLE = 1e-9
"""A share of this size changes nothing that can be seen: it stands for none where 0 would exclude
a cell for good, and is the tolerance of comparisons."""

FRACTION = 53
"""The bits of a floating-point number that lie below its exponent."""


class UniformSource(Protocol):
    """Draws uniform whole numbers in bulk, as `kernel.noise.Noise` does."""

    def below(self, bound: int, size: int) -> Ints:
        """Draw whole numbers from 0 to bound − 1."""


def draw_uniform(noise: UniformSource, size: int) -> Floats:
    """Draw numbers from 0 to below 1, for what is made of noisy values."""
    numbers: Floats = noise.below(1 << FRACTION, size) / float(1 << FRACTION)
    return numbers


def add_up(places: Ints, values: Floats, size: int) -> Floats:
    """Sum values by place.

    Args:
        places: The place of each value, from 0 to `size` − 1.
        values: The values.
        size: Number of places.

    Returns:
        The sum at each place.
    """
    return np.bincount(places, values, minlength=size).astype(np.float64)


def spread_places(begins: Ints, lengths: Ints) -> Ints:
    """List begins[i], begins[i] + 1, … as many as lengths[i], end to end."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    places: Ints = np.arange(total) + np.repeat(begins - (ends - lengths), lengths)
    return places


def one_thread() -> AbstractContextManager[object]:
    """Compute in one thread.

    Arrays are small: threads would wait for one another, and the last digits would depend on how
    many there are.
    """
    limited: AbstractContextManager[object] = _threads().limit(limits=1, user_api="blas")
    return limited


@cache
def _threads() -> ThreadpoolController:
    # To look which libraries there are takes longer than a small fit. SciPy brings one of its own.
    import scipy.optimize  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def project_to_total(values: Floats, total: float) -> Floats:
    """Find the nearest vector without negative entries that has a given sum.

    This is the Euclidean projection onto a simplex (Held, Wolfe and Crowder, 1974).

    Args:
        values: Any numbers.
        total: The sum of the result; at 0 or below, all entries become 0.

    Returns:
        The projection.
    """
    if total <= 0 or not len(values):
        return np.zeros(len(values))
    descending = np.sort(values)[::-1]
    shifts = (np.cumsum(descending) - total) / np.arange(1, len(values) + 1)
    # The entries that stay positive are those above the shift that they themselves imply.
    shift = shifts[int(np.flatnonzero(descending > shifts).max(initial=0))]
    projected: Floats = np.maximum(values - shift, 0.0)
    return projected


def weighted_median(values: Floats, weights: Floats) -> float:
    """Find the smallest value that at least half of the weight does not exceed."""
    order = np.argsort(values, kind="stable")
    cumulated = np.cumsum(weights[order])
    return float(values[order][int(np.searchsorted(cumulated, cumulated[-1] / 2))])


def minimize_convex(
    function: ValueAndGradient,
    start: Floats,
    *,
    least_gain: float = 0.0,
    max_rounds: int = MAX_ROUNDS,
) -> Floats:
    """Minimize a smooth convex function with SciPy's L-BFGS-B.

    Args:
        function: Returns value and gradient at a point.
        start: The first point.
        least_gain: Stop after a round that lowers the value by less.
        max_rounds: Stop after that many rounds in any case.

    Returns:
        The best point that was found.
    """
    from scipy.optimize import OptimizeResult, minimize

    if not len(start):
        return start
    last = np.inf

    def stop_at_small_gain(intermediate_result: OptimizeResult) -> None:
        nonlocal last
        gain, last = last - intermediate_result.fun, intermediate_result.fun
        if gain < least_gain:
            raise StopIteration

    found = minimize(
        function,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=stop_at_small_gain,
        options={"maxiter": max_rounds, "ftol": NEGLIGIBLE, "gtol": 0.0},
    )
    return np.asarray(found.x, dtype=np.float64)
