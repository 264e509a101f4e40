"""The prefixes of a log, counted one length at a time and only where they are still wanted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernel.variants import VariantCounts

Ints = NDArray[np.int64]
NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class NextSteps:
    """How many cases take each next step after some prefixes, and how many end there.

    One case adds 1 to at most one step or one end of one length, so the counts of one length,
    steps and ends taken together, have sensitivity 1.
    """

    rows: Ints
    """The prefix that each step goes on from, in ascending order."""
    activities: Ints
    """The activity of each step, ascending for each prefix."""
    counts: Ints
    """How many cases take each step: never 0."""
    ending: Ints
    """How many cases end at each prefix."""
    takers: Ints
    """The variants that go on, longest known prefix by prefix."""
    step_of: Ints
    """The place of the step that each of these variants takes."""


class Prefixes:
    """The variants of a log, sorted by which of some prefixes they begin with."""

    def __init__(self, variants: VariantCounts) -> None:
        """Begin with the empty prefix, which every case has."""
        self._variants = variants
        self._length = 0
        self._members = np.arange(len(variants))
        self._rows = np.zeros(len(variants), dtype=np.int64)
        self._number = 1

    def next_steps(self) -> NextSteps:
        """Count the cases that take each next step after the current prefixes, or end."""
        variants = self._variants
        # Only variants that begin with a wanted prefix are left among the members.
        longer = variants.offsets[self._members + 1] - variants.offsets[self._members]
        goes_on = longer > self._length
        # A truncated variant neither goes on nor ends: how it went on is unknown.
        ends = ~goes_on & variants.complete[self._members]
        ending = _add_up(self._rows[ends], variants.counts[self._members[ends]], self._number)
        takers = self._members[goes_on]
        if not len(takers):
            return NextSteps(
                rows=NONE, activities=NONE, counts=NONE, ending=ending, takers=NONE, step_of=NONE
            )
        number = len(variants.activities)
        step = variants.activity_ids[variants.offsets[takers] + self._length]
        # One number for prefix and activity, so that one sort groups the steps.
        keys, step_of = np.unique(self._rows[goes_on] * number + step, return_inverse=True)
        counts = _add_up(step_of, variants.counts[takers], len(keys))
        rows, activities = np.divmod(keys, number)
        return NextSteps(
            rows=rows, activities=activities, counts=counts, ending=ending, takers=takers,
            step_of=step_of,
        )  # fmt: skip

    def keep(self, steps: NextSteps, taken: Ints, number: int) -> None:
        """Go on with some prefixes of one length more.

        `taken` says for each of them which step it is, or -1 where no case takes it.
        """
        # From the place of a step to the row of the prefix it leads to; -1 where that was dropped.
        row_of = np.full(len(steps.counts), -1, dtype=np.int64)
        real = taken >= 0
        row_of[taken[real]] = np.flatnonzero(real)
        rows = row_of[steps.step_of]
        self._members, self._rows = steps.takers[rows >= 0], rows[rows >= 0]
        self._length += 1
        self._number = number


def _add_up(places: Ints, counts: Ints, size: int) -> Ints:
    """Add counts up by place, in whole numbers."""
    # bincount with weights would add floats, which lose counts above 2^53.
    totals = np.zeros(size, dtype=np.int64)
    np.add.at(totals, places, counts)
    return totals
