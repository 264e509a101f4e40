"""Which columns of a log hold what.

Names in common use are found without being told: those of pm4py and XES first, then plain ones,
then those of Celonis, Signavio, Disco, SAP and ServiceNow, in English and German.
Letters in either case, blanks, underscores and hyphens make no difference: `Case ID`, `case_id`
and `caseid` are one name. Where several fit, the one named first in `COMMON` is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..domains import Attribute
from ..errors import ColumnsError
from .cells import Use
from .lifecycle import TRANSITION
from .options import ReadOptions

TRUNCATED = "case:unfinished"
"""The column that marks cases which went on but were truncated; written by this package."""

COLUMNS_TAKEN = "Which attributes cases and events have is public; it was taken from the log."
"""What is assumed of a log without a header, in which each case says what columns there are."""

TIMES_TAKEN = "Whether events have time stamps is public; it was taken from the log."
"""What is assumed where a log as a whole does not declare it."""

COMMON = {
    "case": (
        "case:concept:name", "caseid", "case", "casenumber", "traceid", "trace", "casekey",
        "caseidentifier", "casename", "processinstance", "processinstanceid", "fall", "fallid",
        "fallnummer", "fallnr", "vorgang", "vorgangsid", "vorgangsnummer", "ticketid",
        "ticketnumber", "ticketnummer", "incidentnumber", "ebeln", "vbeln", "belnr", "aufnr",
        "belegnummer", "objectid", "documentkey", "number",
    ),
    "activity": (
        "concept:name", "activity", "activityname", "event", "eventname", "task", "taskname",
        "action", "activityen", "activityde", "activitykey", "step", "processstep", "aktivität",
        "aktivitaet", "tätigkeit", "taetigkeit", "ereignis", "schritt", "prozessschritt",
        "vorgangsschritt", "tcode", "transaktionscode", "newvalue", "state", "status",
    ),
    "timestamp": (
        "time:timestamp", "timestamp", "time", "datetime", "completetimestamp", "eventtime", "ts",
        "date", "endtimestamp", "endtime", "completetime", "completiontime", "end", "zeitstempel",
        "zeitpunkt", "zeit", "datum", "endzeitpunkt", "endzeit", "ende", "syscreatedon",
        "sysupdatedon", "updated", "created", "udate", "erdat", "aedat",
    ),
    "start": (
        "starttimestamp", "time:starttimestamp", "starttime", "startdate", "startzeitpunkt",
        "startzeit", "beginn",
    ),
}  # fmt: skip
"""Names in common use, as programs export them: those that say most come first."""


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
    start: str | None = None
    """When the work on an event began, where the table has a column for that."""
    lifecycle: str | None = None
    """Whether an event is the start or the end of work, where the log says so."""
    text_times: bool = False
    """Whether any times are text, which may be written in several ways."""
    truncated: str | None = None
    """Whether a case went on but was truncated, where the log says so."""
    attributes: tuple[Attribute, ...] = ()
    """What else is read."""
    taken: tuple[str, ...] = ()
    """What was taken from the cases of the log to find all this, in words: assumptions."""

    @property
    def times(self) -> tuple[str | None, ...]:
        """Those that hold times, where there are such."""
        return (self.timestamp, self.start)

    @property
    def uses(self) -> dict[str, Use]:
        """What the cells of a column are converted for, where that is not `value`."""
        named: dict[str, Use] = dict.fromkeys((*self.activity, self.person or ""), "name")
        return {**named, self.case: "id"}

    @property
    def roles(self) -> tuple[str | None, ...]:
        """All that hold something else than attributes."""
        others = (self.timestamp, self.person, self.start, self.lifecycle, self.truncated)
        return (self.case, *self.activity, *others)


def resolve_columns(name: str, present: Sequence[str], options: ReadOptions) -> Columns:
    """Find the columns of a log, by the names given or by names in common use."""
    for role, column in (
        ("case", options.case),
        *(("activity", part) for part in options.activity),
        ("timestamp", options.timestamp),
        ("start", options.start),
        ("lifecycle", options.lifecycle),
        ("person", options.person),
    ):
        if column is not None and column not in present:
            raise ColumnsError(name, [role], present, column)
    case = options.case or _common("case", present)
    activity = options.activity
    if not activity and (found := _common("activity", present)):
        activity = (found,)
    timestamp = options.timestamp or _common("timestamp", present)
    needed = {
        "case": case,
        "activity": activity,
        "timestamp": timestamp or options.order != "time",
    }
    missing = [role for role, column in needed.items() if not column]
    if missing or case is None:
        raise ColumnsError(name, missing, present)
    return Columns(
        case=case,
        activity=activity,
        timestamp=timestamp,
        start=options.start or (_common("start", present) if timestamp else None),
        lifecycle=options.lifecycle or _lifecycle(present, activity),
        person=options.person,
        truncated=TRUNCATED if TRUNCATED in present else None,
    )


def _lifecycle(present: Sequence[str], activity: Sequence[str]) -> str | None:
    """The transition, unless it is a part of the activity, where it tells two of them apart."""
    return TRANSITION if TRANSITION in present and TRANSITION not in activity else None


def _common(role: str, present: Sequence[str]) -> str | None:
    plain: dict[str, str] = {}
    for name in present:
        plain.setdefault(plain_name(name), name)
    return next((plain[name] for name in COMMON[role] if name in plain), None)


def plain_name(name: str) -> str:
    """A name without what makes no difference."""
    return name.strip().lower().translate(str.maketrans("", "", " _-"))
