"""BPMN 2.0 files as editors write them: processes, their nodes and flows, checked.

Diagrams, data, documentation, the extensions of editors, lanes and messages are ignored; notes
report the latter two.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import NamedTuple, TypeVar

from ...errors import Statement
from ..reading import RefusedError
from .net import Part
from .xml import Element, flat

ROLES = {
    **dict.fromkeys(("task", "userTask", "manualTask", "serviceTask", "scriptTask"), "task"),
    **dict.fromkeys(("sendTask", "receiveTask", "businessRuleTask"), "task"),
    "callActivity": "call",
    "subProcess": "subprocess",
    "transaction": "subprocess",
    "adHocSubProcess": "ad_hoc",
    "exclusiveGateway": "exclusive",
    "eventBasedGateway": "event_based",
    "parallelGateway": "parallel",
    "inclusiveGateway": "inclusive",
    "startEvent": "start",
    "endEvent": "end",
    "intermediateCatchEvent": "catch",
    "intermediateThrowEvent": "throw",
    "boundaryEvent": "boundary",
}
"""The role of each element of a process; others are ignored or refused."""
REFUSED = ("complexGateway", "choreographyTask", "subChoreography", "callChoreography")
LOOPS = ("standardLoopCharacteristics", "multiInstanceLoopCharacteristics")


MAX_BRANCHES = 8
"""Maximum number of branches of an inclusive gateway: every set of them is a step."""
T = TypeVar("T")


def subsets(items: Sequence[T]) -> chain[tuple[T, ...]]:
    """Every set of items but the empty one."""
    return chain.from_iterable(combinations(items, n + 1) for n in range(len(items)))


@dataclass(eq=False)
class Scope:
    """A process or the inside of a subprocess."""

    key: str
    line: int | None
    nodes: list[Node] = field(default_factory=list)


class Flow(NamedTuple):
    """A sequence flow."""

    key: str
    target: Node
    optional: bool
    """Whether it has a condition, or leaves an inclusive gateway."""


class Node:
    """A task, event, gateway or subprocess.

    Attributes:
        inner: The content of a subprocess, if the file has it.
        part: Its description in messages.
        called: Id of the process that it calls, or empty.
        trigger: Kind of event: timer, error, link … or empty.
        reference: Id of the error, escalation or link; empty for any.
        is_task: Whether it is one activity, unless it calls a process of the file.
        creates: Whether it creates a case: a start event, or an instantiating node.
        interrupts: Whether a boundary event ends what it is attached to.
        on_event: Whether it is an event subprocess.
        into: The flows that lead to it.
        leaving: The flows that begin here.
        events: The attached boundary events, without those of compensation.
    """

    def __init__(self, element: Element, role: str, scope: Scope) -> None:
        self.key, self.role, self.element, self.scope = element.get("id"), role, element, scope
        self.inner: Scope | None = None
        self.name = flat(element.get("name"))
        self.called = element.get("calledElement").rpartition(":")[2] if role == "call" else ""
        self.loop = next(iter(element.children(*LOOPS)), None)
        self.trigger, self.reference = _trigger(element)
        self.is_task = role in ("task", "call")
        self.creates = role == "start" or element.flag("instantiate")
        self.interrupts = element.flag("cancelActivity", default=True)
        self.on_event = element.flag("triggeredByEvent")
        self.compensates = element.flag("isForCompensation")
        self.is_link_target = role == "catch" and self.trigger == "link"
        is_awaited = role in ("catch", "boundary") and not self.is_link_target
        takes_time = is_awaited or self.on_event or (self.is_task and not self.name)
        what = Statement(f"model.bpmn.{role}", name=self.name or self.key)
        self.part = Part(what=what, line=element.line, takes_time=takes_time)
        self.into: list[Flow] = []
        self.leaving: list[Flow] = []
        self.events: list[Node] = []

    @property
    def is_begin(self) -> bool:
        """Whether a case can begin here. Start events count, even if a flow leads to one."""
        outside = self.role == "boundary" or self.compensates or self.on_event
        return self.role == "start" or not (outside or self.is_link_target or self.into)

    def choices(self) -> list[list[Flow]]:
        """Return all sets of flows that may be taken when the node is done."""
        always, maybe, otherwise = list[Flow](), list[Flow](), list[Flow]()
        for flow in self.leaving:
            if flow.key == self.element.get("default"):
                otherwise.append(flow)
            else:
                (maybe if flow.optional else always).append(flow)
        if self.role in ("exclusive", "event_based"):
            chosen = [[flow] for flow in self.leaving]
        elif len(maybe) > MAX_BRANCHES:
            what, line = self.part.what, self.part.line
            raise RefusedError("model.bpmn.branches", line, part=what, limit=MAX_BRANCHES)
        else:
            # The default flow is taken if no condition holds.
            some = ([*always, *some] for some in subsets(maybe))
            chosen = [*some, [*always, *otherwise]]
        return list(filter(None, chosen)) or [[]]

    def alone(self) -> Scope:
        """Return a scope with just this node, to which no flow or event belongs."""
        node = copy(self)
        node.into, node.leaving, node.events = [], [], []
        return Scope(self.key, self.part.line, [node])


def _trigger(element: Element) -> tuple[str, str]:
    for event in element.inside:
        if event.kind.endswith("EventDefinition"):
            refs = (value for key, value in event.attributes.items() if key.endswith("Ref"))
            kind = event.kind.removesuffix("EventDefinition")
            return kind, flat(event.get("name") or next(refs, ""))
    return "", ""


def read_bpmn(root: Element) -> tuple[dict[str, Scope], list[Statement]]:
    """Read the processes of a file by key, and notes about ignored elements."""
    reader, processes = _Reader(), dict[str, Scope]()
    for element in root.children("process"):
        scope = reader.scope(element)
        if scope.key in processes:
            raise RefusedError("model.bpmn.twice", element.line, id=scope.key)
        processes[scope.key] = scope
    reader.connect()
    reader.attach()
    processes = {key: scope for key, scope in processes.items() if scope.nodes}
    if not processes:
        raise RefusedError("model.bpmn.no_process", root.line)
    notes = {"lane": "model.note.lanes", "messageFlow": "model.note.messages"}
    return processes, [Statement(note) for kind, note in notes.items() if any(root.below(kind))]


class _Reader:
    """Reads one BPMN file."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.flows: list[Element] = []

    def scope(self, element: Element) -> Scope:
        """Read the nodes of a process or subprocess, recursively."""
        scope = Scope(element.get("id"), element.line)
        for child in element.inside:
            if child.kind == "sequenceFlow":
                self.flows.append(child)
            elif child.kind in REFUSED:
                name = flat(child.get("name")) or child.get("id")
                raise RefusedError("model.bpmn.refused", child.line, kind=child.kind, name=name)
            elif role := ROLES.get(child.kind):
                node = Node(child, role, scope)
                if not node.key:
                    raise RefusedError("model.bpmn.no_id", child.line, kind=child.kind)
                if node.key in self.nodes:
                    raise RefusedError("model.bpmn.twice", child.line, id=node.key)
                self.nodes[node.key] = node
                scope.nodes.append(node)
                if role in ("subprocess", "ad_hoc"):
                    inner = self.scope(child)
                    node.inner = inner if inner.nodes else None
        return scope

    def connect(self) -> None:
        """Connect the nodes by sequence flows."""
        seen: set[str] = set()
        for number, element in enumerate(self.flows):
            key = element.get("id") or f"flow {number}"
            if key in seen:
                raise RefusedError("model.bpmn.twice", element.line, id=key)
            seen.add(key)
            source, target = (element.refer(end, self.nodes) for end in ("sourceRef", "targetRef"))
            if target.scope is not source.scope:
                raise RefusedError("model.bpmn.border", element.line, id=key)
            if target.role == "boundary":
                line, what = target.part.line, target.part.what
                raise RefusedError("model.bpmn.flow_to_boundary", line, part=what)
            condition = any(element.children("conditionExpression"))
            optional = {"inclusive": True, "parallel": False}.get(source.role, condition)
            flow = Flow(key, target, optional)
            target.into.append(flow)
            source.leaving.append(flow)

    def attach(self) -> None:
        """Attach boundary events to their activities."""
        where = "attachedToRef"
        for node in self.nodes.values():
            if node.role == "boundary":
                key, line = node.element.get(where), node.part.line
                if key not in self.nodes or self.nodes[key].scope is not node.scope:
                    raise RefusedError("model.no_node", line, id=key, attribute=where)
                if node.trigger != "compensate":
                    self.nodes[key].events.append(node)
