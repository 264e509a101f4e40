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


def find_columns(
    path: object,
    present: Sequence[str],
    *,
    case: str | None = None,
    activity: str | Sequence[str] | None = None,
    timestamp: str | None = None,
    person: str | None = None,
    timed: bool = False,
) -> Columns:
    """Find the columns of a log, by the names given or by names in common use."""
    given = activity_names(activity)
    for role, name in (
        ("case", case),
        *(("activity", part) for part in given),
        ("timestamp", timestamp),
        ("person", person),
    ):
        if name is not None and name not in present:
            raise ColumnsError(path, [role], present, name)
    found = {role: _common(role, present) for role in COMMON}
    case = case or found["case"]
    given = given or ((found["activity"],) if found["activity"] else ())
    timestamp = timestamp or found["timestamp"]
    needed = {"case": case, "activity": given, "timestamp": timestamp or not timed}
    missing = [role for role, name in needed.items() if not name]
    if missing or case is None:
        raise ColumnsError(path, missing, present)
    return Columns(
        case=case,
        activity=given,
        timestamp=timestamp,
        person=person,
        unfinished=UNFINISHED if UNFINISHED in present else None,
    )


def activity_names(activity: str | Sequence[str] | None) -> tuple[str, ...]:
    """Take one name, several, or none."""
    if activity is None:
        return ()
    names = (activity,) if isinstance(activity, str) else tuple(activity)
    if len(set(names)) < len(names):
        raise SettingError("activity", JOINER.join(names), "different columns")
    return names


def _common(role: str, present: Sequence[str]) -> str | None:
    plain: dict[str, str] = {}
    for name in present:
        plain.setdefault(_plain(name), name)
    return next((plain[name] for name in COMMON[role] if name in plain), None)


def _plain(name: str) -> str:
    return name.strip().lower().translate(str.maketrans("", "", " _-"))
