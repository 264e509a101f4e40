"""Messages name arguments in Python, options at the command line and fields in the web app."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sacofa.errors import Argument, ColumnsError, OutputError, ReadError, SacofaError, SettingError
from sacofa.events import count_variants, open_log
from sacofa.messages import render

from .conftest import Run

SOURCES = Path(__file__).parents[2] / "src" / "sacofa"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ReadError("a.csv", "say ", Argument("order", "file")), "a.csv: say order='file'"),
        (ReadError("a.csv", "is bad (", Argument("trusted", True), ")"),
         "a.csv: is bad (trusted=True)"),
        (OutputError("a.csv", "use ", Argument("force", True)), "a.csv: use force=True"),
        (SettingError("x", 1, "less, or give ", Argument("y")), "x (1) must be less, or give y"),
        (ColumnsError("a.csv", ["case", "activity"], ["x"]),
         "a.csv: no column for case and activity; columns there: x. Name one of them with case and "
         "activity"),
    ],
)  # fmt: skip
def test_python_speaks_of_its_arguments(error: SacofaError, words: str) -> None:
    """Other edges use other words for the same values."""
    assert str(error) == words
    assert "<" in render(error.statement, wording=lambda argument: f"<{argument.name}>")


CASES: list[tuple[str, str, str]] = [
    ("a,b\n1,2\n", "Name one of them with case and activity",
     "Name one of them with --case and --activity"),
    ("case,activity,time\n1,a,3/4/2025\n", "choose time_format='day-first' or",
     "choose --time-format day-first or --time-format month-first"),
    ("case,activity,time\n1,a,soon 7\n", "the order of the file (order='file')",
     "the order of the file (--order file)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "python", "option"), CASES)
def test_each_edge_speaks_of_what_its_users_know(
    text: str, python: str, option: str, tmp_path: Path, run: Run
) -> None:
    """The same refusal, in the words of Python and of the command line."""
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(ReadError) as caught:
        count_variants(open_log(path))
    assert python in str(caught.value) and "--" not in str(caught.value)
    assert option in run("inspect", path).err


@pytest.mark.parametrize("form", ["encoding", "two ways"])
def test_messages_of_files_name_no_options(form: str, tmp_path: Path) -> None:
    """Also where they come from parts of a reader that know no options at all."""
    texts = {
        "encoding": "case,activity\n1,Prüfung\n".encode("cp1252"),
        "two ways": b"case,activity,Datum,Uhrzeit\n1,a,2024-01-31,930\n",
    }
    (tmp_path / "log.csv").write_bytes(texts[form])
    with pytest.raises(ReadError) as caught:
        count_variants(open_log(tmp_path / "log.csv"))
    assert "--" not in str(caught.value)


def test_no_reader_names_an_option_of_the_command_line() -> None:
    """An option in a message of the library is an `Argument`, never a word."""
    option = re.compile(r"(?<![\w-])--[a-z]")
    allowed = {"profile.py"}  # A file to be filled in, for the command line.
    lines = [
        (path.name, line.strip())
        for path in (SOURCES / "events").rglob("*.py")
        if path.name not in allowed
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert [(name, line) for name, line in lines if option.search(line)] == []
