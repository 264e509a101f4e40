"""Documents and messages are written in the plain language that CONTRIBUTING.md asks for.

Only patterns with hardly any false alarm are searched for. A page that is not clean yet has an
entry in `EXCEPTIONS`, and the number there may only fall.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from .pages import FENCE, ROOT, all_pages

MAX_WORDS_OF_A_SENTENCE = 35
MAX_WORDS_OF_A_CELL = 40
EXCEPTIONS = {
    "docs/certified.md": 2,
    "docs/decisions/cells.md": 1,
    "docs/decisions/exact-noise.md": 1,
    "docs/decisions/kernel.md": 2,
    "docs/decisions/pure-epsilon.md": 1,
    "docs/reference/cli.md": 6,
}
"""Files with findings, and how many there may be at most."""

PATTERNS = {
    "name the actor": r"\b(?:is|are|was|were) (?:asked|told|shown)\b|\bnobody\b",
    "begin with a noun": r"^(?:What|Whatever|Whoever|Who|That which) .*\.$",
    "confidential": r"\bsecrets?\b(?! key)",
    "privacy budget, spends": r"\b(?:prices?|costs?|paid|pays?|dear|dearer|dearest)\b",
    "learned or mined from": r"\bread off\b",
    "synthetic": r"\bmade[- ]up\b",
    "next to": r"\bbeside\b",
    "permanently": r"\bfor ever\b",
    "a number": r"\bso many\b|\bas many as\b",
    "20 or more": r"\bfrom \d+ \w+ on\b",
    "below the noise threshold": r"\bhidden by noise\b|\bstands? out\b|\bthin rows?\b",
    "no history of trials": r"\bin vain\b|\bearlier version of this page\b",
    "no finite ε can be guaranteed": r"\bno ε (?:holds|is finite)\b",
    "path": r"\bways? through the process\b",
}
"""What to write instead, and what not to write."""
FINDERS = {advice: re.compile(pattern, re.IGNORECASE) for advice, pattern in PATTERNS.items()}
CASE_MATTERS = re.compile(PATTERNS["begin with a noun"])
FINDERS["begin with a noun"] = CASE_MATTERS

GENERATED = re.compile(r"<!-- figures: .*?<!-- end of figures -->", re.DOTALL)
NOT_PROSE = (
    GENERATED,
    FENCE,
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"^:::.*(?:\n    .*)*", re.MULTILINE),
    re.compile(r"!\[[^\]]*\]\([^)]*\)"),
    re.compile(r"<[^>]+>"),
)
BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) |#|\|)")
END = re.compile(r"(?<=[.!?])[*”\"]* +(?=[A-Z`*“\"\[⟨])|(?<=[.!?])\n")


def prose(text: str) -> str:
    """A page without code, generated figures, comments, pictures and targets of links."""
    for pattern in NOT_PROSE:
        text = pattern.sub("\n", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"``?[^`]+``?", "`code`", text)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a page, those in tables too."""
    for block in BLOCK.split(prose(text)):
        parts = block.strip().strip("|").split("|") if block.lstrip().startswith("|") else [block]
        for part in parts:
            bare = re.sub(r"^\s*(?:[-*>#]+|\d+\.)\s+|\*\*|(?<!\w)[*_]|[*_](?!\w)", "", part)
            for sentence in END.split(bare):
                if words := " ".join(sentence.split()):
                    yield words


def cells(text: str) -> Iterator[str]:
    """The cells of the tables of a page."""
    for line in prose(text).splitlines():
        if line.startswith("|"):
            yield from (" ".join(cell.split()) for cell in line.strip("|").split("|"))


def count_words(text: str) -> int:
    """The words of a text; code and signs are none."""
    return len(re.findall(r"[^\W\d_][\w'’-]*", text.replace("`code`", "")))


def find_in_sentences(texts: Iterator[str], *, english: bool = True) -> Iterator[str]:
    """What is not plain in sentences: the advice, and the sentence."""
    for sentence in texts:
        if count_words(sentence) > MAX_WORDS_OF_A_SENTENCE:
            yield f"over {MAX_WORDS_OF_A_SENTENCE} words: {sentence}"
        if english:
            yield from (f"{a}: {sentence}" for a, f in FINDERS.items() if f.search(sentence))


def find(text: str) -> list[str]:
    """What is not plain on a page."""
    found = list(find_in_sentences(sentences(text)))
    long = (cell for cell in cells(text) if count_words(cell) > MAX_WORDS_OF_A_CELL)
    return found + [f"a cell over {MAX_WORDS_OF_A_CELL} words: {cell}" for cell in long]


def texts_of(entry: object) -> Iterator[str]:
    """The texts of a catalogue of messages."""
    if isinstance(entry, dict):
        for value in entry.values():
            yield from texts_of(value)
    elif isinstance(entry, str):
        yield re.sub(r"\{[^}]*\}", "`code`", entry)


def find_in_catalogue(path: Path) -> list[str]:
    """What is not plain in a catalogue of messages; patterns are English."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))
    # A message reads "what failed: what to do".
    parts = (part for text in texts_of(entries) for part in re.split(rf"{END.pattern}|: ", text))
    return list(find_in_sentences(parts, english=path.stem == "en"))


CATALOGUES = sorted((ROOT / "src" / "sacofa" / "messages").glob("*.toml"))
FOUND = {
    **{path: find(path.read_text(encoding="utf-8")) for path in all_pages()},
    **{path: find_in_catalogue(path) for path in CATALOGUES},
}


@pytest.mark.parametrize("path", FOUND, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_document_is_plain(path: Path) -> None:
    """No forbidden word or construction, no sentence and no cell that is too long."""
    allowed = EXCEPTIONS.get(str(path.relative_to(ROOT)), 0)
    assert len(FOUND[path]) <= allowed, "\n".join(FOUND[path])


def test_a_clean_document_has_no_exception() -> None:
    """The list gets shorter with each document that was rewritten."""
    found = {str(path.relative_to(ROOT)): findings for path, findings in FOUND.items()}
    assert all(found[name] for name in EXCEPTIONS)


@pytest.mark.parametrize(
    "text",
    [
        "The file is told.", "What is rare is dropped.", "The log is secret.", "It costs ε = 1.",
        "The price is high.", "Rules are read off the log.", "A made-up log.", "It lies beside it.",
        "A case stays for ever.", "There are so many cases.", "From 20 cases on it shows.",
        "Rare steps are hidden by noise.", "Nobody pays.", "It was tried in vain.",
        "| a | " + "word " * 41 + "|", "word " * 36 + ".", "A way through the process.",
    ],
)  # fmt: skip
def test_what_is_not_plain_is_found(text: str) -> None:
    """Each pattern finds its example, and the same text as code is left alone."""
    assert find(text)
    assert not find(f"```text\n{text}\n```\n")
    assert not find("Is it useful? sacofa drops rare variants. See [it](beside-secret.md).")
