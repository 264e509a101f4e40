"""The behaviour of a model as a graph of states, its rules and its language."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..kinds import Bools, Facts, Ints
from ..provenance import Provenance
from ..rules import Rules, rules_of

Costs = frozenset[tuple[int, int]]
"""States that a prefix may lead to, with the fewest deviations for each."""
Out = Mapping[int, Sequence[tuple[int, int]]]
"""[state]: label and target of each edge that leaves it."""

SILENT = -1
"""Label of an edge without an activity."""
NOWHERE = -1
HARMFUL = 0
"""State of every prefix that left the language of a model."""
MAX_STATES = 20_000
"""Upper bound on the states of a language; a larger one is replaced by its rules."""
MAX_MEMBERS = 4_000_000
"""Upper bound on the states of the model that are visited to build it."""


class TooManyStatesError(Exception):
    """An automaton that would grow past its bound."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Graph:
    """An automaton that need not be deterministic.

    State 0 is the beginning. Every state lies on a path from there to an end.
    """

    activities: tuple[str, ...]
    """The names; an activity's id is its place here."""
    edges: Sequence[tuple[int, int, int]]
    """The state in which each edge begins, its activity or SILENT, and the state it leads to."""
    ends: Sequence[bool]
    """[state]: whether a case may end there."""


def rules_of_graph(graph: Graph | Automaton, source: Provenance) -> Rules:
    """Return every rule that all cases of a graph keep."""
    size, states = len(graph.activities), len(graph.ends)
    # A set of activities is a whole number with a bit for each. The last bit is for all of them:
    # what can be avoided with it is reached without any activity.
    everything = (2 << size) - 1
    later = _grow(graph, [0] * states, backward=True, adds=True)
    before = _grow(graph, [everything] + [0] * (states - 1))
    after = _grow(graph, [everything * bool(end) for end in graph.ends], backward=True)
    followed, not_followed, not_preceded = ([0] * size for _ in range(3))
    seen, first, last = np.zeros((3, size), dtype=np.bool_)
    for origin, a, target in graph.edges:
        if a != SILENT:
            seen[a] = True
            first[a] |= before[origin] >> size & 1
            last[a] |= after[target] >> size & 1
            followed[a] |= later[target]
            not_preceded[a] |= before[origin]
            # A first a begins in a state that can be reached without any a.
            not_followed[a] |= after[target] * (before[origin] >> a & 1)
    has_after, no_after, no_before = (
        np.array([[r >> b & 1 for b in range(size)] for r in rows], np.bool_).reshape(size, size)
        for rows in (followed, not_followed, not_preceded)
    )
    facts = Facts(seen, seen, has_after, no_after, no_before, first, last)
    empty = any(end and reached >> size for end, reached in zip(graph.ends, before, strict=True))
    return rules_of(graph.activities, facts, empty, source)


def _grow(
    graph: Graph | Automaton, sets: list[int], *, backward: bool = False, adds: bool = False
) -> list[int]:
    """Let the sets of states grow along edges until nothing changes.

    An edge adds its activity to the sets that it passes on, or else removes it.
    """
    size = len(graph.activities)
    bits = [1 << a | 1 << size for a in range(size)] + [0]
    edges = [(target, a, source) for source, a, target in reversed(graph.edges)]
    # States are numbered as they are found, so that most sets grow in the first round.
    grows = True
    while grows:
        grows = False
        for origin, a, into in edges if backward else graph.edges:
            passed = sets[origin] | bits[a] if adds else sets[origin] & ~bits[a]
            if passed & ~sets[into]:
                sets[into] |= passed
                grows = True
    return sets


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

    @cached_property
    def edges(self) -> Sequence[tuple[int, int, int]]:
        """The state in which each edge begins, its activity, and the state it leads to."""
        sources, labels = np.nonzero(self.after != NOWHERE)
        columns = (sources, labels, self.after[sources, labels])
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def project_onto(self, activities: Sequence[str], closed: bool = False) -> Automaton:
        """Express over other activities.

        A step with an activity that is not among them becomes silent. Activities that the model
        does not know may happen anywhere and change nothing, or never happen if it is `closed`.
        """
        if tuple(activities) == self.activities:
            return self
        new = {name: i for i, name in enumerate(activities)}
        kept = [new.get(name, SILENT) for name in self.activities]
        edges = [(source, kept[label], target) for source, label, target in self.edges]
        graph = Graph(activities=tuple(activities), edges=edges, ends=self.ends.tolist())
        small = determinize(graph)
        after = small.after.copy()
        unknown = [i for name, i in new.items() if name not in self.activities]
        after[:, unknown] = NOWHERE if closed else np.arange(small.states)[:, None]
        return replace(small, after=after)


