"""All rows of a table, each read by itself and beside all others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .shape import Prior, estimate
from .tuning import TUNING

Floats = NDArray[np.float64]


def estimate_rows(
    seen: Floats,
    many: Floats,
    noise: float,
    ordered: int,
    *,
    lean: float = 1.0,
    decides: bool = False,
) -> tuple[Floats, float]:
    """The shares of every row, with all rows together to fall back on; and the cost of it.

    Where the cost `decides` which rows there are, one look is enough, and none may be empty.
    """
    passes = 1 if decides else TUNING.row_passes
    whole, cost_of_all = estimate(
        seen[many > 0].sum(axis=0),
        float(many.sum()),
        noise * np.sqrt(max(int((many > 0).sum()), 1)),
        Prior(ordered=ordered, factors=TUNING.rare_factors if decides else TUNING.near_factors),
    )
    shares = np.tile(whole, (len(seen), 1))
    if (many > 0).sum() <= 1:
        # All cases are in it, and how many that are is known.
        own = np.flatnonzero(many > 0)
        rest = float(np.abs(np.delete(seen, own, axis=0)).sum()) / noise
        return shares, rest + cost_of_all
    cost = 0.0
    for again in range(passes):
        cost = 0.0
        prior = Prior(
            parent=whole,
            ordered=ordered,
            factors=TUNING.rough_factors,
            lean=lean,
            may_be_empty=not decides,
        )
        for row in range(len(seen)):
            if many[row] > 0:
                shares[row], one = estimate(seen[row], float(many[row]), noise, prior)
            else:
                one = float(np.abs(seen[row]).sum()) / noise
            cost += one
        if again < passes - 1 and many.sum() > 0:
            # What rows say one by one is less noisy than their sum.
            whole = many @ shares / many.sum()
    shares[many <= 0] = whole
    return shares, cost
