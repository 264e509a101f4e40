"""Which attributes of a log are read, and what they may be: settled before a case is read.

What is asked for must be there, and identifiers are never read. Domains are those that a file of
columns declares. Where it says nothing, the type that the log's own form gives an attribute (that
of its column, or of its XML tag) decides: numbers and dates get public bins, and texts are the
categories that the log holds, which the certificate then names as an assumption.
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


@dataclass(frozen=True, kw_only=True)
class Present:
    """An attribute as the form of a log has it."""

    of_case: bool
    """Whether cases have it; else events do."""
    kind: str = "string"
    """Its type: string, int, float, boolean or date."""


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
    for asked in options.attribute:
        if asked in used:
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
    said = declared.attributes.get(asked)
    if said is None:
        other = asked.removeprefix("case:") if asked.startswith("case:") else f"case:{asked}"
        said = declared.attributes.get(other, Declared(domain=TYPED[there.kind]))
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


def tell_unnamed(attributes: Sequence[Attribute], notify: Callable[[str], None]) -> None:
    """Tell the holder of a log which attributes have no values of their own in a release."""
    for attribute in attributes:
        domain = attribute.domain
        if attribute.taken and isinstance(domain, Categories) and domain.names == (OTHER,):
            notify(
                f"{attribute.key} has no values, or more than {MOST_FOUND}: each is released as "
                f'"{OTHER}". Declare its values, or groups of them, in a file of columns'
            )


def table_lookup(columns: Mapping[str, str]) -> Lookup:
    """Find attributes among the columns of a table, given with their types."""

    def lookup(name: str) -> Present | None:
        if name in columns:
            return Present(of_case=name.startswith("case:"), kind=columns[name])
        if f"case:{name}" in columns:
            return Present(of_case=True, kind=columns[f"case:{name}"])
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
