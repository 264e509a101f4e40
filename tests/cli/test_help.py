"""Help and messages as people meet them."""

from __future__ import annotations

import pytest

from .conftest import Run


@pytest.mark.parametrize("words", [(), ("ledger",)], ids=["sacofa", "ledger"])
def test_a_name_alone_shows_its_help(run: Run, words: tuple[str, ...]) -> None:
    """Line by line, as --help does."""
    ran, asked = run(*words), run(*words, "--help")
    assert ran.status == 2 and not ran.err
    assert ran.out == asked.out and "Commands:\n" in ran.out


@pytest.mark.parametrize("words", [(), ("ledger",), ("key",)], ids=["sacofa", "ledger", "key"])
def test_lists_of_commands_say_whole_sentences(run: Run, words: tuple[str, ...]) -> None:
    """None breaks off where the line ends."""
    listed = run(*words, "--help").out.partition("Commands:\n")[2]
    assert listed and "..." not in listed and listed.rstrip().endswith(".")


def test_help_comes_in_groups(run: Run) -> None:
    """What, promise, log, rules, papers, output: in this order, each option once."""
    text = run("anonymize", "--help").out
    heads = [line[:-1] for line in text.splitlines() if line.endswith(":") and line[0] != " "]
    assert heads == [
        "Arguments", "What is released", "The promise", "How the log is read", "Rules",
        "The mechanisms of the papers", "Output", "Options",
    ]  # fmt: skip
    assert "--" not in text.partition("\nOptions:\n")[2].replace("--help", "")
    assert text.index("The promise:") < text.index("--epsilon") < text.index("--person")
    assert text.count("\n  --prune ") == 1 and text.index("--prune ") > text.index("papers:")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--epsilon", "0"), "--epsilon (0) must be above 0"),
        (
            ("--epsilon", "1", "--max-cases", "3"),
            "--person must be given together with --max-cases",
        ),
        (("--epsilon", "1", "--mechanism", "laplace"), "--max-length must be given for laplace"),
        (("--epsilon", "1", "--time-format", "iso8601"), "--time-format (iso8601) must be one of"),
    ],
)
def test_messages_name_the_option(run: Run, options: tuple[str, ...], message: str) -> None:
    """A person looks for what was typed, not for a name in the code."""
    ran = run("anonymize", "none.csv", "-o", "out.csv", *options)
    assert ran.status == 2 and ran.err.startswith(f"sacofa: {message}")
