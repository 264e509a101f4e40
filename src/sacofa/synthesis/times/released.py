"""Released cases with times."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .ask import ReleasedFlow
from .courses import spread_places

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ReleasedTimes:
    """Released cases with times; those of a variant are together, variants in their order."""

    variant: Ints
    """The variant of each case."""
    offsets: Ints
    """Case i has the events offsets[i] … offsets[i + 1] − 1."""
    flow: ReleasedFlow
    """The variants."""
    times: Ints
    """Microseconds since 1970 (UTC) of each event; never less than those of the event before."""
    starts: Ints | None = None
    """When the work on each event began; None where that was not asked."""

    @cached_property
    def activity_ids(self) -> NDArray[np.int32]:
        """The activities of all events, end to end."""
        begins, lengths = self.flow.offsets[:-1][self.variant], self.flow.lengths[self.variant]
        return self.flow.ids[spread_places(begins, lengths)].astype(np.int32)

    @property
    def begins_case(self) -> NDArray[np.bool_]:
        """Whether each event is the first of its case."""
        first = np.zeros(len(self.times), dtype=np.bool_)
        first[self.offsets[:-1][np.diff(self.offsets) > 0]] = True
        return first
