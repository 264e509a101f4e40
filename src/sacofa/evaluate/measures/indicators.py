"""Indicators of performance that people write themselves, in a small language.

    median time from "ER Registration" to first "Admission NC"
    mean time from start to end
    share with time from "ER Sepsis Triage" to first "IV Antibiotics" under 1 h

An indicator is a statistic (mean, median, p90 or any other percentile, share with) of a duration:
from the first event of one activity to the first, or last, event of another after it. `start` and
`end` are the first and the last event of a case. A share goes on with `under` or `over` and a
duration in s, min, h, d, weeks or years; it is one of the cases that have both activities, in any
order. The other statistics are over the cases that have them in this order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ...errors import SettingError, Statement, advised
from .times import Ints, Timed

UNITS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400, "weeks": 604_800, "years": 31_536_000}
START, END = "start", "end"
_NAME = r'(?:"([^"]*)"|(\S+))'
_SENTENCE = re.compile(
    r"\s*(mean|median|p\d{1,2}|share\s+with)\s+time\s+from\s+" + _NAME
    + r"\s+to\s+(?:(first|last)\s+)?" + _NAME
    + r"(?:\s+(under|over)\s+(\d+(?:\.\d+)?)\s*(\w+))?\s*"
)  # fmt: skip
EXAMPLES = ('median time from "A" to first "B"', "share with time from A to first B under 1 h")
FORM = f"such as: {EXAMPLES[0]}, or: {EXAMPLES[1]}"


@dataclass(frozen=True, kw_only=True)
class Indicator:
    """One figure about a duration."""

    statistic: str  # mean, median, p and a percentile, or share
    source: str  # the activity that the duration begins with, or `start`
    target: str  # the activity that it ends with, or `end`
    last: bool  # whether it ends with the last such event, not the first
    limit: float | None  # for a share, what durations are compared with, in seconds
    over: bool  # whether a share counts longer durations, not shorter ones
    text: str  # as it was written

    @classmethod
    def parse(cls, text: str) -> Indicator:
        """Read one indicator."""
        found = _SENTENCE.fullmatch(text)
        if found is None:
            must = Statement("must.such_as_either", one=EXAMPLES[0], other=EXAMPLES[1])
            raise SettingError("indicator", text, must)
        statistic, quoted, bare, which, quoted_to, bare_to, side, number, unit = found.groups()
        statistic = "share" if statistic.startswith("share") else statistic
        if (statistic == "share") != (side is not None):
            raise SettingError("indicator", text, Statement("must.share_with_side"))
        if unit is not None and unit not in UNITS:
            must = Statement("must.in_units", units=list(UNITS))
            raise SettingError("duration", f"{number} {unit}", advised(must, unit, UNITS))
        return cls(
            statistic=statistic,
            source=bare if quoted is None else quoted,
            target=bare_to if quoted_to is None else quoted_to,
            last=which == "last",
            limit=None if unit is None else float(number) * UNITS[unit],
            over=side == "over",
            text=text.strip(),
        )

    def check(self, activities: tuple[str, ...]) -> None:
        """Refuse names that no activity has."""
        for name in (self.source, self.target):
            if name not in (START, END, *activities):
                must = Statement("must.activity_or_end")
                raise SettingError("activity", name, advised(must, name, activities))

    def of(self, log: Timed) -> float:
        """The figure for a log, in seconds or as a share; not a number where no case counts."""
        begin = _place(log, self.source)
        last = self.target == END or self.last
        finish = _place(log, self.target, -1 if last else begin, last=last)
        later = finish >= np.where(self.target in (START, END), begin, begin + 1)
        there = (begin >= 0) & later
        took = log.seconds[finish[there]] - log.seconds[begin[there]]
        if self.limit is not None:
            both = (begin >= 0) & (_place(log, self.target) >= 0)
            hit = np.sum(took > self.limit if self.over else took < self.limit)
            return float(hit / both.sum()) if both.any() else float("nan")
        if not len(took) or self.statistic == "mean":
            return float(np.mean(took)) if len(took) else float("nan")
        rank = 0.5 if self.statistic == "median" else int(self.statistic[1:]) / 100
        return float(np.quantile(took, rank))


def _place(log: Timed, name: str, after: Ints | int = -1, *, last: bool = False) -> Ints:
    """The place of the first or last event of a name after another place; −1 for none."""
    if name in (START, END):
        return log.offsets[:-1] if name == START else log.offsets[1:] - 1
    found = np.full(log.cases, -1)
    if name in log.activities:
        places = np.flatnonzero(log.ids == log.activities.index(name))
        owner = log.case[places]
        kept = places > np.broadcast_to(after, log.cases)[owner]
        # Of several events of a case, the one that is assigned last stays.
        order = slice(None) if last else slice(None, None, -1)
        found[owner[kept][order]] = places[kept][order]
    return found
