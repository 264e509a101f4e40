"""Chi-square tests on draws: do they fit a distribution, and do two sets of draws agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np
from scipy import stats

FITS = 1e-4
"""A right distribution gives a smaller p-value once in ten thousand seeds; seeds are fixed."""
FITS_UNSEEDED = 1e-7
"""The same for draws whose seed cannot be fixed: once in ten million runs."""
REJECTED = 1e-12
"""A wrong distribution must be rejected beyond any doubt."""


def fit(values: Iterable[int], chance: Callable[[int], float], low: int, high: int) -> float:
    """The p-value of draws under a distribution; values outside low … high are one cell each."""
    drawn = np.asarray(list(values))
    inner = np.arange(low, high + 1)
    expected = np.array([chance(int(x)) for x in inner]) * len(drawn)
    observed = np.array([(drawn == x).sum() for x in inner], dtype=float)
    rest = len(drawn) - expected.sum()
    if rest > 5:
        expected = np.append(expected, rest)
        observed = np.append(observed, len(drawn) - observed.sum())
    else:
        expected *= observed.sum() / expected.sum()
    return float(stats.chisquare(*_pool(observed, expected)).pvalue)


def agree(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """The p-value of two sets of draws under the hypothesis that both have one distribution."""
    a, b = Counter(first), Counter(second)
    common = [key for key, n in (a + b).items() if n >= 20]
    table = np.array([[a[key] for key in common], [b[key] for key in common]])
    rare = np.array([[len(first)], [len(second)]]) - table.sum(axis=1, keepdims=True)
    if rare.sum() >= 20:
        table = np.hstack([table, rare])
    return float(stats.chi2_contingency(table).pvalue)


def _pool(observed: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Put cells with few expected draws together."""
    few = expected < 5
    if few.sum() < 1:
        return observed, expected
    return (
        np.append(observed[~few], observed[few].sum()),
        np.append(expected[~few], expected[few].sum()),
    )
