"""Runs a page as a reader would: its shell and Python blocks, in order, in one empty folder.

Blocks of the languages `sh`, `console` and `python` are run. In a `console` block, lines that begin
with `$` are commands and the others are what they print, which is compared: `…` stands for any
words, and on a line by itself for any lines. A command is
expected to succeed; a comment `# status 3` behind it says that it ends otherwise. What installs,
builds or never ends is passed over. Commands in `shell` blocks need a cluster, a database or
minutes and are not run; test_commands_parse.py holds them to the command line.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from ..forked import forked_program
from .pages import ROOT, Block, blocks

RUN = ("sh", "console", "python")
PASSED_OVER = re.compile(r"(make|pip|pipx|uv|uvx|git|cd|python -m (pip|venv)|sacofa serve)\b")
STATUS = re.compile(r"#.*\bstatus (\d+)\s*$")


DEMO = ("sacofa demo -o demo", "sacofa demo -o demo --force")
"""With these most pages begin: the demo is run once, and its folder is copied."""


@dataclass(frozen=True, kw_only=True)
class Shell:
    """Where pages are run: what they share."""

    programs: Path
    """The folder of `sacofa` and `python`."""
    demo: Path
    """What the demo leaves."""

    @property
    def environment(self) -> dict[str, str]:
        """The environment of this interpreter, whose own `sacofa` and `python` come first."""
        return _environment() | {"PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}"}


@contextmanager
def started_shell(folder: Path) -> Iterator[Shell]:
    """Start what pages share, and run the demo."""
    programs, work = folder / "bin", folder / "work"
    programs.mkdir()
    work.mkdir()
    python = programs / "python"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    with forked_program(programs, _environment()):
        shell = Shell(programs=programs, demo=work / "demo")
        _run(["bash", "-c", DEMO[0]], 0, Block("sh", DEMO[0], 1), work, shell.environment)
        yield shell


def run_page(page: Path, folder: Path, shell: Shell) -> list[Block]:
    """Run every block of a page; tell which were run."""
    environment = shell.environment
    work = folder / "work"
    work.mkdir()
    ran = [block for block in blocks(page.read_text(encoding="utf-8")) if block.language in RUN]
    for block in ran:
        if block.language == "python" and "pyspark" in block.text:
            _run_on_spark(block, work, environment)
            continue
        if block.language == "python":
            python = str(shell.programs / "sacofa")
            _run([python, "-c", block.text], 0, block, work, environment)
            continue
        for command, shown in shows(block):
            if command in DEMO and not shown:
                shutil.copytree(shell.demo, work / "demo", dirs_exist_ok=True)
                continue
            status = STATUS.search(command)
            wanted = int(status[1]) if status else 0
            bash = ["bash", "-euo", "pipefail", "-c", command]
            printed = _run(bash, wanted, block, work, environment)
            assert not shown or printed_as(shown, printed), (
                f"line {block.line}: {command}\nprints\n{printed}and not\n{shown}"
            )
    return ran


def shows(block: Block) -> list[tuple[str, str]]:
    """The commands of a block, each with what the page says that it prints, if it does."""
    if block.language != "console":
        return [(command, "") for command in commands(block)]
    parts = re.split(r"^(?=\$ )", block.text, flags=re.MULTILINE)
    found = []
    for part in filter(None, parts):
        asked = re.match(r"\$ ((?:.*\\\n)*.*)\n?", part)
        if asked is not None:
            found.append((asked[1], part[asked.end() :]))
    return found


def printed_as(shown: str, printed: str) -> bool:
    """Whether a command prints what a page shows."""
    lines = []
    for line in shown.rstrip("\n").split("\n"):
        if line == "…":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(".*?".join(map(re.escape, line.rstrip().split("…"))) + r"[ ]*\n")
    return re.fullmatch("".join(lines), printed.rstrip("\n") + "\n") is not None


def commands(block: Block) -> list[str]:
    """The commands of a shell block: lines, with those that go on after a backslash joined."""
    text = block.text
    if block.language == "console":
        # A line that goes on belongs to its command; what else has no `$` was printed.
        text = "\n".join(re.findall(r"^\$ ((?:.*\\\n)*.*)$", text, re.MULTILINE))
    found: list[str] = []
    lines = iter(text.split("\n"))
    for line in lines:
        command = line
        while command.endswith("\\"):
            command += "\n" + next(lines)
        heredoc = re.search(r"<<\s*'?(\w+)'?", command)
        if heredoc:
            for line in lines:
                command += "\n" + line
                if line == heredoc[1]:
                    break
        bare = command.strip()
        if bare and not bare.startswith("#") and not PASSED_OVER.match(bare):
            found.append(command)
    return found


def _run_on_spark(block: Block, folder: Path, environment: dict[str, str]) -> None:
    """Run a block here if Spark's Java was not yet started here: so those who come later have it.

    Java stays in the folder where it is started, so a block that comes later has one of its own.
    """
    from pyspark import SparkContext

    if SparkContext._gateway is None:
        # Those who come later need the tests, too.
        paths = {"PYTHONPATH": os.pathsep.join([environment["PYTHONPATH"], str(ROOT)])}
        with chdir(folder), patch.dict(os.environ, paths):
            exec(compile(block.text, f"line {block.line}", "exec"), {"__name__": "__main__"})
    else:
        _run([sys.executable, "-c", block.text], 0, block, folder, environment)


def _run(
    command: list[str], wanted: int, block: Block, folder: Path, environment: dict[str, str]
) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == wanted, (
        f"line {block.line}: {command[-1]}\n"
        f"ended with status {done.returncode}, not {wanted}\n{done.stdout}{done.stderr}"
    )
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def _environment() -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONWARNINGS": "ignore",
        "MPLBACKEND": "Agg",
        "COLUMNS": "100",
    }
