"""BPMN as a Petri net: what tokens do, step by step.

A token lies on the way into a node; tasks, events and gateways pass it on. Several flows into a
task or exclusive gateway are ways to the same place; only parallel and inclusive joins tell them
apart. A process is over when no token is left. Events are silent: activities are tasks. Gateways
and ends take no time, tasks and awaited events do, so that nothing happens between the last task
before a terminating end and that end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NoReturn

from ...errors import RulesError
from .bpmn import TASKS, Bpmn, Flow, Node, Scope, called, every_scope
from .joins import InclusiveJoin, add_inclusive_joins
from .net import RUNNING, Net, NetBuilder, Part
from .xml import children

MOST_BRANCHES = 8
"""An inclusive gateway may have so many branches: every set of them is a step."""
DEEPEST = 50
"""Subprocesses and calls may be nested so deep."""
JOINS = ("parallelGateway", "inclusiveGateway")
AWAITED = ("intermediateCatchEvent", "boundaryEvent")
THROWN = ("error", "escalation", "cancel")
LOOPS = ("standardLoopCharacteristics", "multiInstanceLoopCharacteristics")


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


def net_of_bpmn(bpmn: Bpmn) -> Net:
    """Turn the processes of a file into one net."""
    return _Builder(bpmn).net()


class _Builder:
    """A net in the making from BPMN."""

    def __init__(self, bpmn: Bpmn) -> None:
        self.bpmn = bpmn
        self.made = NetBuilder(bpmn.path, notes=list(bpmn.notes))
        self.later: list[Callable[[], None]] = []
        self.joins: list[InclusiveJoin] = []
        self.calls: list[Scope] = []
        self.waiting: set[Part] = set()
        """What takes time though it is no activity: events that are awaited, tasks of no name."""

    def net(self) -> Net:
        """Build every process that no other calls; several run side by side."""
        inside = [s for scope in self.bpmn.processes.values() for s in every_scope(scope)]
        targets = [called(self.bpmn, node) for scope in inside for node in scope.nodes.values()]
        top = [s for s in self.bpmn.processes.values() if s not in targets]
        if not top:
            first = next(iter(self.bpmn.processes.values()))
            self.refuse(Part(what="", line=first.element.sourceline), "every process calls another")
        if len(top) > 1:
            self.made.note(f"{len(top)} processes run side by side, none waits for another.")
        start = []
        for scope in top:
            begin = self.made.place(f'the beginning of "{scope.key}"', scope.element.sourceline)
            start.append(begin)
            part = Part(what=f'process "{scope.key}"', line=scope.element.sourceline)
            self.run(scope, None, begin, [()], part)
        for action in self.later:
            action()
        add_inclusive_joins(self.made, self.joins)
        self.note_merged()
        self.hurry()
        return self.made.net(start, [()])

    def hurry(self) -> None:
        """Mark the steps that take no time, where that can make a difference."""
        steps = self.made.transitions
        if self.joins or any(step.clears for step in steps):
            self.made.transitions = [
                replace(step, immediate=step.label is None and step.part not in self.waiting)
                for step in steps
            ]

    def note_merged(self) -> None:
        """Say which tasks have the same name."""
        steps = self.made.transitions
        parts = {(t.label, t.part.line) for t in steps if t.label is not None}
        self.made.note_merged("tasks", Counter(label for label, _ in parts))

    def run(
        self,
        scope: Scope,
        up: Frame | None,
        begin: int,
        leave: Sequence[tuple[int, ...]],
        part: Part,
        boundary: Sequence[Node] = (),
        exits: dict[str, list[tuple[int, ...]]] | None = None,
    ) -> Frame:
        """Build one run of a scope, from a token on `begin` to tokens on one of `leave`."""
        frame = Frame(up=up)
        if up is not None:
            up.below.append(frame)
        active = self.made.place(f"{part.what} {RUNNING}", part.line)
        frame.active.append(active)
        inner = self.made.place(f"the beginning inside {part.what}", part.line)
        frame.own.append(inner)
        for node in boundary:
            for gives in (exits or {})[node.key]:
                frame.catchers.append((node, gives))
        self.inside(scope, frame, inner)

        def finish() -> None:
            self.made.add(part, [begin], [active, inner, *frame.armed])
            places = frame.places()
            waits = places - set(frame.armed) if frame.armed else places
            for running in frame.active:
                for gives in leave:
                    self.made.add(part, [running], gives, clears=frame.armed, empty=waits)
                for node, gives in frame.catchers:
                    # What only something thrown inside leads to does not happen by itself.
                    alone = node.key not in frame.caught and node.trigger != "cancel"
                    if alone and node.says("cancelActivity", "true"):
                        self.made.add(node.part, [running], gives, clears=places)

        self.later.append(finish)
        return frame

    def inside(self, scope: Scope, frame: Frame, begin: int) -> None:
        """Build the nodes of a scope."""
        if any(known is scope for known in self.calls):
            self.refuse(Part(what="", line=scope.element.sourceline), "it calls itself")
        if len(self.calls) >= DEEPEST:
            self.refuse(Part(what="", line=scope.element.sourceline), "nested beyond belief")
        self.calls.append(scope)
        entries: dict[str, int] = {}
        for flow in scope.flows:
            target = scope.nodes[flow.target]
            joining = target.kind in JOINS and len(scope.leading_to(target.key)) > 1
            if target.kind == "boundaryEvent":
                self.refuse(target.part, f"a flow leads to {target.part.what}")
            key = flow.key if joining else target.key
            if key not in entries:
                entries[key] = self.made.place(f"the way to {target.part.what}", target.part.line)
            entries[flow.key] = entries[key]
        ways = _Ways(self, scope, frame, entries)
        frame.own.extend(set(entries.values()))
        ways.start(begin)
        for node in scope.nodes.values():
            ways.add(node)
        self.calls.pop()

    def refuse(self, part: Part, what: str) -> NoReturn:
        """Say what is wrong and where."""
        raise RulesError(self.bpmn.path, part.line, what)


class _Ways:
    """The nodes of one scope, and where tokens go from each."""

    def __init__(
        self, builder: _Builder, scope: Scope, frame: Frame, entries: dict[str, int]
    ) -> None:
        self.builder, self.scope, self.frame = builder, scope, frame
        self.made = builder.made
        self.entries = entries
        self.boundary: dict[str, list[Node]] = {}
        for node in scope.nodes.values():
            if node.kind == "boundaryEvent":
                host = node.element.get("attachedToRef")
                if host not in scope.nodes:
                    builder.refuse(node.part, f'{node.part.what}: no node "{host}" (attachedToRef)')
                if node.trigger == "compensate":
                    self.made.note("Compensation is passed over.")
                else:
                    self.boundary.setdefault(host, []).append(node)

    def start(self, begin: int) -> None:
        """Let cases begin at one of the start events, or at all nodes that nothing leads to."""
        nodes = self.scope.nodes.values()
        starts = [n for n in nodes if n.kind == "startEvent"]
        loose = [
            n
            for n in nodes
            if not (n.kind in ("startEvent", "boundaryEvent") or n.says("isForCompensation"))
            and not n.says("triggeredByEvent")
            and not (n.kind == "intermediateCatchEvent" and n.trigger == "link")
            and not self.scope.leading_to(n.key)
        ]
        for node in [n for n in loose if n.says("instantiate")]:
            starts.append(node)
            loose.remove(node)
        if starts and loose:
            self.builder.refuse(loose[0].part, f"no flow leads to {loose[0].part.what}")
        if not starts and not loose:
            part = Part(what="", line=self.scope.element.sourceline)
            self.builder.refuse(part, "there is no start event, and every node follows another")
        for node in starts:
            if node.kind == "startEvent":
                for gives in self.leave(node):
                    self.made.add(node.part, [begin], gives)
            else:
                self.made.add(node.part, [begin], [self.entry(node)])
        if not starts:
            self.made.add(loose[0].part, [begin], [self.entry(node) for node in loose])

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
            self.builder.refuse(node.part, what)
        for number in range(1, len(flows) + 1):
            yield from combinations(flows, number)

    def targets(self, flows: Sequence[Flow]) -> tuple[int, ...]:
        """The places that flows lead to."""
        return tuple(self.entries[flow.key] for flow in flows)

    def add(self, node: Node) -> None:
        """Add the steps of a node."""
        awaited = node.kind in AWAITED and node.trigger != "link"
        if awaited or node.says("triggeredByEvent") or (node.kind in TASKS and not node.name):
            self.builder.waiting.add(node.part)
        if node.kind in ("startEvent", "boundaryEvent") and node.key not in self.entries:
            return
        if node.says("isForCompensation"):
            self.made.note("Compensation is passed over.")
            return
        if node.says("triggeredByEvent"):
            self.event_subprocess(node)
        elif node.kind in JOINS:
            self.gateway(node)
        elif node.kind in ("exclusiveGateway", "eventBasedGateway"):
            for flow in self.scope.leaving(node.key):
                self.made.add(node.part, [self.entry(node)], [self.entries[flow.key]])
            if not self.scope.leaving(node.key):
                self.made.add(node.part, [self.entry(node)], [])
        elif node.kind == "endEvent":
            self.end(node)
        elif node.kind == "intermediateThrowEvent":
            self.throw(node)
        elif node.inner is not None or called(self.builder.bpmn, node) is not None:
            self.subprocess(node)
        elif node.kind in TASKS or node.kind.endswith(("rocess", "transaction")):
            self.task(node)
        elif self.scope.leading_to(node.key) or node.key in self.entries:
            self.pass_on(node.part, self.entry(node), self.leave(node))

    def pass_on(self, part: Part, place: int, leave: Sequence[tuple[int, ...]]) -> None:
        """Move a token silently."""
        for gives in leave:
            self.made.add(part, [place], gives)

    def task(self, node: Node) -> None:
        """A task: one activity; with a loop marker, several times; or a boundary event instead."""
        part, here, leave = node.part, self.entry(node), self.leave(node)
        if not node.name:
            self.made.note(f"The task in line {part.line} has no name: it is a silent step.")
        armed, running = self.arm(node, here)
        loops = children(node.element, *LOOPS)
        if loops or len(leave) > 1:
            done = self.place(f"the end of {part.what}", part)
            self.made.add(part, [running], [done], node.name or None)
            for gives in leave:
                self.made.add(part, [done], gives, clears=armed)
            if loops:
                self.made.note(f"{_title(node)} repeats: once or more often.")
                self.made.add(part, [done], [running])
        else:
            self.made.add(part, [running], leave[0], node.name or None, clears=armed)
        for event in self.boundary.get(node.key, ()):
            if event.says("cancelActivity", "true"):
                for gives in self.leave(event):
                    self.made.add(event.part, [running], gives, clears=armed)

    def arm(self, node: Node, here: int) -> tuple[list[int], int]:
        """Get ready what may happen once beside a task; give its places and that of the task."""
        beside = [
            event
            for event in self.boundary.get(node.key, ())
            if not event.says("cancelActivity", "true")
        ]
        if not beside:
            return [], here
        running = self.place(f"{node.part.what} {RUNNING}", node.part)
        armed = []
        for event in beside:
            self.made.note(f"{_title(event)} does not interrupt: once at most is assumed.")
            place = self.place(f"{event.part.what} before it happens", event.part)
            armed.append(place)
            for gives in self.leave(event):
                self.made.add(event.part, [place, running], [running, *gives])
        self.made.add(node.part, [here], [running, *armed])
        return armed, running

    def place(self, what: str, part: Part) -> int:
        """Add a place to this scope."""
        place = self.made.place(what, part.line)
        self.frame.own.append(place)
        return place

    def subprocess(self, node: Node) -> None:
        """A subprocess or call: all its steps, then what follows it."""
        scope = node.inner or called(self.builder.bpmn, node)
        assert scope is not None
        part, here, leave = node.part, self.entry(node), self.leave(node)
        if node.kind == "adHocSubProcess":
            self.ad_hoc(node, scope, here, leave)
            return
        loops = children(node.element, *LOOPS)
        if loops:
            if loops[0].get("isSequential", "true") != "true" or (
                loops[0].tag.endswith(LOOPS[1]) and loops[0].get("isSequential") is None
            ):
                what = f"{part.what} has parallel instances without a bound: no rules can be told"
                self.builder.refuse(part, what)
            self.made.note(f"{_title(node)} repeats: once or more often.")
            leave = [*leave, (here,)]
        events = self.boundary.get(node.key, [])
        exits = {event.key: self.leave(event) for event in events}
        frame = self.builder.run(scope, self.frame, here, leave, part, events, exits)
        for event in events:
            if not event.says("cancelActivity", "true") and event.key not in frame.caught:
                self.beside(event, frame, exits[event.key])

    def beside(self, event: Node, frame: Frame, leave: Sequence[tuple[int, ...]]) -> None:
        """Let something happen once while a subprocess runs, without interrupting it."""
        self.made.note(f"{_title(event)} does not interrupt: once at most is assumed.")
        place = self.place(f"{event.part.what} before it happens", event.part)
        frame.armed.append(place)
        for running in frame.active:
            for gives in leave:
                self.made.add(event.part, [place, running], [running, *gives])

    def ad_hoc(self, node: Node, scope: Scope, here: int, leave: Sequence[tuple[int, ...]]) -> None:
        """Tasks in any order, any number of times."""
        inner = scope.nodes.values()
        if scope.flows or any(child.kind not in TASKS for child in inner):
            what = f"{node.part.what} is ad hoc and has flows or more than tasks: not understood"
            self.builder.refuse(node.part, what)
        for child in inner:
            self.made.add(child.part, [here], [here], child.name or None)
        self.pass_on(node.part, here, leave)

    def event_subprocess(self, node: Node) -> None:
        """What is done in place of, or beside, everything else once an event happens."""
        scope, frame, part = node.inner, self.frame, node.part
        if scope is None:
            return
        starts = [n for n in scope.nodes.values() if n.kind == "startEvent"]
        beside = any(not start.says("isInterrupting", "true") for start in starts)
        inner = Frame(up=frame)
        frame.below.append(inner)
        begin = self.made.place(f"the beginning inside {part.what}", part.line)
        inner.own.append(begin)
        self.builder.inside(scope, inner, begin)
        if beside:
            self.made.note(f"{_title(node)} does not interrupt: once at most is assumed.")
            place = self.made.place(f"{part.what} before it happens", part.line)
            frame.armed.append(place)
            active = frame.active[0]
            self.made.add(part, [place, active], [active, begin])
            return
        active = frame.active[0]
        after = self.made.place(f"{part.what} {RUNNING}", part.line)
        frame.active.append(after)
        self.builder.later.append(
            lambda: self.made.add(part, [active], [after, begin], clears=frame.places())
        )

    def gateway(self, node: Node) -> None:
        """A parallel or inclusive gateway, as a join, a split or both."""
        flows, outs = self.scope.leading_to(node.key), self.scope.leaving(node.key)
        takes = list(self.targets(flows)) if len(flows) > 1 else [self.entry(node)]
        if node.kind == "parallelGateway":
            self.made.add(node.part, takes, self.targets(outs))
            return
        default = node.element.get("default")
        others = [flow for flow in outs if flow.key != default]
        chosen = [self.targets(some) for some in self.subsets(node, others)]
        chosen += [self.targets([flow]) for flow in outs if flow.key == default]
        if len(takes) == 1:
            self.pass_on(node.part, takes[0], chosen or [()])
            return
        if len(takes) > MOST_BRANCHES:
            what = f"{node.part.what} joins more than {MOST_BRANCHES} branches"
            self.builder.refuse(node.part, what)
        done = self.place(f"the way out of {node.part.what}", node.part)
        self.builder.joins.append(InclusiveJoin(node.part, tuple(takes), done, self.frame.places))
        self.pass_on(node.part, done, chosen or [()])

    def throw(self, node: Node) -> None:
        """An event that is thrown on the way: a link is a jump, others are silent."""
        here, leave = self.entry(node), self.leave(node)
        if node.trigger == "link":
            goals = [
                n
                for n in self.scope.nodes.values()
                if (n.kind, n.trigger) == ("intermediateCatchEvent", "link")
                and (n.reference or n.name) == (node.reference or node.name)
            ]
            if len(goals) != 1:
                what = f"{node.part.what} has {len(goals)} places to go to; a link needs one"
                self.builder.refuse(node.part, what)
            leave = [(self.entry(goals[0]),)]
        if node.trigger == "escalation" and self.thrown(node, leave):
            return
        self.pass_on(node.part, here, leave)

    def end(self, node: Node) -> None:
        """An end event: the token is gone; with it all others, where it terminates or throws."""
        here = self.entry(node)
        if node.trigger in THROWN and self.thrown(node, [()]):
            return
        if node.trigger in ("terminate", "error", "cancel"):
            top = self.frame
            while node.trigger != "terminate" and top.up is not None:
                top = top.up
            part = node.part
            self.builder.later.append(lambda: self.made.add(part, [here], [], clears=top.places()))
            return
        self.made.add(node.part, [here], [])

    def thrown(self, node: Node, leave: Sequence[tuple[int, ...]]) -> bool:
        """Lead what is thrown to the boundary event that catches it, if one does."""
        frame: Frame | None = self.frame
        while frame is not None:
            fitting = [
                (event, gives)
                for event, gives in frame.catchers
                if event.trigger == node.trigger and event.reference in ("", node.reference)
            ]
            for event, gives in fitting:
                frame.caught.add(event.key)
                self.catch(node, frame, event, gives, leave)
            if fitting:
                return True
            frame = frame.up
        return False

    def catch(
        self,
        node: Node,
        frame: Frame,
        event: Node,
        gives: tuple[int, ...],
        leave: Sequence[tuple[int, ...]],
    ) -> None:
        """Add the step from what is thrown to what catches it."""
        here, part = self.entry(node), node.part

        def add() -> None:
            for running in frame.active:
                if event.says("cancelActivity", "true"):
                    self.made.add(part, [here, running], gives, clears=frame.places())
                    continue
                for after in leave:
                    self.made.add(part, [here, running], [running, *gives, *after])

        self.builder.later.append(add)


def _title(node: Node) -> str:
    what = node.part.what
    return what[0].upper() + what[1:]
