"""Where tokens go in BPMN: the frame of a run, the places before nodes, the ways out of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NoReturn

from ...errors import RulesError
from .bpmn import Bpmn, Flow, Node, Scope
from .joins import InclusiveJoin
from .net import NetBuilder, Part

MOST_BRANCHES = 8
"""An inclusive gateway may have so many branches: every set of them is a step."""


@dataclass(eq=False)
class Frame:
    """The tokens of one run of a process or subprocess."""

    up: Frame | None
    own: list[int] = field(default_factory=list)
    below: list[Frame] = field(default_factory=list)
    active: list[int] = field(default_factory=list)
    """The places of which one has a token while it runs."""
    armed: list[int] = field(default_factory=list)
    """The places of what may still happen beside it, once."""
    catchers: list[tuple[Node, tuple[int, ...]]] = field(default_factory=list)
    """The boundary events for what is thrown inside, and where they lead."""
    caught: set[str] = field(default_factory=set)
    """Those of them to which something inside leads."""

    known: frozenset[int] | None = None
    """All places inside, once everything is built: one set for all steps that clear them."""

    def places(self) -> frozenset[int]:
        """All places inside; to be asked for when everything is built."""
        if self.known is None:
            found = {*self.own, *self.armed}
            for frame in self.below:
                found |= frame.places() | set(frame.active)
            self.known = frozenset(found)
        return self.known


class Making:
    """A net in the making from BPMN."""

    def __init__(self, bpmn: Bpmn) -> None:
        self.bpmn = bpmn
        self.made = NetBuilder(bpmn.path, notes=list(bpmn.notes))
        self.later: list[Callable[[], None]] = []
        """What can be added only when all places are known."""
        self.joins: list[InclusiveJoin] = []
        self.calls: list[Scope] = []
        """The scopes that are being built, from the outermost on."""
        self.waiting: set[Part] = set()
        """What takes time though it is no activity: events that are awaited, tasks of no name."""

    def refuse(self, part: Part, what: str) -> NoReturn:
        """Say what is wrong and where."""
        raise RulesError(self.bpmn.path, part.line, what)


class Ways:
    """The nodes of one scope, and where tokens go from each."""

    def __init__(self, making: Making, scope: Scope, frame: Frame, entries: dict[str, int]) -> None:
        self.making, self.scope, self.frame = making, scope, frame
        self.made = making.made
        self.entries = entries
        self.boundary: dict[str, list[Node]] = {}
        for node in scope.nodes.values():
            if node.kind == "boundaryEvent":
                host = node.element.get("attachedToRef")
                if host not in scope.nodes:
                    making.refuse(node.part, f'{node.part.what}: no node "{host}" (attachedToRef)')
                if node.trigger == "compensate":
                    self.made.note("Compensation is passed over.")
                else:
                    self.boundary.setdefault(host, []).append(node)

    def entry(self, node: Node) -> int:
        """The place before a node; one that no flow leads to gets one here."""
        if node.key not in self.entries:
            place = self.made.place(f"the way to {node.part.what}", node.part.line)
            self.entries[node.key] = place
            self.frame.own.append(place)
        return self.entries[node.key]

    def leave(self, node: Node) -> list[tuple[int, ...]]:
        """All sets of places that get a token when a node is done."""
        flows = self.scope.leaving(node.key)
        default = node.element.get("default")
        always = [f for f in flows if not f.conditional and f.key != default]
        maybe = [f for f in flows if f.conditional and f.key != default]
        other = [f for f in flows if f.key == default]
        if not maybe:
            return [self.targets([*always, *other])]
        chosen = [self.targets([*always, *some]) for some in self.subsets(node, maybe)]
        if other or always:
            chosen.append(self.targets([*always, *other]))
        return chosen

    def subsets(self, node: Node, flows: Sequence[Flow]) -> Iterator[tuple[Flow, ...]]:
        """Every set of flows but the empty one."""
        if len(flows) > MOST_BRANCHES:
            what = f"{node.part.what} has more than {MOST_BRANCHES} branches of which any may go on"
            self.making.refuse(node.part, what)
        for number in range(1, len(flows) + 1):
            yield from combinations(flows, number)

    def targets(self, flows: Sequence[Flow]) -> tuple[int, ...]:
        """The places that flows lead to."""
        return tuple(self.entries[flow.key] for flow in flows)

    def pass_on(self, part: Part, place: int, leave: Sequence[tuple[int, ...]]) -> None:
        """Move a token silently."""
        for gives in leave:
            self.made.add(part, [place], gives)

    def place(self, what: str, part: Part) -> int:
        """Add a place to this scope."""
        place = self.made.place(what, part.line)
        self.frame.own.append(place)
        return place


def title(node: Node) -> str:
    """What a note calls a node."""
    what = node.part.what
    return what[0].upper() + what[1:]
