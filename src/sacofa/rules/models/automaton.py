"""The language of a model as a deterministic automaton, and the cases that nearly belong to it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

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
        labels = kept[graph.labels]
        hidden = Graph(
            activities=tuple(activities),
            sources=graph.sources,
            labels=labels,
            targets=graph.targets,
            ends=graph.ends,
        )
        small = determinize(hidden)
        after = small.after.copy()
        unknown = [i for name, i in new.items() if name not in self.activities]
        after[:, unknown] = NOWHERE if closed else np.arange(small.states)[:, None]
        return Automaton(activities=small.activities, after=after, ends=small.ends)


def determinize(graph: Graph, max_states: int = MAX_STATES) -> Automaton:
    """Make the smallest deterministic automaton with the same cases."""
    size = len(graph.activities)
    silent: list[list[int]] = [[] for _ in range(graph.states)]
    loud: list[list[tuple[int, int]]] = [[] for _ in range(graph.states)]
    edges = zip(graph.sources.tolist(), graph.labels.tolist(), graph.targets.tolist(), strict=True)
    for source, label, target in edges:
        if label == SILENT:
            silent[source].append(target)
        else:
            loud[source].append((label, target))

    def closed(states: set[int]) -> frozenset[int]:
        todo = list(states)
        while todo:
            for target in silent[todo.pop()]:
                if target not in states:
                    states.add(target)
                    todo.append(target)
        return frozenset(states)

    def steps(states: frozenset[int]) -> list[frozenset[int] | None]:
        reached: list[set[int]] = [set() for _ in range(size)]
        for state in states:
            for label, target in loud[state]:
                reached[label].add(target)
        return [closed(some) if some else None for some in reached]

    ends = set(np.flatnonzero(graph.ends).tolist())
    return _build(
        graph.activities,
        closed({0}),
        steps,
        lambda states: not ends.isdisjoint(states),
        max_states,
    )


def deviating(automaton: Automaton, most: int, max_states: int = MAX_STATES) -> Automaton:
    """Make the automaton of all cases that differ from one of the model in at most so many events.

    An event more than the model has, and a step of the model that the case lacks, are one
    deviation each: the usual price of an alignment.
    """
    if not most:
        return automaton
    after = automaton.after.tolist()
    near = [_skips(after, state, most) for state in range(automaton.states)]

    def closed(costs: dict[int, int]) -> Costs:
        found: dict[int, int] = {}
        for state, cost in costs.items():
            for target, more in near[state]:
                total = cost + more
                if total <= most and total < found.get(target, most + 1):
                    found[target] = total
        return tuple(sorted(found.items()))

    def steps(costs: Costs) -> list[Costs | None]:
        result: list[Costs | None] = []
        for activity in range(len(automaton.activities)):
            reached: dict[int, int] = {}
            for state, cost in costs:
                target = after[state][activity]
                for to, total in ((target, cost), (state, cost + 1)):
                    if to != NOWHERE and total < reached.get(to, most + 1):
                        reached[to] = total
            result.append(closed(reached) or None)
        return result

    ends = automaton.ends.tolist()
    return _build(
        automaton.activities,
        closed({0: 0}),
        steps,
        lambda costs: any(ends[state] for state, _ in costs),
        max_states,
    )


def _skips(after: list[list[int]], start: int, most: int) -> list[tuple[int, int]]:
    """The states within reach of a state when so many steps may be skipped, with how many."""
    known, layer = {start: 0}, [start]
    for cost in range(1, most + 1):
        reached = {to for state in layer for to in after[state] if to != NOWHERE}
        layer = sorted(reached - known.keys())
        known.update(dict.fromkeys(layer, cost))
    return list(known.items())


def _build(
    activities: tuple[str, ...],
    start: State,
    steps: Callable[[State], list[State | None]],
    is_end: Callable[[State], bool],
    max_states: int,
) -> Automaton:
    """Walk all states from the start, and merge those that cannot be told apart."""
    ids, todo, rows = {start: 0}, [start], []
    members = 0
    for state in todo:
        row = []
        for reached in steps(state):
            if reached is None:
                row.append(NOWHERE)
                continue
            known = len(ids)
            row.append(ids.setdefault(reached, known))
            if row[-1] == known:
                todo.append(reached)
                members += len(reached)
        rows.append(row)
        if len(ids) > max_states or members > MAX_MEMBERS:
            raise TooManyStatesError
    after = np.array(rows, dtype=np.int64).reshape(len(rows), len(activities))
    return _smallest(activities, after, np.array([is_end(s) for s in todo], dtype=np.bool_))


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
