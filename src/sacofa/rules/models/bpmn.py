"""BPMN 2.0 files as editors write them: processes, their nodes and flows, checked.

Diagrams, data, documentation and the extensions of editors are passed over. A note reports lanes
and messages, which are passed over too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ...errors import Statement
from ..refusal import RefusedError
from .net import MAX_PARTS, Part
from .xml import Element, flat

TASK, CALL, SUBPROCESS, AD_HOC = "task", "call", "subprocess", "ad_hoc"
EXCLUSIVE, EVENT_BASED = "exclusive", "event_based"
PARALLEL, INCLUSIVE = "parallel", "inclusive"
START, END, CATCH, THROW, BOUNDARY = "start", "end", "catch", "throw", "boundary"
ROLES = {
    "task": TASK,
    "userTask": TASK,
    "manualTask": TASK,
    "serviceTask": TASK,
    "scriptTask": TASK,
    "sendTask": TASK,
    "receiveTask": TASK,
    "businessRuleTask": TASK,
    "callActivity": CALL,
    "subProcess": SUBPROCESS,
    "transaction": SUBPROCESS,
    "adHocSubProcess": AD_HOC,
    "exclusiveGateway": EXCLUSIVE,
    "eventBasedGateway": EVENT_BASED,
    "parallelGateway": PARALLEL,
    "inclusiveGateway": INCLUSIVE,
    "startEvent": START,
    "endEvent": END,
    "intermediateCatchEvent": CATCH,
    "intermediateThrowEvent": THROW,
    "boundaryEvent": BOUNDARY,
}
"""What each element of a process is; others are passed over, or refused."""
REFUSED = ("complexGateway", "choreographyTask", "subChoreography", "callChoreography")
TASKS = (TASK, CALL)
TRIGGER = "EventDefinition"
LOOPS = ("standardLoopCharacteristics", "multiInstanceLoopCharacteristics")


@dataclass(frozen=True)
class Flow:
    """A sequence flow."""

    key: str
    source: str
    target: str
    conditional: bool


@dataclass(eq=False)
class Node:
    """A task, event, gateway or subprocess."""

    key: str
    role: str
    element: Element
    inner: Scope | None = None
    """What is inside a subprocess, if the file has it."""

    @property
    def name(self) -> str:
        """Its name on one line; may be empty."""
        return self.element.name

    @cached_property
    def part(self) -> Part:
        """What transitions of it stand for."""
        what = Statement(f"model.bpmn.{self.role}", name=self.name or self.key)
        return Part(what=what, line=self.element.line)

    @cached_property
    def _definition(self) -> Element | None:
        return next((e for e in self.element.inside if e.kind.endswith(TRIGGER)), None)

    @property
    def trigger(self) -> str:
        """Kind of event: timer, error, link … or empty."""
        return "" if self._definition is None else self._definition.kind.removesuffix(TRIGGER)

    @property
    def reference(self) -> str:
        """Error, escalation or link that is meant; empty for any."""
        if self._definition is None:
            return ""
        refs = (v for k, v in self._definition.attributes.items() if k.endswith("Ref"))
        return flat(self._definition.get("name") or next(refs, ""))

    @property
    def interrupts(self) -> bool:
        """Whether a boundary event ends what it is attached to."""
        return self.element.flag("cancelActivity", default=True)

    @property
    def creates(self) -> bool:
        """Whether a case can begin with it, next to others with which one can."""
        return self.role == START or self.element.flag("instantiate")

    @property
    def on_event(self) -> bool:
        """Whether it is an event subprocess."""
        return self.element.flag("triggeredByEvent")

    @property
    def compensates(self) -> bool:
        """Whether it is for compensation only."""
        return self.element.flag("isForCompensation")

    @property
    def is_link_target(self) -> bool:
        """Whether it catches a link."""
        return self.role == CATCH and self.trigger == "link"

    @property
    def link(self) -> str:
        """Name of the link that it throws or catches."""
        return self.reference or self.name

    @property
    def loop(self) -> Element | None:
        """Its loop marker."""
        return next(iter(self.element.children(*LOOPS)), None)


@dataclass(eq=False)
class Scope:
    """A process or the inside of a subprocess."""

    key: str
    line: int
    nodes: dict[str, Node] = field(default_factory=dict)
    flows: list[Flow] = field(default_factory=list)

    def leading_to(self, node: Node) -> list[Flow]:
        """Return the flows into a node."""
        return self._ends[0].get(node.key, [])

    def leaving(self, node: Node) -> list[Flow]:
        """Return the flows out of a node."""
        return self._ends[1].get(node.key, [])

    @cached_property
    def _ends(self) -> tuple[dict[str, list[Flow]], dict[str, list[Flow]]]:
        into: dict[str, list[Flow]] = {}
        out: dict[str, list[Flow]] = {}
        for flow in self.flows:
            into.setdefault(flow.target, []).append(flow)
            out.setdefault(flow.source, []).append(flow)
        return into, out

    def all(self) -> Iterator[Scope]:
        """Yield this scope and all those inside it."""
        yield self
        for node in self.nodes.values():
            if node.inner is not None:
                yield from node.inner.all()


@dataclass(frozen=True, eq=False)
class Bpmn:
    """A BPMN file: its processes by key, and what was passed over."""

    processes: dict[str, Scope]
    notes: tuple[Statement, ...]

    def nodes(self) -> Iterator[Node]:
        """Yield all nodes of all processes."""
        for process in self.processes.values():
            for scope in process.all():
                yield from scope.nodes.values()

    def called_by(self, node: Node) -> Scope | None:
        """Return the process of the same file that a node calls, if it does."""
        if node.role != CALL:
            return None
        return self.processes.get(node.element.get("calledElement").rpartition(":")[2])


def read_bpmn(root: Element) -> Bpmn:
    """Read the processes of a file."""
    reader = _Reader()
    processes: dict[str, Scope] = {}
    for element in root.children("process"):
        scope = reader.scope(element)
        if scope.key in processes:
            raise _twice(element, scope.key)
        processes[scope.key] = scope
    reader.connect()
    processes = {key: scope for key, scope in processes.items() if scope.nodes}
    if not processes:
        raise RefusedError("model.bpmn.no_process", root.line)
    passed_over = {
        "lane": Statement("model.note.lanes"),
        "messageFlow": Statement("model.note.messages"),
    }
    notes = tuple(note for kind, note in passed_over.items() if any(root.below(kind)))
    return Bpmn(processes=processes, notes=notes)


class _Reader:
    """Reads one BPMN file."""

    def __init__(self) -> None:
        self.homes: dict[str, Scope] = {}
        self.flows: list[Element] = []

    def scope(self, element: Element) -> Scope:
        """Read the nodes of a process or subprocess, and of what is inside them."""
        scope = Scope(key=element.get("id"), line=element.line)
        for child in element.inside:
            if child.kind == "sequenceFlow":
                self.flows.append(child)
            elif child.kind in REFUSED:
                name = child.name or child.get("id")
                raise RefusedError("model.bpmn.refused", child.line, kind=child.kind, name=name)
            elif child.kind in ROLES:
                self._add_node(scope, child)
        return scope

    def _add_node(self, scope: Scope, element: Element) -> None:
        key, role = element.get("id"), ROLES[element.kind]
        if not key:
            raise RefusedError("model.bpmn.no_id", element.line, kind=element.kind)
        if key in self.homes:
            raise _twice(element, key)
        if len(self.homes) >= MAX_PARTS:
            raise RefusedError("model.too_many_parts", element.line, limit=MAX_PARTS)
        self.homes[key] = scope
        inner = self.scope(element) if role in (SUBPROCESS, AD_HOC) else None
        if inner is not None and not inner.nodes:
            inner = None
        scope.nodes[key] = Node(key=key, role=role, element=element, inner=inner)

    def connect(self) -> None:
        """Give every flow to the scope whose nodes it connects."""
        seen: set[str] = set()
        for number, element in enumerate(self.flows):
            key = element.get("id") or f"flow {number}"
            if key in seen:
                raise _twice(element, key)
            seen.add(key)
            source, target = self._end(element, "sourceRef"), self._end(element, "targetRef")
            home = self.homes[source]
            if self.homes[target] is not home:
                raise RefusedError("model.bpmn.border", element.line, id=key)
            conditional = bool(element.children("conditionExpression"))
            home.flows.append(Flow(key, source, target, conditional))

    def _end(self, flow: Element, attribute: str) -> str:
        node = flow.get(attribute)
        if node not in self.homes:
            raise RefusedError("model.no_node", flow.line, id=node, attribute=attribute).advise(
                node, self.homes
            )
        return node


def _twice(element: Element, key: str) -> RefusedError:
    return RefusedError("model.bpmn.twice", element.line, id=key)
