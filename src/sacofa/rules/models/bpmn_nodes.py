"""What single nodes of BPMN do with a token: starts, tasks, gateways, events that are thrown."""

from __future__ import annotations

from collections.abc import Sequence

from .bpmn import Node
from .bpmn_ways import MOST_BRANCHES, Frame, Ways, title
from .joins import InclusiveJoin
from .net import RUNNING, Part
from .xml import children

THROWN = ("error", "escalation", "cancel")
LOOPS = ("standardLoopCharacteristics", "multiInstanceLoopCharacteristics")


def add_start(ways: Ways, begin: int) -> None:
    """Let cases begin at one of the start events, or at all nodes that nothing leads to."""
    nodes = ways.scope.nodes.values()
    starts = [n for n in nodes if n.kind == "startEvent"]
    loose = [
        n
        for n in nodes
        if not (n.kind in ("startEvent", "boundaryEvent") or n.says("isForCompensation"))
        and not n.says("triggeredByEvent")
        and not (n.kind == "intermediateCatchEvent" and n.trigger == "link")
        and not ways.scope.leading_to(n.key)
    ]
    for node in [n for n in loose if n.says("instantiate")]:
        starts.append(node)
        loose.remove(node)
    if starts and loose:
        ways.making.refuse(loose[0].part, f"no flow leads to {loose[0].part.what}")
    if not starts and not loose:
        part = Part(what="", line=ways.scope.element.sourceline)
        ways.making.refuse(part, "there is no start event, and every node follows another")
    for node in starts:
        if node.kind == "startEvent":
            for gives in ways.leave(node):
                ways.made.add(node.part, [begin], gives)
        else:
            ways.made.add(node.part, [begin], [ways.entry(node)])
    if not starts:
        ways.made.add(loose[0].part, [begin], [ways.entry(node) for node in loose])


def add_task(ways: Ways, node: Node) -> None:
    """A task: one activity; with a loop marker, several times; or a boundary event instead."""
    part, here, leave = node.part, ways.entry(node), ways.leave(node)
    if not node.name:
        ways.made.note(f"The task in line {part.line} has no name: it is a silent step.")
    armed, running = _arm(ways, node, here)
    loops = children(node.element, *LOOPS)
    if loops or len(leave) > 1:
        done = ways.place(f"the end of {part.what}", part)
        ways.made.add(part, [running], [done], node.name or None)
        for gives in leave:
            ways.made.add(part, [done], gives, clears=armed)
        if loops:
            ways.made.note(f"{title(node)} repeats: once or more often.")
            ways.made.add(part, [done], [running])
    else:
        ways.made.add(part, [running], leave[0], node.name or None, clears=armed)
    for event in ways.boundary.get(node.key, ()):
        if event.says("cancelActivity", "true"):
            for gives in ways.leave(event):
                ways.made.add(event.part, [running], gives, clears=armed)


def _arm(ways: Ways, node: Node, here: int) -> tuple[list[int], int]:
    """Get ready what may happen once beside a task; give its places and that of the task."""
    beside = [
        event
        for event in ways.boundary.get(node.key, ())
        if not event.says("cancelActivity", "true")
    ]
    if not beside:
        return [], here
    running = ways.place(f"{node.part.what} {RUNNING}", node.part)
    armed = []
    for event in beside:
        ways.made.note(f"{title(event)} does not interrupt: once at most is assumed.")
        place = ways.place(f"{event.part.what} before it happens", event.part)
        armed.append(place)
        for gives in ways.leave(event):
            ways.made.add(event.part, [place, running], [running, *gives])
    ways.made.add(node.part, [here], [running, *armed])
    return armed, running


def add_gateway(ways: Ways, node: Node) -> None:
    """A parallel or inclusive gateway, as a join, a split or both."""
    flows, outs = ways.scope.leading_to(node.key), ways.scope.leaving(node.key)
    takes = list(ways.targets(flows)) if len(flows) > 1 else [ways.entry(node)]
    if node.kind == "parallelGateway":
        ways.made.add(node.part, takes, ways.targets(outs))
        return
    default = node.element.get("default")
    others = [flow for flow in outs if flow.key != default]
    chosen = [ways.targets(some) for some in ways.subsets(node, others)]
    chosen += [ways.targets([flow]) for flow in outs if flow.key == default]
    if len(takes) == 1:
        ways.pass_on(node.part, takes[0], chosen or [()])
        return
    if len(takes) > MOST_BRANCHES:
        what = f"{node.part.what} joins more than {MOST_BRANCHES} branches"
        ways.making.refuse(node.part, what)
    done = ways.place(f"the way out of {node.part.what}", node.part)
    ways.making.joins.append(InclusiveJoin(node.part, tuple(takes), done, ways.frame.places))
    ways.pass_on(node.part, done, chosen or [()])


def add_throw(ways: Ways, node: Node) -> None:
    """An event that is thrown on the way: a link is a jump, others are silent."""
    here, leave = ways.entry(node), ways.leave(node)
    if node.trigger == "link":
        goals = [
            n
            for n in ways.scope.nodes.values()
            if (n.kind, n.trigger) == ("intermediateCatchEvent", "link")
            and (n.reference or n.name) == (node.reference or node.name)
        ]
        if len(goals) != 1:
            what = f"{node.part.what} has {len(goals)} places to go to; a link needs one"
            ways.making.refuse(node.part, what)
        leave = [(ways.entry(goals[0]),)]
    if node.trigger == "escalation" and _thrown(ways, node, leave):
        return
    ways.pass_on(node.part, here, leave)


def add_end(ways: Ways, node: Node) -> None:
    """An end event: the token is gone; with it all others, where it terminates or throws."""
    here = ways.entry(node)
    if node.trigger in THROWN and _thrown(ways, node, [()]):
        return
    if node.trigger in ("terminate", "error", "cancel"):
        top = ways.frame
        while node.trigger != "terminate" and top.up is not None:
            top = top.up
        part = node.part
        ways.making.later.append(lambda: ways.made.add(part, [here], [], clears=top.places()))
        return
    ways.made.add(node.part, [here], [])


def _thrown(ways: Ways, node: Node, leave: Sequence[tuple[int, ...]]) -> bool:
    """Lead what is thrown to the boundary event that catches it, if one does."""
    frame: Frame | None = ways.frame
    while frame is not None:
        fitting = [
            (event, gives)
            for event, gives in frame.catchers
            if event.trigger == node.trigger and event.reference in ("", node.reference)
        ]
        for event, gives in fitting:
            frame.caught.add(event.key)
            _catch(ways, node, frame, event, gives, leave)
        if fitting:
            return True
        frame = frame.up
    return False


def _catch(
    ways: Ways,
    node: Node,
    frame: Frame,
    event: Node,
    gives: tuple[int, ...],
    leave: Sequence[tuple[int, ...]],
) -> None:
    """Add the step from what is thrown to what catches it."""
    here, part = ways.entry(node), node.part

    def add() -> None:
        for running in frame.active:
            if event.says("cancelActivity", "true"):
                ways.made.add(part, [here, running], gives, clears=frame.places())
                continue
            for after in leave:
                ways.made.add(part, [here, running], [running, *gives, *after])

    ways.making.later.append(add)
