"""All states that a net can be in, with a bound: the behaviour of a model, exactly.

A state is a marking. It is kept as one whole number with a few bits for each place, so that asking
whether a step is possible, and taking it, is arithmetic on whole numbers. A model is refused if it
is not *sound*: if some case can get stuck, if an activity can never happen, or if tokens pile up.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ...errors import RulesError
from ..graph import SILENT, Graph
from .net import RUNNING, Net, Transition

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MAX_STATES = 100_000
"""A model with more states is refused, unless somebody allows more."""
EDGES = 20
"""More edges than so many for each allowed state are refused too."""
BITS = 5
"""The bits of a place: four for its tokens, one that must stay clear."""
MAX_TOKENS = (1 << (BITS - 1)) - 1
"""More tokens than that on one place count as without end."""
ALWAYS = -1
ROOM = 1 << 31
"""The bits of all markings together."""
LONGEST_TRACE = 8
"""A message shows the last so many activities on the way to where a model gets stuck."""


def explore(net: Net, max_states: int = MAX_STATES) -> Graph:
    """Find all states of a net and check that it is sound."""
    return _Exploration(net, max_states).graph()


class _Step:
    """A transition as arithmetic on markings."""

    def __init__(self, transition: Transition, label: int, clears: int, empty: int) -> None:
        self.label = label
        self.takes = _number(transition.takes)
        self.gives = _number(transition.gives)
        self.keeps = ~clears
        self.empty = empty
        self.happens = False
        self.immediate = transition.immediate


class _Exploration:
    """The states of a net in the finding."""

    def __init__(self, net: Net, max_states: int) -> None:
        self.net = net
        self.max_states = min(max_states, ROOM // (BITS * len(net.places) + 1))
        ids = {name: i for i, name in enumerate(net.labels)}
        # One bit of each place catches what is taken too often, and what is given too often.
        self.guard = _number(range(len(net.places))) << (BITS - 1)
        self.order = sorted(net.transitions, key=lambda t: not t.immediate)
        masks: dict[int, int] = {}

        def mask(places: frozenset[int]) -> int:
            # Many transitions share one set of places.
            if id(places) not in masks:
                masks[id(places)] = _number(places) * ((1 << BITS) - 1)
            return masks[id(places)]

        self.steps = [
            _Step(t, SILENT if t.label is None else ids[t.label], mask(t.clears), mask(t.empty))
            for t in self.order
        ]
        # A step is tried where the first place that it takes from has a token.
        self.by_place: dict[int, list[int]] = {}
        for number, transition in enumerate(self.order):
            first = transition.takes[0] if transition.takes else ALWAYS
            self.by_place.setdefault(first, []).append(number)
        for transition in net.transitions:
            for places in (transition.takes, transition.gives):
                self._refuse_too_many(places, transition.part.line)
        self._refuse_too_many(net.start, None)
        self.markings = [_number(net.start)]
        self.edges: list[tuple[int, int, int]] = []

    def graph(self) -> Graph:
        """Explore, check, and put together."""
        self._explore()
        edges = np.array(self.edges, dtype=np.int64).reshape(-1, 3)
        ending = {_number(end) for end in self.net.ends}
        graph = Graph(
            activities=self.net.labels,
            sources=edges[:, 0],
            labels=edges[:, 1],
            targets=edges[:, 2],
            ends=np.array([marking in ending for marking in self.markings], dtype=np.bool_),
        )
        self._refuse_dead_ends(graph)
        self._refuse_dead_steps()
        return graph

    def _explore(self) -> None:
        guard, markings, ids = self.guard, self.markings, {self.markings[0]: 0}
        for source, marking in enumerate(markings):
            at_once = False
            for number in self._candidates(marking):
                step = self.steps[number]
                # Those that take no time come first; if one can happen, nothing else does.
                if at_once and not step.immediate:
                    break
                left = (marking | guard) - step.takes
                if left & guard != guard or marking & step.empty:
                    continue
                step.happens = True
                at_once = at_once or step.immediate
                reached = ((left ^ guard) & step.keeps) + step.gives
                if reached & guard:
                    self._refuse_unbounded(reached & guard)
                known = len(markings)
                target = ids.setdefault(reached, known)
                if target == known:
                    markings.append(reached)
                self.edges.append((source, step.label, target))
            if len(markings) > self.max_states or len(self.edges) > EDGES * self.max_states:
                what = (
                    f"the model has more than {self.max_states:,} states: too large, most likely "
                    "because too much can happen at the same time"
                )
                raise RulesError(self.net.path, None, what)

    def _candidates(self, marking: int) -> list[int]:
        """The steps that may be possible, those that take no time first."""
        found = list(self.by_place.get(ALWAYS, ()))
        while marking:
            place = ((marking & -marking).bit_length() - 1) // BITS
            found += self.by_place.get(place, ())
            marking &= -1 << (BITS * (place + 1))
        return sorted(found)

    def _refuse_too_many(self, places: Iterable[int], line: int | None) -> None:
        if max(Counter(places).values(), default=0) > MAX_TOKENS:
            what = f"more than {MAX_TOKENS} tokens at once: not a model of a process"
            raise RulesError(self.net.path, line, what)

    def _refuse_unbounded(self, over: int) -> None:
        place = self.net.places[(over.bit_length() - 1) // BITS]
        raise RulesError(
            self.net.path,
            place.line,
            f"the model is unbounded: more than {MAX_TOKENS} tokens can pile up at {place.what}",
        )

    def _refuse_dead_ends(self, graph: Graph) -> None:
        alive = reaching(graph, graph.ends)
        if alive.all():
            return
        # The first state found is among the nearest to the beginning, so its story is short. One
        # in which nothing at all can happen any more is told rather than one that goes in circles.
        stuck = np.flatnonzero(~alive)
        still = np.setdiff1d(stuck, graph.sources)
        state = int(still[0] if len(still) else stuck[0])
        waiting = self._marked(self.markings[state])
        first = self.net.places[waiting[0]] if waiting else None
        where = ", ".join(self.net.places[place].what for place in waiting[:3]) or "no place"
        more = f" and {len(waiting) - 3} more" if len(waiting) > 3 else ""
        raise RulesError(
            self.net.path,
            first.line if first else None,
            f"the model is not sound: after {self._story(graph, state)} a case can never end; "
            f"tokens wait at {where}{more}",
        )

    def _refuse_dead_steps(self) -> None:
        for step, transition in zip(self.steps, self.order, strict=True):
            if step.label != SILENT and not step.happens:
                what = f"the model is not sound: {transition.part.what} can never happen"
                raise RulesError(self.net.path, transition.part.line, what)

    def _marked(self, marking: int) -> list[int]:
        one = (1 << BITS) - 1
        found = [i for i in range(len(self.net.places)) if marking >> (BITS * i) & one]
        # That a process runs says less than what it waits for.
        return sorted(found, key=lambda i: self.net.places[i].what.endswith(RUNNING))

    def _story(self, graph: Graph, state: int) -> str:
        """The activities on a shortest way to a state."""
        before: dict[int, tuple[int, int]] = {0: (0, SILENT)}
        after: dict[int, list[tuple[int, int]]] = {}
        for source, label, target in self.edges:
            after.setdefault(source, []).append((label, target))
        todo = deque([0])
        while todo and state not in before:
            source = todo.popleft()
            for label, target in after.get(source, ()):
                if target not in before:
                    before[target] = (source, label)
                    todo.append(target)
        names: list[str] = []
        while state:
            state, label = before[state]
            if label != SILENT:
                names.append(graph.activities[label])
        shown = names[:LONGEST_TRACE][::-1]
        return f"⟨{', '.join([*(['…'] if len(names) > LONGEST_TRACE else []), *shown])}⟩"


def reaching(graph: Graph, goal: Bools) -> Bools:
    """The states from which some state of a goal can be reached."""
    reached = goal.copy()
    before = -1
    while (found := int(reached.sum())) != before:
        before = found
        reached[graph.sources[reached[graph.targets]]] = True
    return reached


def _number(places: Iterable[int]) -> int:
    """Markings as whole numbers: so many tokens on each place."""
    return sum(1 << (BITS * place) for place in places)
