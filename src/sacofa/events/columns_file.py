"""Columns files: public domains of attributes, declared by a person in TOML.

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
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..base.domains import (
    AttributeKind,
    Entries,
    attribute_kinds,
    bare_name,
    column_names,
    is_of_case,
)
from ..base.files import unreadable
from ..errors import ReadError, SettingError, advised
from ..kernel.attributes import Domain
from ..kernel.statements import Statement

LARGEST = 1 << 22
"""A file of this kind is never larger, in bytes."""


@dataclass(frozen=True, kw_only=True)
class Declared:
    """The declaration of one attribute."""

    domain: Domain | None = None
    """The domain; None: the values in the log."""
    of_case: bool | None = None
    """Whether it belongs to cases; None: as in the log."""
    grouped: bool = False
    """Whether values are released as groups."""
    is_public: bool = False
    """Whether only declared groups or bins are released, never a text of the log."""


@dataclass(frozen=True, kw_only=True)
class DeclaredColumns:
    """All that a file declares."""

    attributes: Mapping[str, Declared] = field(default_factory=dict)
    """The declarations of attributes by name."""
    cases: int | None = None
    """About how many cases there are, if that is public."""

    def of(self, asked: str) -> Declared | None:
        """Return the declaration of an attribute under any possible column name."""
        names = (asked, *column_names(bare_name(asked), of_case=is_of_case(asked)))
        return next((self.attributes[name] for name in names if name in self.attributes), None)

    def settles(self, asked: str) -> bool:
        """Whether the type and the level (case or event) of an attribute are declared.

        If so, the log is not inspected for it.
        """
        known = self.of(asked)
        return known is not None and (is_of_case(asked) or known.of_case is not None)


def read_columns(source: str | Path | Entries | None) -> DeclaredColumns:
    """Read a columns file, or its content."""
    if source is None:
        return DeclaredColumns()
    if isinstance(source, Mapping):
        return _read("columns", source)
    path = Path(source)
    try:
        if path.stat().st_size > LARGEST:
            raise ReadError(path, Statement("read.columns.too_large"))
        content = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError as error:
        raise ReadError(path, Statement("read.columns.no_toml", why=str(error))) from None
    return _read(path, parse_columns(content, path))


def parse_columns(text: str, path: str | Path = "columns") -> Entries:
    """Parse the text of a columns file; `path` is its name in errors."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ReadError(path, Statement("read.columns.no_toml", why=str(error))) from None


def _read(path: object, content: Entries) -> DeclaredColumns:
    for key in content:
        if key not in ("attributes", "cases"):
            raise ReadError(path, Statement("read.columns.unknown_entry", key=key))
    cases, listed = content.get("cases"), content.get("attributes", {})
    if cases is not None and (type(cases) is not int or cases < 1):
        raise ReadError(path, Statement("read.columns.cases", value=str(cases)))
    if not isinstance(listed, Mapping):
        raise ReadError(path, Statement("read.columns.no_tables"))
    found = {}
    for name, entries in listed.items():
        try:
            found[name] = _declared(entries)
        except SettingError as error:
            # Entries of a file are not arguments, so interfaces must not render them as options.
            values = {"name": name, "entry": error.name, "must": error.must}
            if error.value is None:
                raise ReadError(path, Statement("read.columns.entry_missing", **values)) from None
            what = Statement("read.columns.entry", **values, value=str(error.value))
            raise ReadError(path, what) from None
    return DeclaredColumns(attributes=found, cases=cases)


def _declared(entries: object) -> Declared:
    if not isinstance(entries, Mapping):
        raise SettingError("attribute", entries, Statement("must.columns.table"))
    kind = _kind_of(str(entries.get("type", "category")))
    for key in entries:
        if key not in (known := ("type", "of", *kind.entries)):
            must = Statement("must.columns.no_entry", kind=kind.name)
            raise SettingError(key, entries[key], advised(must, key, known))
    of = entries.get("of")
    if of not in (None, "case", "event"):
        raise SettingError("of", of, Statement("must.one_of", choices=("case", "event")))
    domain, grouped = kind.declare(entries), "groups" in entries
    return Declared(
        domain=domain,
        of_case=None if of is None else of == "case",
        grouped=grouped,
        is_public=grouped or (domain is not None and domain.binned and domain != kind.public),
    )


def _kind_of(name: str) -> AttributeKind:
    kinds = {kind.name: kind for kind in attribute_kinds()}
    if name not in kinds:
        must = Statement("must.one_of", choices=tuple(kinds))
        raise SettingError("type", name, advised(must, name, kinds))
    return kinds[name]
