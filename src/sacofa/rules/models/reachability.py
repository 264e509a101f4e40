"""All states that a net can be in, with a bound: the behaviour of a model, exactly.

A state is a marking. It is kept as one whole number with a few bits for each place, so that asking
whether a step is possible, and taking it, is arithmetic on whole numbers. A model is refused if it
is not *sound*: if some case can get stuck, if an activity can never happen, or if tokens pile up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...errors import Statement
from ..graph import SILENT, Graph
from ..refusal import RefusedError
from .net import Net, Transition

MAX_STATES = 100_000
"""A model with more states is refused, unless the caller allows more."""
EDGES_PER_STATE = 20
"""More edges than this for each allowed state are refused too."""
BITS = 5
"""Bits of a place: four for its tokens, one that must stay clear."""
MAX_TOKENS = (1 << (BITS - 1)) - 1
"""More tokens than this on one place count as without end."""
ANYWHERE = -1
MAX_BITS = 1 << 31
"""Bits of all markings together."""
MAX_SHOWN_ACTIVITIES = 8
"""A message shows the last activities on the way to where a model gets stuck."""
MAX_SHOWN_PLACES = 3


def explore(net: Net, max_states: int = MAX_STATES) -> Graph:
    """Find all states of a net and check that it is sound."""
    return _Exploration(net, max_states).graph()


@dataclass(slots=True)
class _Step:
    """A transition as arithmetic on markings."""

    transition: Transition
    label: int
    takes: int
    gives: int
    keeps: int
    empty: int
    immediate: bool
    happens: bool = False


class _Exploration:
    """Finds the states of a net."""

    def __init__(self, net: Net, max_states: int) -> None:
        self.net = net
        self.max_states = min(max_states, MAX_BITS // (BITS * len(net.places) + 1))
        # One bit of each place catches what is taken too often, and what is given too often.
        self.guard = _marking(range(len(net.places))) << (BITS - 1)
        _refuse_too_many(net.start, None)
        self.steps = self._steps()
        # A step is tried where the first place that it takes from has a token.
        self.by_place: defaultdict[int, list[int]] = defaultdict(list)
        for number, step in enumerate(self.steps):
            self.by_place[next(iter(step.transition.takes), ANYWHERE)].append(number)
        self.markings = [_marking(net.start)]
        self.ids = {self.markings[0]: 0}
        self.edges: list[tuple[int, int, int]] = []

    def _steps(self) -> list[_Step]:
        """Return the transitions as steps, those that take no time first."""
        ids = {name: i for i, name in enumerate(self.net.labels)}
        shared = {id(some): some for t in self.net.transitions for some in (t.clears, t.empty)}
        # Many transitions share one set of places.
        masks = {key: _marking(some) * ((1 << BITS) - 1) for key, some in shared.items()}
        steps = []
        for transition in sorted(self.net.transitions, key=lambda t: not t.immediate):
            for places in (transition.takes, transition.gives):
                _refuse_too_many(places, transition.part.line)
            steps.append(
                _Step(
                    transition=transition,
                    label=SILENT if transition.label is None else ids[transition.label],
                    takes=_marking(transition.takes),
                    gives=_marking(transition.gives),
                    keeps=~masks[id(transition.clears)],
                    empty=masks[id(transition.empty)],
                    immediate=transition.immediate,
                )
            )
        return steps

    def graph(self) -> Graph:
        """Explore, check, and put together."""
        # The list of markings grows while it is walked.
        for source, marking in enumerate(self.markings):
            self._explore(source, marking)
            if len(self.markings) > self.max_states or (
                len(self.edges) > EDGES_PER_STATE * self.max_states
            ):
                raise RefusedError("model.too_many_states", None, limit=self.max_states)
        edges = np.array(self.edges, dtype=np.int64).reshape(-1, 3)
        ending = {_marking(end) for end in self.net.ends}
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

    def _explore(self, source: int, marking: int) -> None:
        """Take every step that is possible in one state."""
        guard, at_once = self.guard, False
        for number in self._candidates(marking):
            step = self.steps[number]
            # Those that take no time come first; if one can happen, nothing else does.
            if at_once and not step.immediate:
                return
            left = (marking | guard) - step.takes
            if left & guard != guard or marking & step.empty:
                continue
            step.happens = True
            at_once = step.immediate
            reached = ((left ^ guard) & step.keeps) + step.gives
            if reached & guard:
                self._refuse_unbounded(reached & guard)
            target = self.ids.setdefault(reached, len(self.markings))
            if target == len(self.markings):
                self.markings.append(reached)
            self.edges.append((source, step.label, target))

    def _candidates(self, marking: int) -> list[int]:
        """Return the steps that may be possible, those that take no time first."""
        found = list(self.by_place.get(ANYWHERE, ()))
        while marking:
            place = ((marking & -marking).bit_length() - 1) // BITS
            found += self.by_place.get(place, ())
            marking &= -1 << (BITS * (place + 1))
        return sorted(found)

    def _refuse_unbounded(self, over: int) -> None:
        place = self.net.places[(over.bit_length() - 1) // BITS]
        raise RefusedError("model.unbounded", place.line, limit=MAX_TOKENS, place=place.what)

    def _refuse_dead_ends(self, graph: Graph) -> None:
        stuck = np.flatnonzero(~graph.closure(graph.ends, backward=True, silent=False))
        if not len(stuck):
            return
        # The first state found is among the nearest to the beginning, so its story is short. One
        # in which nothing at all can happen any more is told rather than one that goes in circles.
        still = np.setdiff1d(stuck, graph.sources)
        state = int(still[0] if len(still) else stuck[0])
        one = (1 << BITS) - 1
        marking = self.markings[state]
        waiting = [p for i, p in enumerate(self.net.places) if marking >> (BITS * i) & one]
        waiting.sort(key=lambda place: place.running)
        where = [place.what for place in waiting[:MAX_SHOWN_PLACES]]
        if len(waiting) > len(where):
            where.append(Statement("model.more_places", count=len(waiting) - len(where)))
        raise RefusedError(
            "model.dead_end",
            waiting[0].line if waiting else None,
            trace=self._story(graph, state),
            places=where or [Statement("model.no_place")],
        )

    def _refuse_dead_steps(self) -> None:
        for step in self.steps:
            if step.label != SILENT and not step.happens:
                part = step.transition.part
                raise RefusedError("model.dead_step", part.line, part=part.what)

    def _story(self, graph: Graph, state: int) -> list[str]:
        """Return the activities on a shortest way to a state."""
        # States are numbered as they are found, so the first edge into one comes from nearest by.
        first: dict[int, tuple[int, int]] = {}
        for source, label, target in self.edges:
            first.setdefault(target, (source, label))
        names: list[str] = []
        while state:
            state, label = first[state]
            if label != SILENT:
                names.insert(0, graph.activities[label])
        left_out = ["…"] if len(names) > MAX_SHOWN_ACTIVITIES else []
        return [*left_out, *names[-MAX_SHOWN_ACTIVITIES:]]


def _refuse_too_many(places: Iterable[int], line: int | None) -> None:
    if max(Counter(places).values(), default=0) > MAX_TOKENS:
        raise RefusedError("model.too_many_tokens", line, limit=MAX_TOKENS)


def _marking(places: Iterable[int]) -> int:
    """A marking as a whole number: a count of tokens for each place."""
    return sum(1 << (BITS * place) for place in places)
