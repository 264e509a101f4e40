"""Conversion of BPMN to a Petri net.

A place before each node contains its tokens; tasks, events and gateways pass them on. All flows
into a task or exclusive gateway lead to one place; only parallel and inclusive joins have a place
for each flow. A process is over when no token is left. Events are silent: activities are tasks.
Gateways and ends take no time, tasks and awaited events do, so that nothing happens between the
last task before a terminating end and that end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

from ...errors import Statement
from ..reading import RefusedError
from .bpmn import LOOPS, MAX_BRANCHES, Node, Scope, subsets
from .net import Net, Part, numbers_of, tokens

MAX_DEPTH = 50
"""Maximum nesting of subprocesses and calls."""
MAX_WAITING = 1_000_000
"""Maximum number of places, over all inclusive joins, that joins wait for."""
Exits = Sequence[int]
"""Alternatives, each with the tokens that are produced."""


def net_of_bpmn(processes: Mapping[str, Scope], notes: Sequence[Statement]) -> Net:
    """Convert the processes of a file to one net; several uncalled ones run side by side."""
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
    # With clearing or waiting steps, it matters which steps take no time.
    if net.joins or any(step.clears for step in net.transitions):
        for i, step in enumerate(net.transitions):
            immediate = step.label is None and not step.part.takes_time
            net.transitions[i] = replace(step, immediate=immediate)
    return net


def _uncalled(processes: Mapping[str, Scope]) -> list[Scope]:
    called, todo = set[str](), list(processes.values())
    # The list of scopes grows while it is walked.
    for scope in todo:
        called |= {node.called for node in scope.nodes if node.role == "call"}
        todo += [node.inner for node in scope.nodes if node.inner is not None]
    top = [scope for key, scope in processes.items() if key not in called]
    if not top:
        raise RefusedError("model.bpmn.all_called", todo[0].line)
    return top


class _BpmnNet(Net):
    """A net that represents BPMN.

    Attributes:
        later: Actions for steps that can be added only when all places are known.
        joins: Inclusive joins, with their input places and their output place; built last, because
            they wait for tokens that other steps can still produce.
        calls: Scopes under construction, the outermost first.
    """

    def __init__(self, processes: Mapping[str, Scope], notes: Sequence[Statement]) -> None:
        super().__init__(notes=list(notes), ends=[0])
        self.processes = processes
        self.later: list[Callable[[], None]] = []
        self.joins: list[tuple[_Run, Part, Sequence[int], int]] = []
        self.calls: list[Scope] = []

    def at(self, where: str, part: Part) -> int:
        """Add a place before, after or inside a part of the file, by the code `where`."""
        what = Statement(f"model.at.{where}", part=part.what)
        return self.place(Part(what=what, line=part.line, running=where == "running"))

    def add_inclusive_joins(self) -> None:
        """Add the steps of all inclusive joins; everything else must be there already.

        By BPMN 2.0, a join continues with the tokens it has as soon as no token is left that could
        still reach one of its free flows without passing the join, other than one that could just
        as well reach a flow which has its token already.
        """
        before: defaultdict[int, int] = defaultdict(int)
        for step in self.transitions:
            for number in numbers_of(step.gives):
                before[number] |= step.takes
        for _, _, flows, done in self.joins:
            before[next(numbers_of(done))] |= sum(flows)
        room = MAX_WAITING
        for run, part, flows, done in self.joins:
            known = {place: _upstream(before, place, run.places, done) for place in flows}
            for some in subsets(flows):
                free, could, anyway = 0, 0, 0
                for place in flows:
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

    A path through the join starts again at its exit, so the search stops there.
    """
    found = new = goal
    while new := new & ~done:
        reached = 0
        for number in numbers_of(new):
            reached |= before.get(number, 0)
        new = reached & allowed & ~found
        found |= new
    return found & ~goal


