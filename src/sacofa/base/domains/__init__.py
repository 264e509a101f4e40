"""Public domains of attributes; every value of a log belongs to one cell of a domain.

The cells of a domain are its values, in a public order, then `other` for all other values, then a
cell for missing values. The cell of a text depends on that text alone, and every text has one, so
no value of a log can cause an error.

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
    MAX_BINS,
    NUMBER,
    Dates,
    Numbers,
    read_day,
    read_number,
    released_text,
)
from .kinds import CATEGORY, COLLAPSED, YES_NO, AttributeKind, Categories, Entries, YesNo

__all__ = [
    "ALL_DATES", "ALL_NUMBERS", "COLLAPSED", "IDS", "MAX_BINS", "RESOURCES", "AttributeKind",
    "Categories", "Dates", "Entries", "Numbers", "YesNo", "attribute_kinds", "bare_name",
    "column_names", "found_domain", "is_of_case", "kind_of", "kind_of_type", "labels_of",
    "plain_name", "read_day", "read_number", "released_text", "with_domain",
]  # fmt: skip

GROUP = "sacofa.attributes"
"""The entry point group of kinds of attributes."""
BUILT_IN = (CATEGORY, DATE, NUMBER, YES_NO)
"""Recognized in this order: 20240131 is a date, although it is a number as well."""
RESOURCES = frozenset(WORDS["resources"])
"""Columns that identify people who work in the process, in English, German, ServiceNow and SAP."""
IDS = frozenset(WORDS["identifiers"])
"""Columns that identify cases or events; they are never released."""
CASE_PREFIXES = ("case:", "(case) ")
"""Prefixes of columns with one value per case, in pm4py and in Disco."""


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
    """Return the kind of attribute for a column type; columns without a type contain text."""
    return next((kind for kind in attribute_kinds() if type_ in kind.types), CATEGORY)


def labels_of(domain: Domain) -> list[str]:
    """Return the labels of all cells."""
    return [*(domain.label(i) for i in range(domain.values)), OTHER, "missing"]


def with_domain(attribute: Attribute, domain: Domain) -> Attribute:
    """Return the attribute with the domain that was found in the log.

    Public bins contain no value of the log: only the kind was learned from it.
    """
    recognized = domain == kind_of(domain).public
    return replace(attribute, domain=domain, taken=not recognized, recognized=recognized)


def found_domain(texts: Sequence[str], most: int) -> Domain:
    """Find the domain of a text column without declared values.

    Args:
        texts: The distinct values of the log.
        most: The largest number of categories.

    Returns:
        The public domain of the first kind that recognizes all values; otherwise the values as
        categories in the order of their names. More than `most` distinct values are likely to be
        ids or measurements, so all of them become `other`.
    """
    names = sorted({text for text in texts if text.strip(BLANK)})
    for kind in attribute_kinds():
        if names and kind.public is not None and kind.recognize(names):
            return kind.public
    if not names or len(names) > most:
        return COLLAPSED
    return Categories(names=tuple(names))


def plain_name(name: str) -> str:
    """Normalize a name: no capitals, blanks, underscores, hyphens or `case:` prefix."""
    return name.removeprefix("case:").strip().lower().translate(str.maketrans("", "", " _-"))


def is_of_case(column: str) -> bool:
    """Whether the column name marks an attribute with one value per case."""
    return bare_name(column) != column


def bare_name(column: str) -> str:
    """Return the attribute name without the prefix of case attributes."""
    prefix = next(filter(column.lower().startswith, CASE_PREFIXES), "")
    return column[len(prefix) :]


def column_names(name: str, *, of_case: bool) -> tuple[str, ...]:
    """Return the possible column names of an attribute, the likeliest first."""
    prefixed = tuple(f"{prefix}{name}" for prefix in CASE_PREFIXES)
    return (*prefixed, name) if of_case else (name, *prefixed)
