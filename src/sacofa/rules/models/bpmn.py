"""BPMN 2.0 files as editors write them: processes, their nodes and flows, checked.

Diagrams, data, documentation and the extensions of editors are passed over. Where lanes and
messages are passed over, a note says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from ...errors import RulesError, nearest
from .net import MAX_PARTS, Part
from .xml import children, flat, kind, line

TASKS = frozenset(
    [
        "task",
        "userTask",
        "manualTask",
        "serviceTask",
        "scriptTask",
        "sendTask",
        "receiveTask",
        "businessRuleTask",
        "callActivity",
    ]
)
SUBPROCESSES = frozenset(["subProcess", "transaction", "adHocSubProcess"])
GATEWAYS = frozenset(
    ["exclusiveGateway", "eventBasedGateway", "parallelGateway", "inclusiveGateway"]
)
EVENTS = frozenset(
    ["startEvent", "endEvent", "intermediateCatchEvent", "intermediateThrowEvent", "boundaryEvent"]
)
NODES = TASKS | SUBPROCESSES | GATEWAYS | EVENTS
REFUSED = frozenset(["complexGateway", "choreographyTask", "subChoreography", "callChoreography"])
TRIGGERS = "EventDefinition"
WORDS = {
    "exclusiveGateway": "exclusive gateway",
    "eventBasedGateway": "event-based gateway",
    "parallelGateway": "parallel gateway",
    "inclusiveGateway": "inclusive gateway",
    "startEvent": "start event",
    "endEvent": "end event",
    "intermediateCatchEvent": "event",
    "intermediateThrowEvent": "event",
    "boundaryEvent": "boundary event",
    "callActivity": "call activity",
}


@dataclass(frozen=True)
class Flow:
    """A sequence flow."""

    key: str
    source: str
    target: str
    conditional: bool
    line: int | None


@dataclass(frozen=True, eq=False)
class Node:
    """A task, event, gateway or subprocess."""

    key: str
    kind: str
    name: str
    element: Any
    inner: Scope | None = None
    """What is inside, for a subprocess that shows it."""

    @property
    def part(self) -> Part:
        """How messages name it."""
        word = WORDS.get(self.kind)
        if word is None:
            word = "subprocess" if self.kind in SUBPROCESSES else "task"
        return Part(what=f'{word} "{self.name or self.key}"', line=line(self.element))

    @property
    def trigger(self) -> str:
        """What kind of event it is: timer, error, link … or nothing in particular."""
        for child in self.element:
            if kind(child).endswith(TRIGGERS):
                return kind(child).removesuffix(TRIGGERS)
        return ""

    @property
    def reference(self) -> str:
        """Which error, escalation or link is meant; empty for any."""
        for child in self.element:
            if kind(child).endswith(TRIGGERS):
                refs = [value for key, value in child.attrib.items() if key.endswith("Ref")]
                return flat(child.get("name") or (refs[0] if refs else ""))
        return ""

    def says(self, attribute: str, default: str = "false") -> bool:
        """Whether an attribute is true."""
        return str(self.element.get(attribute, default)).strip().lower() in ("true", "1")


@dataclass(eq=False)
class Scope:
    """A process or the inside of a subprocess."""

    key: str
    element: Any
    nodes: dict[str, Node] = field(default_factory=dict)
    flows: list[Flow] = field(default_factory=list)
    _into: dict[str, list[Flow]] = field(default_factory=dict)
    _out: dict[str, list[Flow]] = field(default_factory=dict)

    def connect(self, flow: Flow) -> None:
        """Add a flow."""
        self.flows.append(flow)
        self._into.setdefault(flow.target, []).append(flow)
        self._out.setdefault(flow.source, []).append(flow)

    def leading_to(self, node: str) -> list[Flow]:
        """The flows into a node."""
        return self._into.get(node, [])

    def leaving(self, node: str) -> list[Flow]:
        """The flows out of a node."""
        return self._out.get(node, [])


@dataclass(frozen=True, eq=False)
class Bpmn:
    """A BPMN file: its processes by key, and what was passed over."""

    path: str | Path
    processes: dict[str, Scope]
    notes: list[str]


def read_bpmn(path: str | Path, root: Any) -> Bpmn:
    """Read the processes of a file."""
    reader = _Reader(path)
    found = [child for child in root if kind(child) == "process"]
    for element in found:
        scope = reader.scope(element)
        reader.put(reader.processes, scope.key, scope, element)
    reader.connect()
    notes = []
    every = [kind(element) for element in root.iter() if isinstance(element.tag, str)]
    if "lane" in every:
        notes.append("Lanes are passed over: who does something makes no rule.")
    if "messageFlow" in every:
        notes.append("Messages between pools are passed over: they make nobody wait here.")
    processes = {key: scope for key, scope in reader.processes.items() if scope.nodes}
    if not processes:
        raise RulesError(path, line(root), "no process with a task or event in it")
    return Bpmn(path=path, processes=processes, notes=notes + reader.notes)


class _Reader:
    """One BPMN file in the reading."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.processes: dict[str, Scope] = {}
        self.homes: dict[str, Scope] = {}
        self.flows: list[Any] = []
        self.notes: list[str] = []

    def scope(self, element: Any) -> Scope:
        """Read the nodes of a process or subprocess, and of what is inside them."""
        scope = Scope(key=element.get("id") or "", element=element)
        for child in element:
            name = kind(child)
            if name == "sequenceFlow":
                self.flows.append(child)
            elif name in REFUSED:
                part = f'"{flat(child.get("name")) or child.get("id")}"'
                self.refuse(child, f"<{name}> {part} cannot be turned into rules")
            elif name in NODES:
                key = child.get("id")
                if not key:
                    self.refuse(child, f"<{name}> has no id")
                inner = self.scope(child) if name in SUBPROCESSES else None
                node = Node(
                    key=key,
                    kind=name,
                    name=flat(child.get("name")),
                    element=child,
                    inner=inner if inner is not None and inner.nodes else None,
                )
                self.put(scope.nodes, key, node, child)
                if key in self.homes:
                    self.refuse(child, f'the id "{key}" is used twice')
                self.homes[key] = scope
                if len(self.homes) > MAX_PARTS:
                    self.refuse(child, f"more than {MAX_PARTS:,} tasks, events and gateways")
        return scope

    def connect(self) -> None:
        """Give every flow to the scope whose nodes it connects."""
        seen: set[str] = set()
        for number, element in enumerate(self.flows):
            key = element.get("id") or f"flow {number}"
            if key in seen:
                self.refuse(element, f'the id "{key}" is used twice')
            seen.add(key)
            ends = []
            for end in ("sourceRef", "targetRef"):
                node = element.get(end)
                if node not in self.homes:
                    advice = nearest(node or "", self.homes)
                    self.refuse(element, f'flow "{key}": no node "{node}" ({end}).{advice}')
                ends.append(node)
            home = self.homes[ends[0]]
            if self.homes[ends[1]] is not home:
                self.refuse(element, f'flow "{key}" crosses the border of a process')
            conditional = bool(children(element, "conditionExpression"))
            home.connect(Flow(key, ends[0], ends[1], conditional, line(element)))

    def put(self, there: dict[str, Any], key: str, thing: object, element: Any) -> None:
        """Keep something under its id, which must be new."""
        if key in there:
            self.refuse(element, f'the id "{key}" is used twice')
        there[key] = thing

    def refuse(self, element: Any, what: str) -> NoReturn:
        """Say what is wrong and where."""
        raise RulesError(self.path, line(element), what)


def called(bpmn: Bpmn, node: Node) -> Scope | None:
    """The process of the same file that a node calls, if it does."""
    if node.kind != "callActivity":
        return None
    key = (node.element.get("calledElement") or "").rpartition(":")[2]
    return bpmn.processes.get(key)


def every_scope(scope: Scope) -> Iterator[Scope]:
    """A scope and all those inside it."""
    yield scope
    for node in scope.nodes.values():
        if node.inner is not None:
            yield from every_scope(node.inner)
