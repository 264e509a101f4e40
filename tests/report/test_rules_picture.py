"""The picture of rules: which arrows are drawn, and how."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lxml import etree

from sacofa.report.rules_picture import draw_rules
from sacofa.rules import Rules, read_rules

pytest.importorskip("pygraphviz", reason="pip install 'sacofa[map]'")


def rules(folder: Path, text: str) -> Rules:
    """Rules of a text."""
    path = folder / "rules.toml"
    path.write_text(text)
    return read_rules(path)


def kinds(svg: str) -> list[str]:
    """How each arrow is drawn."""
    return sorted(re.findall(r'<path class="(must|may)"', svg))


def test_arrows_that_follow_from_others_are_left_out(tmp_path: Path) -> None:
    """Of a line of three, two arrows and the one from the start; needed ones are drawn through."""
    line = rules(
        tmp_path,
        'activities = ["A", "B", "C"]\nstarts = ["A"]\n'
        '[rules."A"]\nnever_followed_by = ["A"]\nalways_followed_by = ["B"]\n'
        '[rules."B"]\nnever_followed_by = ["A"]\n'
        '[rules."C"]\nnever_followed_by = ["A", "B"]\n',
    )
    svg = draw_rules(line)
    assert kinds(svg) == ["may", "must", "must"]
    titles = etree.fromstring(svg).xpath("//*[local-name()='title']/text()")
    assert "A: at most once" in titles and "B: any number of times" in titles


def test_free_activities_have_boxes_and_what_never_happens_has_none(tmp_path: Path) -> None:
    """Everything else is drawn, order or not."""
    free = rules(
        tmp_path,
        'activities = ["A", "B", "Gone"]\nstarts = ["A", "B"]\n'
        + "".join(f'[rules."{name}"]\nnever_followed_by = ["Gone"]\n' for name in ("A", "B"))
        + '[rules."Gone"]\nnever_followed_by = ["A", "B", "Gone"]\n',
    )
    text = "".join(etree.fromstring(draw_rules(free)).itertext())
    assert "A" in text and "B" in text and "Gone" not in text


def test_no_activities_make_an_empty_picture() -> None:
    """And not an error."""
    assert etree.fromstring(draw_rules(Rules.free([]))).tag.endswith("svg")
