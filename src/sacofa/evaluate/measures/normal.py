"""Normal behaviour: the share of released cases that a detector of outliers calls normal.

An isolation forest (Liu et al., 2008) learns from the cases of the original which activities a case
has, and which activities directly follow which. Behaviour that the original never shows cannot be
learned, but a case made of it lacks what is usual. A case without any event is normal only if the
original has such cases. If all cases of the original have the same features, a forest has nothing
to split, and cases with these features are normal.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...kernel.variants import Variant, VariantCounts
from ..extras import optional_module
from .flow import name_sequences

SEED = 0
"""The forest is the same each time, so that releases are compared by one yardstick."""
LEARNT_CASES = 100_000
"""More cases than this are thinned evenly; a tree of the forest uses 256 of them."""


class NormalBehaviour:
    """What is normal in one original log."""

    def __init__(self, original: VariantCounts) -> None:
        """Learn from the cases of the original."""
        sequences = name_sequences(original)
        self._empty_case_occurs = () in sequences
        shapes = {_facts(sequence) for sequence in sequences}
        self._only_shape = next(iter(shapes)) if len(shapes) == 1 else None
        self._columns = {fact: i for i, fact in enumerate(sorted(frozenset().union(*shapes)))}
        if self._only_shape is None:
            self._forest = optional_module("sklearn.ensemble").IsolationForest(random_state=SEED)
            cases = original.cases
            number = min(cases, LEARNT_CASES)
            places = np.arange(number, dtype=np.int64) * cases // number
            rows = np.cumsum([*sequences.values()]).searchsorted(places, side="right")
            self._forest.fit(self._describe([*sequences])[rows])

    def share(self, released: VariantCounts) -> float:
        """The share of the released cases that look normal; 0 for an empty release."""
        sequences = name_sequences(released)
        if not self._empty_case_occurs:
            sequences.pop((), None)
        if not sequences:
            return 0.0
        if self._only_shape is not None:
            normal = np.array([_facts(sequence) == self._only_shape for sequence in sequences])
        else:
            normal = self._forest.predict(self._describe([*sequences])) == 1
        return float(np.array([*sequences.values()])[normal].sum() / released.cases)

    def _describe(self, sequences: list[Variant]) -> NDArray[np.float32]:
        features = np.zeros((len(sequences), len(self._columns)), dtype=np.float32)
        for row, sequence in enumerate(sequences):
            known = [self._columns[fact] for fact in _facts(sequence) if fact in self._columns]
            features[row, known] = 1
        return features


def _facts(sequence: Variant) -> frozenset[tuple[str, ...]]:
    """The features of a case: its activities, and its directly-follows pairs."""
    return frozenset((*((activity,) for activity in sequence), *pairwise(sequence)))
