"""How times are asked for and written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from ...errors import Argument, SettingError, Statement
from ...kernel.queries.durations import DAY, MINUTE, SECOND

MOST_MONTHS = 1_200
"""A longer calendar would hold more noise than cases."""
GRANULARITIES = {"second": SECOND, "minute": MINUTE, "day": DAY}
SHARES = {
    "cycle_time": Fraction(9, 45),
    "gaps": Fraction(21, 45),
    "elapsed": Fraction(7, 45),
    "arrivals": Fraction(6, 45),
    "week": Fraction(2, 45),
}
"""How what is spent on time is divided by default."""


@dataclass(frozen=True, kw_only=True)
class TimeShares:
    """How what is spent on time is divided; parts of it, in any unit."""

    cycle_time: Fraction = SHARES["cycle_time"]
    """How long cases take."""
    gaps: Fraction = SHARES["gaps"]
    """How long each step takes; with start times, a third of it goes to the work itself."""
    elapsed: Fraction = SHARES["elapsed"]
    """How long after the beginning each activity first happens."""
    arrivals: Fraction = SHARES["arrivals"]
    """In which months cases begin."""
    week: Fraction = SHARES["week"]
    """At which hours of the week events happen."""

    def __post_init__(self) -> None:
        for name in SHARES:
            if getattr(self, name) <= 0:
                raise SettingError(
                    name, getattr(self, name), Statement("must.domain.above", low="0")
                )

    def divide(self, epsilon: Fraction, *, service: bool = False) -> dict[str, Fraction]:
        """What each question costs; together exactly ε."""
        parts = {name: Fraction(getattr(self, name)) for name in SHARES}
        if service:
            parts["service"] = parts["gaps"] / 3
            parts["gaps"] -= parts["service"]
        whole = sum(parts.values(), Fraction(0))
        return {name: epsilon * part / whole for name, part in parts.items()}


_MONTHS = re.compile(r"(\d{4})-(0[1-9]|1[0-2])/(\d{4})-(0[1-9]|1[0-2])")


@dataclass(frozen=True, kw_only=True)
class TimeSettings:
    """What is public about the times of a release."""

    granularity: str = "second"
    """Times are written as whole seconds, minutes or days."""
    first_month: int | None = None
    """The first month of a declared window, counted from January 1970; None: universal."""
    months: int | None = None
    """How many months the declared window has."""
    shares: TimeShares = TimeShares()
    """How ε is divided."""

    def __post_init__(self) -> None:
        if self.granularity not in GRANULARITIES:
            must = Statement("must.one_of", choices=list(GRANULARITIES))
            raise SettingError("granularity", self.granularity, must)
        if (self.first_month is None) != (self.months is None):
            must = Statement("must.given_with", argument=Argument("first_month"))
            raise SettingError("months", self.months, must)
        if self.months is not None and not 1 <= self.months <= MOST_MONTHS:
            must = Statement("must.whole_between", low=1, high=MOST_MONTHS)
            raise SettingError("months", self.months, must)

    @classmethod
    def of(cls, granularity: str, calendar: str | None) -> TimeSettings:
        """Take settings as people write them: a calendar is 2019-01/2023-12."""
        if calendar is None:
            return cls(granularity=granularity)
        found = _MONTHS.fullmatch(calendar)
        must = Statement("must.two_months")
        if found is None:
            raise SettingError("calendar", calendar, must)
        year, month, last_year, last_month = map(int, found.groups())
        first = (year - 1970) * 12 + month - 1
        months = (last_year - year) * 12 + last_month - month + 1
        if months < 1 or year < 1:
            raise SettingError("calendar", calendar, must)
        if months > MOST_MONTHS:
            must = Statement("must.at_most_months", limit=MOST_MONTHS)
            raise SettingError("calendar", calendar, must)
        return cls(granularity=granularity, first_month=first, months=months)

    @property
    def unit(self) -> int:
        """The microseconds of the granularity."""
        return GRANULARITIES[self.granularity]
