"""Inclusive joins: which tokens they wait for.

As BPMN 2.0 says of the inclusive gateway: a join goes on with the tokens it has as soon as no token
is left that could still reach one of its free flows without passing the join, other
than one that could just as well reach a flow which has its token already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations

from ...errors import RulesError
from .net import NetBuilder, Part

MOST_WAITING = 1_000_000
"""All sets of places for which joins wait have so many members at most."""


@dataclass(frozen=True)
class InclusiveJoin:
    """A join that waits for what may still come."""

    part: Part
    takes: tuple[int, ...]
    gives: int
    places: Callable[[], frozenset[int]]
    """The places of its process or subprocess: tokens elsewhere are none of its business."""


def add_inclusive_joins(made: NetBuilder, joins: Iterable[InclusiveJoin]) -> None:
    """Add the steps of all joins; everything else must be there already."""
    joins, room = list(joins), MOST_WAITING
    before: defaultdict[int, set[int]] = defaultdict(set)
    for step in made.transitions:
        for target in step.gives:
            before[target].update(step.takes)
    for join in joins:
        before[join.gives].update(join.takes)
    for join in joins:
        # A way that passes the join begins again at its exit, so it is never followed back there.
        known = {place: _upstream(before, place, join) for place in join.takes}
        for number in range(1, len(join.takes) + 1):
            for some in combinations(join.takes, number):
                free = set(join.takes) - set(some)
                could = set().union(*(known[place] for place in free)) if free else set()
                anyway = set().union(*(known[place] for place in some))
                waits = free | (could - anyway - set(some))
                room -= len(waits)
                if room < 0:
                    what = f"{join.part.what} and others wait for too much: too large"
                    raise RulesError(made.path, join.part.line, what)
                made.add(join.part, some, [join.gives], empty=waits)


def _upstream(before: dict[int, set[int]], goal: int, join: InclusiveJoin) -> set[int]:
    """The places from which a token can reach a goal without passing a join."""
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
