"""What each element of BPMN means, as all words up to a length."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacofa.errors import RulesError
from sacofa.semantics.models import read_model

from .drawings import draw, process, scope, write
from .words import words_of_file

ENDS = "start s\nend e\n"
ERROR = '<errorEventDefinition errorRef="{}"/>'


def test_a_line_of_tasks(tmp_path: Path) -> None:
    """One word."""
    path = draw(tmp_path, ENDS + "task A\ntask B", "s > A > B > e")
    assert words_of_file(path) == {"AB"}


def test_exclusive_choice_and_loop(tmp_path: Path) -> None:
    """A loop around a choice goes on as often as one likes."""
    nodes = ENDS + "task A\ntask B\nxor m\nxor x\nxor back"
    path = draw(tmp_path, nodes, "s > m > x > A > back > e\nx > B > back\nback > m")
    assert words_of_file(path, 2) == {"A", "B", "AA", "AB", "BA", "BB"}


def test_parallel_branches(tmp_path: Path) -> None:
    """All orders."""
    nodes = ENDS + "task A\ntask B\ntask C\nand f\nand j"
    path = draw(tmp_path, nodes, "s > f > A > B > j > e\nf > C > j")
    assert words_of_file(path) == {"ABC", "ACB", "CAB"}


def test_inclusive_block(tmp_path: Path) -> None:
    """Any branches but none; the join waits for those that were chosen and no others."""
    nodes = ENDS + "task A\ntask B\ntask Z\nor f\nor j"
    path = draw(tmp_path, nodes, "s > f > A > j > Z > e\nf > B > j")
    assert words_of_file(path) == {"AZ", "BZ", "ABZ", "BAZ"}


def test_inclusive_split_with_a_default(tmp_path: Path) -> None:
    """The default is taken alone."""
    nodes = ENDS + "task A\ntask B\ntask D\nor f default=f-D\nor j"
    path = draw(tmp_path, nodes, "s > f > A > j > e\nf > B > j\nf > D > j")
    assert words_of_file(path) == {"A", "B", "AB", "BA", "D"}


def test_inclusive_join_that_no_inclusive_split_belongs_to(tmp_path: Path) -> None:
    """It waits for what may still come, and not for what cannot."""
    nodes = ENDS + "task A\ntask B\ntask C\ntask Z\nand f\nxor x\nor j\nend e2"
    path = draw(tmp_path, nodes, "s > f > A > j > Z > e\nf > x > B > j\nx > C > e2")
    assert words_of_file(path) == {"ABZ", "BAZ", "ACZ", "CAZ", "AZC"}


def test_event_based_gateway_and_events(tmp_path: Path) -> None:
    """Events are silent; what comes first decides."""
    nodes = ENDS + (
        "task A\ntask B\nevents g\ncatch m <messageEventDefinition/>\n"
        "catch t <timerEventDefinition/>\nend e2"
    )
    path = draw(tmp_path, nodes, "s > g > m > A > e\ng > t > B > e2")
    assert words_of_file(path) == {"A", "B"}


def test_several_starts_are_alternatives_and_several_ends_fine(tmp_path: Path) -> None:
    """A process is over when no token is left."""
    nodes = "start s\nstart t\nend e\nend e2\ntask A\ntask B\ntask C\nand f"
    path = draw(tmp_path, nodes, "s > A > C\nt > B > C\nC > f > e\nf > e2")
    assert words_of_file(path) == {"AC", "BC"}


def test_no_start_event_begins_everywhere(tmp_path: Path) -> None:
    """All nodes that nothing leads to begin at once."""
    path = draw(tmp_path, "task A\ntask B", "")
    assert words_of_file(path) == {"AB", "BA"}


def test_task_with_several_flows_out(tmp_path: Path) -> None:
    """Without conditions all are taken; with conditions any but none, or the default."""
    path = draw(tmp_path, ENDS + "task A\ntask B\ntask C", "s > A > B > e\nA > C > e")
    assert words_of_file(path) == {"ABC", "ACB"}
    flows = "s > A > ?B > e\nA > ?C > e\nA > D > e"
    path = draw(tmp_path, ENDS + "task A default=A-D\ntask B\ntask C\ntask D", flows)
    assert words_of_file(path) == {"AB", "AC", "ABC", "ACB", "AD"}


def test_terminating_end(tmp_path: Path) -> None:
    """Everything else stops at once."""
    nodes = ENDS + "task A\ntask B\ntask C\nand f\nend t <terminateEventDefinition/>"
    path = draw(tmp_path, nodes, "s > f > A > t\nf > B > C > e")
    assert words_of_file(path) == {"A", "BA", "BCA"}


def test_subprocess_is_over_when_nothing_inside_is_left(tmp_path: Path) -> None:
    """What follows waits for all tokens inside."""
    inner = scope("start i\ntask A\ntask B\nand f\nend x\nend y", "i > f > A > x\nf > B > y")
    nodes = ENDS + f"task Z\nsub S {inner.replace(chr(10), '')}"
    path = draw(tmp_path, nodes, "s > S > Z > e")
    assert words_of_file(path) == {"ABZ", "BAZ"}


def test_subprocess_without_content_is_a_task(tmp_path: Path) -> None:
    """A collapsed one, whose steps nobody drew."""
    assert words_of_file(draw(tmp_path, ENDS + "sub S\ntask A", "s > S > A > e")) == {"SA"}


def test_boundary_event_of_a_task(tmp_path: Path) -> None:
    """Interrupting: instead of the task. Not interrupting: beside it, once at most."""
    event = "boundary b attachedToRef=A{} <timerEventDefinition/>\ntask X\ntask Z\ntask A\nend e2\n"
    flows = "s > A > Z > e\nb > X > e2"
    path = draw(tmp_path, ENDS + event.format(""), flows)
    assert words_of_file(path) == {"AZ", "X"}
    path = draw(tmp_path, ENDS + event.format(" cancelActivity=false"), flows)
    assert words_of_file(path) == {"AZ", "XAZ", "AXZ", "AZX"}
    assert any("does not interrupt" in note for note in read_model(path).notes)


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


def test_links_are_jumps(tmp_path: Path) -> None:
    """From what throws to what catches under the same name."""
    nodes = ENDS + (
        'task A\ntask B\nthrow t <linkEventDefinition name="L"/>\n'
        'catch c <linkEventDefinition name="L"/>'
    )
    assert words_of_file(draw(tmp_path, nodes, "s > A > t\nc > B > e")) == {"AB"}


def test_loop_markers(tmp_path: Path) -> None:
    """Once or more often, task and subprocess."""
    nodes = ENDS + "task A <standardLoopCharacteristics/>"
    assert words_of_file(draw(tmp_path, nodes, "s > A > e"), 3) == {"A", "AA", "AAA"}
    inner = scope("start i\ntask A\ntask B\nend x", "i > A > B > x").replace("\n", "")
    loop = '<multiInstanceLoopCharacteristics isSequential="true"/>'
    nodes = ENDS + f"sub S {loop}{inner}"
    assert words_of_file(draw(tmp_path, nodes, "s > S > e"), 4) == {"AB", "ABAB"}


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
    notes = " ".join(read_model(path).notes)
    assert "Messages" in notes and "side by side" in notes


def test_tasks_of_one_name_are_one_activity_and_said(tmp_path: Path) -> None:
    """Also those of other kinds."""
    path = draw(tmp_path, ENDS + "task A\ntask B\ntask C", "s > A > B > C > e")
    text = path.read_text().replace('name="C"', 'name="A"')
    path.write_text(text)
    model = read_model(path)
    assert model.names == ("A", "B")
    assert any('"A" (2)' in note for note in model.notes)
    assert not model.rules().never_follows[0, 0]


@pytest.mark.parametrize(
    ("nodes", "flows", "line", "words"),
    [
        ("task A\nxor x\ntask B\nand j", "s > x > A > j > e\nx > B > j", 9, "not sound"),
        ("task A\ntask B\nand f\nxor m", "s > m > A > f > m\nf > B > e", 7, "pile up"),
        ("task A\ntask B\ntask C", "s > A > e\nB > e", 7, "no flow leads to"),
        ("task A\ncomplex c", "s > A > c > e", 7, "complexGateway"),
        ("task A", "s > A > q > e", 8, 'no node "q"'),
        ("task A", "s > A > A > e", 3, "not sound"),
        ("task A\nor o", "s > o > A > e\nA > o", 3, "never end"),
        ("task A\nboundary b attachedToRef=Q", "s > A > e", 7, "attachedToRef"),
        (
            "task A\nthrow t <linkEventDefinition name='L'/>",
            "s > A > t\nA > e",
            7,
            "a link needs one",
        ),
        ("task A\ntask A", "s > A > e", 7, "used twice"),
        (
            "sub S <multiInstanceLoopCharacteristics/><task id='A' name='A'/>",
            "s > S > e",
            6,
            "no r",
        ),
    ],
)
def test_what_cannot_be_understood_is_refused_with_its_line(
    tmp_path: Path, nodes: str, flows: str, line: int, words: str
) -> None:
    """One line that names the file, the place and what is wrong."""
    path = draw(tmp_path, ENDS + nodes, flows)
    with pytest.raises(RulesError) as caught:
        read_model(path).rules()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.line == line
