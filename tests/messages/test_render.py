"""Statements get words, with values as a language writes them."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacofa.kernel.statements import Argument, Statement
from sacofa.kernel.unit import Unit
from sacofa.messages import from_content, render, to_content
from sacofa.messages.units import protection


def setting(value: object, **more: object) -> Statement:
    """A statement of one value."""
    return Statement("error.line", line=value, what=Statement.plain("wrong"), **more)


@pytest.mark.parametrize(
    ("value", "english", "german"),
    [
        (1234567, "1,234,567", "1.234.567"),
        (Fraction(5, 4), "1.25", "1,25"),
        (Fraction(1, 3), "1/3", "1/3"),
        (0.25, "0.25", "0,25"),
        (True, "yes", "ja"),
        (("a", "b"), "a, b", "a, b"),
        ("a\nb", "a b", "a b"),
        (np.int64(1200), "1,200", "1.200"),
    ],
)
def test_a_value_is_written_as_the_language_does(value: object, english: str, german: str) -> None:
    """Numbers, fractions, lists and texts of several lines."""
    assert render(setting(value)) == f"line {english}: wrong"
    assert render(setting(value), "de") == f"Zeile {german}: wrong"


def test_the_number_decides_between_one_and_other() -> None:
    """In each language."""
    one, two = (protection(Unit(person="id", max_cases=n)) for n in (1, 2))
    assert "at most 1 case:" in str(one) and "at most 2 cases:" in str(two)
    assert "1 Fall:" in render(one, "de") and "2 Fällen:" in render(two, "de")


def test_each_edge_has_its_own_name_for_an_argument() -> None:
    """Python's name is the one that `str` gives."""
    said = Statement("must.given_with", argument=Argument("max_cases", "3"))
    assert str(said) == "given together with max_cases='3'"
    options = render(said, wording=lambda argument: f"--max-cases {argument.value}")
    assert options == "given together with --max-cases 3"


def test_a_plain_statement_is_shown_as_it_is_in_every_language() -> None:
    """For packages that have no catalogue, and for certificates that held sentences."""
    said = Statement.plain("My own {words}.")
    assert render(said) == render(said, "de") == "My own {words}."


def test_a_code_that_is_not_known_is_shown_with_its_values() -> None:
    """A later version may have written it."""
    assert render(Statement("note.of_later", cases=3)) == "note.of_later(cases=3)"
    assert render(Statement("must.given_with")) == "given together with {argument}"


def test_statements_are_equal_by_code_and_values() -> None:
    """So code compares them, and sets hold them."""
    first, second = (Statement("a", **values) for values in ({"x": 1, "y": 2}, {"y": 2, "x": 1}))
    assert first == second and hash(first) == hash(second) and first != Statement("a", x=1)
    assert pickle.loads(pickle.dumps(first)) == first


def test_a_value_without_a_form_is_refused() -> None:
    """None of the values may be anything that JSON could not hold."""
    with pytest.raises(TypeError):
        Statement("a", x=object())


VALUES = st.recursive(
    st.text() | st.integers() | st.booleans() | st.fractions(max_denominator=10**9)
    | st.floats(allow_nan=False) | st.builds(Argument, st.text(), st.none() | st.text()),
    lambda inner: st.lists(inner).map(tuple)
    | st.dictionaries(st.sampled_from("abc"), inner).map(lambda v: Statement("some.code", **v)),
)  # fmt: skip


@given(VALUES)
def test_json_gives_a_statement_back(value: object) -> None:
    """With code and values, whatever they are; the English text next to them is not read."""
    said = Statement("some.code", value=value)
    content = json.loads(json.dumps(to_content(said)))
    assert content["text"] == render(said)
    content["text"] = "something else"
    assert from_content(content) == said


@pytest.mark.parametrize("content", [None, 3, [], {}, {"code": 1}, {"code": "a", "values": [1]}])
def test_what_is_no_statement_is_refused(content: object) -> None:
    """A damaged certificate is one."""
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError)):
        from_content(content)
