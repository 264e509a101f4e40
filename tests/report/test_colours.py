"""Colours can be told apart and read, on light pages and dark ones."""

from __future__ import annotations

import runpy
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from sacofa.report.page import INKS, choose_colours

MAKE = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "make" / "colours.py"))
contrast, seen = MAKE["contrast"], MAKE["_seen"]


def test_contrast_is_that_of_the_standard() -> None:
    """Known ratios: black on white is 21, equal colours are 1, #767676 on white just passes."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#123456", "#123456") == pytest.approx(1)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


def test_every_colour_is_readable_on_both_pages() -> None:
    """Text on a colour, and the colour on its page, have enough contrast."""
    assert (MAKE["LIGHT_INK"], MAKE["DARK_INK"]) == INKS
    for light, dark in choose_colours(400):
        assert contrast(light, MAKE["LIGHT_INK"]) >= MAKE["CONTRAST"]
        assert contrast(light, MAKE["LIGHT_PAGE"]) >= MAKE["CONTRAST"]
        assert contrast(dark, MAKE["DARK_INK"]) >= MAKE["CONTRAST"]
        assert contrast(dark, MAKE["DARK_PAGE"]) >= MAKE["CONTRAST"]


@pytest.mark.parametrize("page", [0, 1], ids=["light", "dark"])
def test_frequent_activities_are_told_apart(page: int) -> None:
    """The first twelve differ clearly for most eyes, and visibly for those without red or green.

    0.02 is about the smallest difference in OKLab that an eye sees side by side.
    """
    places = seen([colour[page] for colour in choose_colours(12)])
    apart = [
        min(float(np.linalg.norm(eye[i] - eye[j])) for i, j in combinations(range(12), 2))
        for eye in places
    ]
    assert apart[0] > 0.08
    assert min(apart[1:]) / 2 > 0.04


def test_more_activities_leave_the_first_as_they_are() -> None:
    """An activity keeps its colour when rarer ones come along."""
    assert choose_colours(40)[:12] == choose_colours(12)
    assert len(choose_colours(1000)) == 1000
    assert choose_colours(0) == []
