"""A kind of attribute: everything that the package needs to know of it, declared once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Any

from ...kernel.attributes import Domain, Kind
from ...kernel.errors import SettingError
from ...kernel.statements import Statement

MAX_VALUES = 1_000
"""No domain has more values: every one takes a cell, and noise."""

Entries = Mapping[str, object]
"""What a columns file states about an attribute."""


@dataclass(frozen=True, kw_only=True)
class Bins(Domain):
    """Values of a scale, in public bins."""

    binned = True
    edges: Sequence[Any]
    """Where bins begin, and where the last one ends; that end belongs to it."""

    def __post_init__(self) -> None:
        edges = self.edges
        rising = len(edges) >= 2 and all(a < b for a, b in pairwise(edges[:-1]))
        # The last bin may be one value.
        if not rising or edges[-2] > edges[-1]:
            raise SettingError("edges", len(edges), Statement("must.domain.rising"))
        check_size(self.values)

    @property
    def values(self) -> int:
        """One for each bin."""
        return len(self.edges) - 1

    def bin_of(self, point: float | date, edges: Sequence[Any]) -> int:
        """The bin of a point of the scale with these edges; `other` if it lies outside."""
        if not edges[0] <= point <= edges[-1]:
            return self.values
        return min(bisect_right(edges, point) - 1, self.values - 1)


def _never(texts: Sequence[str]) -> bool:
    return False


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
    """The types of columns that hold it if nothing is declared; no other kind has them."""
    public: Domain | None = None
    """The domain of such a column; None: the values that the log holds."""
    recognize: Callable[[Sequence[str]], bool] = _never
    """Whether the distinct texts of a column without a type are all of this kind."""
    entries: tuple[str, ...] = ()
    """The entries that a columns file may have for it."""
    declare: Callable[[Entries], Domain | None]
    """Makes the domain from these entries; None: the values that the log holds."""
    hint: str = ""
    """A comment for a new columns file that shows these entries."""
    fact: Statement
    """What the certificate states about a column, such as "is a number"."""
    type_name: str
    """How an inspection of the log calls the values of a column."""


def check_size(values: int) -> None:
    """Refuse a domain with too many values, or none."""
    if not 1 <= values <= MAX_VALUES:
        must = Statement("must.whole_between", low=1, high=MAX_VALUES)
        raise SettingError("values", f"{values:,}", must)
