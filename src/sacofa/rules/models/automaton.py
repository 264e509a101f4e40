"""The language of a model as a deterministic automaton, and the cases that nearly belong to it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..graph import SILENT, Graph

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Costs = tuple[tuple[int, int], ...]
"""How few deviations lead to each state that is within reach, in the order of states."""

MAX_STATES = 20_000
"""A language with more states is not made: its rules are used instead."""
MAX_MEMBERS = 4_000_000
"""Nor one for which this many states of the model have to be looked at."""
NOWHERE = -1

State = TypeVar("State", bound=Collection[object])


class TooManyStatesError(Exception):
    """An automaton that would grow past its bound."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Automaton:
    """A deterministic automaton. State 0 is the beginning; from every state an end is reached."""

    activities: tuple[str, ...]
    """The names; an activity's id is its place here."""
    after: Ints
    """[state, activity]: the next state, or NOWHERE."""
    ends: Bools
    """[state]: whether a case may end here."""

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.ends)

    def graph(self) -> Graph:
        """The same automaton as a list of edges."""
        sources, labels = np.nonzero(self.after != NOWHERE)
        return Graph(
            activities=self.activities,
            sources=sources,
            labels=labels,
            targets=self.after[sources, labels],
            ends=self.ends,
        )

    def project_onto(self, activities: Sequence[str], closed: bool = False) -> Automaton:
        """Express over other activities.

        A step with an activity that is not among them becomes silent. Activities that the model
        does not know may happen anywhere and change nothing, or never happen if it is `closed`.
        """
        if tuple(activities) == self.activities:
            return self
        new = {name: i for i, name in enumerate(activities)}
        kept = np.array([new.get(name, SILENT) for name in self.activities], dtype=np.int64)
        graph = self.graph()
        hidden = replace(graph, activities=tuple(activities), labels=kept[graph.labels])
        small = determinize(hidden)
        after = small.after.copy()
        unknown = [i for name, i in new.items() if name not in self.activities]
        after[:, unknown] = NOWHERE if closed else np.arange(small.states)[:, None]
        return Automaton(activities=small.activities, after=after, ends=small.ends)


def determinize(graph: Graph, max_states: int = MAX_STATES) -> Automaton:
    """Make the smallest deterministic automaton with the same cases."""
    return _build(_Subsets(graph), max_states)


def deviating(automaton: Automaton, most: int, max_states: int = MAX_STATES) -> Automaton:
    """Make the automaton of all cases that differ from one of the model in a few events.

    An event more than the model has, and a step of the model that the case lacks, are one
    deviation each: the usual cost of an alignment.

    Args:
        automaton: Language of the model.
        most: Number of deviations that are allowed.
        max_states: Upper bound on the states.

    Returns:
        The automaton.

    Raises:
        TooManyStatesError: If it would have more states.
    """
    return _build(_Deviations(automaton, most), max_states) if most else automaton


class _Walk(Protocol[State]):
    """A deterministic automaton that is built as far as it is walked."""

    activities: tuple[str, ...]
    start: State

    def steps(self, state: State) -> list[State | None]:
        """Return the state after each activity; None if it cannot happen."""

    def is_end(self, state: State) -> bool:
        """Return whether a case may end."""


class _Subsets:
    """Sets of states of a graph: where a prefix may lead."""

    def __init__(self, graph: Graph) -> None:
        self.activities = graph.activities
        self._silent: list[list[int]] = [[] for _ in range(graph.states)]
        self._loud: list[list[tuple[int, int]]] = [[] for _ in range(graph.states)]
        labels, targets = graph.labels.tolist(), graph.targets.tolist()
        for source, label, target in zip(graph.sources.tolist(), labels, targets, strict=True):
            if label == SILENT:
                self._silent[source].append(target)
            else:
                self._loud[source].append((label, target))
        self._ends = set(np.flatnonzero(graph.ends).tolist())
        self.start = self._closed({0})

    def steps(self, state: frozenset[int]) -> list[frozenset[int] | None]:
        reached: list[set[int]] = [set() for _ in self.activities]
        for each in state:
            for label, target in self._loud[each]:
                reached[label].add(target)
        return [self._closed(some) if some else None for some in reached]

    def is_end(self, state: frozenset[int]) -> bool:
        return not self._ends.isdisjoint(state)

    def _closed(self, states: set[int]) -> frozenset[int]:
        """Add the states that silent edges reach."""
        todo = list(states)
        while todo:
            for target in self._silent[todo.pop()]:
                if target not in states:
                    states.add(target)
                    todo.append(target)
        return frozenset(states)


