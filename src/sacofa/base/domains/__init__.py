"""What attributes may be: public domains, of which every value of a log takes one cell.

The cells of a domain are its values, in a public order, then `other` for what is none of them, then
one for what is missing. Which cell a text takes follows from that text alone, and every text takes
one: nothing is refused, so no value of a log can cause an error.

Each kind of attribute is one `AttributeKind`: category and yes/no (module `kinds`), date and number
(module `bins`). Columns files, recognition, messages, releases and reports derive from the list of
`attribute_kinds`. Another package adds a kind with an entry point of the group `sacofa.attributes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from ...kernel.attributes import Attribute, Domain
from ..cells import BLANK, OTHER
from ..extensions import load_extensions
from ..words import WORDS
from .bins import (
    ALL_DATES,
    ALL_NUMBERS,
    DATE,
    FINEST,
    NUMBER,
    Dates,
    Numbers,
    read_day,
    read_number,
    released_text,
)
from .kinds import CATEGORY, COLLAPSED, YES_NO, AttributeKind, Categories, Entries, YesNo

__all__ = [
    "ALL_DATES", "ALL_NUMBERS", "COLLAPSED", "FINEST", "IDS", "RESOURCES", "AttributeKind",
    "Categories", "Dates", "Entries", "Numbers", "YesNo", "attribute_kinds", "bare_name",
    "column_names", "found_domain", "is_of_case", "kind_of", "kind_of_type", "labels_of",
    "plain_name", "read_day", "read_number", "released_text", "with_domain",
]  # fmt: skip

GROUP = "sacofa.attributes"
"""The entry point group of kinds of attributes."""
BUILT_IN = (CATEGORY, DATE, NUMBER, YES_NO)
"""Recognized in this order: 20240131 is a date, although it is a number as well."""
RESOURCES = frozenset(WORDS["resources"])
"""Columns that name people who work in the process, in English, German, ServiceNow and SAP."""
IDS = frozenset(WORDS["identifiers"])
"""Columns that tell cases or events apart: never released."""
CASE_PREFIXES = ("case:", "(case) ")
"""What stands before the name of a column with one value for each case: in pm4py, and in Disco."""


@cache
def attribute_kinds() -> tuple[AttributeKind, ...]:
    """All kinds of attributes: the built-in ones, then those of other packages with other names."""
    kinds = {kind.name: kind for kind in BUILT_IN}
    for _, kind in load_extensions(GROUP):
        if isinstance(kind, AttributeKind):
            kinds.setdefault(kind.name, kind)
    return tuple(kinds.values())


def kind_of(domain: Domain) -> AttributeKind:
    """The kind of a domain."""
    return next(kind for kind in attribute_kinds() if isinstance(domain, kind.domain))


def kind_of_type(type_: str) -> AttributeKind:
    """The kind of attribute that a column of a type holds; a type without one holds text."""
    return next((kind for kind in attribute_kinds() if type_ in kind.types), CATEGORY)


def labels_of(domain: Domain) -> list[str]:
    """Every cell as people read it."""
    return [*(domain.label(i) for i in range(domain.values)), OTHER, "missing"]


def with_domain(attribute: Attribute, domain: Domain) -> Attribute:
    """The same attribute, with the domain that was found in the log.

    Public bins contain no value of the log: only the kind was learned from it.
    """
    recognized = domain == kind_of(domain).public
    return replace(attribute, domain=domain, taken=not recognized, recognized=recognized)


def found_domain(texts: Sequence[str], most: int) -> Domain:
    """Find the domain of a column of text whose values nobody declared.

    Args:
        texts: The distinct values of the log.
        most: The largest number of categories.

    Returns:
        The public domain of the first kind that recognizes all values; otherwise the values as
        categories in the order of their names. More than `most` values identify or measure
        something, so all of them become `other`.
    """
    names = sorted({text for text in texts if text.strip(BLANK)})
    for kind in attribute_kinds():
        if names and kind.public is not None and kind.recognize(names):
            return kind.public
    if not names or len(names) > most:
        return COLLAPSED
    return Categories(names=tuple(names))


def plain_name(name: str) -> str:
    """A name without capitals, blanks, underscores, hyphens and the prefix `case:`."""
    return name.removeprefix("case:").strip().lower().translate(str.maketrans("", "", " _-"))


def is_of_case(column: str) -> bool:
    """Whether the name of a column states that a case has one value."""
    return bare_name(column) != column


def bare_name(column: str) -> str:
    """The name of an attribute, without the prefix of a column with one value for each case."""
    prefix = next(filter(column.lower().startswith, CASE_PREFIXES), "")
    return column[len(prefix) :]


def column_names(name: str, *, of_case: bool) -> tuple[str, ...]:
    """The names that the column of an attribute may have, the likeliest first."""
    prefixed = tuple(f"{prefix}{name}" for prefix in CASE_PREFIXES)
    return (*prefixed, name) if of_case else (name, *prefixed)
