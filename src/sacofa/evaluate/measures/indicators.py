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
from .timed import Floats, Ints, Timed

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

    statistic: str
    """mean, median, p and a percentile, or share."""
    source: str
    """The activity that the duration begins with, or `start`."""
    target: str
    """The activity that it ends with, or `end`."""
    last: bool = False
    """Whether it ends with the last such event, not the first."""
    limit: float | None = None
    """For a share: what durations are compared with, in seconds."""
    over: bool = False
    """Whether longer ones are counted, not shorter ones."""
    text: str = ""
    """As it was written."""

    @classmethod
    def parse(cls, text: str) -> Indicator:
        """Read one indicator; what cannot be is refused."""
        found = _SENTENCE.fullmatch(text)
        if found is None:
            one, other = EXAMPLES
            raise SettingError(
                "indicator", text, Statement("must.such_as_either", one=one, other=other)
            )
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
        took = self.durations(log)
        if self.limit is not None:
            none = np.full(log.cases, -1)
            both = (_first(log, self.source, none) >= 0) & (_first(log, self.target, none) >= 0)
            hit = np.sum(took > self.limit if self.over else took < self.limit)
            return float(hit / both.sum()) if both.any() else float("nan")
        if not len(took):
            return float("nan")
        if self.statistic.startswith("p"):
            return float(np.quantile(took, int(self.statistic[1:]) / 100))
        return float(np.median(took) if self.statistic == "median" else np.mean(took))

    def durations(self, log: Timed) -> Floats:
        """How long it takes in each case that has both events."""
        begin = _first(log, self.source, np.full(log.cases, -1))
        there = begin >= 0
        if self.target == END or self.last:
            finish = _last(log, self.target)
        else:
            finish = _first(log, self.target, begin)
        there &= finish >= np.where(self.target in (START, END), begin, begin + 1)
        return log.seconds[finish[there]] - log.seconds[begin[there]]


def _first(log: Timed, name: str, after: Ints) -> Ints:
    """The place of the first event of a name after another place, in each case; −1 for none."""
    if name in (START, END):
        return log.offsets[:-1] if name == START else log.offsets[1:] - 1
    places = _places(log, name)
    owner = log.case[places]
    kept = places > after[owner]
    places, owner = places[kept], owner[kept]
    found = np.full(log.cases, -1)
    found[owner[::-1]] = places[::-1]
    return found


def _last(log: Timed, name: str) -> Ints:
    if name in (START, END):
        return log.offsets[:-1] if name == START else log.offsets[1:] - 1
    places = _places(log, name)
    found = np.full(log.cases, -1)
    found[log.case[places]] = places
    return found


def _places(log: Timed, name: str) -> Ints:
    if name not in log.activities:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(log.ids == log.activities.index(name))
