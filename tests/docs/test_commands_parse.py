"""Every `sacofa` command on a page is one that the command line takes, whether it is run or not."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from sacofa.cli.app import make_app

from .pages import ROOT, all_pages, blocks, indented
from .shell import RUN

PROGRAM = typer.main.get_command(make_app())
SHOWN = (*RUN, "shell", "")
"""Languages of blocks that may hold commands; those of `shell` are not run."""
COMMAND = re.compile(r"(?:^|[|&;] *)(?:\$ )?(sacofa(?: [^|&;\n]*)?)(?=[|&;\n]|$)", re.MULTILINE)
INLINE = re.compile(r"(?<!`)`(sacofa [^`\n]*)`(?!`)")
PAGES = [page for page in all_pages() if page.name not in ("cli.md", "CHANGELOG.md")]


def shown_commands(text: str) -> Iterator[list[str]]:
    """The words of every command in a block of a page, fenced or indented."""
    for block in (*blocks(text), *indented(text)):
        if block.language in SHOWN and block.language != "python":
            joined = re.sub(r"\\\n\s*", " ", block.text)
            for found in COMMAND.finditer(quoted(joined)):
                yield shlex.split(unquoted(found[1]), comments=True)[1:]


def quoted(text: str) -> str:
    """Hide what separates commands where it stands in quotes."""
    hide = {"|": "\ue000", "&": "\ue001", ";": "\ue002"}
    return re.sub(
        r"'[^'\n]*'|\"[^\"\n]*\"",
        lambda found: "".join(hide.get(letter, letter) for letter in found[0]),
        text,
    )


def unquoted(text: str) -> str:
    """Show it again."""
    return text.translate({0xE000: "|", 0xE001: "&", 0xE002: ";"})


def resolve(words: list[str]) -> tuple[Any, list[str]]:
    """The command that words name, and its arguments."""
    command: Any = PROGRAM
    words = list(words)
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        word = words.pop(0)
        assert word in command.commands, f"no command {word}"
        command = command.commands[word]
    return command, words


def hold(words: list[str]) -> None:
    """Hold a command to the command line, without running it."""
    try:
        check(words)
    except Exception as error:
        # Errors of Typer have their words in `message`, or made up when they are shown.
        why = error.format_message() if hasattr(error, "format_message") else str(error)
        raise AssertionError(f"sacofa {shlex.join(words)}: {why}") from error


def check(words: list[str]) -> None:
    """Raise what the command line raises, or nothing."""
    command, rest = resolve(words)
    if hasattr(command, "commands") or "--help" in rest:
        options = {o for p in command.params for o in (*p.opts, *p.secondary_opts)}
        assert {word for word in rest if word.startswith("-")} <= options | {"-h", "--help"}
        return
    command.make_context("sacofa", list(rest))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_are_taken(page: Path) -> None:
    """Command, options, values and the number of arguments are right."""
    for words in shown_commands(page.read_text(encoding="utf-8")):
        hold(words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_options_in_a_sentence_exist(page: Path) -> None:
    """Where a sentence shows a command, its options are options of that command."""
    for found in INLINE.finditer(page.read_text(encoding="utf-8")):
        words = re.split(r"[\s|=]+", found[1])[1:]
        if not re.fullmatch(r"[a-z]+", words[0]):
            continue
        command, rest = resolve(words)
        options = {o for p in command.params for o in (*p.opts, *p.secondary_opts)}
        for word in rest:
            if re.fullmatch(r"--[a-z-]+", word):
                assert word in options | {"--help"}, found[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_block_hides_from_the_tests(page: Path) -> None:
    """Code is fenced and says its language, so that what can be run is run."""
    text = page.read_text(encoding="utf-8")
    assert not [block.line for block in indented(text) if "::: " not in block.text]
    assert not [block.line for block in blocks(text) if not block.language]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("```sh\nsacofa plan --epsilonn 1\n```\n", "--epsilonn"),
        ("```shell\ncat x.csv | sacofa anonymize - -o y.csv --epsilonn 1\n```\n", "--epsilonn"),
        ("Text.\n\n    sacofa plan --epsilonn 1\n\nText.\n", "--epsilonn"),
        ("```sh\nsacofa plann --epsilon 1\n```\n", "plann"),
        ("```sh\nsacofa verify\n```\n", "Missing argument"),
        ("```sh\nsacofa verify a.xes b.xes\n```\n", "extra argument"),
        ("```sh\nsacofa audit --epsilon 1 --runs many\n```\n", "many"),
        (
            "```sh\nsacofa anonymize a.csv -o b.csv \\\n    --epsilon 1 --engnie x\n```\n",
            "--engnie",
        ),
    ],
)
def test_wrong_commands_are_caught(text: str, why: str) -> None:
    """Wrong options, commands, numbers of arguments and values, fenced or not."""
    (words,) = shown_commands(text)
    with pytest.raises(AssertionError, match=why):
        hold(words)
