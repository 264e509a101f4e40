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

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from .net import Net, Transition


def reduce_net(net: Net) -> Net:
    """Take silent steps out of a net as far as cases stay the same."""
    work, places = _Work(net), range(len(net.places))
    changes = [work.take_at_once] if work.timed else [work.take_at_once, work.take_together]
    while sum(change(place) for change in changes for place in places):
        pass
    return work.result()


class _Work:
    """A net that shrinks, with the steps that take from and give to each place."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.start = net.start
        self.timed = any(step.immediate for step in net.transitions)
        self.fixed = {place for end in net.ends for place in end}
        self.steps: dict[int, Transition] = {}
        self.takers: defaultdict[int, set[int]] = defaultdict(set)
        self.givers: defaultdict[int, set[int]] = defaultdict(set)
        self.known: dict[tuple[object, ...], int] = {}
        for number, step in enumerate(net.transitions):
            self.put(number, step)
        self.seen_by = _seen_by(net)

    def put(self, number: int, step: Transition) -> None:
        """Add a step, unless it repeats another or changes nothing."""
        if _effect(step) in self.known or (
            step.label is None and not step.clears and sorted(step.takes) == sorted(step.gives)
        ):
            return
        self.known[_effect(step)] = number
        self.steps[number] = step
        for place in step.takes:
            self.takers[place].add(number)
        for place in step.gives:
            self.givers[place].add(number)

    def drop(self, number: int) -> Transition:
        """Remove a step and return it."""
        step = self.steps.pop(number)
        del self.known[_effect(step)]
        for place in step.takes:
            self.takers[place].discard(number)
        for place in step.gives:
            self.givers[place].discard(number)
        return step

    def take_at_once(self, place: int) -> bool:
        """Pass tokens on if a silent step is the only way out of a place."""
        if len(self.takers[place]) != 1 or place in self.fixed:
            return False
        (number,) = self.takers[place]
        step = self.steps[number]
        if not self._silent(step) or step.takes != (place,) or place in step.gives:
            return False
        # If nothing is given, a waiting step sees the place empty a moment sooner.
        if (self.timed and not step.immediate) or not self._alike(place, step.gives):
            return False
        self.drop(number)
        self.start = _moved_on(self.start, place, step.gives)
        for giver in sorted(self.givers[place]):
            other = self.drop(giver)
            self.put(giver, replace(other, gives=_moved_on(other.gives, place, step.gives)))
        return True

    def take_together(self, place: int) -> bool:
        """Join a silent step with those that follow it, if it is the only way to them."""
        number = self._only_giver(place)
        if number is None:
            return False
        first, after = self.steps[number], sorted(self.takers[place])
        follow = bool(after) and all(self._takes_only(place, n) for n in after)
        if not follow or not self._alike(place, first.takes):
            return False
        self.drop(number)
        for follower in after:
            self.put(follower, replace(self.drop(follower), takes=first.takes))
        return True

    def result(self) -> Net:
        """Return the net that is left, with the places that are left."""
        steps = [self.steps[number] for number in sorted(self.steps)]
        used = {*self.start, *self.fixed}.union(*(step.takes + step.gives for step in steps))
        new = {place: i for i, place in enumerate(sorted(used))}
        # Many steps share one set of places, which is translated once.
        sets = {id(some): some for step in steps for some in (step.clears, step.empty)}
        moved = {key: frozenset(new[p] for p in some if p in new) for key, some in sets.items()}

        def translated(places: Iterable[int]) -> tuple[int, ...]:
            return tuple(new[place] for place in places)

        def translated_step(step: Transition) -> Transition:
            return replace(
                step,
                takes=translated(step.takes),
                gives=translated(step.gives),
                clears=moved[id(step.clears)],
                empty=moved[id(step.empty)],
            )

        return replace(
            self.net,
            places=tuple(self.net.places[place] for place in sorted(used)),
            transitions=tuple(map(translated_step, steps)),
            start=translated(self.start),
            ends=tuple(map(translated, self.net.ends)),
        )

    def _only_giver(self, place: int) -> int | None:
        """Return the silent step that alone gives to a place, and to no other."""
        if len(self.givers[place]) != 1 or place in self.fixed or place in self.start:
            return None
        (number,) = self.givers[place]
        step = self.steps[number]
        fits = self._silent(step) and step.gives == (place,) and place not in step.takes
        return number if fits else None

    def _takes_only(self, place: int, number: int) -> bool:
        step = self.steps[number]
        return step.plain and step.takes == (place,)

    def _silent(self, step: Transition) -> bool:
        return step.label is None and step.plain

    def _alike(self, place: int, others: tuple[int, ...]) -> bool:
        """Whether every clearing or waiting step that sees the place sees the others, and back."""
        return all(self.seen_by[other] == self.seen_by[place] for other in others)


def _effect(step: Transition) -> tuple[object, ...]:
    """What tells a step from others that do the same."""
    takes, gives = tuple(sorted(step.takes)), tuple(sorted(step.gives))
    return (step.label, takes, gives, step.clears, step.empty, step.immediate)


def _moved_on(places: tuple[int, ...], place: int, instead: tuple[int, ...]) -> tuple[int, ...]:
    """Replace every token on a place by tokens on others."""
    return tuple(p for p in places if p != place) + instead * places.count(place)


def _seen_by(net: Net) -> list[frozenset[tuple[int, bool]]]:
    """[place]: the sets of clearing and waiting steps that hold it; equal ones may stand in."""
    seen: list[set[tuple[int, bool]]] = [set() for _ in net.places]
    # Many steps share one set of places, which is looked at once.
    shared = {
        (id(places), clearing): places
        for step in net.transitions
        for clearing, places in ((True, step.clears), (False, step.empty))
    }
    for key, places in shared.items():
        for place in places:
            seen[place].add(key)
    return [frozenset(keys) for keys in seen]
