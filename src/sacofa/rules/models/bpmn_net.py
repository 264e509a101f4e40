"""BPMN as a Petri net: what tokens do, step by step.

A token lies on the way into a node; tasks, events and gateways pass it on. Several flows into a
task or exclusive gateway are ways to the same place; only parallel and inclusive joins tell them
apart. A process is over when no token is left. Events are silent: activities are tasks. Gateways
and ends take no time, tasks and awaited events do, so that nothing happens between the last task
before a terminating end and that end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from .bpmn import TASKS, Bpmn, Node, Scope, called, every_scope
from .bpmn_nodes import LOOPS, add_end, add_gateway, add_start, add_task, add_throw
from .bpmn_ways import Frame, Making, Ways, title
from .joins import add_inclusive_joins
from .net import RUNNING, Net, Part
from .xml import children

DEEPEST = 50
"""Subprocesses and calls may be nested so deep."""
JOINS = ("parallelGateway", "inclusiveGateway")
AWAITED = ("intermediateCatchEvent", "boundaryEvent")


def net_of_bpmn(bpmn: Bpmn) -> Net:
    """Turn the processes of a file into one net; several that nobody calls run side by side."""
    making = Making(bpmn)
    inside = [s for scope in bpmn.processes.values() for s in every_scope(scope)]
    targets = [called(bpmn, node) for scope in inside for node in scope.nodes.values()]
    top = [s for s in bpmn.processes.values() if s not in targets]
    if not top:
        first = next(iter(bpmn.processes.values()))
        making.refuse(Part(what="", line=first.element.sourceline), "every process calls another")
    if len(top) > 1:
        making.made.note(f"{len(top)} processes run side by side, none waits for another.")
    start = []
    for scope in top:
        begin = making.made.place(f'the beginning of "{scope.key}"', scope.element.sourceline)
        start.append(begin)
        part = Part(what=f'process "{scope.key}"', line=scope.element.sourceline)
        _run(making, scope, None, begin, [()], part)
    for action in making.later:
        action()
    add_inclusive_joins(making.made, making.joins)
    _note_merged(making)
    _hurry(making)
    return making.made.net(start, [()])


def _hurry(making: Making) -> None:
    """Mark the steps that take no time, where that can make a difference."""
    steps = making.made.transitions
    if making.joins or any(step.clears for step in steps):
        making.made.transitions = [
            replace(step, immediate=step.label is None and step.part not in making.waiting)
            for step in steps
        ]


def _note_merged(making: Making) -> None:
    """Say which tasks have the same name."""
    steps = making.made.transitions
    parts = {(t.label, t.part.line) for t in steps if t.label is not None}
    making.made.note_merged("tasks", Counter(label for label, _ in parts))


def _run(
    making: Making,
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
    active = making.made.place(f"{part.what} {RUNNING}", part.line)
    frame.active.append(active)
    inner = making.made.place(f"the beginning inside {part.what}", part.line)
    frame.own.append(inner)
    for node in boundary:
        for gives in (exits or {})[node.key]:
            frame.catchers.append((node, gives))
    _inside(making, scope, frame, inner)

    def finish() -> None:
        making.made.add(part, [begin], [active, inner, *frame.armed])
        places = frame.places()
        waits = places - set(frame.armed) if frame.armed else places
        for running in frame.active:
            for gives in leave:
                making.made.add(part, [running], gives, clears=frame.armed, empty=waits)
            for node, gives in frame.catchers:
                # What only something thrown inside leads to does not happen by itmaking.
                alone = node.key not in frame.caught and node.trigger != "cancel"
                if alone and node.says("cancelActivity", "true"):
                    making.made.add(node.part, [running], gives, clears=places)

    making.later.append(finish)
    return frame


def _inside(making: Making, scope: Scope, frame: Frame, begin: int) -> None:
    """Build the nodes of a scope."""
    if any(known is scope for known in making.calls):
        making.refuse(Part(what="", line=scope.element.sourceline), "it calls itself")
    if len(making.calls) >= DEEPEST:
        making.refuse(Part(what="", line=scope.element.sourceline), "nested beyond belief")
    making.calls.append(scope)
    entries: dict[str, int] = {}
    for flow in scope.flows:
        target = scope.nodes[flow.target]
        joining = target.kind in JOINS and len(scope.leading_to(target.key)) > 1
        if target.kind == "boundaryEvent":
            making.refuse(target.part, f"a flow leads to {target.part.what}")
        key = flow.key if joining else target.key
        if key not in entries:
            entries[key] = making.made.place(f"the way to {target.part.what}", target.part.line)
        entries[flow.key] = entries[key]
    ways = Ways(making, scope, frame, entries)
    frame.own.extend(set(entries.values()))
    add_start(ways, begin)
    for node in scope.nodes.values():
        _add(ways, node)
    making.calls.pop()


def _add(ways: Ways, node: Node) -> None:
    """Add the steps of a node."""
    awaited = node.kind in AWAITED and node.trigger != "link"
    if awaited or node.says("triggeredByEvent") or (node.kind in TASKS and not node.name):
        ways.making.waiting.add(node.part)
    if node.kind in ("startEvent", "boundaryEvent") and node.key not in ways.entries:
        return
    if node.says("isForCompensation"):
        ways.made.note("Compensation is passed over.")
        return
    if node.says("triggeredByEvent"):
        _event_subprocess(ways, node)
    elif node.kind in JOINS:
        add_gateway(ways, node)
    elif node.kind in ("exclusiveGateway", "eventBasedGateway"):
        for flow in ways.scope.leaving(node.key):
            ways.made.add(node.part, [ways.entry(node)], [ways.entries[flow.key]])
        if not ways.scope.leaving(node.key):
            ways.made.add(node.part, [ways.entry(node)], [])
    elif node.kind == "endEvent":
        add_end(ways, node)
    elif node.kind == "intermediateThrowEvent":
        add_throw(ways, node)
    elif node.inner is not None or called(ways.making.bpmn, node) is not None:
        _subprocess(ways, node)
    elif node.kind in TASKS or node.kind.endswith(("rocess", "transaction")):
        add_task(ways, node)
    elif ways.scope.leading_to(node.key) or node.key in ways.entries:
        ways.pass_on(node.part, ways.entry(node), ways.leave(node))


def _subprocess(ways: Ways, node: Node) -> None:
    """A subprocess or call: all its steps, then what follows it."""
    scope = node.inner or called(ways.making.bpmn, node)
    assert scope is not None
    part, here, leave = node.part, ways.entry(node), ways.leave(node)
    if node.kind == "adHocSubProcess":
        _ad_hoc(ways, node, scope, here, leave)
        return
    loops = children(node.element, *LOOPS)
    if loops:
        if loops[0].get("isSequential", "true") != "true" or (
            loops[0].tag.endswith(LOOPS[1]) and loops[0].get("isSequential") is None
        ):
            what = f"{part.what} has parallel instances without a bound: no rules can be told"
            ways.making.refuse(part, what)
        ways.made.note(f"{title(node)} repeats: once or more often.")
        leave = [*leave, (here,)]
    events = ways.boundary.get(node.key, [])
    exits = {event.key: ways.leave(event) for event in events}
    frame = _run(ways.making, scope, ways.frame, here, leave, part, events, exits)
    for event in events:
        if not event.says("cancelActivity", "true") and event.key not in frame.caught:
            _beside(ways, event, frame, exits[event.key])


def _beside(ways: Ways, event: Node, frame: Frame, leave: Sequence[tuple[int, ...]]) -> None:
    """Let something happen once while a subprocess runs, without interrupting it."""
    ways.made.note(f"{title(event)} does not interrupt: once at most is assumed.")
    place = ways.place(f"{event.part.what} before it happens", event.part)
    frame.armed.append(place)
    for running in frame.active:
        for gives in leave:
            ways.made.add(event.part, [place, running], [running, *gives])


def _ad_hoc(
    ways: Ways, node: Node, scope: Scope, here: int, leave: Sequence[tuple[int, ...]]
) -> None:
    """Tasks in any order, any number of times."""
    inner = scope.nodes.values()
    if scope.flows or any(child.kind not in TASKS for child in inner):
        what = f"{node.part.what} is ad hoc and has flows or more than tasks: not understood"
        ways.making.refuse(node.part, what)
    for child in inner:
        ways.made.add(child.part, [here], [here], child.name or None)
    ways.pass_on(node.part, here, leave)


def _event_subprocess(ways: Ways, node: Node) -> None:
    """What is done in place of, or beside, everything else once an event happens."""
    scope, frame, part = node.inner, ways.frame, node.part
    if scope is None:
        return
    starts = [n for n in scope.nodes.values() if n.kind == "startEvent"]
    beside = any(not start.says("isInterrupting", "true") for start in starts)
    inner = Frame(up=frame)
    frame.below.append(inner)
    begin = ways.made.place(f"the beginning inside {part.what}", part.line)
    inner.own.append(begin)
    _inside(ways.making, scope, inner, begin)
    if beside:
        ways.made.note(f"{title(node)} does not interrupt: once at most is assumed.")
        place = ways.made.place(f"{part.what} before it happens", part.line)
        frame.armed.append(place)
        active = frame.active[0]
        ways.made.add(part, [place, active], [active, begin])
        return
    active = frame.active[0]
    after = ways.made.place(f"{part.what} {RUNNING}", part.line)
    frame.active.append(after)
    ways.making.later.append(
        lambda: ways.made.add(part, [active], [after, begin], clears=frame.places())
    )