class _Deviations:
    """States of a model that a prefix may lead to, with the fewest deviations for each."""

    def __init__(self, automaton: Automaton, most: int) -> None:
        self.activities = automaton.activities
        self._most = most
        self._after: list[list[int]] = automaton.after.tolist()
        self._ends: list[bool] = automaton.ends.tolist()
        self._near = [self._skips(state) for state in range(automaton.states)]
        self.start = self._closed({0: 0})

    def steps(self, state: Costs) -> list[Costs | None]:
        return [self._step(state, activity) or None for activity in range(len(self.activities))]

    def is_end(self, state: Costs) -> bool:
        return any(self._ends[each] for each, _ in state)

    def _step(self, costs: Costs, activity: int) -> Costs:
        reached: dict[int, int] = {}
        for state, cost in costs:
            # Either the model takes the step, or the event is one too many.
            for to, total in ((self._after[state][activity], cost), (state, cost + 1)):
                if to != NOWHERE and total < reached.get(to, self._most + 1):
                    reached[to] = total
        return self._closed(reached)

    def _closed(self, costs: dict[int, int]) -> Costs:
        """Let steps of the model be skipped."""
        found: dict[int, int] = {}
        for state, cost in costs.items():
            for target, more in self._near[state]:
                if cost + more < found.get(target, self._most + 1):
                    found[target] = cost + more
        return tuple(sorted(found.items()))

    def _skips(self, start: int) -> list[tuple[int, int]]:
        """Return the states that are reached if steps are skipped, with the number of steps."""
        known, layer = {start: 0}, [start]
        for cost in range(1, self._most + 1):
            reached = {to for state in layer for to in self._after[state] if to != NOWHERE}
            layer = sorted(reached - known.keys())
            known.update(dict.fromkeys(layer, cost))
        return list(known.items())


def _build(walk: _Walk[State], max_states: int) -> Automaton:
    """Walk all states from the start, and merge those that cannot be told apart."""
    ids, todo, rows = {walk.start: 0}, [walk.start], []
    members = 0
    # The list of states grows while it is walked.
    for state in todo:
        row = []
        for reached in walk.steps(state):
            if reached is None:
                row.append(NOWHERE)
                continue
            row.append(ids.setdefault(reached, len(ids)))
            if row[-1] == len(todo):
                todo.append(reached)
                members += len(reached)
        rows.append(row)
        if len(ids) > max_states or members > MAX_MEMBERS:
            raise TooManyStatesError
    after = np.array(rows, dtype=np.int64).reshape(len(rows), len(walk.activities))
    ends = np.array([walk.is_end(state) for state in todo], dtype=np.bool_)
    return _smallest(walk.activities, after, ends)


def _smallest(activities: tuple[str, ...], after: Ints, ends: Bools) -> Automaton:
    """Merge states from which the same cases go on: refine classes until they stay (Moore)."""
    classes, number = ends.astype(np.int64), 0
    while True:
        # The class of NOWHERE, −1, is NOWHERE again.
        moved = np.append(classes, NOWHERE)[after]
        _, first, classes = np.unique(
            np.column_stack([classes, moved]), axis=0, return_index=True, return_inverse=True
        )
        classes = classes.reshape(-1)
        if len(first) == number:
            break
        number = len(first)
    # The class of the beginning comes first, the others in the order in which they were met.
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    moved = np.append(place[classes], NOWHERE)[after]
    keep = first[order]
    return Automaton(activities=activities, after=moved[keep], ends=ends[keep])
