"""r4pm gives the same variants as the own reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sacofa.errors import ColumnsError, MissingExtraError, ReadError, SettingError
from sacofa.events import count_variants, open_log, r4pm
from sacofa.kernel.variants import VariantCounts
from tests.written import write_variants

from .nasty import NAMES
from .test_xes import event, trace, write, xes

pytest.importorskip("r4pm", reason="the extra fast-xes is not installed")


@pytest.mark.parametrize("name", ["receipt", "sepsis", "traffic_fines"])
def test_the_papers_logs(name: str, logs: Path, from_xes: Callable[[str], VariantCounts]) -> None:
    """Both readers agree on the paper's logs."""
    path = logs / f"{name}.xes.gz"
    assert count_variants(open_log(path, engine="r4pm")) == from_xes(name)


def test_r4pm_is_what_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain file is read by r4pm itself, cases without events and of one name included."""
    monkeypatch.setattr("sacofa.events.xes.count", None)
    own = '<string key="concept:name" value="same"/>'
    path = write(
        tmp_path,
        xes(trace(event("b"), event("a&#10;"), own=own), trace(own=own), trace(event("b"))),
    )
    found = count_variants(open_log(path, engine="r4pm"))
    assert found == VariantCounts.of({("b", "a\n"): 1, (): 1, ("b",): 1})


@pytest.mark.parametrize(
    "text",
    [
        xes(trace(event("a")), "<trace/>", trace(event("b"))),
        xes(trace(event("a"), own='<boolean key="unfinished" value="true"/>')),
        xes(trace(event("No Activity"))),
    ],
)
def test_what_r4pm_reads_otherwise_is_left_to_the_own_reader(text: str, tmp_path: Path) -> None:
    """Single empty tags, marks and the name of nameless events do not change the answer."""
    path = write(tmp_path, text)
    assert count_variants(open_log(path, engine="r4pm")) == count_variants(path)


A = '<string key="concept:name" value="A"/>'
E = f"<event>{A}</event>"
HALF = '<string key="lifecycle:transition" value="{}"/>'
FORMS = {
    "half reversed": HALF.replace(
        'key="lifecycle:transition" value="{}"', 'value="{}" key="lifecycle:transition"'
    ),
    "half with blanks": HALF.replace("value=", "value = "),
    "half in one quote": HALF.replace('"', "'"),
    "half with a reference": HALF.replace(":", "&#58;"),
    "half over lines": HALF.replace(" value", "\n value"),
    "half in long": HALF.replace("/>", "></string>"),
    "half in blanks": HALF.replace("{}", " {} "),
}
"""Ways to say that an event is the start or the end of work."""
ODD = {
    "usual": f"<trace><event>{A}{HALF.format('start')}</event>{E}</trace>",
    "list": f'<trace><event><list key="x"><values>{A}</values></list>{A}</event></trace>',
    "nested": f'<trace><event><string key="x" value="y">{A}</string>{A}</event></trace>',
    "twice": f"<trace><event>{A}{A.replace('A', 'B')}</event></trace>",
    "whole number": '<trace><event><int key="concept:name" value="01"/></event></trace>',
    "number": '<trace><event><float key="concept:name" value="1.50"/></event></trace>',
    "lines": f"<trace><event>{A.replace('A', 'A' + chr(10) + 'B')}</event></trace>",
    "tab": f"<trace><event>{A.replace('A', 'A' + chr(9) + 'B')}</event></trace>",
    "references": f"<trace><event>{A.replace('A', '&#10;&#x41;&amp;')}</event></trace>",
    "key": f"<trace><event>{A.replace(':', '&#58;')}</event></trace>",
    "empty": f"<trace\n/><trace  /><trace x='y'/><trace>{E}</trace>",
    "comment": f"<trace><!-- {E} -->{E}</trace>",
    "comment around": f"<!-- <trace>{E}</trace> --><trace>{E}</trace>",
    "cdata": f"<trace><![CDATA[<event>]]>{E}</trace>",
    "instruction": f"<trace><?x {E} ?>{E}</trace>",
    "prefix": f'<x:trace xmlns:x="u"><x:event>{A}</x:event></x:trace><trace>{E}</trace>',
    "unknown": f"<trace><b>{E}</b>{E}</trace>",
    "inside": f"<trace>{E}<trace>{E}</trace></trace>",
    "cut": f"<trace><boolean value='true' key='unfinished'/>{E}</trace>",
    "cut by reference": f'<trace><boolean key="unfinis&#104;ed" value="true"/>{E}</trace>',
    "odd values": f'<trace><date key="d" value="soon"/><int key="i" value="x"/>{E}</trace>',
}
"""Cases that one reader or the other reads in its own way."""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("odd", ODD)
def test_an_odd_case_changes_who_reads_and_nothing_else(
    odd: str, form: str, tmp_path: Path
) -> None:
    """Of other cases both readers say the same, in whatever form their halves are written."""
    start, complete = (FORMS[form].format(word) for word in ("start", "complete"))
    rest = trace(f"<event>{A}{start}</event>", f"<event>{A}{complete}</event>") * 4
    both = [
        write(tmp_path, f"<log>{cases}</log>", name)
        for name, cases in (("all.xes", ODD[odd] + rest), ("rest.xes", rest))
    ]
    counted = [count_variants(open_log(path, engine="r4pm")) for path in both]
    assert counted == [count_variants(open_log(path)) for path in both]
    assert dict(counted[1]) == {("A",): 4}


@pytest.mark.parametrize(
    "event", ["<event/>", "<event></event>", f"<event>{A.replace('A', chr(1))}</event>"]
)
def test_what_r4pm_cannot_take_is_no_traceback(event: str, tmp_path: Path) -> None:
    """It ends in what the own reader says."""
    path = write(tmp_path, xes(trace(f"<event>{A}</event>"), trace(event)))

    def said(engine: str | None) -> str:
        try:
            return str(dict(count_variants(open_log(path, engine=engine))))
        except ReadError as error:
            return str(error)

    assert said("r4pm") == said(None)


def test_another_lifecycle_is_left_to_the_own_reader(tmp_path: Path) -> None:
    """r4pm knows none."""
    halves = [
        f'<event>{A}<string key="stage" value="{word}"/></event>' for word in ("start", "end")
    ]
    path = write(tmp_path, xes(trace(*halves)))
    found = count_variants(open_log(path, engine="r4pm", lifecycle="stage"))
    assert (
        found == count_variants(open_log(path, lifecycle="stage")) == VariantCounts.of({("A",): 1})
    )


def test_a_large_file_is_looked_at_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever a block ends; a single odd case at the end is found."""
    plain = [trace(f"<event>{A.replace('A', name)}</event>") for name in ("ä", "b", "€" * 9)]
    monkeypatch.setattr("sacofa.events.r4pm._BLOCK", 7)
    assert r4pm._is_plain(write(tmp_path, xes(*plain), "plain.xes"), trusted=False)
    for name, odd in ODD.items():
        path = write(tmp_path, xes(*plain, odd), "odd.xes")
        assert r4pm._is_plain(path, trusted=False) == (name in ("twice", "odd values"))


