"""Petri nets, which represent BPMN and PNML models, and the exploration of their states.

Two additional kinds of arcs represent the models of editors. A transition can *clear* places of all
tokens (a subprocess that is interrupted, a terminating end), and it can require that places are
*empty* (a subprocess that is over, an inclusive join without anything to wait for).

A marking is one whole number with a few bits for each place, and a place is a marking with one
token on it. Testing whether a transition is enabled, and firing it, is arithmetic. A model is
refused if it is not *sound*: if some case can get stuck, if an activity can never happen, or if
tokens pile up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from ...errors import Statement
from ..reading import RefusedError
from .automaton import SILENT, Graph

MAX_PARTS = 10_000
"""A net with more places or transitions is refused; nested calls can multiply without bound."""
MAX_STATES = 100_000
"""A model with more states is refused, unless the caller allows more."""
EDGES_PER_STATE = 20
"""Maximum number of edges for each allowed state."""
BITS = 5
"""Bits of a place: four for its tokens, one that must stay clear."""
MAX_TOKENS = (1 << (BITS - 1)) - 1
"""A place with more tokens counts as unbounded."""
MAX_BITS = 1 << 31
"""Maximum number of bits of all markings together."""
MAX_SHOWN_ACTIVITIES, MAX_SHOWN_PLACES = 8, 3
"""Numbers of activities before a dead end, and of places with tokens, that a message lists."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A place, or the element of the file that a transition represents.

    Attributes:
        what: Its name in messages: task "Register".
        line: Its line in the file.
        running: Whether a token there only marks a running part, not one that waits.
        takes_time: Whether a silent step of it takes time: awaited events, tasks without a name.
    """

    what: Statement
    line: int | None = None
    running: bool = False
    takes_time: bool = False


@dataclass(frozen=True, eq=False)
class Transition:
    """One step of a net.

    Attributes:
        part: The element of the file that it represents.
        label: Activity; None for a silent step.
        takes: Tokens that it takes.
        gives: Tokens that it gives.
        clears: Places that are emptied, after tokens were taken and before they are given.
        empty: Places that must have no token.
        immediate: Whether it takes no time: it happens before any step that does.
    """

    part: Part
    label: str | None
    takes: int
    gives: int
    clears: int
    empty: int
    immediate: bool = False


@dataclass(kw_only=True)
class Net:
    """A Petri net with a beginning and the markings in which a case may end.

    Attributes:
        places: The parts that places represent.
        transitions: The steps.
        start: The initial marking.
        ends: The markings in which a case may end.
        notes: Elements that were ignored or merged.
    """

    places: list[Part] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)
    start: int = 0
    ends: list[int] = field(default_factory=list)
    notes: list[Statement] = field(default_factory=list)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of activities, sorted."""
        return tuple(sorted({t.label for t in self.transitions if t.label is not None}))

    def renamed(self, names: Mapping[str, str]) -> Net:
        """Give activities other names; an empty one makes a step silent."""
        moved = [
            step if step.label is None else replace(step, label=names[step.label] or None)
            for step in self.transitions
        ]
        return Net(places=self.places, transitions=moved, start=self.start, ends=self.ends)

    def place(self, part: Part) -> int:
        """Add a place and return it: one token on it."""
        _refuse_more(self.places, part)
        self.places.append(part)
        return 1 << BITS * (len(self.places) - 1)

    def add(
        self,
        part: Part,
        takes: int,
        gives: int,
        label: str | None = None,
        *,
        clears: int = 0,
        empty: int = 0,
    ) -> None:
        """Add a transition."""
        _refuse_more(self.transitions, part)
        # A set of places is one token on each.
        clears, empty = (places * ((1 << BITS) - 1) for places in (clears, empty))
        self.transitions.append(Transition(part, label, takes, gives, clears, empty))

    def note_merged(self) -> None:
        """Note that several parts of one name are one activity."""
        labelled = {(t.label, id(t.part)) for t in self.transitions if t.label is not None}
        counts = sorted(Counter(label for label, _ in labelled).items())
        merged = [Statement("model.name_count", name=n, count=c) for n, c in counts if c > 1]
        if merged:
            self.note(Statement("model.note.merged", names=merged))

    def note(self, what: Statement) -> None:
        """Add a note for the user, once."""
        if what not in self.notes:
            self.notes.append(what)


