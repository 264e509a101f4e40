"""Columns that look like personal data: by their names, and by the values they hold.

A release publishes attribute values as they are. Names, birth dates, contact details, addresses,
free text and identifiers of persons are therefore refused unless the user insists. The words cover
English, German, Dutch, French and Spanish column names. Both tests err on the side of refusing: a
false alarm costs one option, a missed column publishes somebody's name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from datetime import timedelta

from ..base.domains import bare_name, read_day
from ..kernel.statements import Statement

PERSON = (
    r"(patient(en|in)?|customer|client|kunden?|klient(en|in)?|person(en)?|citizen|buerger|member|"
    r"mitglied(er|s)?|versicherten?r?|insured|student(en)?|schueler|applicant|antragsteller(in)?|"
    r"bewohner|resident|contact|kontakt|debtor|debitor|creditor|kreditor|inhaber|requester|"
    r"requestor|caller|borrower|tenant|mieter|employee|mitarbeiter|user|klant|burger)"
)
"""Nouns for somebody that a record is about."""
ID = r"(id|ids|nr|no|num|number|nummer|kennung|key|code|uuid|guid)"

BY_NAME = {
    kind: re.compile(f"({'|'.join(patterns)})")
    for kind, patterns in {
        "birth dates": (
            r".*birth ?(date|day|year)", r".*(date|day|year) ?of ?birth", "dob",
            r".*geburts(datum|tag|jahr|ort).*", r"geb(urts)? ?dat(um)?", "geboortedatum",
            r".*naissance", r".*nacimiento",
        ),
        "contact details": (
            r".*e ?mail( ?address| ?adresse)?", r".*(telefon|telephone|phone|mobile|handy|fax).*",
            r"tel( ?nr| ?no)?", r".*\biban\b.*", r"ip ?(address|adresse)",
            r".*(konto|kreditkarten|credit ?card|bank ?account) ?(nr|no|number|nummer)",
        ),
        "addresses": (
            r".*\b(street|strasse|anschrift|house ?(number|no)|hausn(umme)?r)\b.*",
            r"(home |postal |e ?|wohn)?(address|adresse)( ?line)?( ?\d)?",
        ),
        "free text": (
            r".*(comment|kommentar|remark|bemerkung|anmerkung|freitext|notiz|memo)(s|e|en)?",
            r".*free ?text",
            r"(short |long )?(description|beschreibung)", "(work )?notes?", "nachricht",
            "(e ?mail )?(betreff|subject)", "message( ?text)?", "anamnese", r"befund ?text",
        ),
        "identifiers of persons": (
            rf".*\b{PERSON}s? ?{ID}", rf"{PERSON}{ID}", rf"{PERSON}(en|n|s)?{ID}", "ssn", "bsn",
            "mrn", "kvnr", r".*(social ?security|national ?(id|insurance)|passport|ausweis).*",
            rf".*(steuer|tax|versicher(ten|ungs)|sozialversicherungs|matrikel|personal) ?{ID}",
            rf"(medical ?record|nhs) ?{ID}", r".*(kennzeichen|licen[cs]e ?plate|number ?plate)",
        ),
        "names of persons": (
            r".*\b(first|last|given|family|middle|full|maiden|birth) ?names?",
            r".*(surname|forename|lastname|firstname|fullname|vorname|nachname|familienname|rufname)n?",
            rf".*\b{PERSON}s? ?names?", rf"{PERSON}(en|n|s)?namen?", "name", "nom", "prenom",
            "nombre", "apellidos?", "achternaam", "voornaam",
            "patient(in)?", "customer", "client", "kunde", "applicant", "antragsteller(in)?",
            "citizen", "requester", "requestor", "caller", "insured", "versicherter?",
        ),
    }.items()
}  # fmt: skip
"""What column names say, as patterns over plain words."""

_APART = re.compile(r"[^a-z0-9]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})

_EMAIL = re.compile(r"\S+@\S+\.\w+")
_PHONE = re.compile(r"(\+|00?)[\d ()/.-]{6,}|\(?\d{2,5}\)?[ /-]\d[\d ()/-]{4,}")
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

_FIRST_NAMES = """
adam ahmed aisha alain alex alexander alexandra ali alice amanda amir amy ana andrea andreas
andrew angela anja ann anna anne anthony anton antonio ayse barbara ben benjamin bernd bert
birgit bob brian bruno carl carla carlos carmen carol caroline catherine charles charlotte chris
christian christina christine claudia clara daniel daniela david deborah denis diana dieter dirk
donald doris edward elena elif elisabeth elizabeth ella emily emma eric erik erika eva fatima
felix florian frank franz fred gabriele george gerd gerhard grace hannah hans harald heike heinz
helen helga henry ingrid isabel jack jacob jakob james jan jana jane jean jennifer jens jessica
joachim joan johannes john jonas jorge jose josef joseph juan julia julie jürgen karen karin
karl karsten katharina kathrin kevin klaus kurt lars laura lea lena leon linda lisa louis luca
lucas luis lukas manfred manuela marc marcel maria marie mario mark markus martin martina mary
matthew matthias max maximilian mehmet mia michael michaela miguel mohamed mohammed monika
mustafa nadine nancy natalie nathalie nicole nina noah olaf oliver olivia omar patricia patrick
paul paula peter petra philipp pierre rachel rainer ralf ralph raphael rebecca renate richard
robert roland rosa ruth ryan sabine samuel sandra sarah sebastian simon sofia sophie stefan
stefanie stephan stephen steven susan susanne sven tanja theresa thomas tim tobias tom torsten
ulrich ursula ute uwe vanessa vera victor victoria walter werner william wolfgang yasmin yusuf
"""
FIRST_NAMES = frozenset(_FIRST_NAMES.split())
"""Common first names of Western Europe and its neighbours."""

NAME_SHARE = 0.3
"""Share of the distinct values that must look like names: no list of names is complete."""
SHARE = 0.5
"""Share of the distinct values that must look alike for every other kind."""
FEWEST = 3
"""Fewer distinct values do not show what a column holds."""
SENTENCE_WORDS, SENTENCE_LENGTH = 8, 50
"""Words and characters from which on a value is a sentence rather than a label."""
LIFETIME = timedelta(days=30 * 365)
"""Dates that spread over more time than any log covers are birth dates."""


def personal_by_name(name: str) -> str | None:
    """Say which personal data the name of a column announces.

    Args:
        name: The column, with or without `case:`.

    Returns:
        The kind of data as a plural noun, such as "names of persons"; None if the name is harmless.
    """
    words = _plain_words(name)
    return next((kind for kind, found in BY_NAME.items() if found.fullmatch(words)), None)


def personal_by_values(texts: Collection[str]) -> str | None:
    """Say which personal data the values of a column look like.

    Only the set of distinct values matters, never how often each of them occurs.

    Args:
        texts: The distinct values.

    Returns:
        The kind of data as a plural noun; None if the values look harmless.
    """
    values = {text.strip() for text in texts} - {""}
    if len(values) < FEWEST:
        return None
    days = [day for day in map(read_day, values) if day is not None]
    if len(days) >= SHARE * len(values):
        return "birth dates" if max(days) - min(days) >= LIFETIME else None
    found = (
        kind for kind, test, share in VALUE_TESTS if sum(map(test, values)) >= share * len(values)
    )
    return next(found, None)


def named(kind: str) -> Statement:
    """Personal data of a kind, as a statement."""
    return Statement(f"personal.{kind.replace(' ', '_')}")


def _plain_words(name: str) -> str:
    """A column name as lower-case words without accents and punctuation."""
    lower = _CAMEL.sub(" ", bare_name(name.strip())).lower().translate(_UMLAUTS)
    ascii_only = unicodedata.normalize("NFKD", lower).encode("ascii", "ignore").decode()
    return _APART.sub(" ", ascii_only).strip()


def _is_contact(text: str) -> bool:
    return bool(_EMAIL.fullmatch(text) or _PHONE.fullmatch(text))


def _is_code(text: str) -> bool:
    return _CODE.fullmatch(text) is not None


def _is_sentence(text: str) -> bool:
    return len(text) >= SENTENCE_LENGTH and len(text.split()) >= SENTENCE_WORDS


def _is_name(text: str) -> bool:
    """Whether a text looks like somebody's name: by its form, or by a common first name."""
    if _SURNAME_FIRST.fullmatch(text) or _TITLE.fullmatch(text):
        return True
    if not _WORDS.fullmatch(text):
        return False
    return any(word.casefold() in FIRST_NAMES for word in re.split(r"[ -]", text))


VALUE_TESTS: tuple[tuple[str, Callable[[str], bool], float], ...] = (
    ("contact details", _is_contact, SHARE),
    ("identifiers of persons", _is_code, SHARE),
    ("free text", _is_sentence, SHARE),
    ("names of persons", _is_name, NAME_SHARE),
)
"""What values look like, and the share of distinct values it takes, in the order of the tests."""
