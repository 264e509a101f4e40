"""Calendar periods in UTC: years, quarters, months and days.

Two periods are equal, one contains the other, or they have no day in common. An interval has one
name, so periods are equal if their names are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from ..errors import SettingError, Statement

FORM = re.compile(r"(\d{4})(?:-(?:Q([1-4])|(\d\d)(?:-(\d\d))?))?", re.ASCII)
DAY = 86_400_000_000
"""A day in microseconds."""


@dataclass(frozen=True, kw_only=True, order=True)
class Period:
    """A year, quarter, month or day, in UTC."""

    start: date
    """Its first day."""
    end: date
    """The first day after it."""
    name: str = field(compare=False)
    """As it was given: 2026, 2026-Q4, 2026-10 or 2026-10-31."""

    @classmethod
    def parse(cls, text: str) -> Period:
        """Parse the name of a period."""
        found = FORM.fullmatch(text)
        try:
            if found is None:
                raise ValueError(text)
            year, quarter, month, day = (int(part or -1) for part in found.groups())
            if day >= 0:
                start = date(year, month, day)
                return cls(start=start, end=start + timedelta(days=1), name=text)
            first, months = (month, 1) if month >= 0 else (1, 12)
            if quarter >= 0:
                first, months = 3 * quarter - 2, 3
            years, after = divmod(first - 1 + months, 12)
            end = date(year + years, after + 1, 1)
            return cls(start=date(year, first, 1), end=end, name=text)
        except (ValueError, OverflowError):
            raise SettingError("period", text, Statement("must.be.period")) from None

    @property
    def first(self) -> int:
        """The beginning, in microseconds since 1970."""
        return (self.start - date(1970, 1, 1)).days * DAY

    @property
    def after(self) -> int:
        """The end, in microseconds since 1970, exclusive."""
        return (self.end - date(1970, 1, 1)).days * DAY

    @property
    def longer(self) -> tuple[str, ...]:
        """The names of all longer periods that contain this one."""
        year, month = self.name[:4], self.name[:7]
        if len(self.name) == len("2026"):
            return ()
        if "Q" in self.name:
            return (year,)
        quarter = f"{year}-Q{(self.start.month + 2) // 3}"
        return (year, quarter) if month == self.name else (year, quarter, month)

    def is_over(self, today: date | None = None) -> bool:
        """Whether the period has ended at `now`, by default the clock of this machine."""
        return self.end <= (today or datetime.now(UTC).date())

    def holds(self, last: int | None) -> bool:
        """Whether a case with this last event belongs to the period."""
        return last is not None and self.first <= last < self.after
