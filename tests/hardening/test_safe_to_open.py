"""What is released is safe to open, whatever activities are called."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest
from lxml import etree

from sacofa.kernel.variants import VariantCounts
from tests.cli.conftest import Run
from tests.written import write_variants

MARKUP = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'/><event><string key='concept:name' value='forged'/></event>",
    "</title><svg onload=alert(1)>",
    "javascript:alert(1)",
    "{{ 7 * 7 }} {% raw %}",
    "]]> --> &lt;b&gt; &#60;b&#62;",
    "../../etc/passwd",
]


class Tags(HTMLParser):
    """Collects the elements of a page, and every attribute that can run code or fetch something."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.live: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.found.append(tag)
        for name, value in attributes:
            if name.startswith("on") or name in ("src", "href", "xlink:href", "action"):
                self.live.append((name, value or ""))


def page_of(run: Run, folder: Path, names: list[str]) -> tuple[Tags, str]:
    """Release a log in which every case goes through these activities, and make its page."""
    folder.mkdir()
    write_variants(VariantCounts.of({tuple(names): 2000}), folder / "log.json")
    released = folder / "out.xes"
    settings = ["--epsilon", "1", "--max-length", str(len(names) + 1), "--seed", "1"]
    ran = run("anonymize", folder / "log.json", "-o", released, *settings)
    assert ran.status == 0, ran.err
    ran = run("report", released, "-o", folder / "page.html", "--title", names[0])
    assert ran.status == 0, ran.err
    page = Tags()
    text = (folder / "page.html").read_text(encoding="utf-8")
    page.feed(text)
    assert {path.name for path in folder.iterdir()} == {
        "log.json", "out.xes", "out.xes.certificate.json", "page.html",
    }  # fmt: skip
    return page, text


def test_markup_in_names_stays_text(run: Run, tmp_path: Path) -> None:
    """A page has the same elements whatever the activities are called, and nothing comes alive."""
    plain, _ = page_of(run, tmp_path / "plain", [f"activity {i}" for i in range(len(MARKUP))])
    hostile, text = page_of(run, tmp_path / "hostile", MARKUP)
    assert hostile.found.count("script") == plain.found.count("script")
    assert hostile.found.count("img") == plain.found.count("img")
    assert set(hostile.found) == set(plain.found)
    assert [name for name, _ in hostile.live if name.startswith("on")] == [
        name for name, _ in plain.live if name.startswith("on")
    ]
    assert not [value for _, value in hostile.live if "javascript" in value or "passwd" in value]
    assert "<script>alert" not in text
    assert "{{ 7 * 7 }}" in text


@pytest.mark.parametrize("name", MARKUP)
def test_markup_in_names_stays_a_value_in_xes(tmp_path: Path, name: str) -> None:
    """An XES file has one event for each activity, and its name is the value."""
    write_variants(VariantCounts.of({(name, "b"): 1}), tmp_path / "out.xes")
    root = etree.parse(str(tmp_path / "out.xes")).getroot()
    values = [event.find("{*}string").get("value") for event in root.iterfind("{*}trace/{*}event")]
    assert values == [name, "b"]


def test_no_path_in_a_log_is_used_as_a_path(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases and activities called like files neither read nor write them."""
    victim = tmp_path / "victim.csv"
    victim.write_text("case,activity\n1,stolen\n")
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    rows = ["case,activity"]
    for i, name in enumerate([str(victim), "../victim.csv", "file://x", "/etc/passwd", "~", "*"]):
        rows += [f"{name}{i},{name}", f"{name}{i},read_csv('{victim}')"]
    (folder / "log.csv").write_text("\n".join(rows))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for suffix in ("csv", "xes", "parquet"):
        assert run("anonymize", "log.csv", "-o", f"out.{suffix}", "--epsilon", "9").status == 0
        assert b"stolen" not in (folder / f"out.{suffix}").read_bytes()
    after = {path for path in tmp_path.rglob("*") if path.is_file()}
    made = {f"out.{s}" for s in ("csv", "xes", "parquet")}
    assert {path.name for path in after - set(before)} == made | {
        f"{name}.certificate.json" for name in made
    }
    assert all(path.read_bytes() == content for path, content in before.items())
