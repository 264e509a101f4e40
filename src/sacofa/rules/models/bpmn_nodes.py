"""What single nodes of BPMN do with a token: starts, tasks, gateways, events that are thrown."""

from __future__ import annotations

from ...errors import Statement
from ..refusal import RefusedError
from .bpmn import BOUNDARY, START, Node
from .bpmn_scope import MAX_BRANCHES, Exits, Frame, Ways
from .joins import InclusiveJoin

THROWN = ("error", "escalation", "cancel")


def add_start(ways: Ways, begin: int) -> None:
    """Let cases begin at one of the start events, or at all nodes that nothing leads to."""
    starts: list[Node] = []
    loose: list[Node] = []
    for node in ways.scope.nodes.values():
        if _nothing_leads_to(ways, node):
            (starts if node.creates else loose).append(node)
    if not starts and not loose:
        raise RefusedError("model.bpmn.no_start", ways.scope.line)
    if starts and loose:
        raise RefusedError("model.bpmn.no_flow", loose[0].part.line, part=loose[0].part.what)
    for node in starts:
        ways.pass_on(node.part, begin, _begun(ways, node))
    if loose:
        ways.pass_on(loose[0].part, begin, [tuple(map(ways.entry, loose))])


def _begun(ways: Ways, node: Node) -> Exits:
    return ways.leave(node) if node.role == START else [(ways.entry(node),)]


def _nothing_leads_to(ways: Ways, node: Node) -> bool:
    """Whether a case can begin at a node. Start events count, even if a flow leads to one."""
    outside = node.role == BOUNDARY or node.compensates or node.on_event or node.is_link_target
    return node.role == START or not (outside or ways.scope.leading_to(node))


def add_event(ways: Ways, node: Node) -> None:
    """An event that happens: silent."""
    ways.pass_on(node.part, ways.entry(node), ways.leave(node))


def add_task(ways: Ways, node: Node) -> None:
    """A task: one activity; with a loop marker, several times; or a boundary event instead."""
    part, leave = node.part, ways.leave(node)
    if not node.name:
        ways.net.note(Statement("model.note.unnamed", line=node.element.line))
    armed, running = _arm(ways, node)
    for event in ways.boundary.get(node.key, ()):
        if event.interrupts:
            ways.pass_on(event.part, running, ways.leave(event), clears=armed)
    if node.loop is None and len(leave) == 1:
        ways.pass_on(part, running, leave, node.name or None, armed)
        return
    done = ways.place("after", part)
    ways.pass_on(part, running, [(done,)], node.name or None)
    ways.pass_on(part, done, leave, clears=armed)
    if node.loop is not None:
        ways.net.note(Statement("model.note.repeats", part=part.what))
        ways.pass_on(part, done, [(running,)])


def _arm(ways: Ways, node: Node) -> tuple[list[int], int]:
    """Prepare what may happen once next to a task; return its places and that of the task."""
    here = ways.entry(node)
    events = [e for e in ways.boundary.get(node.key, ()) if not e.interrupts]
    if not events:
        return [], here
    running = ways.making.place("running", node.part)
    ways.frame.own.append(running)
    armed = [ways.once_beside(event, [running], ways.leave(event)) for event in events]
    ways.net.add(node.part, [here], [running, *armed])
    return armed, running


def add_choice(ways: Ways, node: Node) -> None:
    """An exclusive or event-based gateway."""
    leave = [ways.targets([flow]) for flow in ways.scope.leaving(node)]
    ways.pass_on(node.part, ways.entry(node), leave or [()])


def add_parallel(ways: Ways, node: Node) -> None:
    """A parallel gateway, as a join, a split or both."""
    ways.net.add(node.part, _joined(ways, node), ways.targets(ways.scope.leaving(node)))


def add_inclusive(ways: Ways, node: Node) -> None:
    """An inclusive gateway, as a join, a split or both."""
    takes, flows, part = _joined(ways, node), ways.scope.leaving(node), node.part
    default = node.element.get("default")
    others = [flow for flow in flows if flow.key != default]
    chosen = [ways.targets(some) for some in ways.subsets(node, others)]
    chosen += [ways.targets([flow]) for flow in flows if flow.key == default]
    done = takes[0]
    if len(takes) > MAX_BRANCHES:
        raise RefusedError("model.bpmn.joins", part.line, part=part.what, limit=MAX_BRANCHES)
    if len(takes) > 1:
        done = ways.place("after", part)
        ways.making.joins.append(InclusiveJoin(part, takes, done, ways.frame.places))
    ways.pass_on(part, done, chosen or [()])


def _joined(ways: Ways, node: Node) -> tuple[int, ...]:
    """Return the places from which a gateway takes tokens."""
    flows = ways.scope.leading_to(node)
    return ways.targets(flows) if len(flows) > 1 else (ways.entry(node),)


def add_throw(ways: Ways, node: Node) -> None:
    """An event that is thrown on the way: a link is a jump, others are silent."""
    part, leave = node.part, ways.leave(node)
    if node.trigger == "link":
        goals = [n for n in ways.scope.nodes.values() if n.is_link_target and n.link == node.link]
        if len(goals) != 1:
            raise RefusedError("model.bpmn.link", part.line, part=part.what, count=len(goals))
        leave = [(ways.entry(goals[0]),)]
    if node.trigger != "escalation" or not _thrown(ways, node, leave):
        ways.pass_on(part, ways.entry(node), leave)


def add_end(ways: Ways, node: Node) -> None:
    """An end event: the token is gone; with it all others, if it terminates or throws."""
    here, part, top = ways.entry(node), node.part, ways.frame
    if node.trigger in THROWN and _thrown(ways, node, [()]):
        return
    if node.trigger not in ("terminate", "error", "cancel"):
        ways.pass_on(part, here, [()])
        return
    while node.trigger != "terminate" and top.up is not None:
        top = top.up
    ways.making.later.append(lambda: ways.net.add(part, [here], [], clears=top.places()))


def _thrown(ways: Ways, node: Node, leave: Exits) -> bool:
    """Lead what is thrown to the nearest boundary events that catch it, if there are any."""
    frame: Frame | None = ways.frame
    while frame is not None:
        fitting = [
            (event, gives)
            for event, gives in frame.catchers
            if event.trigger == node.trigger and event.reference in ("", node.reference)
        ]
        for event, gives in fitting:
            frame.caught.add(event.key)
            _catch(ways, node, leave, (frame, event, gives))
        if fitting:
            return True
        frame = frame.up
    return False


def _catch(ways: Ways, node: Node, leave: Exits, by: tuple[Frame, Node, tuple[int, ...]]) -> None:
    """Add the step from what is thrown to what catches it."""
    frame, event, gives = by
    here, part = ways.entry(node), node.part

    def add() -> None:
        for running in frame.active:
            if event.interrupts:
                ways.net.add(part, [here, running], gives, clears=frame.places())
                continue
            for after in leave:
                ways.net.add(part, [here, running], [running, *gives, *after])

    ways.making.later.append(add)
