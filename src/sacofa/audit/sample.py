"""What was seen in many runs, value by value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from .views import Feature

Ints = NDArray[np.int64]
Sides = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What was seen in many runs."""

    sides: Sides
    """Which runs were on the larger log."""
    columns: Mapping[Feature, tuple[Ints, Ints]]
    """Of each feature, the runs that had it and its value there."""

    @classmethod
    def join(cls, parts: Iterable[Sample]) -> Sample:
        """Put samples end to end."""
        parts = list(parts)
        starts = list(accumulate((len(part.sides) for part in parts), initial=0))
        found: dict[Feature, list[tuple[Ints, Ints]]] = {}
        for start, part in zip(starts, parts, strict=False):
            for feature, (runs, values) in part.columns.items():
                found.setdefault(feature, []).append((runs + start, values))
        return cls(
            sides=np.concatenate([part.sides for part in parts]),
            columns={
                feature: (
                    np.concatenate([r for r, _ in some]),
                    np.concatenate([v for _, v in some]),
                )
                for feature, some in found.items()
            },
        )
