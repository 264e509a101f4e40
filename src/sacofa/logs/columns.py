"""Which columns of a log hold what.

Names in common use are found without being told: those of pm4py and XES first, then plain ones.
Letters in either case, blanks, underscores and hyphens make no difference: `Case ID`, `case_id`
and `caseid` are one name. Where several fit, the one named first in `COMMON` is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import ColumnsError, SettingError

JOINER = "+"
"""Stands between the parts of an activity that is built from several columns."""

UNFINISHED = "case:unfinished"
"""The column that marks cases which went on but were cut; written by this package."""

COMMON = {
    "case": ("case:concept:name", "caseid", "case", "casenumber", "traceid", "trace"),
    "activity": (
        "concept:name", "activity", "activityname", "event", "eventname", "task", "taskname",
        "action",
    ),
    "timestamp": (
        "time:timestamp", "timestamp", "time", "datetime", "completetimestamp", "eventtime", "ts",
        "date",
    ),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns of a table, or the attributes of an XES file, that hold what is counted."""

    case: str
    """Which case an event belongs to."""
    activity: tuple[str, ...]
    """What an event did; the texts of several columns are joined with a plus sign."""
    timestamp: str | None
    """When an event happened, where that is known."""
    person: str | None = None
    """Whose case it is, where people with several cases are protected."""
    unfinished: str | None = None
    """Whether a case went on but was cut, where the log says so."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The columns that a person asked for; the others are found."""

    case: str | None = None
    """Which case an event belongs to."""
    activity: tuple[str, ...] = ()
    """What an event did."""
    timestamp: str | None = None
    """When an event happened."""
    person: str | None = None
    """Whose case it is."""
    timed: bool = False
    """Whether there must be a time stamp."""

    def __post_init__(self) -> None:
        if len(set(self.activity)) < len(self.activity):
            raise SettingError("activity", JOINER.join(self.activity), "different columns")


def find_columns(name: str, present: Sequence[str], wanted: Wanted) -> Columns:
    """Find the columns of a log, by the names given or by names in common use."""
    for role, column in (
        ("case", wanted.case),
        *(("activity", part) for part in wanted.activity),
        ("timestamp", wanted.timestamp),
        ("person", wanted.person),
    ):
        if column is not None and column not in present:
            raise ColumnsError(name, [role], present, column)
    case = wanted.case or _common("case", present)
    activity = wanted.activity
    if not activity and (found := _common("activity", present)):
        activity = (found,)
    timestamp = wanted.timestamp or _common("timestamp", present)
    needed = {"case": case, "activity": activity, "timestamp": timestamp or not wanted.timed}
    missing = [role for role, column in needed.items() if not column]
    if missing or case is None:
        raise ColumnsError(name, missing, present)
    return Columns(
        case=case,
        activity=activity,
        timestamp=timestamp,
        person=wanted.person,
        unfinished=UNFINISHED if UNFINISHED in present else None,
    )


def _common(role: str, present: Sequence[str]) -> str | None:
    plain: dict[str, str] = {}
    for name in present:
        plain.setdefault(_plain(name), name)
    return next((plain[name] for name in COMMON[role] if name in plain), None)


def _plain(name: str) -> str:
    return name.strip().lower().translate(str.maketrans("", "", " _-"))
