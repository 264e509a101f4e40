"""Inclusive joins: which tokens they wait for.

As BPMN 2.0 says of the inclusive gateway: a join goes on with the tokens it has as soon as no token
is left that could still reach one of its free flows without passing the join, other
than one that could just as well reach a flow which has its token already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from ..refusal import RefusedError
from .net import NetBuilder, Part

MAX_WAITING = 1_000_000
"""All sets of places for which joins wait have this many members at most."""


@dataclass(frozen=True)
class InclusiveJoin:
    """A join that waits for what may still come."""

    part: Part
    takes: tuple[int, ...]
    gives: int
    places: Callable[[], frozenset[int]]
    """The places of its process or subprocess: tokens elsewhere are none of its business."""


def add_inclusive_joins(net: NetBuilder, joins: Sequence[InclusiveJoin]) -> None:
    """Add the steps of all joins; everything else must be there already."""
    before: defaultdict[int, set[int]] = defaultdict(set)
    for step in net.transitions:
        for target in step.gives:
            before[target].update(step.takes)
    for join in joins:
        before[join.gives].update(join.takes)
    room = MAX_WAITING
    for join in joins:
        for some, waits in _waits(before, join):
            room -= len(waits)
            if room < 0:
                raise RefusedError("model.bpmn.waits", join.part.line, part=join.part.what)
            net.add(join.part, some, [join.gives], empty=waits)


def _waits(
    before: dict[int, set[int]], join: InclusiveJoin
) -> Iterator[tuple[tuple[int, ...], set[int]]]:
    """Yield each set of flows that may have a token, and the places that must be empty then."""
    # A way that passes the join begins again at its exit, so it is never followed back there.
    known = {place: _upstream(before, place, join) for place in join.takes}
    for number in range(1, len(join.takes) + 1):
        for some in combinations(join.takes, number):
            free = set(join.takes) - set(some)
            could = set[int]().union(*(known[place] for place in free))
            anyway = set[int]().union(*(known[place] for place in some))
            yield some, free | (could - anyway - set(some))


def _upstream(before: dict[int, set[int]], goal: int, join: InclusiveJoin) -> set[int]:
    """Return the places from which a token can reach a goal without passing a join."""
    allowed = join.places()
    found, todo = {goal}, [goal]
    while todo:
        place = todo.pop()
        if place == join.gives:
            continue
        for source in before.get(place, ()):
            if source in allowed and source not in found:
                found.add(source)
                todo.append(source)
    return found - {goal}
