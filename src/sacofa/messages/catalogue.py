"""Catalogues of messages: the wording of each code in one language, read from a TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..kernel.errors import SettingError
from ..kernel.statements import Statement

FOLDER = Path(__file__).parent
ENGLISH = "en"


@dataclass(frozen=True)
class Wording:
    """The wording of one code: one template, or two that a number decides between."""

    other: str
    """The template, with places such as `{cases}` or `{share:percent}`."""
    one: str | None = None
    """The template if the number is 1; None: the same."""
    plural: str | None = None
    """The value that is the number."""

    @property
    def templates(self) -> tuple[str, ...]:
        """Every template of it."""
        return (self.other,) if self.one is None else (self.one, self.other)

    def choose(self, values: Mapping[str, object]) -> str:
        """The template that fits the values."""
        if self.one is not None and self.plural is not None and values.get(self.plural) == 1:
            return self.one
        return self.other


@dataclass(frozen=True)
class Catalogue:
    """The messages of one language."""

    language: str
    """Its code, such as `en`: also the name of its file."""
    conventions: Mapping[str, str]
    """How the language writes numbers and lists: the table `[language]` of the file."""
    wordings: Mapping[str, Wording]
    """The wording of each code."""


@cache
def load_catalogue(language: str) -> Catalogue:
    """Read the catalogue of a language; the file is read when a message is first needed."""
    import tomllib  # Commands that report nothing do not load it.

    content = tomllib.loads((FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    conventions = content.pop("language")
    wordings: dict[str, Wording] = {}
    _collect("", content, wordings)
    return Catalogue(language=language, conventions=conventions, wordings=wordings)


@cache
def languages() -> tuple[str, ...]:
    """The languages that have a catalogue, English first."""
    found = sorted(path.stem for path in FOLDER.glob("*.toml"))
    return (ENGLISH, *(language for language in found if language != ENGLISH))


def has_wording(code: str) -> bool:
    """Whether the catalogue has an entry."""
    return code in load_catalogue(ENGLISH).wordings


def check_language(language: str) -> str:
    """Return a language that has a catalogue; refuse any other."""
    if language not in languages():
        raise SettingError("language", language, Statement("must.one_of", choices=languages()))
    return language


def _collect(prefix: str, table: Mapping[str, object], wordings: dict[str, Wording]) -> None:
    """Flatten nested tables: the entry `dropped` of `[note]` is the code `note.dropped`."""
    for name, entry in table.items():
        if isinstance(entry, str):
            wordings[prefix + name] = Wording(entry)
        elif isinstance(entry, Mapping) and "other" in entry:
            wordings[prefix + name] = Wording(**entry)
        elif isinstance(entry, Mapping):
            _collect(f"{prefix}{name}.", entry, wordings)