def test_nasty_names(tmp_path: Path) -> None:
    """Nasty names come through r4pm as well."""
    variants = VariantCounts.of({(name, "x", name): i + 1 for i, name in enumerate(NAMES)})
    write_variants(variants, tmp_path / "log.xes")
    assert count_variants(open_log(tmp_path / "log.xes", engine="r4pm")) == variants


def test_bad_input(tmp_path: Path) -> None:
    """What is no log is refused as the own reader refuses it, and so is what r4pm cannot do."""
    path = write(tmp_path, xes(trace(event("a")), trace(event(None))))
    with pytest.raises(ReadError, match="without concept:name"):
        count_variants(open_log(path, engine="r4pm"))
    with pytest.raises(SettingError, match="engine"):
        open_log(write(tmp_path, xes(trace(event("a", "2020-01-01")))), engine="r4pm", order="time")
    plain = write(tmp_path, xes(trace(event("a"))), "plain.xes")
    with pytest.raises(ColumnsError, match="who"):
        open_log(plain, engine="r4pm", person="who", max_cases=1)
    with pytest.raises(SettingError, match="each trace is a case"):
        open_log(plain, engine="r4pm", case="concept:name")
    with pytest.raises(SettingError, match="engine"):
        open_log(write(tmp_path, "case,activity\n1,a\n", "log.csv"), engine="r4pm")


def test_a_version_that_cannot_count_variants_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The built-in reader never takes over in silence."""
    monkeypatch.delattr("r4pm.bindings.get_variants")
    (tmp_path / "log.xes").write_text("<log/>")
    with pytest.raises(MissingExtraError, match=r"r4pm 0\.6 or newer.*sacofa\[fast-xes\]"):
        open_log(tmp_path / "log.xes", engine="r4pm")
