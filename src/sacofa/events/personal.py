"""Detection of columns with personal data, by their names and their values.

A release publishes attribute values as they are, so personal data are refused unless the user
insists. The words cover English, German, Dutch, French and Spanish column names. Both tests err on
the side of refusing: a false alarm costs one option, a missed column publishes somebody's name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from datetime import timedelta

from ..base.domains import bare_name, read_day
from ..base.words import WORDS
from ..kernel.statements import Statement

_PIECES = {"{person}": f"({'|'.join(WORDS['person'])})", "{id}": f"({'|'.join(WORDS['id'])})"}
BY_NAME = {
    kind: re.compile(re.sub(r"\{\w+\}", lambda place: _PIECES[place[0]], f"({'|'.join(found)})"))
    for kind, found in WORDS["personal"].items()
}
"""Patterns of personal data over the normalized words of a column name."""

_APART = re.compile(r"[^a-z0-9]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})

_CONTACT = re.compile(r"\S+@\S+\.\w+|(\+|00?)[\d ()/.-]{6,}|\(?\d{2,5}\)?[ /-]\d[\d ()/-]{4,}")
_CODE = re.compile(
    r"\d{6,}|[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){3,7}|[A-Z]{1,3}[ -]?\d{6,}|"
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    re.IGNORECASE,
)
_WORD = r"[^\W\d_][\w'’-]*\.?"
_SURNAME_FIRST = re.compile(rf"{_WORD}( {_WORD})?, {_WORD}( {_WORD})?")
_TITLE = re.compile(
    r"(mr|mrs|ms|dr|prof|herr|frau|hr|fr|mme|monsieur|dhr|mevr|sr|sra)\b\.? \w.*", re.I
)
_WORDS = re.compile(rf"{_WORD}( {_WORD}){{0,3}}")

FIRST_NAMES = frozenset(WORDS["first_names"].split())
"""Common first names of Western Europe and its neighbours."""

NAME_SHARE = 0.3
"""Share of the distinct values that must look like names, as no list of names is complete."""
MIN_PERSONAL_SHARE = 0.5
"""Share of the distinct values that must match any other kind."""
MIN_DISTINCT_VALUES = 3
"""Minimum number of distinct values for a conclusion."""
_SENTENCE = re.compile(r"(?=.{50})\s*(\S+\s+){7}\S.*", re.DOTALL)
"""Minimum numbers of words (8) and of characters (50) of a sentence."""
LIFETIME = timedelta(days=30 * 365)
"""Dates that spread over more time than any log covers are birth dates."""


def personal_by_name(name: str) -> str | None:
    """Return the personal data that a column name indicates, such as "names of persons"."""
    lower = _CAMEL.sub(" ", bare_name(name.strip())).lower().translate(_UMLAUTS)
    ascii_only = unicodedata.normalize("NFKD", lower).encode("ascii", "ignore").decode()
    words = _APART.sub(" ", ascii_only).strip()
    return next((kind for kind, found in BY_NAME.items() if found.fullmatch(words)), None)


def personal_by_values(texts: Collection[str]) -> str | None:
    """Return the personal data that distinct values look like; None if they look harmless.

    The result depends on the set of distinct values, never on their frequencies.
    """
    values = {text.strip() for text in texts} - {""}
    if len(values) < MIN_DISTINCT_VALUES:
        return None
    days = [day for day in map(read_day, values) if day is not None]
    if len(days) >= MIN_PERSONAL_SHARE * len(values):
        return "birth dates" if max(days) - min(days) >= LIFETIME else None
    for kind, test, share in VALUE_TESTS:
        if sum(bool(test(value)) for value in values) >= share * len(values):
            return kind
    return None


def named(kind: str) -> Statement:
    """Personal data of a kind, as a statement."""
    return Statement(f"personal.{kind.replace(' ', '_')}")


def _is_name(text: str) -> bool:
    """Whether a text looks like a personal name, by its form or by a common first name."""
    if _SURNAME_FIRST.fullmatch(text) or _TITLE.fullmatch(text):
        return True
    if not _WORDS.fullmatch(text):
        return False
    return any(word.casefold() in FIRST_NAMES for word in re.split(r"[ -]", text))


VALUE_TESTS: tuple[tuple[str, Callable[[str], object], float], ...] = (
    ("contact details", _CONTACT.fullmatch, MIN_PERSONAL_SHARE),
    ("identifiers of persons", _CODE.fullmatch, MIN_PERSONAL_SHARE),
    ("free text", _SENTENCE.fullmatch, MIN_PERSONAL_SHARE),
    ("names of persons", _is_name, NAME_SHARE),
)
"""The kinds of values and the necessary share of distinct values, in the order of the tests."""
