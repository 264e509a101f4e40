"""Where tokens go in BPMN: the frame of a run, the places before nodes, the ways out of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from ...errors import Statement
from ..refusal import RefusedError
from .bpmn import BOUNDARY, INCLUSIVE, PARALLEL, Bpmn, Flow, Node, Scope
from .joins import InclusiveJoin
from .net import NetBuilder, Part

MAX_BRANCHES = 8
"""An inclusive gateway may have this many branches: every set of them is a step."""
Exits = Sequence[tuple[int, ...]]
"""Alternatives: the places that get a token."""


@dataclass(eq=False)
class Frame:
    """The tokens of one run of a process or subprocess.

    Attributes:
        scope: What runs.
        part: What messages call it.
        up: The run around it.
        own: Places inside, without those of the runs below.
        below: The runs inside.
        active: Places of which one has a token while it runs.
        armed: Places of what may still happen next to it, once.
        catchers: Boundary events for what is thrown inside, and where they lead.
        caught: Keys of those to which something inside leads.
    """

    scope: Scope
    part: Part
    up: Frame | None = None
    own: list[int] = field(default_factory=list)
    below: list[Frame] = field(default_factory=list)
    active: list[int] = field(default_factory=list)
    armed: list[int] = field(default_factory=list)
    catchers: list[tuple[Node, tuple[int, ...]]] = field(default_factory=list)
    caught: set[str] = field(default_factory=set)
    _places: frozenset[int] | None = None

    def __post_init__(self) -> None:
        if self.up is not None:
            self.up.below.append(self)

    def places(self) -> frozenset[int]:
        """Return all places inside, once everything is built: one set for all steps."""
        if self._places is None:
            below = (frame.places() | set(frame.active) for frame in self.below)
            self._places = frozenset(self.own).union(self.armed, *below)
        return self._places


class Making:
    """A net that is made from BPMN.

    Attributes:
        later: What can be added only when all places are known.
        joins: Inclusive joins, which wait for what all other steps can still do.
        calls: Scopes that are being built, from the outermost on.
        waiting: What takes time though it is no activity: awaited events, tasks without a name.
    """

    def __init__(self, bpmn: Bpmn) -> None:
        self.bpmn = bpmn
        self.net = NetBuilder(notes=list(bpmn.notes))
        self.later: list[Callable[[], None]] = []
        self.joins: list[InclusiveJoin] = []
        self.calls: list[Scope] = []
        self.waiting: set[Part] = set()

    def place(self, where: str, part: Part) -> int:
        """Add a place before, after, inside … a part of the file."""
        what = Statement(f"model.at.{where}", part=part.what)
        return self.net.place(what, part.line, running=where == "running")


class Ways:
    """The nodes of one scope, and where tokens go from each."""

    def __init__(self, making: Making, frame: Frame) -> None:
        self.making, self.frame, self.scope, self.net = making, frame, frame.scope, making.net
        self.entries: dict[str, int] = {}
        self.into: dict[str, int] = {}
        for flow in self.scope.flows:
            target = self.scope.nodes[flow.target]
            if target.role == BOUNDARY:
                raise RefusedError(
                    "model.bpmn.flow_to_boundary", target.part.line, part=target.part.what
                )
            waits = target.role in (PARALLEL, INCLUSIVE) and len(self.scope.leading_to(target)) > 1
            place = self.place("before", target.part) if waits else self.entry(target)
            self.into[flow.key] = place
        self.boundary: dict[str, list[Node]] = {}
        for node in self.scope.nodes.values():
            if node.role == BOUNDARY:
                self._attach(node)

    def _attach(self, event: Node) -> None:
        host = event.element.get("attachedToRef")
        if host not in self.scope.nodes:
            raise RefusedError("model.no_node", event.part.line, id=host, attribute="attachedToRef")
        if event.trigger == "compensate":
            self.net.note(Statement("model.note.compensation"))
        else:
            self.boundary.setdefault(host, []).append(event)

    def place(self, where: str, part: Part) -> int:
        """Add a place to this scope."""
        place = self.making.place(where, part)
        self.frame.own.append(place)
        return place

    def entry(self, node: Node) -> int:
        """Return the place before a node; one that no flow leads to gets one here."""
        if node.key not in self.entries:
            self.entries[node.key] = self.place("before", node.part)
        return self.entries[node.key]

    def leave(self, node: Node) -> Exits:
        """Return all sets of places that get a token when a node is done."""
        default = node.element.get("default")
        maybe: list[Flow] = []
        always: list[Flow] = []
        otherwise: list[Flow] = []
        for flow in self.scope.leaving(node):
            chosen = maybe if flow.conditional else always
            (otherwise if flow.key == default else chosen).append(flow)
        exits = [self.targets([*always, *some]) for some in self.subsets(node, maybe)]
        # The default flow is taken if no condition holds.
        if always or otherwise or not maybe:
            exits.append(self.targets([*always, *otherwise]))
        return exits

    def subsets(self, node: Node, flows: Sequence[Flow]) -> Iterator[tuple[Flow, ...]]:
        """Yield every set of flows but the empty one."""
        if len(flows) > MAX_BRANCHES:
            raise RefusedError(
                "model.bpmn.branches", node.part.line, part=node.part.what, limit=MAX_BRANCHES
            )
        for number in range(1, len(flows) + 1):
            yield from combinations(flows, number)

    def targets(self, flows: Sequence[Flow]) -> tuple[int, ...]:
        """Return the places that flows lead to."""
        return tuple(self.into[flow.key] for flow in flows)

    def pass_on(
        self,
        part: Part,
        place: int,
        leave: Exits,
        label: str | None = None,
        clears: Sequence[int] = (),
    ) -> None:
        """Move a token on in each of some ways."""
        for gives in leave:
            self.net.add(part, [place], gives, label, clears)

    def once_beside(self, event: Node, running: Sequence[int], leave: Exits) -> int:
        """Let an event happen once while something runs; return the place that allows it."""
        self.net.note(Statement("model.note.beside", part=event.part.what))
        armed = self.place("armed", event.part)
        for place in running:
            for gives in leave:
                self.net.add(event.part, [armed, place], [place, *gives])
        return armed