def determinize(
    graph: Graph | Automaton, deviations: int = 0, max_states: int = MAX_STATES
) -> Automaton:
    """Make the smallest deterministic automaton of all cases that nearly belong to a graph.

    An event more than the graph has, and a step of the graph that the case lacks, are one
    deviation each: the usual cost of an alignment.

    Args:
        graph: Behaviour of the model.
        deviations: Number of deviations that are allowed.
        max_states: Upper bound on the states.

    Returns:
        The automaton.

    Raises:
        TooManyStatesError: If it would have more states.
    """
    out: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for source, label, target in graph.edges:
        out[source].append((label, target))
    start = _close(out, {0: 0}, deviations)
    ids, todo, rows, members = {start: 0}, [start], [], 0
    # The list of states grows while it is walked.
    for state in todo:
        row = []
        for costs in _step(out, state, len(graph.activities), deviations):
            reached = _close(out, costs, deviations)
            row.append(ids.setdefault(reached, len(ids)) if reached else NOWHERE)
            if row[-1] == len(todo):
                todo.append(reached)
                members += len(reached)
        rows.append(row)
        if len(ids) > max_states or members > MAX_MEMBERS:
            raise TooManyStatesError
    after = np.array(rows, dtype=np.int64).reshape(len(rows), len(graph.activities))
    ends = np.array([any(graph.ends[each] for each, _ in state) for state in todo], dtype=np.bool_)
    return _smallest(graph.activities, after, ends)


def _step(out: Out, state: Costs, activities: int, deviations: int) -> list[dict[int, int]]:
    """Let each activity happen; return the states that are reached, before silent steps."""
    reached: list[dict[int, int]] = [{} for _ in range(activities)]
    for each, cost in state:
        for label, target in out[each]:
            if label != SILENT and cost <= reached[label].get(target, deviations):
                reached[label][target] = cost
        if cost < deviations:
            # The event may be one too many.
            for costs in reached:
                costs[each] = min(cost + 1, costs.get(each, deviations))
    return reached


def _close(out: Out, costs: dict[int, int], deviations: int) -> Costs:
    """Let silent steps happen, and others be skipped at the cost of a deviation."""
    todo = list(costs)
    for state in todo:
        for label, target in out[state]:
            cost = costs[state] + (label != SILENT)
            if cost < costs.get(target, deviations + 1):
                costs[target] = cost
                todo.append(target)
    return frozenset(costs.items())


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


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelRules(Rules):
    """Rules with the whole language of a model; their tables are the rules that all its cases keep.

    Attributes:
        model: Language of the model.
        allowed: Language of the harmless cases: with deviations, larger than the model's.
        deviations: Number of events by which a harmless case may differ from one of the model.
    """

    model: Automaton
    allowed: Automaton
    deviations: int

    @classmethod
    def of(cls, model: Automaton, deviations: int, source: Provenance) -> ModelRules:
        """Make rules from the language of a model, and the deviations that are allowed."""
        allowed = determinize(model, deviations) if deviations else model
        facts = rules_of_graph(allowed, source)
        return cls(**vars(facts), model=model, allowed=allowed, deviations=deviations)

    def project_onto(self, activities: Sequence[str], closed: bool = False) -> Rules:
        """Express the language over other activities; its rules alone if it becomes too large."""
        if tuple(activities) == self.activities:
            return self
        try:
            model = self.model.project_onto(activities, closed)
            return ModelRules.of(model, self.deviations, self.source)
        except TooManyStatesError:
            return super().project_onto(activities, closed)

    def possible_steps(self) -> Bools:
        """Return whether b may directly follow a: [a, b], with the start last and the end last."""
        allowed, size = self.allowed, len(self.activities)
        into = np.zeros((allowed.states, size + 1), dtype=np.float32)
        sources, labels = np.nonzero(allowed.after != NOWHERE)
        into[allowed.after[sources, labels], labels] = 1
        into[0, size] = 1
        out = np.column_stack([allowed.after != NOWHERE, allowed.ends])
        return (into.T @ out.astype(np.float32)) > 0


class ModelStates:
    """Semantics of the language of a model."""

    def __init__(self, rules: ModelRules) -> None:
        self.rules = rules
        allowed = rules.allowed
        # A row for HARMFUL comes first; NOWHERE is −1, so that it becomes HARMFUL.
        self._next: Ints = np.pad(allowed.after + 1, ((1, 0), (0, 0)))
        self._allowed = np.column_stack([self._next > HARMFUL, np.append(False, allowed.ends)])

    @property
    def activities(self) -> tuple[str, ...]:
        """Names of activities; the id of an activity is its place here."""
        return self.rules.activities

    def start(self) -> int:
        """Return the state of the empty prefix."""
        return HARMFUL + 1

    def harmless(self, states: Ints) -> Bools:
        """Return which next steps are harmless: a column per activity, the last for the end."""
        return self._allowed[states]

    def step(self, states: Ints, activities: Ints) -> Ints:
        """Return the state after one more activity, for each pair; HARMFUL after a harmful one."""
        return self._next[states, activities]

    def violations(self, prefix: Sequence[int], finished: bool) -> int:
        """Return the number of deviations of a prefix beyond those that are allowed.

        It is the cost of the best alignment with a case of the model, or with the beginning of one
        if the prefix is not finished.
        """
        model = self.rules.model
        sources, labels, targets = np.array(model.edges, dtype=np.int64).reshape(-1, 3).T
        costs = np.full(model.states, len(prefix) + model.states + 1, dtype=np.int64)
        costs[0] = 0
        for activity in (NOWHERE, *prefix):
            # The event is one too many, or a step of the model.
            moved, here = costs + (activity != NOWHERE), labels == activity
            np.minimum.at(moved, targets[here], costs[sources[here]])
            # Steps of the model are skipped at the cost of one deviation each.
            while True:
                costs = moved.copy()
                np.minimum.at(moved, targets, costs[sources] + 1)
                if np.array_equal(moved, costs):
                    break
        best = costs[model.ends].min() if finished else costs.min()
        return max(0, int(best) - self.rules.deviations)
