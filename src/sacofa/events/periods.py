"""Periods of time, and which cases belong to one: those whose last event lies in it.

Where a case belongs follows from that case alone, so a case more or less moves no other. Cases are
told apart by their ids here, and where persons are protected those of each person: of several with
one id the first counts, and one without an id, or without a time, belongs to no period. An id of
one person says nothing of another's, so a person who comes or goes takes no case of others along.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..base.periods import Period
from ..kernel.statements import Statement

Wanted = Callable[[str, str | None], bool]
"""Tells, for a case of the period, whether it is to be read: its id, and whose it is."""


@dataclass(kw_only=True)
class PeriodFilter:
    """Decides case by case which are read, and counts the others for the holder of the log."""

    period: Period
    """The period."""
    wanted: Wanted | None = None
    """Asked for each case of the period; None: all are wanted."""
    counts: Counter[str] = field(default_factory=Counter)
    """Cases that are not read, by the reason: they are of another period, or without a time
    (`elsewhere`), without an id (`nameless`), with the id of another before (`again`), or not
    wanted (`taken`). `late` are the events in the period of the latter: they come late, if the case
    was released in an earlier period."""
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
                return self._pass_over("again")
            self._seen.add((case_id, person))
        if not self.period.holds(last):
            return self._pass_over("elsewhere")
        if case_id is None:
            return self._pass_over("nameless")
        if self.wanted is not None and not self.wanted(case_id, person):
            self.counts["late"] += late
            return self._pass_over("taken")
        return True

    def _pass_over(self, why: str) -> bool:
        self.counts[why] += 1
        return False

    def notices(self) -> list[Statement]:
        """What the holder of the log should know."""
        name, counts = self.period.name, self.counts
        more: dict[str, dict[str, object]]
        more = {"elsewhere": {"period": name}, "taken": {"late": counts["late"], "period": name}}
        return [
            Statement(f"notice.period.{why}", number=counts[why], **more.get(why, {}))
            for why in ("elsewhere", "taken", "again", "nameless")
            if counts[why] or why == "elsewhere"
        ]
