"""Categories: texts, one by one or in groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...kernel.attributes import Domain, Kind
from ...kernel.errors import SettingError
from ...kernel.statements import Statement
from ..cells import OTHER
from .kinds import AttributeKind, Entries, check_size


@dataclass(frozen=True, kw_only=True)
class Categories(Domain):
    """Texts, one by one."""

    names: tuple[str, ...]
    """The values."""
    groups: Mapping[str, str] | None = None
    """For each text the group that is released instead of it."""
    kind: Kind = "string"

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            raise SettingError("values", ", ".join(self.names), Statement("must.read.different"))
        check_size(self.values)

    @cached_property
    def _places(self) -> dict[str, int]:
        places = {name: i for i, name in enumerate(self.names)}
        if self.groups is not None:
            return {text: places[group] for text, group in self.groups.items()}
        return places

    @property
    def values(self) -> int:
        """One for each name."""
        return len(self.names)

    def cell(self, text: str) -> int:
        """The place of its name; that of `other`, which may be one of the names."""
        return self._places.get(text, self._places.get(OTHER, self.values))

    def label(self, value: int) -> str:
        """The name."""
        return self.names[value]

    def describe(self) -> Statement:
        """How many there are."""
        return Statement("domain.categories", number=len(self.names))


COLLAPSED = Categories(names=(OTHER,))
"""The domain of a column of which no value can be named: it reveals where there is a value."""


def _declare(entries: Entries) -> Domain | None:
    groups, values = entries.get("groups"), entries.get("values")
    if groups is None:
        return None if values is None else Categories(names=tuple(_texts("values", values)))
    if values is not None:
        raise SettingError("values", values, Statement("must.domain.no_values"))
    if not isinstance(groups, Mapping):
        raise SettingError("groups", groups, Statement("must.domain.table_of_lists"))
    members = {text: group for group, texts in groups.items() for text in _texts("groups", texts)}
    return Categories(names=tuple(groups), groups=members)


def _texts(name: str, values: object) -> list[str]:
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise SettingError(name, values, Statement("must.domain.list"))
    for value in values:
        if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
            raise SettingError(name, value, Statement("must.domain.list_of_texts"))
    return list(map(str, values))


CATEGORY = AttributeKind(
    name="category",
    domain=Categories,
    types=("string",),
    entries=("values", "groups"),
    declare=_declare,
    hint='# values = ["…", "…"]      # omitted: those of the log, taken to be public',
    fact=Statement("fact.text"),
    type_name="text",
)
