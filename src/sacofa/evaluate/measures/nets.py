"""Petri nets of pm4py, and the activities that one allows next, after any silent transitions.

pm4py answers this for the marking of every prefix by a search over markings that can take minutes
on models with many silent transitions. Here the same search runs on bit sets, and stops as soon as
it has found everything that a cheap upper bound allows, which is nearly always at once.

The search gives pm4py's figures, because others compare with those: transitions are visited in the
order in which they were found, each at the marking where it was *last* found, so that now and then
it misses an activity. After MAX_VISITS visits the upper bound is returned, so that every search
ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..extras import optional_module

MAX_VISITS = 20_000
"""About ten times the visits that the paper's logs ever needed."""

Marking = Mapping[object, int]
"""The number of tokens on each place."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """A Petri net of pm4py with its initial and final marking."""

    net: Any
    initial: Marking
    final: Marking


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

    def __call__(self, marking: Marking) -> frozenset[str]:
        """Return the activities that a marking allows next."""
        if any(tokens != 1 for tokens in marking.values()):
            # Bit sets hold one token per place: models of the Inductive Miner never have more.
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
            if len(visited) == MAX_VISITS:
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
        """Return an upper bound: the activities if silent transitions took no tokens."""
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

    def _mask(self, places: Iterable[object]) -> int:
        return sum(self._bits[place] for place in places)