@dataclass(eq=False)
class _Run:
    """One run of a process or subprocess: its places, and the steps between its nodes."""

    net: _BpmnNet
    scope: Scope
    part: Part
    """Its description in messages."""
    up: _Run | None = None
    """The enclosing run."""
    exits: Sequence[tuple[Node, Exits]] = ()
    """The boundary events of the run, and where each leads."""
    own: int = 0
    """Places of this run, without those of the runs below."""
    below: list[_Run] = field(default_factory=list)
    """The runs inside this one."""
    active: list[int] = field(default_factory=list)
    """Places of which one has a token while the run is active."""
    armed: int = 0
    """Places of events that may still happen once during the run."""
    caught: set[str] = field(default_factory=set)
    """Keys of the boundary events that an event inside throws to."""
    entries: dict[tuple[str, str], int] = field(default_factory=dict)
    """The place before each node; a join of several flows has one for each."""

    def __post_init__(self) -> None:
        if self.up is not None:
            self.up.below.append(self)

    @cached_property
    def places(self) -> int:
        """All places of the run and the runs below; complete once everything is built."""
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
        # Boundary events that an event inside throws to do not happen spontaneously.
        alone = [(event, after) for event, after in self.exits if event.key not in self.caught]
        for event, after in alone:
            if not event.interrupts:
                self._arm(event, self.active, after)

        def finish() -> None:
            net.add(part, begin, active | inner | self.armed)
            waits = self.places & ~self.armed
            for running in self.active:
                for gives in leave:
                    net.add(part, running, gives, clears=self.armed, empty=waits)
                for event, after in alone:
                    if event.interrupts and event.trigger != "cancel":
                        self._pass_on(event.part, running, after, clears=self.places)

        net.later.append(finish)

    def build_inside(self) -> int:
        """Build the nodes; return the place where the run begins."""
        calls = self.net.calls
        if self.scope in calls:
            raise RefusedError("model.bpmn.calls_itself", self.scope.line)
        if len(calls) >= MAX_DEPTH:
            raise RefusedError("model.bpmn.depth", self.scope.line, limit=MAX_DEPTH)
        calls.append(self.scope)
        begin = self._place("inside", self.part)
        self._add_start(begin)
        for node in self.scope.nodes:
            self._add(node)
        calls.pop()
        return begin

    def _place(self, where: str, part: Part) -> int:
        place = self.net.at(where, part)
        self.own |= place
        return place

    def _before(self, node: Node, flow: str = "") -> int:
        """Return the place before a node; a join of several flows has one for each."""
        is_join = node.role in ("parallel", "inclusive") and len(node.into) > 1
        key = (node.key, flow if is_join else "")
        if key not in self.entries:
            self.entries[key] = self._place("before", node.part)
        return self.entries[key]

    def _joined(self, node: Node) -> list[int]:
        """Return the places from which a node takes tokens: several for a join."""
        places = dict.fromkeys(self._before(node, flow.key) for flow in node.into)
        return list(places) or [self._before(node)]

    def _leave(self, node: Node) -> list[int]:
        """Return all alternative sets of tokens that a finished node produces."""
        ways = ([self._before(flow.target, flow.key) for flow in way] for way in node.choices())
        return [tokens(way, node.part.line) for way in ways]

    def _pass_on(
        self, part: Part, takes: int, leave: Exits, label: str | None = None, clears: int = 0
    ) -> None:
        for gives in leave:
            self.net.add(part, takes, gives, label, clears=clears)

    def _arm(self, event: Node, running: Sequence[int], leave: Exits) -> None:
        """Let an event happen once while the run has a token on one of the places `running`."""
        self.net.note(Statement("model.note.beside", part=event.part.what))
        armed = self._place("armed", event.part)
        self.armed |= armed
        for place in running:
            self._pass_on(event.part, armed | place, [place + gives for gives in leave])

    def _add_start(self, begin: int) -> None:
        """Let cases begin at one of the start events, or at all nodes without incoming flows."""
        begins = [node for node in self.scope.nodes if node.is_begin]
        loose = [node for node in begins if not node.creates]
        if not begins:
            raise RefusedError("model.bpmn.no_start", self.scope.line)
        if len(begins) > len(loose) > 0:
            raise RefusedError("model.bpmn.no_flow", loose[0].part.line, part=loose[0].part.what)
        places = [self._before(node) for node in begins]
        self._pass_on(begins[0].part, begin, [sum(places)] if loose else places)

    def _add(self, node: Node) -> None:
        if node.compensates or (node.role == "boundary" and node.trigger == "compensate"):
            self.net.note(Statement("model.note.compensation"))
        elif node.on_event:
            self._add_event_subprocess(node)
        elif node.role != "boundary":
            HANDLERS.get(node.role, _Run._add_silent)(self, node)

    def _add_silent(self, node: Node) -> None:
        """Add an event that happens, or a gateway."""
        self._pass_on(node.part, sum(self._joined(node)), self._leave(node))

    def _add_inclusive(self, node: Node) -> None:
        """Add an inclusive gateway, as a join, a split or both."""
        takes, part = self._joined(node), node.part
        if len(takes) > MAX_BRANCHES:
            raise RefusedError("model.bpmn.joins", part.line, part=part.what, limit=MAX_BRANCHES)
        done = takes[0]
        if len(takes) > 1:
            done = self._place("after", part)
            self.net.joins.append((self, part, takes, done))
        self._pass_on(part, done, self._leave(node))

    def _add_activity(self, node: Node) -> None:
        """Add a task, call or subprocess: a task if the file does not contain its nodes."""
        called = self.net.processes.get(node.called) if node.role == "call" else None
        scope, here, part = node.inner or called, self._before(node), node.part
        if scope is None:
            self._add_task(node)
        elif node.role == "ad_hoc":
            self._add_ad_hoc(node, scope)
        elif node.loop is None:
            self._add_run(node, scope, self._leave(node))
        elif node.loop.flag("isSequential", default=node.loop.kind == LOOPS[0]):
            self.net.note(Statement("model.note.repeats", part=part.what))
            self._add_run(node, scope, [*self._leave(node), here])
        else:
            raise RefusedError("model.bpmn.parallel_instances", part.line, part=part.what)

    def _add_run(self, node: Node, scope: Scope, leave: Exits) -> None:
        exits = [(event, self._leave(event)) for event in node.events]
        _Run(self.net, scope, node.part, self, exits).build(self._before(node), leave)

    def _add_task(self, node: Node) -> None:
        """Add a task: one activity, repeated by a loop marker, or a boundary event instead."""
        here, leave, part = self._before(node), self._leave(node), node.part
        if not node.name:
            self.net.note(Statement("model.note.unnamed", line=node.element.line))
        if not all(event.interrupts for event in node.events):
            # A non-interrupting event at a task behaves like one at a subprocess with just this
            # task.
            self._add_run(node, node.alone(), leave)
            return
        if node.loop is not None:
            self.net.note(Statement("model.note.repeats", part=part.what))
            leave = [*leave, here]
        self._pass_on(part, here, leave, node.name or None)
        for event in node.events:
            self._pass_on(event.part, here, self._leave(event))

    def _add_ad_hoc(self, node: Node, scope: Scope) -> None:
        """Add tasks in any order, any number of times."""
        if not all(child.is_task and not child.into for child in scope.nodes):
            raise RefusedError("model.bpmn.not_ad_hoc", node.part.line, part=node.part.what)
        here = self._before(node)
        for child in scope.nodes:
            self.net.add(child.part, here, here, child.name or None)
        self._pass_on(node.part, here, self._leave(node))

    def _add_event_subprocess(self, node: Node) -> None:
        """Add a subprocess that an event starts, instead of or in addition to everything else."""
        scope, part, net = node.inner, node.part, self.net
        if scope is None:
            return
        begin = _Run(net, scope, part, self).build_inside()
        active = self.active[0]
        starts = [each.element for each in scope.nodes if each.role == "start"]
        if not all(start.flag("isInterrupting", default=True) for start in starts):
            self._arm(node, [active], [begin])
            return
        after = net.at("running", part)
        self.active.append(after)
        net.later.append(lambda: net.add(part, active, after | begin, clears=self.places))

    def _add_throw(self, node: Node) -> None:
        """Add an intermediate throw event: a link is a jump, others are silent."""
        part, leave = node.part, self._leave(node)
        if node.trigger == "link":
            link, nodes = node.reference or node.name, self.scope.nodes
            goals = [n for n in nodes if n.is_link_target and (n.reference or n.name) == link]
            if len(goals) != 1:
                raise RefusedError("model.bpmn.link", part.line, part=part.what, count=len(goals))
            leave = [self._before(goals[0])]
        if node.trigger != "escalation" or not self._is_caught(node, leave):
            self._pass_on(part, self._before(node), leave)

    def _add_end(self, node: Node) -> None:
        """Add an end event, which removes its token, and all others if it terminates or throws."""
        here, part, net, top = self._before(node), node.part, self.net, self
        thrown = node.trigger in ("error", "escalation", "cancel")
        if thrown and self._is_caught(node, [0]):
            return
        if node.trigger not in ("terminate", "error", "cancel"):
            net.add(part, here, 0)
            return
        while thrown and top.up is not None:
            top = top.up
        net.later.append(lambda: net.add(part, here, 0, clears=top.places))

    def _is_caught(self, node: Node, leave: Exits) -> bool:
        """Connect a thrown event to the nearest boundary events that catch it, if there are any."""
        run, here, net = self, self._before(node), self.net
        while not (
            fitting := [
                (event, gives)
                for event, after in run.exits
                if event.trigger == node.trigger and event.reference in ("", node.reference)
                for gives in after
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
    **dict.fromkeys(("task", "call", "subprocess", "ad_hoc"), _Run._add_activity),
    "inclusive": _Run._add_inclusive,
    "end": _Run._add_end,
    "throw": _Run._add_throw,
}
"""The handler for each role; other nodes just pass a token on."""