def _refuse_more(parts: Sequence[object], part: Part) -> None:
    if len(parts) >= MAX_PARTS:
        raise RefusedError("model.too_many_parts", part.line, limit=MAX_PARTS)


def tokens(places: Iterable[int], line: int | None) -> int:
    """Return the marking with one token per listed place."""
    counts = Counter(places)
    if max(counts.values(), default=0) > MAX_TOKENS:
        raise RefusedError("model.too_many_tokens", line, limit=MAX_TOKENS)
    return sum(place * count for place, count in counts.items())


def numbers_of(marking: int) -> Iterator[int]:
    """Yield the numbers of the places that have tokens."""
    while marking:
        number = ((marking & -marking).bit_length() - 1) // BITS
        yield number
        marking &= -1 << BITS * (number + 1)


def explore(net: Net, max_states: int = MAX_STATES) -> Graph:
    """Find all states of a net and check that it is sound."""
    found = _Exploration(net, max_states)
    ends = [marking in net.ends for marking in found.markings]
    _refuse_dead_ends(net, found, ends)
    for step in net.transitions:
        if step.label is not None and step not in found.happened:
            raise RefusedError("model.dead_step", step.part.line, part=step.part.what)
    return Graph(activities=net.labels, edges=found.edges, ends=ends)


class _Exploration:
    """All states of a net.

    Attributes:
        markings: The marking of each state.
        edges: The steps from state to state.
        happened: The transitions that happen in some state.
    """

    def __init__(self, net: Net, max_states: int) -> None:
        self.net = net
        self.max_states = min(max_states, MAX_BITS // (BITS * len(net.places) + 1))
        # One guard bit per place detects too many taken, and too many given tokens.
        self.guard = sum(1 << BITS * place for place in range(len(net.places))) << BITS - 1
        self.free = free_places(net)
        self.happened: set[Transition] = set()
        # A step is indexed by the first place that it takes from; -1 if it takes none.
        self.by_place: defaultdict[int, list[Transition]] = defaultdict(list)
        for step in net.transitions:
            if (step.takes | step.gives) & self.guard:
                raise RefusedError("model.too_many_tokens", step.part.line, limit=MAX_TOKENS)
            self.by_place[next(numbers_of(step.takes), -1)].append(step)
        self.markings = [net.start]
        self.settled: dict[int, list[int]] = {}
        self.edges: list[tuple[int, int, int]] = []
        self._explore()

    def _explore(self) -> None:
        states, ids = {self.net.start: 0}, {name: i for i, name in enumerate(self.net.labels)}
        # The list of markings grows while it is walked.
        for source, marking in enumerate(self.markings):
            for step in self._enabled(marking):
                self.happened.add(step)
                label = SILENT if step.label is None else ids[step.label]
                for after in self._settle(self._take(step, marking)):
                    target = states.setdefault(after, len(states))
                    if target == len(self.markings):
                        self.markings.append(after)
                    self.edges.append((source, label, target))
            self._refuse_more(max(len(states), len(self.edges) // EDGES_PER_STATE))

    def _refuse_more(self, states: int) -> None:
        if states > self.max_states:
            raise RefusedError("model.too_many_states", None, limit=self.max_states)

    def _enabled(self, marking: int) -> list[Transition]:
        """Return the enabled steps; if some take no time, these alone."""
        guard = self.guard
        enabled = [
            step
            for step in self._candidates(marking)
            if ((marking | guard) - step.takes) & guard == guard and not marking & step.empty
        ]
        return [step for step in enabled if step.immediate] or enabled

    def _candidates(self, marking: int) -> list[Transition]:
        """Return the steps that can be enabled by the tokens of the marking."""
        for place in numbers_of(marking & self.free):
            return self.by_place[place]
        places = (-1, *numbers_of(marking))
        return [step for place in places for step in self.by_place.get(place, ())]

    def _take(self, step: Transition, marking: int) -> int:
        reached = ((marking - step.takes) & ~step.clears) + step.gives
        for number in numbers_of(reached & self.guard):
            full = self.net.places[number]
            raise RefusedError("model.unbounded", full.line, limit=MAX_TOKENS, place=full.what)
        return reached

    def _settle(self, marking: int) -> list[int]:
        """Make all free choices until none remains; return the markings that result."""
        if not marking & self.free:
            return [marking]
        if marking not in self.settled:
            seen, layer = set[int](), {marking}
            while layer:
                seen |= layer
                self._refuse_more(len(seen))
                free = [each for each in layer if each & self.free]
                layer = {self._take(step, m) for m in free for step in self._candidates(m)} - seen
            self.settled[marking] = [each for each in seen if not each & self.free]
        return self.settled[marking]


def _refuse_dead_ends(net: Net, found: _Exploration, ends: list[bool]) -> None:
    """Refuse a state from which no end can be reached."""
    stuck = _stuck(found.edges, ends)
    if not stuck:
        return
    # The first state found is among the nearest to the start, so its trace is short. A state
    # without any step is preferred to one in an endless loop.
    state = min(stuck.difference(source for source, *_ in found.edges) or stuck)
    waiting = [net.places[number] for number in numbers_of(found.markings[state])]
    waiting.sort(key=lambda place: place.running)
    where = [place.what for place in waiting[:MAX_SHOWN_PLACES]]
    if len(waiting) > len(where):
        where.append(Statement("model.more_places", count=len(waiting) - len(where)))
    raise RefusedError(
        "model.dead_end",
        waiting[0].line if waiting else None,
        trace=_story(net.labels, found.edges, state),
        places=where or [Statement("model.no_place")],
    )


def _stuck(edges: Sequence[tuple[int, int, int]], ends: list[bool]) -> set[int]:
    alive, known = {state for state, is_end in enumerate(ends) if is_end}, -1
    while len(alive) > known:
        known = len(alive)
        for source, _, target in reversed(edges):
            if target in alive:
                alive.add(source)
    return set(range(len(ends))) - alive


def _story(labels: Sequence[str], edges: Sequence[tuple[int, int, int]], state: int) -> list[str]:
    """Return the activities on a shortest path to a state."""
    # States are numbered in the order of discovery, so the first edge into one is the shortest
    # path.
    first = {target: (source, label) for source, label, target in reversed(edges)}
    names: list[str] = []
    while state:
        state, label = first[state]
        names[:0] = [] if label == SILENT else [labels[label]]
    left_out = ["…"] if len(names) > MAX_SHOWN_ACTIVITIES else []
    return [*left_out, *names[-MAX_SHOWN_ACTIVITIES:]]


def free_places(net: Net) -> int:
    """Find places that tokens leave only by silent choices that no other step can observe.

    Such a choice commutes with all other steps, so it is made immediately: parallel branches then
    have far fewer joint states, and the same cases (a persistent set; Valmari, "Stubborn sets for
    reduced state space generation", 1991).
    """
    free = _choices(net)
    # Endless loops of choices are not free: the check of soundness must find them.
    leads_out = set[int]()
    bound = {place: [way & free.keys() for way in ways] for place, ways in free.items()}
    while new := {p for p, ways in bound.items() if any(way <= leads_out for way in ways)}:
        leads_out |= new
        bound = {place: ways for place, ways in bound.items() if place not in new}
    return sum(1 << BITS * place for place in leads_out) * MAX_TOKENS


def _choices(net: Net) -> dict[int, list[set[int]]]:
    """Find the free places, each with the places that its choices lead to."""
    timed = any(step.immediate for step in net.transitions)
    kept, watched = set(chain.from_iterable(map(numbers_of, net.ends))), _watched(net)
    choices: defaultdict[int, list[set[int]]] = defaultdict(list)
    for step in net.transitions:
        place, gives = next(numbers_of(step.takes), 0), set(numbers_of(step.gives))
        silent = step.label is None and not step.clears | step.empty
        # Clearing and waiting steps must treat the places before and after the choice alike.
        alike = all(watched[place] == watched[number] for number in gives)
        if step.takes == 1 << BITS * place and alike and silent and step.immediate == timed:
            choices[place].append(gives)
        else:
            kept.update(numbers_of(step.takes))
    return {place: choices[place] for place in choices.keys() - kept}


def _watched(net: Net) -> Mapping[int, set[int]]:
    """[place]: the sets of places, cleared or required empty by some step, that include it."""
    watched: defaultdict[int, set[int]] = defaultdict(set)
    for places in {places for step in net.transitions for places in (step.clears, step.empty)}:
        for number in numbers_of(places):
            watched[number].add(places)
    return watched
