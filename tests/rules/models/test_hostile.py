"""Files that mean harm, or are broken: one line, soon, and nothing is followed or filled."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.errors import SacofaError
from sacofa.rules.models import read_model
from sacofa.rules.models.net import MAX_PARTS

from .drawings import HEAD, draw, process, scope, write

FILES = Path(__file__).parent / "files"


def refused(path: Path) -> str:
    """What is said about a file."""
    with pytest.raises(SacofaError) as caught:
        read_model(path).rules()
    said = str(caught.value)
    assert str(path) in said and "\n" not in said and len(said) < 2_000
    return said


def hostile(folder: Path, text: str, name: str = "model.bpmn") -> str:
    """What is said about a text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return refused(path)


def test_entities_are_refused_whatever_they_are(tmp_path: Path) -> None:
    """From outside, from inside, or by the billion: a document type is the end of it."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    body = HEAD.partition("\n")[2] + '<process id="p"><task id="a" name="&x;"/></process>'
    outside = f'<!DOCTYPE d [<!ENTITY x SYSTEM "file://{secret}">]>'
    layers = "".join(f'<!ENTITY x{n} "{f"&x{n - 1};" * 10}">' for n in range(1, 12))
    laughs = f'<!DOCTYPE d [<!ENTITY x0 "ha">{layers}<!ENTITY x "&x11;">]>'
    remote = '<!DOCTYPE d SYSTEM "http://example.invalid/x.dtd">'
    for head in (outside, laughs, remote):
        for name in ("model.bpmn", "model.pnml"):
            said = hostile(tmp_path, f"{head}{body}</definitions>", name)
            assert "document type" in said or "broken XML" in said
            assert "the secret" not in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ("<definitions>", "broken XML"),
        ("not xml", "broken XML"),
        ("<html/>", "neither BPMN nor PNML"),
        ("<definitions/>", "no process"),
        ("<definitions><process id='p'/></definitions>", "no process"),
        ("<pnml/>", "0 nets"),
        ("<pnml><net/><net/></pnml>", "2 nets"),
        ("<pnml><net><place/></net></pnml>", "id of its own"),
        ("<pnml><net><arc source='a' target='b'/></net></pnml>", 'no node "a"'),
        (
            "<pnml><net><referencePlace id='a' ref='b'/><referencePlace id='b' ref='a'/>"
            "<arc source='a' target='b'/></net></pnml>",
            "in circles",
        ),
        (
            "<pnml><net><place id='a'/><place id='b'/><arc source='a' target='b'/></net></pnml>",
            "an arc leads",
        ),
        (
            "<pnml><net><place id='a'><initialMarking><text>99999999999</text></initialMarking>"
            "</place></net></pnml>",
            "tokens",
        ),
    ],
)
def test_what_is_no_model_is_told_in_one_line(tmp_path: Path, text: str, words: str) -> None:
    """The file and what is wrong with it."""
    assert words in hostile(tmp_path, text, "model.xml")


def test_deep_nesting(tmp_path: Path) -> None:
    """Of elements, and of subprocesses and calls."""
    deep = "<subProcess id='{}'>"
    text = HEAD + "<process id='p'>" + "".join(deep.format(n) for n in range(10_000))
    assert "broken XML" in hostile(tmp_path, text)
    inner = scope("start i\ntask A\nend x", "i > A > x")
    for n in range(60):
        nodes = f"start s{n}\nend e{n}\nsub S{n} {inner}".replace("\n<", "<")
        inner = scope(nodes, f"s{n} > S{n} > e{n}").replace("\n", "")
    path = write(tmp_path, f"<process id='p'>{inner}</process>")
    assert "nested deeper" in refused(path)


def test_calls_in_circles_and_calls_that_multiply(tmp_path: Path) -> None:
    """A process that calls itself by way of another, and one that doubles thirty times."""

    def caller(key: str, *called: str) -> str:
        calls = [f"call {key}c{i} calledElement={name}" for i, name in enumerate(called)]
        names = [line.split()[1] for line in calls]
        nodes = "\n".join([f"start {key}s", f"end {key}e", f"task {key}t", *calls])
        return process(nodes, " > ".join([f"{key}s", f"{key}t", *names, f"{key}e"]), key)

    said = refused(write(tmp_path, caller("a", "b"), caller("b", "c"), caller("c", "b")))
    assert "calls itself" in said
    assert "calls another" in refused(write(tmp_path, caller("a", "b"), caller("b", "a")))
    chain = [caller(f"p{n}", f"p{n + 1}", f"p{n + 1}") for n in range(30)]
    said = refused(write(tmp_path, *chain, caller("p30")))
    assert f"{MAX_PARTS:,}" in said


def test_too_many_states(tmp_path: Path) -> None:
    """Thirty branches at once are refused before memory is full."""
    tasks = [f"A{n}" for n in range(30)]
    nodes = "start s\nend e\nand f\nand j\n" + "\n".join(f"task {name}" for name in tasks)
    flows = "s > f\nj > e\n" + "\n".join(f"f > {name} > j" for name in tasks)
    assert "100,000 states" in refused(draw(tmp_path, nodes, flows))
    nodes, flows = nodes.replace("and f", "or f"), flows.replace("and", "or")
    assert "branches" in refused(draw(tmp_path, nodes, flows))


def test_large_files(tmp_path: Path) -> None:
    """Larger than any model is refused unread."""
    path = tmp_path / "model.bpmn"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    assert "larger than" in refused(path)


@pytest.mark.parametrize(
    "name", ["camunda.bpmn", "signavio.bpmn", "bpmnio.bpmn", "prom.pnml", "woped.pnml", "rum.decl"]
)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_files_with_holes_never_crash(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Cut out or double any piece of a real file: rules come of it, or one line does."""
    content = (FILES / name).read_bytes()
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(start + 200, len(content))))
    again = data.draw(st.sampled_from([0, 2]))
    path = tmp_path_factory.mktemp("holes") / name
    path.write_bytes(content[:start] + content[start:end] * again + content[end:])
    try:
        read_model(path).rules()
    except SacofaError as error:
        assert "\n" not in str(error)
