"""Detection of the roles of columns.

Columns are recognised by names in common use: those of pm4py and XES first, then plain ones, then
those of Celonis, Signavio, Disco, SAP and ServiceNow, in English and German. Case, accents, blanks
and punctuation are ignored. A date and a time of day in two columns are joined if both are named,
or if their names belong together, such as UDATE and UTIME. Only names decide; no row is read.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain

from ..base.words import WORDS
from ..errors import ColumnsError, SettingError
from ..kernel.attributes import Attribute
from ..kernel.statements import Statement
from .cells import Use
from .lifecycle import TRANSITION
from .options import ReadOptions


def plain_name(name: str) -> str:
    """A name in small letters without accents, blanks and punctuation."""
    letters = unicodedata.normalize("NFKD", name).casefold()
    return "".join(letter for letter in letters if letter.isalnum())


TRUNCATED = "case:unfinished"
"""The column that marks cases which went on but were truncated; written by this package."""

COLUMNS_TAKEN = Statement("assumption.columns_from_log")
"""Assumption for a log without a header, in which each case defines the columns."""

TIMES_TAKEN = Statement("assumption.times_from_log")
"""Assumption for a log that does not declare its columns as a whole."""

COMMON = {role: tuple(map(plain_name, names)) for role, names in WORDS["roles"].items()}
"""Names that common programs export, the most specific first."""

TIME_WORDS: dict[str, list[str]] = WORDS["times_of_dates"]
"""Prefixes and suffixes of date names, and their counterparts in names of times of day."""


@dataclass(frozen=True, kw_only=True)
class DateAndTime:
    """A date and a time of day in two columns, which are read as one time stamp."""

    date: str
    """The column of the date."""
    time: str
    """The column of the time of day."""
    name: str
    """The name of the joined time stamp; no column of the log has this name."""
    form: str | None = None
    """The declared format of date and time, joined by a blank; None if it was not declared."""

    @property
    def six_digits(self) -> bool:
        """Whether the column name implies that 930 is 0:09:30, not 9:30."""
        return plain_name(self.time) in WORDS["six_digits"]


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The roles of the columns of a table, or of the attributes of an XES file."""

    case: str
    """The case of an event."""
    activity: tuple[str, ...]
    """The activity; the texts of several columns are joined with a plus sign."""
    timestamp: str | None
    """The time of an event, if recorded."""
    person: str | None = None
    """The person, if the unit of privacy is a person."""
    start: str | None = None
    """The start of work on an event, if the table has a column for it."""
    lifecycle: str | None = None
    """Whether an event is the start or the end of work, if the log records it."""
    text_times: bool = False
    """Whether any times are text, which may have several formats."""
    truncated: str | None = None
    """Whether a case was truncated, if the log records it."""
    joined: tuple[DateAndTime, ...] = ()
    """The times that are split into two columns, by the names in `timestamp` and `start`."""
    unused: DateAndTime | None = None
    """A date that is the time stamp, and a time of day that is not used."""
    titles: int = 0
    """Number of lines or rows above the header that were detected as titles and skipped."""
    attributes: tuple[Attribute, ...] = ()
    """The attributes that are read."""
    taken: tuple[Statement, ...] = ()
    """Assumptions that were taken from the cases of the log to settle the roles."""

    def columns_of(self, time: str | None) -> str | tuple[str, str] | None:
        """Return the column of a time, or its two columns, in the form of `ReadOptions`."""
        halves = {each.name: (each.date, each.time) for each in self.joined}
        return time if time is None else halves.get(time, time)

    @property
    def times(self) -> tuple[str, ...]:
        """The columns with complete time stamps."""
        joined = [each.name for each in self.joined]
        return tuple(n for n in (self.timestamp, self.start) if n is not None and n not in joined)

    @property
    def uses(self) -> dict[str, Use]:
        """The purposes of cells, by column, unless it is `value`."""
        named: dict[str, Use] = dict.fromkeys((*self.activity, self.person or ""), "name")
        return {**named, self.case: "id"}

    @property
    def roles(self) -> tuple[str | None, ...]:
        """The columns with a role other than attribute."""
        halves = [column for each in self.joined for column in (each.date, each.time)]
        others = (*self.times, *halves, self.person, self.lifecycle, self.truncated)
        return (self.case, *self.activity, *others)

    def notes(self, options: ReadOptions) -> tuple[Statement, ...]:
        """Return notices about detected columns for the holder of the log."""
        given = (options.timestamp, options.start)
        notes = [
            Statement("notice.columns.joined_times", date=each.date, time=each.time)
            for each in self.joined
            if (each.date, each.time) not in given
        ]
        if self.unused is not None:
            unused = {"date": self.unused.date, "time": self.unused.time}
            notes.append(Statement("notice.columns.unused_time", **unused))
        if self.titles:
            notes.append(Statement("notice.columns.titles", number=self.titles))
        return tuple(notes)


ROLES = ("case", "activity", "timestamp", "start", "lifecycle", "person")
"""The roles that columns are named for."""


