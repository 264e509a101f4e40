"""The behaviour of a model as a graph of states, and facts about all cases of it.

Facts are sets of activities that grow along edges until nothing changes, for all states at once.
Silent edges count as nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Bitsets = NDArray[np.uint8]
"""One set of activities per row, eight activities per byte."""

SILENT = -1
"""Label of an edge without an activity."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Graph:
    """The behaviour of a model: an automaton that need not be deterministic.

    State 0 is the beginning. Every state lies on a path from there to an end.

    Attributes:
        activities: Names of activities; the id of an activity is its place here.
        sources: State in which each edge begins.
        labels: Activity of each edge, or SILENT.
        targets: State to which each edge leads.
        ends: [state]: whether a case may end there.
    """

    activities: tuple[str, ...]
    sources: Ints
    labels: Ints
    targets: Ints
    ends: Bools

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.ends)

    def closure(self, states: Bools, *, backward: bool = False, silent: bool = True) -> Bools:
        """Return the states that edges reach from some states, with those states.

        Args:
            states: [state]: where to begin.
            backward: Whether to walk against the edges.
            silent: Whether to walk along silent edges only.
        """
        sources, targets = self.sources, self.targets
        if silent:
            sources, targets = sources[self.labels == SILENT], targets[self.labels == SILENT]
        if backward:
            sources, targets = targets, sources
        reached, size = states.copy(), -1
        while (found := int(reached.sum())) != size:
            size = found
            reached[targets[reached[sources]]] = True
        return reached


class GraphFacts:
    """What holds for all cases of a graph; each fact is computed once."""

    def __init__(self, graph: Graph) -> None:
        """Take a graph."""
        self.graph = graph
        self._size = len(graph.activities)

    def never_after(self) -> Bools:
        """[a, b]: no b can be reached after an a."""
        rows = (self._union(self._later[self.graph.targets[e]]) for e in self._edges)
        return ~self._stack(rows)

    def always_after(self) -> Bools:
        """[a, b]: after no first a can the end be reached without a b."""
        graph, avoidable = self.graph, self._avoidable_after
        rows = []
        for activity, edges in enumerate(self._edges):
            # A first a begins in a state that can be reached without any a.
            bit = 128 >> (activity & 7)
            begins = (self._avoidable_before[graph.sources[edges], activity >> 3] & bit) > 0
            row = ~self._union(avoidable[graph.targets[edges[begins]]])
            # Nothing is demanded of an activity that never happens.
            rows.append(row & bool(len(edges)))
        return self._stack(rows)

    def always_before(self) -> Bools:
        """[a, b]: no a can be reached from the beginning without a b."""
        unmet = self._avoidable_before
        return self._stack(
            ~self._union(unmet[self.graph.sources[edges]]) & bool(len(edges))
            for edges in self._edges
        )

    def first(self) -> Bools:
        """[a]: a case may begin with a."""
        firsts = np.zeros(self._size, dtype=np.bool_)
        labels = self.graph.labels[self._beginning[self.graph.sources]]
        firsts[labels[labels != SILENT]] = True
        return firsts

    def last(self) -> Bools:
        """[a]: a case may end with a."""
        lasts = np.zeros(self._size, dtype=np.bool_)
        ending = self.graph.closure(self.graph.ends, backward=True)
        labels = self.graph.labels[ending[self.graph.targets]]
        lasts[labels[labels != SILENT]] = True
        return lasts

    def empty(self) -> bool:
        """Return whether a case may have no activity."""
        return bool((self.graph.ends & self._beginning).any())

    @cached_property
    def _edges(self) -> list[Ints]:
        """[a]: the edges of activity a."""
        return [np.flatnonzero(self.graph.labels == a) for a in range(self._size)]

    @cached_property
    def _beginning(self) -> Bools:
        return self.graph.closure(np.arange(self.graph.states) == 0)

    @cached_property
    def _own(self) -> Bitsets:
        """[edge]: its activity as a set; the empty set for a silent edge."""
        size = self._size
        table = np.concatenate([np.eye(size, dtype=np.bool_), np.zeros((1, size), dtype=np.bool_)])
        # SILENT is −1, and therefore the last row.
        packed: Bitsets = np.packbits(table, axis=1)[self.graph.labels]
        return packed

    @cached_property
    def _later(self) -> Bitsets:
        """[state]: the activities that can still happen."""
        graph, own = self.graph, self._own
        sets = self._empty_sets()
        np.bitwise_or.at(sets, graph.sources, own)
        return _grow(sets, graph.targets, graph.sources, np.zeros_like(own), own)

    @cached_property
    def _avoidable_after(self) -> Bitsets:
        """[state]: the activities without which the end can be reached."""
        graph, own = self.graph, self._own
        sets = self._empty_sets()
        sets[graph.ends] = 255
        return _grow(sets, graph.targets, graph.sources, own, np.zeros_like(own))

    @cached_property
    def _avoidable_before(self) -> Bitsets:
        """[state]: the activities without which the state can be reached."""
        graph, own = self.graph, self._own
        sets = self._empty_sets()
        sets[0] = 255
        return _grow(sets, graph.sources, graph.targets, own, np.zeros_like(own))

    def _empty_sets(self) -> Bitsets:
        return np.zeros((self.graph.states, self._own.shape[1]), dtype=np.uint8)

    def _union(self, sets: Bitsets) -> Bools:
        """The union of some sets as one row with a column per activity."""
        union = np.bitwise_or.reduce(sets, axis=0)
        unpacked: Bools = np.unpackbits(union)[: self._size].astype(np.bool_)
        return unpacked

    def _stack(self, rows: Iterable[Bools]) -> Bools:
        return np.array(list(rows), dtype=np.bool_).reshape(self._size, self._size)


def _grow(sets: Bitsets, origins: Ints, into: Ints, without: Bitsets, added: Bitsets) -> Bitsets:
    """Let sets of states grow along edges until nothing changes.

    An edge carries the set of its origin, without some activities and with others.
    """
    order = np.argsort(into, kind="stable")
    origins, into, without, added = origins[order], into[order], without[order], added[order]
    changed = np.ones(len(sets), dtype=np.bool_)
    while True:
        # Only edges out of states that grew in the last round can make others grow.
        edges = np.flatnonzero(changed[origins])
        if not len(edges):
            return sets
        carried = (sets[origins[edges]] & ~without[edges]) | added[edges]
        first = np.flatnonzero(np.diff(into[edges], prepend=-1))
        states = into[edges][first]
        grown = np.bitwise_or.reduceat(carried, first, axis=0) | sets[states]
        changed[:] = False
        changed[states] = (grown != sets[states]).any(axis=1)
        sets[states] = grown
