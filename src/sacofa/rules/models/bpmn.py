"""BPMN 2.0 files as editors write them: processes, their nodes and flows, checked.

Diagrams, data, documentation and the extensions of editors are passed over. A note reports lanes
and messages, which are passed over too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ...errors import Statement
from ..reading import RefusedError
from .net import MAX_PARTS, Part
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
"""What each element of a process is; others are passed over, or refused."""
REFUSED = ("complexGateway", "choreographyTask", "subChoreography", "callChoreography")
TRIGGER = "EventDefinition"
LOOPS = ("standardLoopCharacteristics", "multiInstanceLoopCharacteristics")


class Node:
    """A task, event, gateway or subprocess.

    Attributes:
        inner: What is inside a subprocess, if the file has it.
        part: What transitions of it stand for.
        called: Id of the process that it calls, or empty.
        trigger: Kind of event: timer, error, link … or empty.
        reference: Error, escalation or link that is meant; empty for any.
        is_task: Whether it is one activity, unless it calls a process of the file.
        interrupts: Whether a boundary event ends what it is attached to.
        on_event: Whether it is an event subprocess.
    """

    def __init__(self, element: Element, role: str, inner: Scope | None) -> None:
        self.key, self.role, self.element, self.inner = element.get("id"), role, element, inner
        self.name = flat(element.get("name"))
        what = Statement(f"model.bpmn.{role}", name=self.name or self.key)
        self.part = Part(what=what, line=element.line)
        self.called = element.get("calledElement").rpartition(":")[2] if role == "call" else ""
        self.loop = next(iter(element.children(*LOOPS)), None)
        self.trigger, self.reference = "", ""
        for event in [child for child in element.inside if child.kind.endswith(TRIGGER)][:1]:
            self.trigger = event.kind.removesuffix(TRIGGER)
            refs = (v for k, v in event.attributes.items() if k.endswith("Ref"))
            self.reference = flat(event.get("name") or next(refs, ""))
        self.is_task = role in ("task", "call")
        self.interrupts = element.flag("cancelActivity", default=True)
        self.on_event = element.flag("triggeredByEvent")
        self.compensates = element.flag("isForCompensation")
        self.is_link_target = role == "catch" and self.trigger == "link"


class Flow(NamedTuple):
    """A sequence flow."""

    key: str
    target: str
    conditional: bool


@dataclass(eq=False)
class Scope:
    """A process or the inside of a subprocess: its nodes, the flows into and out of each."""

    key: str
    line: int
    nodes: dict[str, Node] = field(default_factory=dict)
    into: defaultdict[str, list[Flow]] = field(default_factory=lambda: defaultdict(list))
    leaving: defaultdict[str, list[Flow]] = field(default_factory=lambda: defaultdict(list))

    def all_nodes(self) -> Iterator[Node]:
        """Yield the nodes of this scope and of all those inside it."""
        for node in self.nodes.values():
            yield node
            if node.inner is not None:
                yield from node.inner.all_nodes()


def read_bpmn(root: Element) -> tuple[dict[str, Scope], list[Statement]]:
    """Read the processes of a file by key, and what was passed over."""
    reader = _Reader()
    processes: dict[str, Scope] = {}
    for element in root.children("process"):
        scope = reader.scope(element)
        if scope.key in processes:
            raise RefusedError("model.bpmn.twice", element.line, id=scope.key)
        processes[scope.key] = scope
    reader.connect()
    processes = {key: scope for key, scope in processes.items() if scope.nodes}
    if not processes:
        raise RefusedError("model.bpmn.no_process", root.line)
    lanes, messages = Statement("model.note.lanes"), Statement("model.note.messages")
    passed_over = {"lane": lanes, "messageFlow": messages}
    return processes, [note for kind, note in passed_over.items() if any(root.below(kind))]


class _Reader:
    """Reads one BPMN file."""

    def __init__(self) -> None:
        self.homes: dict[str, Scope] = {}
        self.flows: list[Element] = []

    def scope(self, element: Element) -> Scope:
        """Read the nodes of a process or subprocess, and of what is inside them."""
        scope = Scope(key=element.get("id"), line=element.line)
        for child in element.inside:
            key = child.get("id")
            if child.kind == "sequenceFlow":
                self.flows.append(child)
            elif child.kind in REFUSED:
                name = flat(child.get("name")) or key
                raise RefusedError("model.bpmn.refused", child.line, kind=child.kind, name=name)
            elif role := ROLES.get(child.kind):
                self._refuse_key(key, child)
                self.homes[key] = scope
                inner = self.scope(child) if role in ("subprocess", "ad_hoc") else None
                scope.nodes[key] = Node(child, role, inner if inner and inner.nodes else None)
        return scope

    def _refuse_key(self, key: str, element: Element) -> None:
        if not key:
            raise RefusedError("model.bpmn.no_id", element.line, kind=element.kind)
        if key in self.homes:
            raise RefusedError("model.bpmn.twice", element.line, id=key)
        if len(self.homes) >= MAX_PARTS:
            raise RefusedError("model.too_many_parts", element.line, limit=MAX_PARTS)

    def connect(self) -> None:
        """Give every flow to the scope whose nodes it connects."""
        seen: set[str] = set()
        for number, element in enumerate(self.flows):
            key = element.get("id") or f"flow {number}"
            if key in seen:
                raise RefusedError("model.bpmn.twice", element.line, id=key)
            seen.add(key)
            source, target = self._end(element, "sourceRef"), self._end(element, "targetRef")
            home = self.homes[source]
            if self.homes[target] is not home:
                raise RefusedError("model.bpmn.border", element.line, id=key)
            flow = Flow(key, target, bool(element.children("conditionExpression")))
            home.into[target].append(flow)
            home.leaving[source].append(flow)

    def _end(self, flow: Element, attribute: str) -> str:
        node = flow.get(attribute)
        if node not in self.homes:
            unknown = RefusedError("model.no_node", flow.line, id=node, attribute=attribute)
            raise unknown.advise(node, self.homes)
        return node
