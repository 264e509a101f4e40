"""Yes or no."""

from __future__ import annotations

from dataclasses import dataclass

from ...kernel.attributes import Domain, Kind
from ...kernel.statements import Statement
from ..cells import BLANK
from .kinds import AttributeKind


@dataclass(frozen=True, kw_only=True)
class YesNo(Domain):
    """Yes or no."""

    kind: Kind = "boolean"
    values: int = 2

    def cell(self, text: str) -> int:
        """No, then yes, in the words and figures that are in use."""
        word = text.strip(BLANK).lower()
        if word in ("false", "no", "0", "0.0", "f", "n"):
            return 0
        return 1 if word in ("true", "yes", "1", "1.0", "t", "y") else 2

    def label(self, value: int) -> str:
        """As XES writes it."""
        return ("false", "true")[value]

    def describe(self) -> Statement:
        """What it is."""
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