def resolve_columns(name: str, present: Sequence[str], options: ReadOptions) -> Columns:
    """Find the columns of a log, by the names given or by names in common use."""
    found = _find_roles(name, present, options)
    needed = ROLES[: 2 + (options.order == "time")]
    if missing := [role for role in needed if not found[role]]:
        raise ColumnsError(name, missing, present)
    stamps = [found[role] for role in ("timestamp", "start")]
    joined = {pair: _join(pair, present, options) for pair in stamps if len(pair) == 2}
    timestamp, start = (
        joined[stamp].name if stamp in joined else next(iter(stamp), None) for stamp in stamps
    )
    free = {*present} - {*found["activity"]}
    return Columns(
        case=found["case"][0],
        activity=found["activity"],
        timestamp=timestamp,
        start=start,
        joined=tuple(joined.values()),
        unused=_unused_time(stamps[0], present, options),
        lifecycle=options.lifecycle or next(iter(free & {TRANSITION}), None),
        person=options.person,
        truncated=next(iter(free & {TRUNCATED}), None),
    )


def _find_roles(
    name: str, present: Sequence[str], options: ReadOptions
) -> dict[str, tuple[str, ...]]:
    """The columns that were named for each role, then those whose names are in common use."""
    found = {role: as_columns(getattr(options, role)) for role in ROLES}
    for role, columns in found.items():
        if absent := {*columns} - {*present}:
            raise ColumnsError(name, [role], present, min(absent, key=columns.index))
    # The case may also be the person: then every person has one case.
    taken = {*chain(*(found[role] for role in ROLES[:-1]))}
    for role in ("case", "activity"):
        found[role] = found[role] or _common(role, present, taken)
        taken |= {*found[role]}
    found["timestamp"] = found["timestamp"] or _common_stamp("timestamp", present)
    if found["timestamp"]:
        found["start"] = found["start"] or _common_stamp("start", present)
    return found


def _common(role: str, present: Sequence[str], used: Collection[str] = ()) -> tuple[str, ...]:
    """The column whose name is in common use for a role, if there is any."""
    plain = {plain_name(name): name for name in reversed(present) if name not in used}
    return tuple(plain[name] for name in COMMON[role] if name in plain)[:1]


def _common_stamp(role: str, present: Sequence[str]) -> tuple[str, ...]:
    found = _common(role, present)
    return found and (partner(found[0], present) or found)


def as_columns(given: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """The columns that were given for one role."""
    return (given,) if isinstance(given, str) else given or ()


def one_column(role: str, given: str | tuple[str, ...] | None, format: str) -> str | None:
    """The column that was given; two are refused, for a format that has no columns."""
    if isinstance(given, tuple):
        must = Statement("must.read.one_of_format", format=format)
        raise SettingError(role, ", ".join(given), must)
    return given


def _join(pair: tuple[str, ...], present: Sequence[str], options: ReadOptions) -> DateAndTime:
    date, time = pair
    name = f"{date}+{time}"
    while name in present:
        name += "+"
    return DateAndTime(date=date, time=time, name=name, form=options.time_format)


def partner(column: str, present: Sequence[str]) -> tuple[str, str] | None:
    """A date and a time of day whose names belong together, one of which is this column."""
    plain = {plain_name(name): name for name in reversed(present)}
    for date, name in plain.items():
        for time in _times_of(date):
            if time in plain and column in (name, plain[time]):
                return name, plain[time]
    return None


def _times_of(date: str) -> list[str]:
    """Return the possible names of the time of day that belongs to a date column."""
    found = []
    for word, times in TIME_WORDS.items():
        if date.endswith(word):
            found += [date.removesuffix(word) + time for time in times]
        elif date.startswith(word):
            found += [time + date.removeprefix(word) for time in times]
    return found


def _unused_time(
    stamps: Sequence[str], present: Sequence[str], options: ReadOptions
) -> DateAndTime | None:
    """The time of day that belongs to the time stamp, or may, if the time stamp is a date alone."""
    if len(stamps) != 1 or not _times_of(plain_name(stamps[0])):
        return None
    pair = partner(stamps[0], present)
    times = [name for name in present if plain_name(name) in WORDS["times_of_day"]]
    time = pair[1] if pair is not None else next(iter(times), stamps[0])
    unused = time not in (*stamps, *as_columns(options.start), *options.activity)
    return _join((stamps[0], time), present, options) if unused else None


MAX_TITLE_ROWS = 30
"""A header is looked for in no more rows than this and the next."""
TITLE_CELLS = 2
"""A row that fills no more cells than this may be a title, such as `Created | 2024-01-31`."""


def find_header(rows: Sequence[Sequence[str | None]]) -> int:
    """Find the index of the header among the first rows of a table, below any titles.

    Titles and the header do not belong to any case. The header is detected by the names of its
    columns, or by its width, as titles fill one or two cells. Below a row of three or more cells,
    only a row with known names and at least twice as many cells is accepted, which no row of a case
    has.
    """
    widths = [sum(bool((cell or "").strip()) for cell in row) for row in rows]
    for place, (row, width) in enumerate(zip(rows, widths, strict=True)):
        if 2 * max(widths[:place], default=0) <= width and _has_names(row):
            return place
    return next((place for place, width in enumerate(widths) if width > TITLE_CELLS), 0)


def _has_names(row: Sequence[str | None]) -> bool:
    """Whether two cells of a row are names for a case and an activity."""
    names = [plain_name(cell) for cell in row if cell]
    cases = {place for place, name in enumerate(names) if name in COMMON["case"]}
    activities = {place for place, name in enumerate(names) if name in COMMON["activity"]}
    return bool(cases and activities) and len(cases | activities) > 1
