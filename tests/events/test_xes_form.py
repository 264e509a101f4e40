"""The form of an XES log: declarations decide, and what is taken from cases has no order."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from sacofa import Certified, anonymize
from sacofa.base.domains import labels_of
from sacofa.errors import ColumnsError, Statement
from sacofa.events import open_log, read_cases
from sacofa.events.columns import TIMES_TAKEN
from sacofa.events.xes_form import XesTrace
from sacofa.kernel.attributes import Attribute
from sacofa.kernel.cases import CaseBatch
from sacofa.messages import render

VALUES = {
    "int": ["1", "20"],
    "float": ["1.5", "20.0"],
    "boolean": ["true"],
    "date": ["2020-01-01"],
    "string": ["x", "1"],
}
Case = tuple[tuple[str, str] | None, tuple[str, str] | None]
"""What a case says itself, and what its event says: a type with a value, or nothing."""
said = st.sampled_from([(kind, value) for kind, values in VALUES.items() for value in values])
some_cases = st.lists(st.tuples(st.none() | said, st.none() | said), min_size=2, max_size=6).filter(
    lambda cases: any(case != (None, None) for case in cases[1:])
)

GLOBALS = {
    "trace": '<global scope="trace"><int key="age" value="0"/></global>',
    "event": '<global scope="event"><int key="age" value="0"/></global>',
    "nothing": "",
}
NUMBER = {"type": "number", "min": 0, "max": 100, "unit": 10}


def write(path: Path, cases: Sequence[Case], head: str = "") -> Path:
    """A log of cases with one event each."""

    def tag(content: tuple[str, str] | None) -> str:
        return "" if content is None else f'<{content[0]} key="age" value="{content[1]}"/>'

    traces = [
        f'<trace>{tag(own)}<event><string key="concept:name" value="a"/>{tag(of)}</event></trace>'
        for own, of in cases
    ]
    path.write_text(f"<log>{head}{''.join(traces)}</log>")
    return path


def labels(number: int, batch: CaseBatch) -> list[list[int]]:
    """The cells of each attribute."""
    return [values.cells.tolist() for values in batch.attributes]


def read(path: Path, **options: Any) -> tuple[tuple[Statement, ...], Attribute, Counter[str]]:
    """What was taken from a log, the attribute as it was read, and its values in words."""
    log = open_log(path, attribute=("age",), **options)
    cases = read_cases(log)
    assert cases.by_case is not None
    (attribute,) = cases.attributes
    words = labels_of(attribute.known)
    found = [cell for part in cases.by_case.map_parts(labels) for cell in part[0]]
    return log.assumptions, attribute, Counter(words[cell] for cell in found)


def taken_of(attribute: str, facts: list[Statement]) -> Statement:
    """The assumption that names what was taken from the log about an attribute."""
    return Statement("assumption.attribute_facts_from_log", attribute=attribute, facts=facts)


def distance(one: Counter[str], other: Counter[str]) -> int:
    """By how much values differ, added up."""
    return sum(abs(one[word] - other[word]) for word in {*one, *other})


@pytest.mark.parametrize("of", ["case", "event"])
@pytest.mark.parametrize("head", GLOBALS)
@settings(max_examples=25, deadline=None)
@given(cases=some_cases)
def test_no_case_decides_about_others_where_all_is_declared(
    tmp_path_factory: pytest.TempPathFactory, head: str, of: str, cases: list[Case]
) -> None:
    """In a file of columns: neither what others are nor what the certificate says."""
    folder = tmp_path_factory.mktemp("log")
    columns = {"attributes": {"age": {**NUMBER, "of": of}}}
    whole = read(write(folder / "all.xes", cases, GLOBALS[head]), columns=columns)
    rest = read(write(folder / "rest.xes", cases[1:], GLOBALS[head]), columns=columns)
    assert whole[0] == rest[0] == () and whole[1] == rest[1]
    assert distance(whole[2], rest[2]) <= 1


@pytest.mark.parametrize("columns", [None, {"attributes": {"age": NUMBER}}], ids=["no", "number"])
@pytest.mark.parametrize("head", ["trace", "event"])
@settings(max_examples=25, deadline=None)
@given(cases=some_cases)
def test_no_case_decides_about_others_where_the_log_declares_it(
    tmp_path_factory: pytest.TempPathFactory, head: str, columns: Any, cases: list[Case]
) -> None:
    """Before its first case, as a global: the level, and the type unless another is declared."""
    folder = tmp_path_factory.mktemp("log")
    whole = read(write(folder / "all.xes", cases, GLOBALS[head]), columns=columns)
    rest = read(write(folder / "rest.xes", cases[1:], GLOBALS[head]), columns=columns)
    assert whole[0] == rest[0] == () and whole[1] == rest[1]
    assert whole[1].of_case == (head == "trace") and whole[1].known.kind != "string"
    assert distance(whole[2], rest[2]) <= 1


@pytest.mark.parametrize("columns", [None, {"attributes": {"age": NUMBER}}], ids=["no", "number"])
@settings(max_examples=50, deadline=None)
@given(cases=some_cases, chance=st.randoms(use_true_random=False))
def test_what_is_taken_from_cases_is_named_and_has_no_order(
    tmp_path_factory: pytest.TempPathFactory,
    columns: Any,
    cases: list[Case],
    chance: random.Random,
) -> None:
    """Where the same was taken from two neighbours, they differ by the one case alone."""
    folder = tmp_path_factory.mktemp("log")
    shuffled = list(cases)
    chance.shuffle(shuffled)
    whole = read(write(folder / "all.xes", cases), columns=columns)
    assert whole == read(write(folder / "again.xes", shuffled), columns=columns)
    level, kind = "belongs to", " and is "
    [line] = map(str, whole[0])
    assert level in line and (kind in line) == (columns is None)
    rest = read(write(folder / "rest.xes", cases[1:]), columns=columns)
    if whole[:2] == rest[:2]:
        assert distance(whole[2], rest[2]) <= 1


def test_one_case_in_front_does_not_hide_all_others(tmp_path: Path) -> None:
    """An attribute is one of cases if any case has it; what its events say is then not lost."""
    ages: list[Case] = [(("int", f"{age}"), None) for age in (10, 20, 30)]
    odd: Case = (None, ("int", "5"))
    columns = {"attributes": {"age": NUMBER}}
    found = read(write(tmp_path / "log.xes", [odd, *ages]), columns=columns)
    assert found[1].of_case and found[2] == {"0": 1, "10": 1, "20": 1, "30": 1}
    assert found == read(write(tmp_path / "log.xes", [*ages, odd]), columns=columns)


def test_files_that_declare_different_things_declare_nothing(tmp_path: Path) -> None:
    """Neither the first nor the last decides."""
    cases: list[Case] = [(("int", "1"), ("int", "2"))]
    both = [write(tmp_path / f"{head}.xes", cases, GLOBALS[head]) for head in ("trace", "event")]
    for files in (both, both[::-1]):
        log = open_log(files, attribute="age")
        assert log.attributes[0].of_case
        facts = [Statement("fact.of_cases"), Statement("fact.number")]
        assert log.assumptions == (taken_of("age", facts),)


def test_a_declaration_is_read_in_any_encoding(tmp_path: Path) -> None:
    """As the log itself is, up to its first case and no further."""
    late = f"<trace/>{GLOBALS['event']}"
    path = write(tmp_path / "log.xes", [(None, ("int", "1"))], GLOBALS["trace"] + late)
    text = path.read_text()
    for encoding in ("utf-8", "utf-16"):
        path.write_bytes(f'<?xml version="1.0" encoding="{encoding}"?>{text}'.encode(encoding))
        log = open_log(path, attribute="age")
        assert log.attributes[0].of_case and log.assumptions == ()


def test_the_certificate_names_what_was_taken(tmp_path: Path) -> None:
    """In English and in German; `case:` before the name says whose it is."""
    path = write(tmp_path / "log.xes", [(("int", "1"), None), (None, ("string", "x"))])
    release = anonymize(open_log(path, attribute="case:age"), Certified(epsilon=1), seed=1)
    line = taken_of("case:age", [Statement("fact.text")])
    assert line in release.certificate.assumptions
    assert render(line, "de").startswith("Dass case:age Text ist, ist öffentlich")
    values = Statement("assumption.attribute_values_from_log", attribute="case:age")
    assert values in release.certificate.assumptions


def test_a_declared_attribute_may_be_missing_from_all_cases(tmp_path: Path) -> None:
    """Whether there is a release must not reveal the only case that has it."""
    cases: list[Case] = [(None, None), (("int", "20"), None)]
    declared = {"attributes": {"age": {**NUMBER, "of": "case"}}}
    for head, columns in ((GLOBALS["trace"], None), ("", declared)):
        rest = write(tmp_path / "rest.xes", cases[:1], head)
        whole = write(tmp_path / "whole.xes", cases, head)
        found = [read(path, columns=columns) for path in (rest, whole)]
        assert found[0][:2] == found[1][:2]
        assert distance(found[0][2], found[1][2]) == 1
    with pytest.raises(ColumnsError, match="age"):
        open_log(rest, attribute="age")


@pytest.mark.parametrize(
    ("name", "attribute", "of_case", "taken"),
    [
        ("sepsis", "Age", False, True),
        ("sepsis", "org:group", False, False),
        ("receipt", "channel", True, False),
        ("traffic_fines", "amount", False, True),
    ],
)
def test_the_papers_logs(name: str, attribute: str, of_case: bool, taken: bool, logs: Path) -> None:
    """Attributes are found where they are, and declared ones are not taken from cases."""
    log = open_log(logs / f"{name}.xes.gz", attribute=attribute)
    assert log.attributes[0].of_case == of_case
    assert bool(log.assumptions) == taken


@pytest.mark.parametrize("prefix", ["", "x:", "trace:"])
def test_no_case_decides_whether_there_are_times(prefix: str, tmp_path: Path) -> None:
    """What stands before the first case does, whatever prefix the names of elements have."""
    space = f"xmlns:{prefix[:-1]}" if prefix else "xmlns"

    def opened(head: str = "", more: str = "") -> bool:
        traces = f"""<trace><event><string key="concept:name" value="a"/>{more}</event></trace>"""
        text = f"""<log {space}="http://www.xes-standard.org/">{head}{traces * 2}</log>"""
        named = text.replace("</", "\0").replace("<", f"<{prefix}").replace("\0", f"</{prefix}")
        path = tmp_path / "log.xes"
        path.write_text(named)
        return open_log(path).has_times

    cases = [
        "", '<date key="time:timestamp" value="2020-01-01"/>',
        '<string key="note" value=\'prefix="time"\'/>',
    ]  # fmt: skip
    heads = [
        '<extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>',
        '<global scope="event"><date key="time:timestamp" value="2020-01-01"/></global>',
    ]
    assert [opened(more=more) for more in cases] == [False] * 3
    assert [opened(head, more) for head in heads for more in cases] == [True] * 6


def test_files_that_declare_different_things_are_named(tmp_path: Path) -> None:
    """One of them, which may hold one case, tells whether there are times."""
    head = '<global scope="event"><date key="time:timestamp" value="2020-01-01"/></global>'
    first = write(tmp_path / "1.xes", [(None, None)])
    timed = write(tmp_path / "2.xes", [(None, None)], head)
    assert open_log(first).assumptions == open_log(timed).assumptions == ()
    log = open_log([first, timed])
    assert log.has_times and log.assumptions == (TIMES_TAKEN,)
    release = anonymize(log, Certified(epsilon=1), seed=1)
    assert TIMES_TAKEN in release.certificate.assumptions


@pytest.mark.parametrize("space", ["", 'xmlns="http://www.xes-standard.org/"'])
@pytest.mark.parametrize("key", ["a", "a'b", 'a"b', 'a"\'b"', "{key}", "] | *[1"])
def test_attributes_of_any_name_are_found(key: str, space: str) -> None:
    """Names are quoted in queries, whatever they contain."""
    named = escape(key, {'"': "&quot;"})
    events = "".join(
        f'<event><int key="b"/><string key="{named}" value="{n}"/></event>' for n in "12"
    )
    text = f'<trace {space}><string key="{named}" value="0"/>{events}<event/></trace>'
    trace = XesTrace(etree.fromstring(text))
    assert (trace.own(key), trace.values(key)) == ("0", ["1", "2", None])
