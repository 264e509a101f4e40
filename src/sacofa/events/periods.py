"""Selection of the cases of a period: those whose last event lies in it.

The period of a case depends on that case alone, so adding or removing a case does not move others.
Cases are identified by id, and by person and id if the unit is a person. Of several with one id the
first counts; a case without an id or time belongs to no period. Because ids are compared within a
person, adding or removing a person does not affect cases of others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..base.periods import Period
from ..kernel.statements import Statement

Wanted = Callable[[str, str | None], bool]
"""Returns whether a case of the period is read, given its id and person."""


@dataclass(kw_only=True)
class PeriodFilter:
    """Decides case by case which are read, and counts the others for the holder of the log."""

    period: Period
    wanted: Wanted | None = None
    """Called for each case of the period; None: all are read."""
    counts: Counter[str] = field(default_factory=Counter)
    """Numbers of cases that are not read, by reason: of another period or without a time
    (`elsewhere`), without an id (`nameless`), with the id of an earlier case (`again`), or refused
    by `wanted` (`taken`). `late` is the number of events in the period of the latter, which are
    late if the case was released in an earlier period."""
    _seen: set[tuple[str, str | None]] = field(default_factory=set, repr=False)

    def keeps(
        self, case_id: str | None, times: Sequence[int | None], person: str | None = None
    ) -> bool:
        """Whether a case is read, given its id, the times of its events and its person.

        The person is None unless the unit of privacy is a person.
        """
        known = [time for time in times if time is not None]
        last = max(known, default=None)
        late = sum(self.period.holds(time) for time in known)
        return self.keeps_last(case_id, last, late, person)

    def keeps_last(
        self, case_id: str | None, last: int | None, late: int, person: str | None = None
    ) -> bool:
        """Whether a case is read, given the time of its last event and its events in the period."""
        if case_id is not None:
            # The first with an id stands for all, in whichever period: else which one counts
            # could depend on when it was read.
            if (case_id, person) in self._seen:
                self.counts["again"] += 1
                return False
            self._seen.add((case_id, person))
        if not self.period.holds(last):
            self.counts["elsewhere"] += 1
        elif case_id is None:
            self.counts["nameless"] += 1
        elif self.wanted is not None and not self.wanted(case_id, person):
            self.counts.update(taken=1, late=late)
        else:
            return True
        return False

    def notices(self) -> list[Statement]:
        """Return the notices for the holder of the log."""
        name, counts = self.period.name, self.counts
        more: dict[str, dict[str, object]]
        more = {"elsewhere": {"period": name}, "taken": {"late": counts["late"], "period": name}}
        return [
            Statement(f"notice.period.{why}", number=counts[why], **more.get(why, {}))
            for why in ("elsewhere", "taken", "again", "nameless")
            if counts[why] or why == "elsewhere"
        ]
