"""The page on troubleshooting shows the messages that the program prints."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .pages import DOCS, blocks
from .shell import Shell

PAGE = DOCS / "troubleshooting.md"
DATES = b"case,activity,time\n1,a,01/02/2025\n2,b,03/04/2025\n"


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("dates.csv", DATES, ()),
        ("columns.csv", b"x,y,z\n1,a,2\n", ()),
        ("persons.csv", DATES, ("--person", "case")),
        ("windows.csv", b"case,activity\n1,caf\xe9\n", ("--encoding", "utf-8")),
    ],
)
def test_messages_are_those_of_the_program(
    name: str, content: bytes, options: tuple[str, ...], tmp_path: Path, shell: Shell
) -> None:
    """Word for word."""
    (tmp_path / name).write_bytes(content)
    program = str(shell.programs / "sacofa")
    done = subprocess.run(
        [program, "anonymize", name, "-o", "out.csv", "--epsilon", "1", *options], cwd=tmp_path,
        env=shell.environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0
    shown = [block.text for block in blocks(PAGE.read_text(encoding="utf-8"))]
    assert done.stderr in shown, done.stderr
