"""BPMN as a Petri net: what tokens do, step by step.

A token lies on the way into a node; tasks, events and gateways pass it on. Several flows into a
task or exclusive gateway are ways to the same place; only parallel and inclusive joins tell them
apart. A process is over when no token is left. Events are silent: activities are tasks. Gateways
and ends take no time, tasks and awaited events do, so that nothing happens between the last task
before a terminating end and that end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ...errors import Statement
from ..refusal import RefusedError
from . import bpmn
from .bpmn import AD_HOC, BOUNDARY, CATCH, LOOPS, START, TASKS, Bpmn, Node, Scope
from .bpmn_nodes import (
    add_choice,
    add_end,
    add_event,
    add_inclusive,
    add_parallel,
    add_start,
    add_task,
    add_throw,
)
from .bpmn_scope import Exits, Frame, Making, Ways
from .joins import add_inclusive_joins
from .net import Net, Part

MAX_DEPTH = 50
"""Subprocesses and calls may be nested this deep."""


def net_of_bpmn(file: Bpmn) -> Net:
    """Turn the processes of a file into one net; several that nobody calls run side by side."""
    making = Making(file)
    called = [file.called_by(node) for node in file.nodes()]
    top = [scope for scope in file.processes.values() if scope not in called]
    if not top:
        raise RefusedError("model.bpmn.all_called", next(iter(file.processes.values())).line)
    if len(top) > 1:
        making.net.note(Statement("model.note.side_by_side", count=len(top)))
    start = []
    for scope in top:
        part = Part(what=Statement("model.bpmn.process", name=scope.key), line=scope.line)
        begin = making.place("before", part)
        start.append(begin)
        _run(making, Frame(scope, part), begin, [()])
    for action in making.later:
        action()
    add_inclusive_joins(making.net, making.joins)
    _mark_immediate(making)
    return making.net.net(start, [()])


def _mark_immediate(making: Making) -> None:
    """Mark the steps that take no time, where that can make a difference."""
    steps = making.net.transitions
    if making.joins or any(step.clears for step in steps):
        making.net.transitions = [
            replace(step, immediate=step.label is None and step.part not in making.waiting)
            for step in steps
        ]


def _run(making: Making, frame: Frame, begin: int, leave: Exits) -> None:
    """Build one run of a scope, from a token on `begin` to tokens on one of `leave`."""
    active = making.place("running", frame.part)
    frame.active.append(active)
    inner = _inside(making, frame)
    making.later.append(lambda: _finish(making, frame, (begin, active, inner), leave))


def _finish(making: Making, frame: Frame, places: tuple[int, int, int], leave: Exits) -> None:
    """Add the steps that begin and end a run, when everything inside is known."""
    begin, active, inner = places
    making.net.add(frame.part, [begin], [active, inner, *frame.armed])
    inside = frame.places()
    waits = inside - set(frame.armed) if frame.armed else inside
    for running in frame.active:
        for gives in leave:
            making.net.add(frame.part, [running], gives, clears=frame.armed, empty=waits)
        for event, gives in frame.catchers:
            # What only something thrown inside leads to does not happen by itself.
            alone = event.key not in frame.caught and event.trigger != "cancel"
            if alone and event.interrupts:
                making.net.add(event.part, [running], gives, clears=inside)


def _inside(making: Making, frame: Frame) -> int:
    """Build the nodes of a scope; return the place where it begins."""
    if frame.scope in making.calls:
        raise RefusedError("model.bpmn.calls_itself", frame.scope.line)
    if len(making.calls) >= MAX_DEPTH:
        raise RefusedError("model.bpmn.depth", frame.scope.line, limit=MAX_DEPTH)
    making.calls.append(frame.scope)
    begin = making.place("inside", frame.part)
    frame.own.append(begin)
    ways = Ways(making, frame)
    add_start(ways, begin)
    for node in frame.scope.nodes.values():
        _add(ways, node)
    making.calls.pop()
    return begin


def _add(ways: Ways, node: Node) -> None:
    """Add the steps of a node."""
    awaited = node.role in (CATCH, BOUNDARY) and node.trigger != "link"
    if awaited or node.on_event or (node.role in TASKS and not node.name):
        ways.making.waiting.add(node.part)
    if node.role in (START, BOUNDARY) and node.key not in ways.entries:
        return
    if node.compensates:
        ways.net.note(Statement("model.note.compensation"))
    elif node.on_event:
        _add_event_subprocess(ways, node)
    else:
        HANDLERS[node.role](ways, node)


def _add_activity(ways: Ways, node: Node) -> None:
    """A call or subprocess: a task if the file does not have its steps."""
    scope = node.inner or ways.making.bpmn.called_by(node)
    if scope is None:
        add_task(ways, node)
    elif node.role == AD_HOC:
        _add_ad_hoc(ways, node, scope)
    else:
        _add_subprocess(ways, node, scope)


def _add_subprocess(ways: Ways, node: Node, scope: Scope) -> None:
    """A subprocess or call: all its steps, then what follows it."""
    here, leave = ways.entry(node), ways.leave(node)
    if node.loop is not None:
        if not node.loop.flag("isSequential", default=node.loop.kind == LOOPS[0]):
            raise RefusedError("model.bpmn.parallel_instances", node.part.line, part=node.part.what)
        ways.net.note(Statement("model.note.repeats", part=node.part.what))
        leave = [*leave, (here,)]
    exits = [(event, ways.leave(event)) for event in ways.boundary.get(node.key, ())]
    catchers = [(event, gives) for event, after in exits for gives in after]
    frame = Frame(scope, node.part, up=ways.frame, catchers=catchers)
    _run(ways.making, frame, here, leave)
    for event, after in exits:
        if not event.interrupts and event.key not in frame.caught:
            frame.armed.append(ways.once_beside(event, frame.active, after))


def _add_ad_hoc(ways: Ways, node: Node, scope: Scope) -> None:
    """Tasks in any order, any number of times."""
    inner, here = scope.nodes.values(), ways.entry(node)
    if scope.flows or any(child.role not in TASKS for child in inner):
        raise RefusedError("model.bpmn.not_ad_hoc", node.part.line, part=node.part.what)
    for child in inner:
        ways.pass_on(child.part, here, [(here,)], child.name or None)
    ways.pass_on(node.part, here, ways.leave(node))


def _add_event_subprocess(ways: Ways, node: Node) -> None:
    """What is done instead of, or next to, everything else once an event happens."""
    scope, frame, part = node.inner, ways.frame, node.part
    if scope is None:
        return
    begin = _inside(ways.making, Frame(scope, part, up=frame))
    active = frame.active[0]
    starts = [n for n in scope.nodes.values() if n.role == START]
    if not all(start.element.flag("isInterrupting", default=True) for start in starts):
        frame.armed.append(ways.once_beside(node, [active], [(begin,)]))
        return
    after = ways.making.place("running", part)
    frame.active.append(after)
    ways.making.later.append(
        lambda: ways.net.add(part, [active], [after, begin], clears=frame.places())
    )


HANDLERS: Mapping[str, Callable[[Ways, Node], None]] = {
    bpmn.TASK: add_task,
    bpmn.CALL: _add_activity,
    bpmn.SUBPROCESS: _add_activity,
    bpmn.AD_HOC: _add_activity,
    bpmn.EXCLUSIVE: add_choice,
    bpmn.EVENT_BASED: add_choice,
    bpmn.PARALLEL: add_parallel,
    bpmn.INCLUSIVE: add_inclusive,
    bpmn.START: add_event,
    bpmn.END: add_end,
    bpmn.CATCH: add_event,
    bpmn.THROW: add_throw,
}
"""What a node of each role does; boundary events belong to what they are attached to."""
