"""Catalogues of messages, one TOML file for each language; statements in its words and in JSON.

In JSON, a statement is its code and values for programs, and next to them an English text for
people, which is never read back. A plain string is read as a statement that is its own wording, as
certificates of format 2 have them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from string import Formatter

from ..kernel.statements import TEXT, Argument, SettingError, Statement, Value

FOLDER = Path(__file__).parent
ENGLISH = "en"
BETWEEN = {"clauses": "; ", "joined": " "}
"""Separator between the entries of a list, if it is not a comma."""
FORMS = {"percent": ".0%"}
NUMBER_FORMAT = re.compile(r"\.[0-9][efg%]")
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
FRACTION = re.compile(r"-?[0-9]{1,60}(/[0-9]{1,60})?", re.ASCII)


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
        single = self.plural is not None and values.get(self.plural) == 1
        return self.templates[0 if single else -1]


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


def render(
    statement: Statement,
    language: str = ENGLISH,
    *,
    wording: Callable[[Argument], str] = str,
) -> str:
    """Put a statement into words.

    Args:
        statement: The statement.
        language: The language of the catalogue, such as `en` or `de`.
        wording: Returns the name of an argument that the statement mentions: Python, the command
            line and the web app name the same setting differently.

    Returns:
        One text. A code that the catalogue does not have, such as one that a later version wrote,
        is returned unchanged, with its values.
    """
    return _Renderer(load_catalogue(language), wording).value(statement)


def printable(text: str) -> str:
    """Text for one line of a terminal: characters that would move its cursor are spelt out."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def arguments_of(value: Value) -> Iterator[Argument]:
    """Every argument that a statement names, however deep."""
    if isinstance(value, Argument):
        yield value
    elif isinstance(value, Statement):
        yield from arguments_of(tuple(value.values.values()))
    elif isinstance(value, tuple):
        for part in value:
            yield from arguments_of(part)


@dataclass(frozen=True)
class _Renderer:
    """Words values in one language."""

    catalogue: Catalogue
    wording: Callable[[Argument], str]

    def value(self, value: Value, form: str = "") -> str:
        """A value as the language writes it, in the form that its place asks for."""
        if isinstance(value, Statement):
            text = "".join(word + self.value(part, how) for word, part, how in self._parts(value))
        elif isinstance(value, tuple):
            text = self._list([self.value(each) for each in value], form)
        elif isinstance(value, Argument):
            text = self.wording(value)
        elif isinstance(value, str):
            # Names of columns and files may hold line breaks; a message is one line.
            text = " ".join(value.splitlines())
        else:
            text = self._number(value, form)
        if form in ("sentence", "capital"):
            text = f"{text[:1].upper()}{text[1:]}"
        return f"{text.rstrip('.')}." if form == "sentence" else text

    def _parts(self, statement: Statement) -> Iterator[tuple[str, Value, str]]:
        """The parts of a statement: text, then the value after it, if any, and its form."""
        values = statement.values
        entry = self.catalogue.wordings.get(statement.code)
        if statement.code == TEXT:
            parts = values["text"]
            for part in parts if isinstance(parts, tuple) else (parts,):
                yield "", part, ""
        elif entry is None:
            before = f"{statement.code}("
            for name, value in statement.items:
                yield f"{before}{name}=", value, ""
                before = ", "
            yield ")" if values else f"{before})", "", ""
        else:
            for text, place, form in parsed(entry.choose(values)):
                yield text, "" if place is None else values.get(place, f"{{{place}}}"), form

    def _number(self, value: bool | int | float | Fraction, form: str) -> str:
        """A number with the marks of the language; a fraction if six digits are not exact."""
        conventions = self.catalogue.conventions
        if isinstance(value, bool):
            return conventions["yes" if value else "no"]
        if form == "plain":
            return str(value)
        if form == "power":
            text = _in_powers(float(value))
        elif NUMBER_FORMAT.fullmatch(form := FORMS.get(form, form)):
            text = format(float(value), form)
        else:
            text = f"{value:,}" if isinstance(value, int) else f"{float(value):.6g}"
            if isinstance(value, Fraction) and Fraction(text) != value:
                text = f"({value})" if form == "exponent" else str(value)
        marks = str.maketrans(",.", conventions["thousands"] + conventions["decimal"])
        return text.translate(marks).replace("%", conventions["percent"])

    def _list(self, texts: Sequence[str], form: str) -> str:
        """A list: `and` and `or` stand before its last entry."""
        if form in ("and", "or") and len(texts) > 1:
            return f"{', '.join(texts[:-1])} {self.catalogue.conventions[form]} {texts[-1]}"
        return BETWEEN.get(form, ", ").join(texts)


def _in_powers(value: float) -> str:
    """A number as people write a δ: 10⁻⁶, 2.5·10⁻⁷."""
    digits, power = f"{value:.2e}".split("e")
    digits = digits.rstrip("0").rstrip(".")
    raised = str(int(power)).translate(SUPERSCRIPTS)
    return "0" if not value else f"10{raised}" if digits == "1" else f"{digits}·10{raised}"


@cache
def parsed(template: str) -> tuple[tuple[str, str | None, str], ...]:
    """The parts of a template: text, then the name and form of the place after it, if any."""
    return tuple((text, name, form or "") for text, name, form, _ in Formatter().parse(template))


def to_content(statement: Statement) -> dict[str, object]:
    """A statement as JSON holds it."""
    return {**_content(statement), "text": render(statement)}


def from_content(content: object) -> Statement:
    """Read a statement; anything else raises `ValueError`, `KeyError` or `TypeError`."""
    if isinstance(content, str):
        return Statement.plain(content)
    if not isinstance(content, Mapping) or not isinstance(content["code"], str):
        raise TypeError(content)
    values = {str(name): _read(value) for name, value in content.get("values", {}).items()}
    return Statement(content["code"], **values)


def _content(statement: Statement) -> dict[str, object]:
    values = {name: _write(value) for name, value in statement.items}
    return {"code": statement.code, **({"values": values} if values else {})}


def _write(value: Value) -> object:
    if isinstance(value, Statement):
        return _content(value)
    if isinstance(value, Argument):
        return {"argument": value.name, "value": value.value}
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, tuple):
        return [_write(each) for each in value]
    return value


def _read(content: object) -> Value:
    if isinstance(content, str | bool | int | float):
        return content
    if isinstance(content, list):
        return tuple(_read(each) for each in content)
    if not isinstance(content, Mapping):
        raise TypeError(content)
    if "code" in content:
        return from_content(content)
    if "argument" in content:
        return Argument(str(content["argument"]), content["value"])
    if not FRACTION.fullmatch(content["fraction"]):
        raise ValueError(content)
    return Fraction(content["fraction"])
