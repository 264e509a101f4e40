"""Attributes in the kernel: public domains, whose cells queries count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from .statements import Statement

Kind = Literal["string", "int", "float", "boolean", "date"]
"""The type that released values have, in the words of XES."""


class Domain(Protocol):
    """The public values of an attribute; `base.domains` has the kinds of domains."""

    binned: ClassVar[bool] = False
    """Whether values are ordered bins, each for several texts."""

    @property
    def kind(self) -> Kind:
        """The type of released values."""

    @property
    def values(self) -> int:
        """Number of values, without `other` and missing."""

    def cell(self, text: str) -> int:
        """The cell of a text that is not blank: a value, `other`, or missing."""

    def label(self, value: int) -> str:
        """Return the displayed text of a value."""

    def describe(self) -> Statement:
        """All of it in a few words."""

    @property
    def bin_edges(self) -> tuple[float, ...]:
        """For bins of numbers, where they begin and end."""
        return ()

    def sample(self, value: int, uniform: float) -> str:
        """Return a text to release for a value; `uniform` from 0 to 1 selects one of several."""
        return self.label(value)


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """An attribute that is read, with its domain."""

    name: str
    """As the log has it, without `case:`."""
    of_case: bool = False
    """Whether a case has one value; else every event has its own."""
    domain: Domain | None = None
    """The domain; None: the values of the log, which are not read yet."""
    taken: bool = False
    """Whether the values of the domain were taken from the log."""
    collapsed: bool = False
    """Whether the log has too many values to name any of them, so that each is `other`."""
    recognized: bool = False
    """Whether the type, numbers or dates, was detected from the values of the log."""
    personal: str | None = None
    """The personal data that its name or its values look like, such as "names of persons"."""

    @property
    def key(self) -> str:
        """Its name in a table with attributes of both cases and events."""
        return f"case:{self.name}" if self.of_case else self.name

    @property
    def known(self) -> Domain:
        """The domain, once it is known."""
        assert self.domain is not None
        return self.domain
