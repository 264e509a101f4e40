"""BPMN as a Petri net: what tokens do, step by step.

A token lies on the way into a node; tasks, events and gateways pass it on. Several flows into a
task or exclusive gateway are ways to the same place; only parallel and inclusive joins tell them
apart. A process is over when no token is left. Events are silent: activities are tasks. Gateways
and ends take no time, tasks and awaited events do, so that nothing happens between the last task
before a terminating end and that end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations, product
from typing import TypeVar

from ...errors import Statement
from ..reading import RefusedError
from .bpmn import LOOPS, Flow, Node, Scope
from .net import Net, Part, numbers_of, tokens

MAX_DEPTH = 50
"""Subprocesses and calls may be nested this deep."""
MAX_BRANCHES = 8
"""An inclusive gateway may have this many branches: every set of them is a step."""
MAX_WAITING = 1_000_000
"""All sets of places for which inclusive joins wait have this many members at most."""
THROWN = ("error", "escalation", "cancel")
Exits = Sequence[int]
"""Alternatives, each with the tokens that are given."""
T = TypeVar("T")


def net_of_bpmn(processes: Mapping[str, Scope], notes: Sequence[Statement]) -> Net:
    """Turn the processes of a file into one net; several that nobody calls run side by side."""
    top, net = _uncalled(processes), _BpmnNet(processes, notes)
    if len(top) > 1:
        net.note(Statement("model.note.side_by_side", count=len(top)))
    for scope in top:
        part = Part(what=Statement("model.bpmn.process", name=scope.key), line=scope.line)
        begin = net.at("before", part)
        net.start |= begin
        _Run(net, scope, part).build(begin, [0])
    for action in net.later:
        action()
    net.add_inclusive_joins()
    # Where tokens are cleared or waited for, it can make a difference which steps take no time.
    if net.joins or any(step.clears for step in net.transitions):
        net.mark_immediate()
    return net


def _uncalled(processes: Mapping[str, Scope]) -> list[Scope]:
    nodes = chain.from_iterable(scope.all_nodes() for scope in processes.values())
    called = {node.called for node in nodes if node.role == "call"}
    top = [scope for key, scope in processes.items() if key not in called]
    if not top:
        raise RefusedError("model.bpmn.all_called", next(iter(processes.values())).line)
    return top


class _BpmnNet(Net):
    """A net that is made from BPMN.

    Attributes:
        later: What can be added only when all places are known.
        joins: Inclusive joins, with the places they take from and the one they give to; they wait
            for what all other steps can still do.
        calls: Scopes that are being built, from the outermost on.
        awaited: What takes time though it is no activity: awaited events, tasks without a name.
    """

    def __init__(self, processes: Mapping[str, Scope], notes: Sequence[Statement]) -> None:
        super().__init__(notes=list(notes), ends=[0])
        self.processes = processes
        self.later: list[Callable[[], None]] = []
        self.joins: list[tuple[_Run, Part, Sequence[int], int]] = []
        self.calls: list[Scope] = []
        self.awaited: set[Part] = set()

    def at(self, where: str, part: Part) -> int:
        """Add a place before, after, inside … a part of the file."""
        what = Statement(f"model.at.{where}", part=part.what)
        return self.place(Part(what=what, line=part.line, running=where == "running"))

    def mark_immediate(self) -> None:
        """Mark the steps that take no time."""
        for i, step in enumerate(self.transitions):
            immediate = step.label is None and step.part not in self.awaited
            self.transitions[i] = replace(step, immediate=immediate)

    def add_inclusive_joins(self) -> None:
        """Add the steps of all inclusive joins; everything else must be there already.

        As BPMN 2.0 says: a join goes on with the tokens it has as soon as no token is left that
        could still reach one of its free flows without passing the join, other than one that could
        just as well reach a flow which has its token already.
        """
        before: defaultdict[int, int] = defaultdict(int)
        for step in self.transitions:
            for number in numbers_of(step.gives):
                before[number] |= step.takes
        for _, _, takes, done in self.joins:
            before[next(numbers_of(done))] |= sum(takes)
        room = MAX_WAITING
        for run, part, takes, done in self.joins:
            known = {place: _upstream(before, place, run.places, done) for place in takes}
            for some in _subsets(takes):
                free, could, anyway = 0, 0, 0
                for place in takes:
                    if place in some:
                        anyway |= known[place] | place
                    else:
                        could |= known[place]
                        free |= place
                waits = free | could & ~anyway
                room -= waits.bit_count()
                if room < 0:
                    raise RefusedError("model.bpmn.waits", part.line, part=part.what)
                self.add(part, sum(some), done, empty=waits)


def _upstream(before: Mapping[int, int], goal: int, allowed: int, done: int) -> int:
    """Return the places from which a token can reach a goal without passing a join.

    A way that passes the join begins again at its exit, so it is never followed back there.
    """
    found = new = goal
    while new := new & ~done:
        reached = 0
        for number in numbers_of(new):
            reached |= before.get(number, 0)
        new = reached & allowed & ~found
        found |= new
    return found & ~goal


def _subsets(items: Sequence[T]) -> chain[tuple[T, ...]]:
    """Every set of items but the empty one."""
    return chain.from_iterable(combinations(items, n + 1) for n in range(len(items)))


@dataclass(eq=False)
class _Run:
    """One run of a process or subprocess: its tokens, and where they go from each node."""

    net: _BpmnNet
    scope: Scope
    part: Part
    """What messages call it."""
    up: _Run | None = None
    """The run around it."""
    catchers: Sequence[tuple[Node, int]] = ()
    """Boundary events for what is thrown inside, and where they lead."""
    own: int = 0
    """Places inside, without those of the runs below."""
    below: list[_Run] = field(default_factory=list)
    """The runs inside."""
    active: list[int] = field(default_factory=list)
    """Places of which one has a token while it runs."""
    armed: int = 0
    """Places of what may still happen next to it, once."""
    caught: set[str] = field(default_factory=set)
    """Keys of the boundary events to which something inside leads."""
    entries: dict[str, int] = field(default_factory=dict)
    """The place before each node."""
    into: dict[str, int] = field(default_factory=dict)
    """The place that each flow leads to."""
    boundary: defaultdict[str, list[Node]] = field(default_factory=lambda: defaultdict(list))
    """The boundary events that are attached to each node."""

    def __post_init__(self) -> None:
        if self.up is not None:
            self.up.below.append(self)

    @cached_property
    def places(self) -> int:
        """All places inside, once everything is built."""
        places = self.own | self.armed
        for run in self.below:
            places |= run.places | sum(run.active)
        return places

    def build(self, begin: int, leave: Exits) -> None:
        """Build the run, from a token on `begin` to the tokens of an exit."""
        net, part = self.net, self.part
        active = net.at("running", part)
        self.active.append(active)
        inner = self.build_inside()

        def finish() -> None:
            net.add(part, begin, active | inner | self.armed)
            waits = self.places & ~self.armed
            for running in self.active:
                for gives in leave:
                    net.add(part, running, gives, clears=self.armed, empty=waits)
                for event, gives in self.catchers:
                    # What only something thrown inside leads to does not happen by itself.
                    alone = event.key not in self.caught and event.trigger != "cancel"
                    if alone and event.interrupts:
                        net.add(event.part, running, gives, clears=self.places)

        net.later.append(finish)

    def build_inside(self) -> int:
        """Build the nodes; return the place where the run begins."""
        calls = self.net.calls
        if self.scope in calls:
            raise RefusedError("model.bpmn.calls_itself", self.scope.line)
        if len(calls) >= MAX_DEPTH:
            raise RefusedError("model.bpmn.depth", self.scope.line, limit=MAX_DEPTH)
        calls.append(self.scope)
        begin = self.place("inside", self.part)
        self._connect()
        self._add_start(begin)
        for node in self.scope.nodes.values():
            self._add(node)
        calls.pop()
        return begin

    def place(self, where: str, part: Part) -> int:
        """Add a place inside."""
        place = self.net.at(where, part)
        self.own |= place
        return place

    def entry(self, node: Node) -> int:
        """Return the place before a node; one that no flow leads to gets one here."""
        if node.key not in self.entries:
            self.entries[node.key] = self.place("before", node.part)
        return self.entries[node.key]

    def leave(self, node: Node) -> list[int]:
        """Return all sets of tokens that may be given when a node is done."""
        flows, default = self.scope.leaving[node.key], node.element.get("default")
        if node.role in ("exclusive", "event_based"):
            return [self.into[flow.key] for flow in flows] or [0]
        always, maybe, otherwise = list[Flow](), list[Flow](), list[Flow]()
        for flow in flows:
            if node.role == "parallel":
                always.append(flow)
            elif flow.key == default:
                otherwise.append(flow)
            else:
                (maybe if flow.conditional or node.role == "inclusive" else always).append(flow)
        return self._exits(node, always, maybe, otherwise)

    def _exits(
        self, node: Node, always: list[Flow], maybe: list[Flow], otherwise: list[Flow]
    ) -> list[int]:
        line, what = node.part.line, node.part.what
        if len(maybe) > MAX_BRANCHES:
            raise RefusedError("model.bpmn.branches", line, part=what, limit=MAX_BRANCHES)
        chosen = [[*always, *some] for some in _subsets(maybe)]
        # The default flow is taken if no condition holds.
        if always or otherwise or not maybe:
            chosen.append([*always, *otherwise])
        return [tokens((self.into[flow.key] for flow in some), line) for some in chosen]

    def _connect(self) -> None:
        """Find where flows lead, and what boundary events are attached to."""
        nodes = self.scope.nodes
        for flow in chain.from_iterable(self.scope.into.values()):
            target = nodes[flow.target]
            if target.role == "boundary":
                line, what = target.part.line, target.part.what
                raise RefusedError("model.bpmn.flow_to_boundary", line, part=what)
            is_join = target.role in ("parallel", "inclusive")
            several = is_join and len(self.scope.into[target.key]) > 1
            place = self.place("before", target.part) if several else self.entry(target)
            self.into[flow.key] = place
        for event in nodes.values():
            if event.role == "boundary":
                self._attach(event, event.element.get("attachedToRef"))

    def _attach(self, event: Node, host: str) -> None:
        if host not in self.scope.nodes:
            where, line = "attachedToRef", event.part.line
            raise RefusedError("model.no_node", line, id=host, attribute=where)
        if event.trigger == "compensate":
            self.net.note(Statement("model.note.compensation"))
        else:
            self.boundary[host].append(event)

    def _pass_on(
        self, part: Part, takes: int, leave: Exits, label: str | None = None, clears: int = 0
    ) -> None:
        """Move a token on in each of some ways."""
        for gives in leave:
            self.net.add(part, takes, gives, label, clears=clears)

    def _once_beside(self, event: Node, running: Sequence[int], leave: Exits) -> int:
        """Let an event happen once while something runs; return the place that allows it."""
        self.net.note(Statement("model.note.beside", part=event.part.what))
        armed = self.place("armed", event.part)
        for place in running:
            self._pass_on(event.part, armed | place, [place + gives for gives in leave])
        return armed

    def _add_start(self, begin: int) -> None:
        """Let cases begin at one of the start events, or at all nodes that nothing leads to."""
        starts, loose = self._begins()
        for node in starts:
            exits = self.leave(node) if node.role == "start" else [self.entry(node)]
            self._pass_on(node.part, begin, exits)
        if loose:
            self._pass_on(loose[0].part, begin, [sum(map(self.entry, loose))])

    def _begins(self) -> tuple[list[Node], list[Node]]:
        starts: list[Node] = []
        loose: list[Node] = []
        for node in filter(self._is_begin, self.scope.nodes.values()):
            creates = node.role == "start" or node.element.flag("instantiate")
            (starts if creates else loose).append(node)
        if not starts and not loose:
            raise RefusedError("model.bpmn.no_start", self.scope.line)
        if starts and loose:
            raise RefusedError("model.bpmn.no_flow", loose[0].part.line, part=loose[0].part.what)
        return starts, loose

    def _is_begin(self, node: Node) -> bool:
        """Whether a case can begin at a node. Start events count, even if a flow leads to one."""
        outside = node.role == "boundary" or node.compensates or node.on_event
        led_to = outside or node.is_link_target or self.scope.into[node.key]
        return node.role == "start" or not led_to

    def _add(self, node: Node) -> None:
        """Add the steps of a node."""
        is_awaited = node.role in ("catch", "boundary") and node.trigger != "link"
        if is_awaited or node.on_event or (node.is_task and not node.name):
            self.net.awaited.add(node.part)
        if node.role in ("start", "boundary") and node.key not in self.entries:
            return
        if node.compensates:
            self.net.note(Statement("model.note.compensation"))
        elif node.on_event:
            self._add_event_subprocess(node)
        else:
            HANDLERS.get(node.role, _Run.add_event)(self, node)

    def add_event(self, node: Node) -> None:
        """An event that happens, or a gateway: silent."""
        self._pass_on(node.part, sum(self._joined(node)), self.leave(node))

    def _joined(self, node: Node) -> Sequence[int]:
        """Return the places from which a node takes tokens: several for a join."""
        places = {self.into[flow.key]: None for flow in self.scope.into[node.key]}
        return list(places) if len(places) > 1 else [self.entry(node)]

    def add_inclusive(self, node: Node) -> None:
        """An inclusive gateway, as a join, a split or both."""
        takes, part = self._joined(node), node.part
        if len(takes) > MAX_BRANCHES:
            raise RefusedError("model.bpmn.joins", part.line, part=part.what, limit=MAX_BRANCHES)
        done = takes[0]
        if len(takes) > 1:
            done = self.place("after", part)
            self.net.joins.append((self, part, takes, done))
        self._pass_on(part, done, self.leave(node))

    def add_activity(self, node: Node) -> None:
        """A task, call or subprocess: a task if the file does not have its steps."""
        called = self.net.processes.get(node.called) if node.role == "call" else None
        scope = node.inner or called
        if scope is None:
            self._add_task(node)
        elif node.role == "ad_hoc":
            self._add_ad_hoc(node, scope)
        else:
            self._add_subprocess(node, scope)

    def _add_task(self, node: Node) -> None:
        """A task: one activity; with a loop marker, several times; or a boundary event instead."""
        part, leave = node.part, self.leave(node)
        if not node.name:
            self.net.note(Statement("model.note.unnamed", line=node.element.line))
        armed, running = self._arm(node)
        for event in self.boundary[node.key]:
            if event.interrupts:
                self._pass_on(event.part, running, self.leave(event), clears=armed)
        if node.loop is None and len(leave) == 1:
            self._pass_on(part, running, leave, node.name or None, armed)
            return
        done = self.place("after", part)
        self.net.add(part, running, done, node.name or None)
        self._pass_on(part, done, leave, clears=armed)
        if node.loop is not None:
            self.net.note(Statement("model.note.repeats", part=part.what))
            self.net.add(part, done, running)

    def _arm(self, node: Node) -> tuple[int, int]:
        """Prepare what may happen once next to a task; return its places and that of the task."""
        here, armed = self.entry(node), 0
        events = [event for event in self.boundary[node.key] if not event.interrupts]
        if not events:
            return 0, here
        running = self.place("running", node.part)
        for event in events:
            armed |= self._once_beside(event, [running], self.leave(event))
        self.net.add(node.part, here, running | armed)
        return armed, running

    def _add_subprocess(self, node: Node, scope: Scope) -> None:
        """A subprocess or call: all its steps, then what follows it."""
        here, leave, part = self.entry(node), self.leave(node), node.part
        if node.loop is not None:
            if not node.loop.flag("isSequential", default=node.loop.kind == LOOPS[0]):
                raise RefusedError("model.bpmn.parallel_instances", part.line, part=part.what)
            self.net.note(Statement("model.note.repeats", part=part.what))
            leave = [*leave, here]
        exits = [(event, self.leave(event)) for event in self.boundary[node.key]]
        catchers = [(event, gives) for event, after in exits for gives in after]
        run = _Run(self.net, scope, part, self, catchers)
        run.build(here, leave)
        for event, after in exits:
            if not event.interrupts and event.key not in run.caught:
                run.armed |= self._once_beside(event, run.active, after)

    def _add_ad_hoc(self, node: Node, scope: Scope) -> None:
        """Tasks in any order, any number of times."""
        inner, here = scope.nodes.values(), self.entry(node)
        if any(scope.into.values()) or not all(child.is_task for child in inner):
            raise RefusedError("model.bpmn.not_ad_hoc", node.part.line, part=node.part.what)
        for child in inner:
            self.net.add(child.part, here, here, child.name or None)
        self._pass_on(node.part, here, self.leave(node))

    def _add_event_subprocess(self, node: Node) -> None:
        """What is done instead of, or next to, everything else once an event happens."""
        scope, part, net = node.inner, node.part, self.net
        if scope is None:
            return
        begin = _Run(net, scope, part, self).build_inside()
        active = self.active[0]
        starts = [n.element for n in scope.nodes.values() if n.role == "start"]
        if not all(start.flag("isInterrupting", default=True) for start in starts):
            self.armed |= self._once_beside(node, [active], [begin])
            return
        after = net.at("running", part)
        self.active.append(after)
        net.later.append(lambda: net.add(part, active, after | begin, clears=self.places))

    def add_throw(self, node: Node) -> None:
        """An event that is thrown on the way: a link is a jump, others are silent."""
        part, leave = node.part, self.leave(node)
        if node.trigger == "link":
            link, nodes = node.reference or node.name, self.scope.nodes.values()
            goals = [n for n in nodes if n.is_link_target and (n.reference or n.name) == link]
            if len(goals) != 1:
                raise RefusedError("model.bpmn.link", part.line, part=part.what, count=len(goals))
            leave = [self.entry(goals[0])]
        if node.trigger != "escalation" or not self._thrown(node, leave):
            self._pass_on(part, self.entry(node), leave)

    def add_end(self, node: Node) -> None:
        """An end event: the token is gone; with it all others, if it terminates or throws."""
        here, part, net, top = self.entry(node), node.part, self.net, self
        if node.trigger in THROWN and self._thrown(node, [0]):
            return
        if node.trigger not in ("terminate", "error", "cancel"):
            net.add(part, here, 0)
            return
        while node.trigger != "terminate" and top.up is not None:
            top = top.up
        net.later.append(lambda: net.add(part, here, 0, clears=top.places))

    def _thrown(self, node: Node, leave: Exits) -> bool:
        """Lead what is thrown to the nearest boundary events that catch it, if there are any."""
        run, here, net = self, self.entry(node), self.net
        while not (
            fitting := [
                (event, gives)
                for event, gives in run.catchers
                if event.trigger == node.trigger and event.reference in ("", node.reference)
            ]
        ):
            if run.up is None:
                return False
            run = run.up
        run.caught.update(event.key for event, _ in fitting)

        def catch() -> None:
            for (event, gives), running in product(fitting, run.active):
                if event.interrupts:
                    net.add(node.part, here | running, gives, clears=run.places)
                else:
                    exits = [running + gives + after for after in leave]
                    self._pass_on(node.part, here | running, exits)

        net.later.append(catch)
        return True


HANDLERS: Mapping[str, Callable[[_Run, Node], None]] = {
    **dict.fromkeys(("task", "call", "subprocess", "ad_hoc"), _Run.add_activity),
    "inclusive": _Run.add_inclusive,
    "end": _Run.add_end,
    "throw": _Run.add_throw,
}
"""What a node of each role does, if it does not just pass a token on."""
