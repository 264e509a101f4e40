"""Wording that certificates use for a unit of privacy."""

from __future__ import annotations

from ..kernel.statements import Statement
from ..kernel.unit import Unit


def noun(unit: Unit) -> Statement:
    """The word for one unit."""
    return Statement(f"noun.{unit.kind}")


def protection(unit: Unit) -> Statement:
    """Return the statement of what is protected."""
    if unit.person is None:
        return Statement("unit.case")
    return Statement(f"unit.{unit.kind}", person=unit.person, max_cases=unit.max_cases)


def neighbours(unit: Unit) -> Statement:
    """When two logs count as neighbours."""
    return Statement(f"neighbours.{unit.kind}")


def assumptions(unit: Unit) -> tuple[Statement, ...]:
    """Return the assumptions about the column that identifies persons."""
    if unit.person is None:
        return ()
    return (Statement("assumption.person", column=unit.person),)
