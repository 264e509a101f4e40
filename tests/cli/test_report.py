"""`sacofa report` and `anonymize --report`: pages in files, or one line that says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacofa.cli import main
from sacofa.examples import running_example
from sacofa.release import certificate_path
from tests.written import write_variants


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A folder with a log, its release and the page that was made with it."""
    write_variants(running_example(), tmp_path / "log.csv")
    assert _run("anonymize", tmp_path / "log.csv", "-o", tmp_path / "out.xes", "--epsilon", "1",
                "--max-length", "5", "--report", tmp_path / "at-once.html") == 0  # fmt: skip
    return tmp_path


def _run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    status = ended.value.code
    assert isinstance(status, int)
    return status


def test_the_page_is_the_same_at_once_and_later(released: Path) -> None:
    """It is made of the release and its certificate alone: nothing else makes a difference."""
    assert _run("report", released / "out.xes", "-o", released / "later.html") == 0
    (released / "log.csv").unlink()
    at_once, later = (released / f"{name}.html" for name in ("at-once", "later"))
    assert at_once.read_text(encoding="utf-8") == later.read_text(encoding="utf-8")


def test_with_the_original_the_page_is_secret(
    released: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page says so, and so does the command."""
    page = released / "internal.html"
    log = released / "log.csv"
    assert _run("report", released / "out.xes", "--original", log, "-o", page, "--title", "T") == 0
    assert "<title>CONFIDENTIAL · T</title>" in page.read_text(encoding="utf-8")
    assert "The report is confidential" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["none.xes", "-o", "new.html"], 1, "there is no such file"),
        (["log.csv", "-o", "new.html"], 1, "no such certificate"),
        (["out.xes", "-o", "at-once.html"], 2, "exists already"),
        (["out.xes", "-o", "none/new.html"], 2, "its folder does not exist"),
        (["out.xes", "-o", "new.html", "--comparison", "."], 2, "left out without --original"),
        (["out.xes", "-o", "new.html", "--original", "none.csv"], 1, "there is no such file"),
        (
            ["out.xes", "-o", "new.pdf"],
            2,
            'unknown suffix ".pdf": a report is .html, a table of its',
        ),
        (["out.xes", "-o", "new.html", "--case", "x"], 2, "--case (x) must be left out without"),
        (["out.xes", "-o", "new.csv", "--title", "T"], 2, "left out for a table"),
        (["out.xes", "-o", "new.csv", "--case", "x"], 2, "left out for a table"),
        (["out.xes", "-o", "new.csv", "--original", "log.csv"], 2, "left out for a table"),
        (
            ["out.xes", "-o", "new.html", "--original", "log.csv", "--comparison", "."],
            1,
            "runs.csv: there is no such file",
        ),
    ],
)
def test_what_cannot_be_is_one_line(
    released: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    status: int,
    words: str,
) -> None:
    """On stderr, with an exit status, and nothing is written."""
    monkeypatch.chdir(released)
    capsys.readouterr()
    assert _run("report", *arguments) == status
    error = capsys.readouterr().err
    assert words in error
    assert len(error.splitlines()) == 1
    assert not list(released.glob("new.*"))


def test_figures_come_as_tables_at_once_and_later(released: Path) -> None:
    """A release can be made with its figures; the same come of it later."""
    out = released / "again.xes"
    assert _run("anonymize", released / "log.csv", "-o", out, "--epsilon", "1", "--max-length", "5",
                "--report", released / "at-once.csv") == 0  # fmt: skip
    assert _run("report", out, "-o", released / "later.csv") == 0
    assert (released / "at-once.csv").read_bytes() == (released / "later.csv").read_bytes()


def test_a_page_destroys_nothing_that_is_read(
    released: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not the release, its certificate or the original, under whatever name, even with force."""
    log, out = released / "log.csv", released / "out.xes"
    (released / "link.html").symlink_to(out)
    before = {path: path.read_bytes() for path in released.iterdir()}
    for target in (out, certificate_path(out), log, released / "link.html"):
        assert _run("report", out, "--original", log, "-o", target, "--force") == 2
        assert "at once: choose another name" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in released.iterdir()} == before
