"""Maps are drawn from any log, with the same places before and after."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.errors import MissingExtraError
from sacofa.kernel.variants import VariantCounts
from sacofa.report.flow import count_flow
from sacofa.report.layout import break_name, lay_out
from sacofa.report.maps import draw_map

from .releases import HOSTILE, without_packages

pytest.importorskip("pygraphviz", reason="maps need the extra map: pip install 'sacofa[map]'")

names = st.sampled_from(["a", "b", "c", "dd", *HOSTILE])
variants = st.dictionaries(
    st.lists(names, max_size=6).map(tuple), st.integers(1, 99), min_size=1, max_size=8
)


@settings(max_examples=25, deadline=None)
@given(variants)
def test_everything_that_happened_is_on_the_fullest_map(log: dict[tuple[str, ...], int]) -> None:
    """It has every activity and step with its count, inside the picture."""
    flow = count_flow(VariantCounts.of(log))
    level = draw_map(flow, enough=1.0)
    assert level
    (drawn,) = level.maps
    boxes = {box.name: box.count for box in drawn.boxes if box.lines}
    assert boxes == dict(flow.activities)
    assert sorted(arrow.count for arrow in drawn.arrows) == sorted(flow.steps.values())
    assert drawn.share == 1
    for box in drawn.boxes:
        assert box.left >= 0 and box.left + box.width <= drawn.width
        assert box.top >= 0 and box.top + box.height <= drawn.height


def test_steps_within_their_margin_of_error_are_marked_in_the_release_alone() -> None:
    """An original has no noise; a count that is as large as its margin may be noise alone."""
    before = count_flow(VariantCounts.of({("a", "b"): 9, ("a",): 1}))
    after = count_flow(VariantCounts.of({("a", "b"): 9, ("a",): 3, ("b",): 4}))
    level = draw_map(before, after, enough=1.0, margins=dict.fromkeys(after.steps, 3))
    assert level
    marked = [{arrow.what: arrow.kind for arrow in drawn.arrows} for drawn in level.maps]
    assert set(marked[0].values()) == {""}
    assert marked[1] == {
        "start → a": "",
        "a → b": "",
        "b → end": "",
        "a → end": "unsure",
        "start → b": "appeared",
    }


def test_before_and_after_have_the_same_places() -> None:
    """What both have is at one place in both; what one has alone is marked there."""
    before = count_flow(VariantCounts.of({("a", "b", "c"): 9, ("a", "lost"): 1}))
    after = count_flow(VariantCounts.of({("a", "b", "c"): 8, ("a", "c", "new"): 2}))
    level = draw_map(before, after, enough=1.0)
    assert level
    original, released = level.maps
    assert (original.width, original.height) == (released.width, released.height)
    places = [{box.name: (box.x, box.y) for box in drawn.boxes} for drawn in (original, released)]
    common = places[0].keys() & places[1].keys()
    assert common == {"a", "b", "c", "start", "end"}
    assert all(places[0][name] == places[1][name] for name in common)
    marked = [
        {arrow.what for arrow in drawn.arrows if arrow.kind} for drawn in (original, released)
    ]
    assert marked == [{"a → lost", "lost → end"}, {"a → c", "c → new", "new → end"}]
    assert {arrow.kind for arrow in original.arrows} == {"", "vanished"}
    assert {arrow.kind for arrow in released.arrows} == {"", "appeared"}
    assert [box.kind for box in released.boxes if box.name == "new"] == ["box appeared"]


def test_long_names_are_broken() -> None:
    """A name takes three lines at most."""
    assert break_name("Register") == ("Register",)
    assert break_name("") == ("",)
    lines = break_name("word " * 50)
    assert len(lines) == 3
    assert all(len(line) <= 22 for line in (*lines, *break_name("x" * 90)))


def test_without_graphviz_there_is_no_map(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library says what to install; the report goes without."""
    without_packages(monkeypatch, "pygraphviz")
    flow = count_flow(VariantCounts.of({("a", "b"): 1}))
    with pytest.raises(MissingExtraError, match=r"sacofa\[map\]"):
        lay_out(flow.steps)
    assert draw_map(flow) is None
