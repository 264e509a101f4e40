"""Rules as a model keeps them, read off all its states.

*b never follows a*: no b can be reached after an a. *b always follows a*: after no first a (one
that is reached without an a) the end can be reached without a b. *b always precedes a*: no a can
be reached from the beginning without a b, which is a b before the *first* a, as rules have it
everywhere here. Silent edges count as nothing. All are sets of activities that grow along edges
until nothing changes, for all pairs at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..provenance import Provenance
from ..rules import Rules
from .reachability import SILENT, Graph

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]


def rules_of_graph(graph: Graph, source: Provenance) -> Rules:
    """Read off every rule that all cases of a model keep."""
    size = len(graph.activities)
    after, later = _reachable(graph), _avoidable_after(graph)
    unmet = _avoidable_before(graph)
    never = np.ones((size, size), dtype=np.bool_)
    follows, precedes = never.copy(), never.copy()
    for activity in range(size):
        edges = graph.labels == activity
        bit = 128 >> (activity & 7)
        first = edges & ((unmet[graph.sources, activity >> 3] & bit) > 0)
        never[activity] = ~_bits(after[graph.targets[edges]], size)
        # Of what never happens nothing is demanded.
        follows[activity] = edges.any() & ~_bits(later[graph.targets[first]], size)
        precedes[activity] = edges.any() & ~_bits(unmet[graph.sources[edges]], size)
    starts, empty = _beginning(graph)
    return Rules(
        activities=graph.activities,
        never_follows=never,
        always_follows=follows,
        always_precedes=precedes,
        starts=starts,
        empty=empty,
        source=source,
    )


def _reachable(graph: Graph) -> Bytes:
    """[state]: the activities that can still happen."""
    own = _labels(graph)
    sets = np.zeros((graph.states, own.shape[1]), dtype=np.uint8)
    np.bitwise_or.at(sets, graph.sources, own)
    return _grow(sets, graph.targets, graph.sources, np.zeros_like(own), own)


def _avoidable_after(graph: Graph) -> Bytes:
    """[state]: the activities without which the end can be reached."""
    own = _labels(graph)
    sets = np.zeros((graph.states, own.shape[1]), dtype=np.uint8)
    sets[graph.ends] = 255
    return _grow(sets, graph.targets, graph.sources, own, np.zeros_like(own))


def _avoidable_before(graph: Graph) -> Bytes:
    """[state]: the activities without which the state can be reached."""
    own = _labels(graph)
    sets = np.zeros((graph.states, own.shape[1]), dtype=np.uint8)
    sets[0] = 255
    return _grow(sets, graph.sources, graph.targets, own, np.zeros_like(own))


def _grow(sets: Bytes, origins: Ints, into: Ints, without: Bytes, also: Bytes) -> Bytes:
    """Let sets of states grow along edges until nothing changes.

    An edge carries the set of its origin, without some activities and with others.
    """
    order = np.argsort(into, kind="stable")
    origins, into, without, also = origins[order], into[order], without[order], also[order]
    changed = np.ones(len(sets), dtype=np.bool_)
    while True:
        # Only what comes out of states that grew in the last round can make others grow.
        edges = np.flatnonzero(changed[origins])
        if not len(edges):
            return sets
        carried = (sets[origins[edges]] & ~without[edges]) | also[edges]
        first = np.flatnonzero(np.diff(into[edges], prepend=-1))
        states = into[edges][first]
        grown = np.bitwise_or.reduceat(carried, first, axis=0) | sets[states]
        changed[:] = False
        changed[states] = (grown != sets[states]).any(axis=1)
        sets[states] = grown


def _labels(graph: Graph) -> Bytes:
    """[edge]: its activity as a set; of a silent one, nothing."""
    size = len(graph.activities)
    table = np.concatenate([np.eye(size, dtype=np.bool_), np.zeros((1, size), dtype=np.bool_)])
    # SILENT is −1, and so the last row.
    packed: Bytes = np.packbits(table, axis=1)[graph.labels]
    return packed


def _bits(sets: Bytes, size: int) -> Bools:
    """The union of some sets, one activity a column."""
    union = np.bitwise_or.reduce(sets, axis=0) if len(sets) else np.zeros(sets.shape[1], np.uint8)
    unpacked: Bools = np.unpackbits(union)[:size].astype(np.bool_)
    return unpacked


def _beginning(graph: Graph) -> tuple[Bools, bool]:
    """Which activities begin a case, and whether one may have none."""
    here = np.zeros(graph.states, dtype=np.bool_)
    here[0] = True
    silent = graph.labels == SILENT
    before = 0
    while (found := int(here.sum())) != before:
        before = found
        here[graph.targets[silent & here[graph.sources]]] = True
    starts = np.zeros(len(graph.activities), dtype=np.bool_)
    starts[graph.labels[~silent & here[graph.sources]]] = True
    return starts, bool((graph.ends & here).any())
