"""Fewer silent steps in a net, with the same cases: states of a large model that nobody needs.

Three changes, made as long as one applies (Murata, "Petri nets: properties, analysis and
applications", 1989, on fusion of series places and transitions):

* a silent step that is the only way out of its only place is taken at once;
* a silent step that is the only way into its only place is taken together with what follows;
* of steps that do the same, one is kept, and a silent step that changes nothing is dropped.

Where some steps take no time and others do, only the first of these changes is made, and only with
the former. Places at which a case may end, and those in which a clearing or waiting step could tell
the difference, are left as they are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

from .net import Net, Transition


def reduce_net(net: Net) -> Net:
    """Take silent steps out of a net as far as cases stay the same."""
    work = _Work(net)
    changed = True
    while changed:
        work.index()
        changed = work.take_at_once()
        work.index()
        changed = work.take_together() or changed
    return work.result()


class _Work:
    """A net while it shrinks; a transition that is gone is None."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.steps: list[Transition | None] = list(net.transitions)
        self.start = list(net.start)
        self.timed = any(step.immediate for step in net.transitions)
        self.fixed = {place for end in net.ends for place in end}
        # Which clearing and waiting steps see a place: equals for places that may stand in.
        # Many steps share one set, which is looked at once.
        seen: defaultdict[int, set[tuple[int, bool]]] = defaultdict(set)
        known = set()
        for step in net.transitions:
            for clearing, places in ((True, step.clears), (False, step.empty)):
                key = (id(places), clearing)
                if key not in known:
                    known.add(key)
                    for place in places:
                        seen[place].add(key)
        self.seen_by = {place: frozenset(who) for place, who in seen.items()}

    def index(self) -> None:
        """Find who takes from and gives to each place; drop what repeats or does nothing."""
        self.takers: defaultdict[int, list[int]] = defaultdict(list)
        self.givers: defaultdict[int, list[int]] = defaultdict(list)
        known = set()
        for number, step in enumerate(self.steps):
            if step is None:
                continue
            takes, gives = tuple(sorted(step.takes)), tuple(sorted(step.gives))
            key = (step.label, takes, gives, step.clears, step.empty, step.immediate)
            if key in known or (step.label is None and takes == gives and not step.clears):
                self.steps[number] = None
                continue
            known.add(key)
            for place in set(takes):
                self.takers[place].append(number)
            for place in set(gives):
                self.givers[place].append(number)

    def take_at_once(self) -> bool:
        """Pass tokens on where a silent step is the only way out of a place."""
        changed = False
        for place, takers in list(self.takers.items()):
            step = self.steps[takers[0]] if len(takers) == 1 else None
            if step is None or not self._plain(step) or step.takes != (place,):
                continue
            if self.timed and not step.immediate:
                continue
            # Where nothing is given, a waiting step sees the place empty a moment sooner.
            if place in step.gives or place in self.fixed or not self._alike(place, step.gives):
                continue
            self.start = _put(self.start, place, step.gives)
            for number in self.givers[place]:
                other = self.steps[number]
                if other is not None:
                    gives = tuple(_put(list(other.gives), place, step.gives))
                    self.steps[number] = replace(other, gives=gives)
                    for given in step.gives:
                        self.givers[given].append(number)
            self.steps[takers[0]] = None
            self.givers[place] = []
            changed = True
            for given in step.gives:
                self.givers[given] = [n for n in self.givers[given] if n != takers[0]]
        return changed

    def take_together(self) -> bool:
        """Join a silent step with those that follow it, where it is the only way to them."""
        if self.timed:
            return False
        touched: set[int] = set()
        for place, givers in self.givers.items():
            # What was changed in this round waits for the next, with fresh lists.
            involved = {*givers, *self.takers.get(place, ())}
            if not touched.isdisjoint(involved):
                continue
            first = self.steps[givers[0]] if len(givers) == 1 else None
            if first is None or not self._plain(first) or first.gives != (place,):
                continue
            if place in self.fixed or place in self.start or place in first.takes:
                continue
            after = [self.steps[n] for n in self.takers[place]]
            if not after or not all(s is not None and s.takes == (place,) for s in after):
                continue
            if any(s is None or not self._plain(s, silent=False) for s in after):
                continue
            if not self._alike(place, first.takes):
                continue
            for number, step in zip(self.takers[place], after, strict=True):
                assert step is not None
                self.steps[number] = replace(step, takes=first.takes)
            self.steps[givers[0]] = None
            touched |= involved
            for source in first.takes:
                touched.update(self.takers.get(source, ()), self.givers.get(source, ()))
        return bool(touched)

    def _plain(self, step: Transition, silent: bool = True) -> bool:
        return not step.clears and not step.empty and (step.label is None or not silent)

    def _alike(self, place: int, others: tuple[int, ...]) -> bool:
        """Whether every clearing or waiting step that sees the place sees the others, and back."""
        mine = self.seen_by.get(place, frozenset())
        return all(self.seen_by.get(other, frozenset()) == mine for other in others)

    def result(self) -> Net:
        """The net that is left, with the places that are left."""
        steps = [step for step in self.steps if step is not None]
        used = set(self.start) | self.fixed
        for step in steps:
            used.update(step.takes, step.gives)
        new = {place: i for i, place in enumerate(sorted(used))}

        sets: dict[int, frozenset[int]] = {}

        def moved(places: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(new[place] for place in places)

        def moved_set(places: frozenset[int]) -> frozenset[int]:
            if id(places) not in sets:
                sets[id(places)] = frozenset(new[p] for p in places if p in new)
            return sets[id(places)]

        return replace(
            self.net,
            places=tuple(self.net.places[place] for place in sorted(used)),
            transitions=tuple(
                replace(
                    step,
                    takes=moved(step.takes),
                    gives=moved(step.gives),
                    clears=moved_set(step.clears),
                    empty=moved_set(step.empty),
                )
                for step in steps
            ),
            start=moved(tuple(self.start)),
            ends=tuple(moved(end) for end in self.net.ends),
        )


def _put(places: list[int], place: int, instead: tuple[int, ...]) -> list[int]:
    """Replace every token on a place by tokens on others."""
    times = Counter(places)[place]
    return [p for p in places if p != place] + list(instead) * times
