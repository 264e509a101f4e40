"""What is protected: one case, or one person with several.

A unit is bound to the cases from the moment they are read: a reader that keeps at most `max_cases`
cases of each person says so in what it gives, and a promise takes the unit from there.
"""

from __future__ import annotations

from dataclasses import dataclass

from .errors import SettingError

MAX_CASES_BOUND = 10**6
"""A person with more cases than that is beyond belief, and noise that hides them is useless."""


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What two neighbouring logs differ by: the cases of one person, at most max_cases of them."""

    max_cases: int = 1
    """The most cases that one person has among those that are counted."""
    person: str | None = None
    """The column that says whose case it is; without it every case is a unit of its own."""

    per_period: bool = False
    """Whether what a person does in one period is protected by itself: a person-period."""

    def __post_init__(self) -> None:
        # A reader keeps whole cases: noise for 3/2 of them would hide less than what was counted.
        if type(self.max_cases) is not int or not 1 <= self.max_cases <= MAX_CASES_BOUND:
            must = f"a whole number from 1 to {MAX_CASES_BOUND:,}"
            raise SettingError("max_cases", self.max_cases, must)
        if self.person is None and self.max_cases != 1:
            raise SettingError("max_cases", self.max_cases, "given together with person")
        if self.person is None and self.per_period:
            raise SettingError("per_period", self.per_period, "given together with person")

    def __str__(self) -> str:
        if self.person is None:
            return "one case: whether it is in the log, and everything that happened in it"
        cases = "1 case" if self.max_cases == 1 else f"{self.max_cases} cases"
        if self.per_period:
            return (
                f"one person (column {self.person}) in one period, with at most {cases} there: "
                "whether they are in the log of that period, and everything that happened in "
                "these cases"
            )
        return (
            f"one person (column {self.person}) with at most {cases}: whether they are in the "
            "log, and everything that happened in these cases"
        )

    @property
    def noun(self) -> str:
        """What to call one unit."""
        if self.person is None:
            return "case"
        return "person-period" if self.per_period else "person"

    @property
    def neighbours(self) -> str:
        """When two logs count as neighbours, in words."""
        if self.person is None:
            return (
                "Two logs are neighbours if adding or removing one case turns one into the other."
            )
        if self.per_period:
            return (
                "Two logs are neighbours if adding or removing the cases of one person that were "
                "completed in one period turns one into the other."
            )
        return (
            "Two logs are neighbours if adding or removing one person, with all cases of that "
            "person, turns one into the other."
        )

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is taken to be true of the column that names persons."""
        if self.person is None:
            return ()
        return (
            f"A case belongs to one person: the first value of {self.person} in the case that is "
            "not blank. A case without any is a person of its own.",
        )


ONE_CASE = Unit()
