"""What is protected: one case, or one person with several."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import SettingError


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What two neighbouring logs differ by: the cases of one person, at most max_cases of them."""

    max_cases: int = 1
    """The most cases that one person has in the log."""
    person: str | None = None
    """The column that says whose case it is; without it every case is a person of its own."""

    def __post_init__(self) -> None:
        if self.max_cases < 1:
            raise SettingError("max_cases", self.max_cases, "1 or more")

    def __str__(self) -> str:
        if self.person is None and self.max_cases == 1:
            return "one case: whether it is in the log, and everything that happened in it"
        whose = f" (column {self.person})" if self.person is not None else ""
        return (
            f"one person{whose} with at most {self.max_cases} cases: whether they are in the log, "
            "and everything that happened in these cases"
        )


ONE_CASE = Unit()
