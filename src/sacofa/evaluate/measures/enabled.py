"""Which activities a model allows next, through any silent transitions first.

pm4py answers this for the marking of every prefix by a search over markings that can take
minutes on models with many silent transitions. Here the same search runs on bit sets, and stops
as soon as it has found all that a cheap upper bound allows, which is nearly always at once.

The search is kept as pm4py's, because its figures are what others compare with: transitions are
visited in the order they were found, each at the marking where it was *last* found, so that now and
then it overlooks an activity. A search that still goes on after LIMIT visits is given up for the
upper bound, so that no model takes for ever.
"""

from __future__ import annotations

from typing import Any

from ..extras import optional_module
from .model import Model

LIMIT = 20_000
"""Some ten times as many visits as were ever needed on the paper's logs."""


class AllowedNext:
    """The activities that a model allows next, for each marking."""

    def __init__(self, model: Model) -> None:
        """Number the places and transitions of the model."""
        self._net = model.net
        transitions = sorted(model.net.transitions, key=lambda t: str(t.name))
        self._bits = {place: 1 << i for i, place in enumerate(model.net.places)}
        self._labels: list[str | None] = [t.label for t in transitions]
        self._takes = [self._mask(arc.source for arc in t.in_arcs) for t in transitions]
        self._gives = [self._mask(arc.target for arc in t.out_arcs) for t in transitions]

    def __call__(self, marking: Any) -> frozenset[str]:
        """List the activities that a marking allows next."""
        if any(tokens != 1 for tokens in marking.values()):
            # Bit sets hold one token a place: all that models of the Inductive Miner ever have.
            search = optional_module("pm4py.objects.petri_net.utils.align_utils")
            found = search.get_visible_transitions_eventually_enabled_by_marking(self._net, marking)
            return frozenset(t.label for t in found)
        return self._search(self._mask(marking))

    def _search(self, start: int) -> frozenset[str]:
        bound = self._bound(start)
        found: set[str] = set()
        visited: set[tuple[int, int]] = set()
        queue = self._enabled(start)
        last_found_at = dict.fromkeys(queue, start)
        for t in queue:  # grows while it is walked
            if len(visited) == LIMIT:
                return bound
            marking = last_found_at[t]
            if (t, marking) in visited:
                continue
            visited.add((t, marking))
            label = self._labels[t]
            if label is not None:
                found.add(label)
                if len(found) == len(bound):
                    break
                continue
            after = marking & ~self._takes[t] | self._gives[t]
            enabled = self._enabled(after)
            queue += enabled
            last_found_at.update(dict.fromkeys(enabled, after))
        return frozenset(found)

    def _bound(self, marking: int) -> frozenset[str]:
        """List what would be allowed if silent transitions took no tokens: never too few."""
        marked, before = marking, 0
        while marked != before:
            before = marked
            for t in self._enabled(marked):
                if self._labels[t] is None:
                    marked |= self._gives[t]
        labels = (self._labels[t] for t in self._enabled(marked))
        return frozenset(label for label in labels if label is not None)

    def _enabled(self, marking: int) -> list[int]:
        return [t for t, takes in enumerate(self._takes) if takes & marking == takes]

    def _mask(self, places: Any) -> int:
        return sum(self._bits[place] for place in places)
