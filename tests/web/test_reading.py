"""Form and schema of reading follow `ReadOptions`, and pages know no options of a command line."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the app needs the extra web: pip install 'sacofa[web]'")

from sacofa.errors import Argument, ColumnsError
from sacofa.events import ReadOptions
from sacofa.messages import render
from sacofa.web.requests import (
    DECLARED_FIELDS,
    LEFT_OUT,
    SEPARATE_INPUTS,
    ColumnChoice,
    read_fields,
)
from sacofa.web.worker import as_field

WEB = Path(__file__).parents[2] / "src" / "sacofa" / "web"


def test_every_way_of_reading_has_its_place() -> None:
    """A new field of `ReadOptions` is asked for by itself, or somebody decides about it."""
    asked = {entry.name for entry in read_fields()}
    assert {entry.name for entry in fields(ReadOptions)} == asked | {*LEFT_OUT} | {*DECLARED_FIELDS}
    assert {*SEPARATE_INPUTS} <= asked
    assert set(ColumnChoice.model_fields) == asked | {*DECLARED_FIELDS}


def test_what_is_left_out_is_as_if_nobody_had_asked() -> None:
    """And one case of a person counts where nobody says how many."""
    assert ColumnChoice().options() == ReadOptions()
    chosen = ColumnChoice.model_validate({"person": "who"})
    assert chosen.options() == ReadOptions(person="who", max_cases=1)


@pytest.mark.parametrize(
    ("argument", "shown"),
    [
        (Argument("trusted"), "“trusted”"),
        (Argument("time_format"), "“time format”"),
        (Argument("max_cases", "3"), "“max cases”: 3"),
        (Argument("truncated", False), "“truncated”: no"),
    ],
)
def test_settings_are_named_as_the_page_names_its_fields(argument: Argument, shown: str) -> None:
    """People who use a browser know no options of a command line."""
    assert as_field(argument) == shown


def test_a_missing_column_is_chosen_on_the_page() -> None:
    """The remedy of the command line is not the page's."""
    error = ColumnsError("a.csv", ["case", "activity"], ["x", "y"])
    assert render(error.statement, wording=as_field) == (
        "a.csv: no column for case and activity; columns there: x, y. "
        "Name one of them with “case” and “activity”"
    )


@pytest.mark.parametrize("page", sorted(WEB.glob("templates/*")), ids=lambda page: page.name)
def test_pages_speak_of_no_command_line(page: Path) -> None:
    """Neither of options nor of commands."""
    text = page.read_text(encoding="utf-8")
    assert not re.search(
        r"(?<![\w-])--(?!data-binary|json)[a-z]|sacofa (serve|anonymize|rules)", text
    )
