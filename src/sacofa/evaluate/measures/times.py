"""Measures of time: waits, cycle times, bottlenecks, arrivals, remaining times, indicators.

Durations span nine orders of magnitude. Their differences are therefore given in doublings, as log2
of 1 + seconds: 1 is a factor of two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import SettingError, Statement, advised
from ...kernel.cases import NO_TIME, CaseBatch
from ..extras import optional_module
from .flow import total_variation

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LOST_PAIR = 10.0
"""Error, in doublings, of a directly-follows pair that the release does not have."""
MIN_SHARE = 0.01
"""Least share of all directly-follows pairs that a pair needs to be compared."""
BOTTLENECKS = 10
"""Number of bottlenecks that are compared."""
HOUR = 3_600
"""Seconds."""
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
MAX_PREFIXES = 20_000
"""Upper bound on the prefixes that remaining times are predicted for; more are thinned evenly."""
MAX_ACTIVITIES = 200
"""Number of the most frequent activities of the original that the features distinguish."""
MAX_DEPTH, MIN_LEAF = 8, 20
"""Depth of the tree that predicts remaining times, and least number of prefixes in a leaf."""


@dataclass(frozen=True, eq=False)
class Timed:
    """The events of a log with known times."""

    activities: tuple[str, ...]  # the id of an activity is its place here
    ids: Ints  # of all events, end to end
    offsets: Ints  # case i has the events offsets[i] … offsets[i + 1] − 1; no case is empty
    seconds: Floats  # of each event, since 1970

    @classmethod
    def of(cls, log: CaseBatch, names: Sequence[str]) -> Timed:
        """Select the events with known times, over names of activities that include the log's."""
        log = log.project_onto(names)
        case = np.repeat(np.arange(len(log)), log.lengths)
        times = np.full(len(case), NO_TIME) if log.times is None else log.times
        known = times != NO_TIME
        lengths = np.bincount(case[known], minlength=1)
        offsets = np.concatenate([[0], np.cumsum(lengths[lengths > 0])]).astype(np.int64)
        return cls(tuple(names), log.activity_ids[known].astype(int), offsets, times[known] / 1e6)

    @classmethod
    def both(cls, one: CaseBatch, other: CaseBatch) -> tuple[Timed, Timed]:
        """Convert two logs to the names of both."""
        names = sorted({*one.activities, *other.activities})
        return cls.of(one, names), cls.of(other, names)

    @property
    def cases(self) -> int:
        """Number of cases with any known time."""
        return len(self.offsets) - 1

    @property
    def case(self) -> Ints:
        """Case of each event."""
        return np.repeat(np.arange(self.cases), np.diff(self.offsets))

    @property
    def begins(self) -> Floats:
        """Earliest time of each case."""
        return np.minimum.reduceat(self.seconds, self.offsets[:-1])

    @property
    def cycle_times(self) -> Floats:
        """Cycle time of each case in seconds."""
        return np.maximum.reduceat(self.seconds, self.offsets[:-1]) - self.begins

    def waits(self) -> dict[tuple[str, str], Floats]:
        """Return the seconds between the events of each directly-follows pair."""
        case, size = self.case, len(self.activities)
        place = np.flatnonzero(case[1:] == case[:-1]) + 1
        pairs = self.ids[place - 1] * size + self.ids[place]
        # A clock that runs backwards is not a wait.
        waits = np.maximum(self.seconds[place] - self.seconds[place - 1], 0.0)
        order = np.argsort(pairs, kind="stable")
        numbers, first = np.unique(pairs[order], return_index=True)
        names = [(self.activities[a // size], self.activities[a % size]) for a in numbers.tolist()]
        return dict(zip(names, np.split(waits[order], first[1:]), strict=False))


def doublings(seconds: Floats) -> Floats:
    """Return durations as log2 of 1 + seconds; negative ones are zero."""
    return np.log2(1.0 + np.maximum(seconds, 0.0))


def transport(left: Floats, right: Floats) -> float:
    """Return the Wasserstein distance between two samples; infinite if one of them is empty."""
    from scipy.stats import wasserstein_distance

    if not len(left) or not len(right):
        return 0.0 if len(left) == len(right) else float("inf")
    return float(wasserstein_distance(left, right))


def wait_error(original: Timed, released: Timed) -> float:
    """Return the error of the median waits of frequent pairs in doublings; see `waits`."""
    return waits(original, released)[0]


def waits(original: Timed, released: Timed) -> tuple[float, float]:
    """Return the error of the median waits of frequent pairs, and the share of pairs that is lost.

    The error is in doublings; both are weighted by frequency.
    """
    before, after = original.waits(), released.waits()
    least = MIN_SHARE * (len(original.ids) - original.cases)
    frequent = {pair: some for pair, some in before.items() if len(some) >= least}
    total = max(sum(map(len, frequent.values())), 1)
    off, gone = 0.0, 0
    for pair, some in frequent.items():
        if pair in after:
            medians = doublings(np.array([np.median(some), np.median(after[pair])]))
            off += len(some) * abs(float(medians[0] - medians[1]))
        else:
            off += len(some) * LOST_PAIR
            gone += len(some)
    return off / total, gone / total


def cycle_time_error(original: Timed, released: Timed) -> float:
    """Return the distance between the distributions of cycle times, in doublings."""
    return transport(doublings(original.cycle_times), doublings(released.cycle_times))


def mean_cycle_error(original: Timed, released: Timed) -> float:
    """Return the error of the mean cycle time in doublings; infinite if one mean is zero."""
    ratio = mean_cycle_ratio(original, released)
    return abs(float(np.log2(ratio))) if ratio > 0 else float("inf")


def mean_cycle_ratio(original: Timed, released: Timed) -> float:
    """Return the mean cycle time of the release, divided by that of the original."""
    if not original.cases or not released.cases:
        return 1.0 if original.cases == released.cases else float("inf")
    before, after = float(np.mean(original.cycle_times)), float(np.mean(released.cycle_times))
    if before == after:
        return 1.0
    return after / before if before else float("inf")


def cycle_time_distance(original: Timed, released: Timed) -> float:
    """Return the Wasserstein distance of cycle times in hours (CTD).

    Defined by Chapela-Campa et al., "Can I trust my simulation model?" (BPM 2023): cycle times are
    cut to bins of one hour above the shortest of both logs. Tests compare with the package
    `log-distance-measures` of its authors.
    """
    left, right = original.cycle_times, released.cycle_times
    least = min([*left.tolist(), *right.tolist()], default=0.0)
    return transport(np.floor((left - least) / HOUR), np.floor((right - least) / HOUR))


def bottlenecks(log: Timed) -> list[tuple[str, str]]:
    """Return the directly-follows pairs with the largest total time, largest first."""
    total = {pair: float(some.sum()) for pair, some in log.waits().items()}
    order = sorted(total, key=lambda pair: -total[pair])
    return [pair for pair in order[:BOTTLENECKS] if total[pair] > 0]


def bottlenecks_kept(original: Timed, released: Timed) -> float:
    """Return the share of the original's bottlenecks that the release has; 1 if there are none."""
    true = bottlenecks(original)
    return len({*true} & {*bottlenecks(released)}) / len(true) if true else 1.0


def arrivals_distance(original: Timed, released: Timed) -> float:
    """Return the total variation of the months in which cases begin."""
    months = [(log.begins * 1e6).astype("M8[us]").astype("M8[M]") for log in (original, released)]
    return total_variation(*(Counter(each.tolist()) for each in months))


def remaining_time_error(original: Timed, released: Timed) -> float | None:
    """Return the mean error of predicted remaining times in doublings.

    A regression tree learns from released cases how long a case will still take, given what is
    known after an event: which activities occurred, the last one, the number of events, the time so
    far and the last wait. It then predicts the cases of the original. None if no case of one of the
    logs has two events.
    """
    if len(original.ids) == original.cases or len(released.ids) == released.cases:
        return None
    frequent = np.argsort(-np.bincount(original.ids), kind="stable")[:MAX_ACTIVITIES]
    features, remaining = _prefixes(released, frequent)
    tested, true = _prefixes(original, frequent)
    # Fixed seed, so that the tree is deterministic.
    tree = (
        optional_module("sklearn.tree")
        .DecisionTreeRegressor(
            criterion="squared_error",
            max_depth=MAX_DEPTH,
            min_samples_leaf=max(1, min(MIN_LEAF, len(remaining) // 10)),
            random_state=0,
        )
        .fit(features, remaining)
    )
    return float(np.abs(tree.predict(tested) - true).mean())


def _prefixes(log: Timed, activities: Ints) -> tuple[NDArray[np.float32], Floats]:
    """Features after each event but the last of a case, and the remaining time in doublings."""
    case = log.case
    place = np.arange(len(case)) - log.offsets[:-1][case]
    running = np.flatnonzero(place < np.diff(log.offsets)[case] - 1)
    chosen = running[np.linspace(0, len(running) - 1, min(MAX_PREFIXES, len(running))).astype(int)]
    begin, end = log.offsets[:-1][case[chosen]], log.offsets[1:][case[chosen]] - 1
    wait = np.where(chosen > begin, log.seconds[chosen] - log.seconds[np.maximum(chosen - 1, 0)], 0)
    columns = [place[chosen], doublings(log.seconds[chosen] - log.seconds[begin]), doublings(wait)]
    for activity in activities.tolist():
        so_far = np.concatenate([[0], np.cumsum(log.ids == activity)])
        columns.append(so_far[chosen + 1] - so_far[begin])
        columns.append(log.ids[chosen] == activity)
    features = np.stack(columns, axis=1).astype(np.float32)
    return features, doublings(log.seconds[end] - log.seconds[chosen])


@dataclass(frozen=True, kw_only=True)
class Indicator:
    """A figure about a duration, in a small language.

        median time from "ER Registration" to first "Admission NC"
        mean time from start to end
        share with time from "ER Sepsis Triage" to first "IV Antibiotics" under 1 h

    An indicator is a statistic (mean, median, p90 or any other percentile, share with) of a
    duration: from the first event of one activity to the first, or last, event of another after it.
    `start` and `end` are the first and the last event of a case. A share goes on with `under` or
    `over` and a duration in s, min, h, d, weeks or years; it is one of the cases that have both
    activities, in any order. The other statistics are over the cases that have them in this order.
    """

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
        """Refuse names that are not activities."""
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
    """The index of the first or last event of a name after another index; −1 if there is none."""
    if name in (START, END):
        return log.offsets[:-1] if name == START else log.offsets[1:] - 1
    found = np.full(log.cases, -1)
    if name in log.activities:
        places = np.flatnonzero(log.ids == log.activities.index(name))
        owner = log.case[places]
        kept = places > np.broadcast_to(after, log.cases)[owner]
        # If a case has several events, the last assignment wins.
        order = slice(None) if last else slice(None, None, -1)
        found[owner[kept][order]] = places[kept][order]
    return found
