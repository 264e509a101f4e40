"""What cannot be understood in BPMN is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacofa.errors import RulesError
from sacofa.rules.models import read_model

from .drawings import draw

ENDS = "start s\nend e\n"


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
