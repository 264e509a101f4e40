"""Periods of time, and which cases belong to one: those whose last event lies in it.

Where a case belongs follows from that case alone, so a case more or less moves no other. Cases are
told apart by their ids here, and where persons are protected those of each person: of several with
one id the first counts, and one without an id, or without a time, belongs to no period. An id of
one person says nothing of another's, so a person who comes or goes takes no case of others along.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from ..errors import SettingError

FORM = re.compile(r"(\d{4})(?:-(?:Q([1-4])|(\d\d)(?:-(\d\d))?))?", re.ASCII)
MICROSECONDS = 1_000_000
KNOWN = "a year, quarter, month or day: 2026, 2026-Q4, 2026-10 or 2026-10-31"

Wanted = Callable[[str, str | None], bool]
"""Tells, for a case of the period, whether it is to be read: its id, and whose it is."""


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
        """Read a period as people write it."""
        found = FORM.fullmatch(text)
        try:
            if found is None:
                raise ValueError(text)
            year, quarter, month, day = (
                None if part is None else int(part) for part in found.groups()
            )
            assert year is not None
            if day is not None and month is not None:
                start = date(year, month, day)
                end = start + timedelta(days=1)
            else:
                first = month or (3 * quarter - 2 if quarter else 1)
                length = 1 if month else 3 if quarter else 12
                start = date(year, first, 1)
                after = year * 12 + first - 1 + length
                end = date(after // 12, after % 12 + 1, 1)
        except (ValueError, OverflowError):
            raise SettingError("period", text, KNOWN) from None
        return cls(start=start, end=end, name=text)

    @property
    def first(self) -> int:
        """Where it begins: microseconds since 1970."""
        return _microseconds(self.start)

    @property
    def after(self) -> int:
        """Where it is over: microseconds since 1970."""
        return _microseconds(self.end)

    def is_over(self, today: date | None = None) -> bool:
        """Whether it has ended, by the clock of this machine unless told."""
        return self.end <= (today or datetime.now(UTC).date())

    def holds(self, last: int | None) -> bool:
        """Tell whether a case with its last event then belongs here."""
        return last is not None and self.first <= last < self.after


@dataclass(kw_only=True)
class PeriodFilter:
    """Decides case by case which are read, and counts the others for the holder of the log."""

    period: Period
    """The period."""
    wanted: Wanted | None = None
    """Asked for each case of the period; None: all are wanted."""
    elsewhere: int = 0
    """Cases of other periods, or without a time."""
    nameless: int = 0
    """Cases of the period without an id."""
    again: int = 0
    """Cases of the period with the id of another before."""
    taken: int = 0
    """Cases of the period that are not wanted."""
    late: int = 0
    """Their events in the period: late ones, if the case was released in an earlier period."""
    _seen: set[tuple[str, str | None]] = field(default_factory=set, repr=False)

    def keeps(
        self, case_id: str | None, times: Sequence[int | None], person: str | None = None
    ) -> bool:
        """Tell whether a case is read: its id, when its events happened, and whose it is.

        The person is that of the case where persons are protected, else nobody.
        """
        known = [time for time in times if time is not None]
        last = max(known, default=None)
        late = sum(self.period.holds(time) for time in known)
        return self.keeps_last(case_id, last, late, person)

    def keeps_last(
        self, case_id: str | None, last: int | None, late: int, person: str | None = None
    ) -> bool:
        """Tell the same from the time of the last event, and the number of those in the period."""
        if case_id is not None:
            # The first with an id stands for all, in whichever period: else which one counts
            # could depend on when it was read.
            if (case_id, person) in self._seen:
                self.again += 1
                return False
            self._seen.add((case_id, person))
        if not self.period.holds(last):
            self.elsewhere += 1
            return False
        if case_id is None:
            self.nameless += 1
            return False
        if self.wanted is not None and not self.wanted(case_id, person):
            self.taken += 1
            self.late += late
            return False
        return True

    def notices(self) -> list[str]:
        """What the holder of the log should know."""
        said = [f"{self.elsewhere:,} cases are not of period {self.period.name}"]
        if self.taken:
            said.append(
                f"{self.taken:,} cases that end in period {self.period.name} were released before: "
                f"they are left out, with {self.late:,} events of this period"
            )
        if self.again:
            said.append(f"{self.again:,} cases have the id of another one: the first counts")
        if self.nameless:
            said.append(f"{self.nameless:,} cases have no id and are left out")
        return said


def _microseconds(day: date) -> int:
    return (day - date(1970, 1, 1)).days * 86_400 * MICROSECONDS
