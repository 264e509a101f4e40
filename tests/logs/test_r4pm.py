"""r4pm gives the same variants as the own reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sacofa.errors import ColumnsError, ReadError, SettingError
from sacofa.logs import count_variants, open_log, write_variants
from sacofa.variants import VariantCounts

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
    monkeypatch.setattr("sacofa.logs.xes.count", None)
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
