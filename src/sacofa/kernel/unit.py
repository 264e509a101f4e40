"""The unit of privacy: one case, or one person with several; applied when cases are read."""

from __future__ import annotations

from dataclasses import dataclass

from .statements import Argument, SettingError, Statement

MAX_CASES_BOUND = 10**6
"""A person with more cases than that is beyond belief, and noise that hides them is useless."""


@dataclass(frozen=True, kw_only=True)
class Unit:
    """The difference of two neighbouring logs: the cases of one person, at most max_cases."""

    max_cases: int = 1
    """The most cases that one person has among those that are counted."""
    person: str | None = None
    """The column that identifies the person; without it, every case is a unit of its own."""

    per_period: bool = False
    """Whether the unit is a person-period: the cases of a person in one period."""

    def __post_init__(self) -> None:
        # Readers keep whole cases: noise for 3/2 of a case would not protect the 2 that are kept.
        if type(self.max_cases) is not int or not 1 <= self.max_cases <= MAX_CASES_BOUND:
            must = Statement("must.whole_between", low=1, high=MAX_CASES_BOUND)
            raise SettingError("max_cases", self.max_cases, must)
        together = Statement("must.given_with", argument=Argument("person"))
        if self.person is None and self.max_cases != 1:
            raise SettingError("max_cases", self.max_cases, together)
        if self.person is None and self.per_period:
            raise SettingError("per_period", self.per_period, together)

    @property
    def kind(self) -> str:
        """The kind of unit: `case`, `person` or `person_period`."""
        if self.person is None:
            return "case"
        return "person_period" if self.per_period else "person"


ONE_CASE = Unit()
