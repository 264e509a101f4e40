"""A file that says what columns hold: public domains of attributes, written by a person in TOML.

cases = 1000                      # about how many cases there are, if that is public

[attributes.Age]
type = "number"                   # with edges, or with min, max and unit, or with none of them
edges = [0, 18, 40, 65, 120]

[attributes."case:channel"]
type = "category"
values = ["Internet", "Desk", "Post"]

[attributes."org:resource"]
type = "category"
groups = { "Front office" = ["Ann", "Bob"], "Back office" = ["Cy"] }

[attributes.urgent]
type = "yes/no"
of = "case"                       # one value for a case, wherever the log has it

[attributes.birthday]
type = "date"                     # with first, last, and by = "day", "month" or "year"
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

from ..base.domains import ALL_DATES, ALL_NUMBERS, Categories, Dates, Numbers, YesNo, parse_number
from ..errors import ReadError, SettingError, nearest
from ..kernel.attributes import Domain

TYPES = ("category", "number", "date", "yes/no")
KEYS = {
    "category": ("values", "groups"),
    "number": ("edges", "min", "max", "unit"),
    "date": ("first", "last", "by"),
    "yes/no": (),
}
LARGEST = 1 << 22
"""A file of this kind is never larger, in bytes."""


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What is declared of one attribute."""

    domain: Domain | None = None
    """Its values; None: what the log holds."""
    of_case: bool | None = None
    """Whether a case has one value; None: as the log has it."""
    grouped: bool = False
    """Whether values are released as groups."""

    @property
    def is_public(self) -> bool:
        """Whether no text of the log can be released: only groups or bins that were declared."""
        return self.grouped or (
            isinstance(self.domain, Numbers | Dates) and self.domain not in (ALL_NUMBERS, ALL_DATES)
        )


@dataclass(frozen=True, kw_only=True)
class DeclaredColumns:
    """All that a file declares."""

    attributes: Mapping[str, Declared] = field(default_factory=dict)
    """What is declared of each, by name."""
    cases: int | None = None
    """About how many cases there are, if that is public."""


def read_columns(source: str | Path | Mapping[str, Any] | None) -> DeclaredColumns:
    """Read a file, or what would stand in one."""
    if source is None:
        return DeclaredColumns()
    if isinstance(source, Mapping):
        return _read("columns", source)
    path = Path(source)
    try:
        if path.stat().st_size > LARGEST:
            raise ReadError(path, "is too large for a file of columns")
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ReadError(path, f"cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReadError(path, f"is no TOML: {error}") from None
    return _read(path, content)


def parse_columns(text: str) -> Mapping[str, Any]:
    """Take what stands in a file of columns, where its text came by itself."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ReadError("columns", f"is no TOML: {error}") from None


def _read(path: object, content: Mapping[str, Any]) -> DeclaredColumns:
    for key in content:
        if key not in ("attributes", "cases"):
            raise ReadError(path, f'unknown entry "{key}": there are attributes and cases')
    cases = content.get("cases")
    if cases is not None and (type(cases) is not int or cases < 1):
        raise ReadError(path, f"cases ({cases}) must be a whole number, 1 or more")
    listed = content.get("attributes", {})
    if not isinstance(listed, Mapping):
        raise ReadError(path, "attributes must be tables: [attributes.NAME]")
    found = {}
    for name, entry in listed.items():
        try:
            if not isinstance(entry, Mapping):
                raise SettingError("attribute", entry, "a table: [attributes.NAME]")
            found[name] = _declared(entry)
        except SettingError as error:
            raise ReadError(path, f"{name}: {error}") from None
    return DeclaredColumns(attributes=found, cases=cases)


def _declared(entry: Mapping[str, Any]) -> Declared:
    kind = entry.get("type", "category")
    if kind not in TYPES:
        advice = nearest(str(kind), TYPES)
        raise SettingError("type", kind, f"one of {', '.join(TYPES)}.{advice}")
    known = ("type", "of", *KEYS[kind])
    for key in entry:
        if key not in known:
            advice = nearest(key, known)
            raise SettingError(key, entry[key], f"left out: {kind} has no such entry.{advice}")
    of = entry.get("of")
    if of not in (None, "case", "event"):
        raise SettingError("of", of, "case or event")
    return Declared(
        domain=_DOMAINS[kind](entry),
        of_case=None if of is None else of == "case",
        grouped="groups" in entry,
    )


def _category(entry: Mapping[str, Any]) -> Domain | None:
    groups, values = entry.get("groups"), entry.get("values")
    if groups is not None:
        if values is not None:
            raise SettingError("values", "given", "left out where groups are given")
        if not isinstance(groups, Mapping):
            raise SettingError("groups", groups, "a table of lists")
        members = {
            text: group for group, texts in groups.items() for text in _texts("groups", texts)
        }
        return Categories(names=tuple(groups), groups=members)
    return None if values is None else Categories(names=tuple(_texts("values", values)))


def _texts(name: str, values: Any) -> list[str]:
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise SettingError(name, values, "a list")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
            raise SettingError(name, value, "a list of texts")
    return [str(value) for value in values]


def _number(entry: Mapping[str, Any]) -> Domain:
    unit = parse_number("unit", entry["unit"]) if "unit" in entry else None
    bounds = [key for key in ("min", "max") if key in entry]
    if "edges" in entry:
        if bounds:
            raise SettingError(bounds[0], entry[bounds[0]], "left out where edges are given")
        if not isinstance(entry["edges"], Sequence) or isinstance(entry["edges"], str):
            raise SettingError("edges", entry["edges"], "a list")
        edges = tuple(parse_number("edges", edge) for edge in entry["edges"])
        if unit is None and all(edge % 1 == 0 for edge in edges):
            unit = parse_number("unit", 1)
        return Numbers(edges=edges, unit=unit)
    if not bounds:
        if unit is not None:
            raise SettingError("unit", unit, "given with min and max, or with edges")
        return ALL_NUMBERS
    if len(bounds) < 2:
        raise SettingError(bounds[0], entry[bounds[0]], "given together: min and max")
    low, high = (parse_number(key, entry[key]) for key in ("min", "max"))
    return Numbers.between(low, high, parse_number("unit", 1) if unit is None else unit)


def _date(entry: Mapping[str, Any]) -> Domain:
    if not {"first", "last", "by"} & set(entry):
        return ALL_DATES
    first, last = (_day(key, entry.get(key)) for key in ("first", "last"))
    return Dates.between(first, last, str(entry.get("by", "month")))


def _day(name: str, value: Any) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise SettingError(name, value, "a date: 2020-01-31") from None


def _yes_no(entry: Mapping[str, Any]) -> Domain:
    return YesNo()


_DOMAINS = {"category": _category, "number": _number, "date": _date, "yes/no": _yes_no}
