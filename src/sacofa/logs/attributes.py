"""Which attributes of a log are read, and what they may be: settled before a case is read.

What is asked for must be there, and identifiers are never read. Domains are those that a file of
columns declares. Where it says nothing, the type that the log's own form gives an attribute (that
of its column, or of what it declares before its first case) decides: numbers and dates get public
bins, and texts are the categories that the log holds, which the certificate then names as an
assumption. A log whose form says nothing (XES without a global of that name, logs in memory) is
looked at as a whole, in no order: that, too, is an assumption that the certificate names. So are
the types of frames, which libraries choose by all values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..domains import (
    ALL_DATES,
    ALL_NUMBERS,
    IDS,
    OTHER,
    RESOURCES,
    Attribute,
    Categories,
    Domain,
    YesNo,
    cells_of,
    plain_name,
)
from ..errors import ColumnsError, SettingError
from .columns_file import Declared, DeclaredColumns, read_columns
from .options import ReadOptions

MOST_FOUND = 200
"""A column of texts with more different values releases none of them, unless they are declared."""
MOST_SHOWN = 5
LONGEST_SHOWN = 40
"""So many values, and so much of each, are shown to the holder of a log."""
MOST_CELLS = 200_000
"""No declared pair has more cells."""

TYPED: Mapping[str, Domain | None] = {
    "boolean": YesNo(),
    "int": ALL_NUMBERS,
    "float": ALL_NUMBERS,
    "date": ALL_DATES,
    "string": None,
}
"""What a type of the log stands for where nothing is declared."""
WORDS = {
    "boolean": "yes or no",
    "int": "a number",
    "float": "a number",
    "date": "a date",
    "string": "text",
}
"""What a type is called in a certificate."""


@dataclass(frozen=True, kw_only=True)
class Present:
    """An attribute as the form of a log has it."""

    of_case: bool
    """Whether cases have it; else events do."""
    kind: str = "string"
    """Its type: string, int, float, boolean or date."""
    taken: bool = False
    """Whether this was taken from what cases hold, because the form of the log does not say it."""


class Sightings:
    """Where attributes stand in the cases of a log, and with which types: the order is forgotten.

    What one case holds may change what is found here, so what is made of it is an assumption.
    """

    def __init__(self) -> None:
        self._seen: dict[str, set[tuple[bool, str]]] = {}

    def add(self, name: str, *, of_case: bool, kind: str) -> None:
        """Remember that a case, or an event of it, has an attribute."""
        self._seen.setdefault(name, set()).add((of_case, kind))

    def __contains__(self, name: str) -> bool:
        return name in self._seen

    def present(self, name: str) -> Present | None:
        """What an attribute is: of cases if any case has it, of one type if all agree on it.

        Of an attribute of cases that a case lacks, the first value of its events counts, so that no
        value is lost by that; what is a text here and a number there is text.
        """
        if name not in self._seen:
            return None
        kinds = {kind for _, kind in self._seen[name]}
        if kinds == {"int", "float"}:
            kinds = {"float"}
        return Present(
            of_case=any(of_case for of_case, _ in self._seen[name]),
            kind=kinds.pop() if len(kinds) == 1 else "string",
            taken=True,
        )


Lookup = Callable[[str], Present | None]
"""Finds an attribute by its name; `case:` before it asks for one of cases."""


def resolve_attributes(
    source: str,
    options: ReadOptions,
    lookup: Lookup,
    present: Sequence[str],
    used: Sequence[str | None],
) -> tuple[Attribute, ...]:
    """Settle which attributes are read; `used` are columns that hold something else."""
    if not options.attribute:
        return ()
    declared = read_columns(options.columns)
    found = []
    # Whoever says it, a case or its events: a person is a person.
    person = options.person and options.person.removeprefix("case:")
    for asked in options.attribute:
        if asked in used or asked.removeprefix("case:") == person:
            raise _is_id(asked)
        there = lookup(asked)
        if there is None:
            raise ColumnsError(source, ["attribute"], present, asked)
        found.append(_attribute(asked, there, declared, options))
    names = [attribute.key for attribute in found]
    if len(set(names)) < len(names):
        raise SettingError("attribute", ", ".join(names), "different attributes")
    attributes = tuple(found)
    _check_sizes(attributes, declared.cases)
    pairs_of(attributes, options.pair)
    return attributes


def resolve_in_table(
    source: str,
    options: ReadOptions,
    lookup: Lookup,
    present: Sequence[str],
    used: Sequence[str | None],
) -> tuple[Attribute, ...]:
    """Settle which attributes of a table are read; a name may leave out `case:`, and mean an id."""
    attributes = resolve_attributes(source, options, lookup, present, used)
    for asked, attribute in zip(options.attribute, attributes, strict=True):
        if column_of(attribute, present) in used:
            raise _is_id(asked)
    return attributes


def settled_attributes(options: ReadOptions) -> frozenset[str]:
    """The attributes that are asked for of which options say all: whose they are, and their type.

    Nothing is left to be taken from the log, so nothing of it is looked at.
    """
    declared, found = read_columns(options.columns), set()
    for asked in options.attribute:
        known = _declared_of(asked, declared)
        if known is not None and (asked.startswith("case:") or known.of_case is not None):
            found.add(asked)
    return frozenset(found)


def describe_taken(options: ReadOptions, lookup: Lookup, *, levels: bool = True) -> tuple[str, ...]:
    """What was taken from the cases of a log about the attributes that are asked for, in words.

    Without `levels`, only types were: names of columns say whose an attribute is.
    """
    declared, said = read_columns(options.columns), []
    for asked in options.attribute:
        there, known = lookup(asked), _declared_of(asked, declared)
        if there is None or not there.taken:
            continue
        parts = []
        of_case = None if known is None else known.of_case
        if levels and not asked.startswith("case:") and of_case is None:
            parts.append(f"belongs to {'cases' if there.of_case else 'events'}")
        if known is None:
            parts.append(f"is {WORDS[there.kind]}")
        if parts:
            said.append(f"That {asked} {' and '.join(parts)} is public; it was taken from the log.")
    return tuple(said)


def declared_attributes(
    options: ReadOptions,
    *,
    kinds: Mapping[str, str] | None = None,
    assumed: Domain | None = None,
) -> tuple[Attribute, ...]:
    """The attributes that are asked for, as a file of columns declares them; no log is read.

    `kinds` are types that are known of columns. What is `assumed` stands for values that a log
    would be asked for; without it they must be declared.
    """
    declared = read_columns(options.columns)
    found = []
    for asked in options.attribute:
        there = Present(of_case=asked.startswith("case:"), kind=(kinds or {}).get(asked, "string"))
        attribute = _attribute(asked, there, declared, options)
        if attribute.domain is None:
            if assumed is None:
                must = "one whose values a file of columns declares"
                raise SettingError("attribute", asked, must)
            attribute = attribute.with_domain(assumed)
        found.append(attribute)
    return tuple(found)


def _is_id(asked: str) -> SettingError:
    return SettingError("attribute", asked, "no identifier: those are never released")


def _attribute(
    asked: str, there: Present, declared: DeclaredColumns, options: ReadOptions
) -> Attribute:
    if plain_name(asked) in IDS or asked in IDS:
        raise _is_id(asked)
    said = _declared_of(asked, declared) or Declared(domain=TYPED[there.kind])
    if plain_name(asked) in RESOURCES and not said.grouped and not options.employees:
        raise SettingError(
            "attribute",
            asked,
            "a group, as org:group: this one names people at work, whom a unit of cases does not "
            "protect. Declare groups for it in the file of columns, or say --employees",
        )
    return Attribute(
        name=asked.removeprefix("case:"),
        of_case=there.of_case if said.of_case is None else said.of_case,
        domain=said.domain,
    )


def _declared_of(asked: str, declared: DeclaredColumns) -> Declared | None:
    """What is declared of an attribute, with or without `case:`."""
    other = asked.removeprefix("case:") if asked.startswith("case:") else f"case:{asked}"
    return declared.attributes.get(asked) or declared.attributes.get(other)


def _check_sizes(attributes: Sequence[Attribute], cases: int | None) -> None:
    for attribute in attributes:
        if cases is not None and attribute.domain is not None:
            size = attribute.domain.values
            if 2 * size > cases:
                raise SettingError(
                    attribute.key,
                    f"{size:,} values",
                    f"a domain of at most {cases // 2:,}: half the declared number of cases",
                )


def pairs_of(
    attributes: Sequence[Attribute], pairs: Sequence[tuple[str, str]]
) -> tuple[tuple[int, int], ...]:
    """The places of declared pairs among the attributes that are read."""
    places = {attribute.name: i for i, attribute in enumerate(attributes)}
    places |= {attribute.key: i for i, attribute in enumerate(attributes)}
    found = []
    for pair in pairs:
        for name in pair:
            if name not in places:
                raise SettingError("pair", ",".join(pair), f"two attributes asked for: not {name}")
        one, other = (places[name] for name in pair)
        if one == other:
            raise SettingError("pair", ",".join(pair), "two different attributes")
        domains = attributes[one].domain, attributes[other].domain
        if None not in domains:
            cells = cells_of(domains[0]) * cells_of(domains[1])  # type: ignore[arg-type]
            if cells > MOST_CELLS:
                raise SettingError(
                    "pair", ",".join(pair), f"a pair of at most {MOST_CELLS:,} cells"
                )
        found.append((min(one, other), max(one, other)))
    if len(set(found)) < len(found):
        raise SettingError("pair", "; ".join(map(",".join, pairs)), "different pairs")
    return tuple(found)


def tell_unnamed(
    attributes: Sequence[Attribute],
    outside: Mapping[str, Sequence[str]],
    notify: Callable[[str], None],
) -> None:
    """Tell the holder of a log which attributes, and which values, are not named in a release."""
    for attribute in attributes:
        domain = attribute.domain
        if attribute.taken and isinstance(domain, Categories) and domain.names == (OTHER,):
            notify(
                f"{attribute.key} has no values, or more than {MOST_FOUND}: each is released as "
                f'"{OTHER}". Declare its values, or groups of them, in a file of columns'
            )
        elif texts := outside.get(attribute.key, ()):
            become = f'released as "{OTHER}"' if attribute.known.kind == "string" else "left out"
            some = ", ".join(f'"{text[:LONGEST_SHOWN]}"' for text in texts[:MOST_SHOWN])
            more = f" and {len(texts) - MOST_SHOWN:,} more" if len(texts) > MOST_SHOWN else ""
            notify(f"values of {attribute.key} that it may not have are {become}: {some}{more}")


def table_lookup(columns: Mapping[str, str], *, taken: bool = False) -> Lookup:
    """Find attributes among the columns of a table, given with their types.

    Where these follow from the values, as in a frame, they are `taken` from the log.
    """

    def lookup(name: str) -> Present | None:
        for column in (name, f"case:{name}"):
            if column in columns:
                of_case = column.startswith("case:")
                return Present(of_case=of_case, kind=columns[column], taken=taken)
        return None

    return lookup


def column_of(attribute: Attribute, columns: Sequence[str] | Mapping[str, object]) -> str:
    """The column of the table with an attribute; declared to be of cases, it may lack `case:`."""
    other = attribute.name if attribute.of_case else f"case:{attribute.name}"
    return attribute.key if attribute.key in columns else other


def values_of(
    attributes: Sequence[Attribute], texts: Sequence[Sequence[str | None]]
) -> list[list[str | None]]:
    """The texts of a case as they are stored: of an attribute of cases, the first that is there."""
    return [
        [next((text for text in each if text is not None), None)] if attribute.of_case else [*each]
        for attribute, each in zip(attributes, texts, strict=True)
    ]
