"""Kinds of attributes, each declared once with all of its properties.

This module has the kinds without a scale: categories, individually or in groups, and yes or no.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...kernel.attributes import Domain, Kind
from ...kernel.statements import SettingError, Statement
from ..cells import BLANK, OTHER

MAX_VALUES = 1_000
"""Maximum number of values of a domain: each of them is a cell with its own noise."""

Entries = Mapping[str, object]
"""The entries of a columns file for one attribute."""


@dataclass(frozen=True, kw_only=True)
class AttributeKind:
    """A kind of attribute, such as numbers.

    How a text becomes a cell of the domain, and how a cell becomes a released text, are methods of
    the domain (`kernel.attributes.Domain`).
    """

    name: str
    """Its name in a columns file: `type = "number"`."""
    domain: type[Domain]
    """The class of its domains."""
    types: tuple[Kind, ...] = ()
    """The column types that have this kind by default; each type has one kind."""
    public: Domain | None = None
    """The domain of such a column; None: the values in the log."""
    recognize: Callable[[Sequence[str]], bool] = lambda texts: False
    """Whether all distinct texts of an untyped column are of this kind."""
    entries: tuple[str, ...] = ()
    """The entries of a columns file that apply to it."""
    declare: Callable[[Entries], Domain | None]
    """Makes the domain from these entries; None: the values in the log."""
    hint: str = ""
    """A comment for a new columns file that lists these entries."""
    fact: Statement
    """The statement in the certificate, such as "is a number"."""
    type_name: str
    """The name for the values of a column in an inspection of the log."""


def check_size(values: int) -> None:
    """Refuse a domain without values, or with too many."""
    if not 1 <= values <= MAX_VALUES:
        must = Statement("must.whole_between", low=1, high=MAX_VALUES)
        raise SettingError("values", f"{values:,}", must)


def listed(name: str, value: object) -> Sequence[object]:
    """Check that an entry of a columns file is a list."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise SettingError(name, value, Statement("must.domain.list"))
    return value


@dataclass(frozen=True, kw_only=True)
class Categories(Domain):
    """Texts, individually or in groups."""

    names: tuple[str, ...]
    """The values."""
    groups: Mapping[str, str] | None = None
    """The group that replaces each text; None: texts are released as they are."""
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
        """The number of names."""
        return len(self.names)

    def cell(self, text: str) -> int:
        """Return the index of a name; other texts have that of `other`, which may be a name."""
        return self._places.get(text, self._places.get(OTHER, self.values))

    def label(self, value: int) -> str:
        """The name."""
        return self.names[value]

    def describe(self) -> Statement:
        """Return the number of categories."""
        return Statement("domain.categories", number=len(self.names))


COLLAPSED = Categories(names=(OTHER,))
"""The domain of a column whose values must not be named: it reveals only where a value exists."""


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
    for value in (given := listed(name, values)):
        if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
            raise SettingError(name, value, Statement("must.domain.list_of_texts"))
    return list(map(str, given))


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


@dataclass(frozen=True, kw_only=True)
class YesNo(Domain):
    """Yes or no."""

    kind: Kind = "boolean"
    values: int = 2

    def cell(self, text: str) -> int:
        """Return 0 for no and 1 for yes, in all common spellings."""
        word = text.strip(BLANK).lower()
        if word in ("false", "no", "0", "0.0", "f", "n"):
            return 0
        return 1 if word in ("true", "yes", "1", "1.0", "t", "y") else 2

    def label(self, value: int) -> str:
        """Return the notation of XES."""
        return ("false", "true")[value]

    def describe(self) -> Statement:
        """Return the statement that the values are yes and no."""
        return Statement("domain.yes_no")


YES_NO = AttributeKind(
    name="yes/no",
    domain=YesNo,
    types=("boolean",),
    public=YesNo(),
    declare=lambda entries: YesNo(),
    fact=Statement("fact.yes_no"),
    type_name="yes or no",
)
