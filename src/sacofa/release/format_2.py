"""Certificates of format 2, which held sentences in place of statements.

They are read as if they were of the present format: each sentence is a statement that is its own
wording, in every language.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..kernel.statements import Statement
from ..messages import to_content
from .single_keys import JsonObject

FORMAT = "sacofa-certificate-3"
FORMAT_2 = "sacofa-certificate-2"
DERIVED = ("protects", "neighbours", "guarantee", "composition")
"""Texts that follow from other fields."""


def upgrade(content: JsonObject) -> JsonObject:
    """The content of a certificate in the present format; one that is in it stays as it is."""
    if content["format"] != FORMAT_2:
        return content
    verdict = content.get("judgement")
    notes = list(map(_statement, content["notes"]))
    if verdict is None and content["verdict"] is not None:
        notes.append(to_content(Statement("note.verdict", text=content["verdict"])))
    return {
        **{name: value for name, value in content.items() if name != "judgement"},
        "format": FORMAT,
        "spent": [_access(access) for access in content["spent"]],
        "assumptions": list(map(_statement, content["assumptions"])),
        "not_promised": list(map(_statement, content["not_promised"])),
        "verdict": verdict,
        "notes": notes,
    }


def facts(content: object) -> object:
    """The content of a certificate without its texts, which other versions word differently."""
    if isinstance(content, list):
        return [facts(entry) for entry in content]
    if not isinstance(content, Mapping):
        return content
    is_statement = "code" in content or "sureness" in content
    texts = ("text",) if is_statement else DERIVED
    return {name: facts(value) for name, value in content.items() if name not in texts}


def _statement(sentence: object) -> dict[str, object]:
    return to_content(Statement.plain(str(sentence)))


def _access(access: JsonObject) -> dict[str, object]:
    return {
        name: _statement(value) if name in ("what", "why") else value
        for name, value in access.items()
    }
