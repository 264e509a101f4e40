"""What processes and subprocesses of BPMN mean, as all words up to a length."""

from __future__ import annotations

from pathlib import Path

from sacofa.rules.models import read_model

from .drawings import draw, process, scope, write
from .words import words_of_file

ENDS = "start s\nend e\n"
ERROR = '<errorEventDefinition errorRef="{}"/>'


def test_subprocess_is_over_when_nothing_inside_is_left(tmp_path: Path) -> None:
    """What follows waits for all tokens inside."""
    inner = scope("start i\ntask A\ntask B\nand f\nend x\nend y", "i > f > A > x\nf > B > y")
    nodes = ENDS + f"task Z\nsub S {inner.replace(chr(10), '')}"
    path = draw(tmp_path, nodes, "s > S > Z > e")
    assert words_of_file(path) == {"ABZ", "BAZ"}


def test_subprocess_without_content_is_a_task(tmp_path: Path) -> None:
    """A collapsed one, whose steps nobody drew."""
    assert words_of_file(draw(tmp_path, ENDS + "sub S\ntask A", "s > S > A > e")) == {"SA"}


def test_boundary_event_of_a_subprocess(tmp_path: Path) -> None:
    """Interrupting: at any time while it runs, and what was inside is gone."""
    inner = scope("start i\ntask A\ntask B\nend x", "i > A > B > x").replace("\n", "")
    nodes = ENDS + (
        f"task Z\ntask X\nend e2\nsub S {inner}\n"
        "boundary b attachedToRef=S{} <timerEventDefinition/>"
    )
    path = draw(tmp_path, nodes.replace("{}", ""), "s > S > Z > e\nb > X > e2")
    assert words_of_file(path) == {"ABZ", "X", "AX"}
    path = draw(tmp_path, nodes.replace("{}", " cancelActivity=false"), "s > S > Z > e\nb > X > e2")
    assert words_of_file(path) == {"ABZ", "XABZ", "AXBZ", "ABXZ", "ABZX"}


def test_error_goes_to_the_boundary_event_that_catches_it(tmp_path: Path) -> None:
    """And only from where it is thrown; one that nobody catches ends the process."""
    inner = scope(
        f"start i\ntask A\ntask B\nend x\nxor c\nend err {ERROR.format('E1')}",
        "i > A > c > B > x\nc > err",
    ).replace("\n", "")
    host = ENDS + f"task Z\ntask X\nend e2\nsub S {inner}\n"
    event = f"boundary b attachedToRef=S {ERROR}"
    path = draw(tmp_path, host + event.format("E1"), "s > S > Z > e\nb > X > e2")
    assert words_of_file(path) == {"ABZ", "AX"}
    flows = "s > S > Z > e\nX > e2"
    path = draw(tmp_path, host.replace("task X\nend e2\n", ""), flows.partition("\n")[0])
    assert words_of_file(path) == {"ABZ", "A"}


def test_event_subprocess(tmp_path: Path) -> None:
    """Interrupting: in place of all the rest. Not interrupting: beside it, once at most."""
    start = "start i{} <messageEventDefinition/>\ntask X\nend x"
    for attribute, words in (
        ("", {"AB", "X", "AX"}),
        (" isInterrupting=false", {"AB", "XAB", "AXB", "ABX"}),
    ):
        inner = scope(start.format(attribute), "i > X > x").replace("\n", "")
        nodes = ENDS + f"task A\ntask B\nsub S triggeredByEvent=true {inner}"
        assert words_of_file(draw(tmp_path, nodes, "s > A > B > e")) == words


def test_ad_hoc_subprocess(tmp_path: Path) -> None:
    """Its tasks in any order, as often as one likes."""
    nodes = ENDS + f"task Z\nadhoc S {scope(chr(10).join(['task A', 'task B']), '')}".replace(
        "</task>\n", "</task>"
    )
    words = words_of_file(draw(tmp_path, nodes, "s > S > Z > e"), 3)
    assert words == {"Z", "AZ", "BZ", "AAZ", "ABZ", "BAZ", "BBZ"}


def test_calls_inside_the_file_are_inlined(tmp_path: Path) -> None:
    """Elsewhere a call is a task."""
    top = process(
        ENDS + "call C calledElement=other\ncall D calledElement=far", "s > C > D > e", "p"
    )
    other = process("start s2\ntask A\nend e2", "s2 > A > e2", "other")
    assert words_of_file(write(tmp_path, top, other)) == {"AD"}


def test_processes_of_several_pools_run_side_by_side(tmp_path: Path) -> None:
    """And messages between them make nobody wait."""
    one = process("start s\ntask A\nend e", "s > A > e", "one")
    two = process("start s2\ntask B\nend e2", "s2 > B > e2", "two")
    talk = '<collaboration id="c"><messageFlow id="m" sourceRef="A" targetRef="B"/></collaboration>'
    path = write(tmp_path, talk, one, two)
    assert words_of_file(path) == {"AB", "BA"}
    notes = " ".join(map(str, read_model(path).notes))
    assert "Messages" in notes and "side by side" in notes


def test_tasks_of_one_name_are_one_activity_and_said(tmp_path: Path) -> None:
    """Also those of other kinds."""
    path = draw(tmp_path, ENDS + "task A\ntask B\ntask C", "s > A > B > C > e")
    text = path.read_text().replace('name="C"', 'name="A"')
    path.write_text(text)
    model = read_model(path)
    assert model.names == ("A", "B")
    assert any('"A" (2)' in str(note) for note in model.notes)
    assert not model.rules().never_follows[0, 0]
