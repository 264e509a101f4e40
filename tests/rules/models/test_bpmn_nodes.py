"""What each node of BPMN means, as all words up to a length."""

from __future__ import annotations

from pathlib import Path

from sacofa.rules.models import read_model

from .drawings import draw, scope
from .words import words_of_file

ENDS = "start s\nend e\n"


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


def test_boundary_event_of_a_task(tmp_path: Path) -> None:
    """Interrupting: instead of the task. Not interrupting: beside it, once at most."""
    event = "boundary b attachedToRef=A{} <timerEventDefinition/>\ntask X\ntask Z\ntask A\nend e2\n"
    flows = "s > A > Z > e\nb > X > e2"
    path = draw(tmp_path, ENDS + event.format(""), flows)
    assert words_of_file(path) == {"AZ", "X"}
    path = draw(tmp_path, ENDS + event.format(" cancelActivity=false"), flows)
    assert words_of_file(path) == {"AZ", "XAZ", "AXZ", "AZX"}
    assert any("does not interrupt" in str(note) for note in read_model(path).notes)


def test_links_are_jumps(tmp_path: Path) -> None:
    """From what throws to what catches under the same name."""
    nodes = ENDS + (
        'task A\ntask B\nthrow t <linkEventDefinition name="L"/>\n'
        'catch c <linkEventDefinition name="L"/>'
    )
    assert words_of_file(draw(tmp_path, nodes, "s > A > t\nc > B > e")) == {"AB"}
    first, *others = nodes.splitlines()[::-1]
    turned = "\n".join([first, *others[::-1]])
    assert words_of_file(draw(tmp_path, turned, "s > A > t\nc > B > e")) == {"AB"}


def test_loop_markers(tmp_path: Path) -> None:
    """Once or more often, task and subprocess."""
    nodes = ENDS + "task A <standardLoopCharacteristics/>"
    assert words_of_file(draw(tmp_path, nodes, "s > A > e"), 3) == {"A", "AA", "AAA"}
    inner = scope("start i\ntask A\ntask B\nend x", "i > A > B > x").replace("\n", "")
    loop = '<multiInstanceLoopCharacteristics isSequential="true"/>'
    nodes = ENDS + f"sub S {loop}{inner}"
    assert words_of_file(draw(tmp_path, nodes, "s > S > e"), 4) == {"AB", "ABAB"}
