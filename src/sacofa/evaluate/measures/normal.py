"""Normal behaviour: the share of released cases that a detector of outliers calls normal.

An isolation forest (Liu et al., 2008) learns from the cases of the original; what it looks at is
which activities a case has, and which activities directly follow which. Behaviour that the
original never shows cannot be learnt, but a case made of it lacks what is usual. A case without
any event is normal only where the original has such cases. Where all cases of the original look
alike, a forest has nothing to split, and normal is what shapes like them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...kernel.variants import Variant, VariantCounts
from ..extras import optional_module
from ..sequences import name_sequences

Features = NDArray[np.float32]

SEED = 0
"""The forest is the same each time, so that releases are compared by one yardstick."""
LEARNT_CASES = 100_000
"""More cases than this are thinned evenly; a tree of the forest shapes at 256 of them."""


class NormalBehaviour:
    """What is normal in one original log."""

    def __init__(self, original: VariantCounts) -> None:
        """Learn from the cases of the original."""
        sequences = name_sequences(original)
        self._empty_case_occurs = () in sequences
        shapes = {frozenset(_facts(sequence)) for sequence in sequences}
        self._only_shape = next(iter(shapes)) if len(shapes) == 1 else None
        self._columns = {fact: i for i, fact in enumerate(sorted(frozenset().union(*shapes)))}
        if self._only_shape is None:
            self._forest = optional_module("sklearn.ensemble").IsolationForest(random_state=SEED)
            rows = _every_case(np.array(list(sequences.values())))
            self._forest.fit(self._describe(list(sequences))[rows])

    def share(self, released: VariantCounts) -> float:
        """The share of the released cases that look normal; 0 for an empty release."""
        sequences = name_sequences(released)
        if not self._empty_case_occurs:
            sequences.pop((), None)
        if not sequences:
            return 0.0
        weights = np.array(list(sequences.values()))
        return float(weights[self._is_normal(list(sequences))].sum() / released.cases)

    def _is_normal(self, sequences: list[Variant]) -> NDArray[np.bool_]:
        if self._only_shape is not None:
            return np.array([frozenset(_facts(s)) == self._only_shape for s in sequences])
        normal: NDArray[np.bool_] = self._forest.predict(self._describe(sequences)) == 1
        return normal

    def _describe(self, sequences: list[Variant]) -> Features:
        features = np.zeros((len(sequences), len(self._columns)), dtype=np.float32)
        for row, sequence in enumerate(sequences):
            for fact in _facts(sequence):
                column = self._columns.get(fact)
                if column is not None:
                    features[row, column] = 1
        return features


def _every_case(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each case's variant; of a large log, an even sample."""
    cases = int(counts.sum())
    number = min(cases, LEARNT_CASES)
    places = np.arange(number, dtype=np.int64) * cases // number
    return np.searchsorted(np.cumsum(counts), places, side="right")


def _facts(sequence: Variant) -> Iterator[tuple[str, ...]]:
    """What holds of a case: its activities, and its pairs of neighbours."""
    for activity in sequence:
        yield (activity,)
    yield from pairwise(sequence)
