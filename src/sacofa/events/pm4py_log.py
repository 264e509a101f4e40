"""Logs of pm4py in memory: an EventLog is treated like an XES file, an EventStream like a table.

Every value is converted independently, as in frames, and columns have fixed types: text, and
moments in UTC. In a frame of all values, the types would depend on all cases: one missing number
would turn whole numbers into doubles. Undeclared facts are taken from all cases, in no order, and
the certificate names them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ColumnsError, MissingExtraError, ReadError, Statement
from ..kernel.variants import VariantCounts
from .attributes import Sightings, with_attributes
from .bounded_file import Progress
from .case_store import StoredCases, Texts
from .cells import is_missing, text_of
from .columns import COLUMNS_TAKEN, TIMES_TAKEN, TRUNCATED, Columns, one_column, resolve_columns
from .duckdb import events
from .frames import in_column
from .notices import Notify
from .options import ReadOptions
from .source import Log, Source
from .time_format import times_unread
from .xes_form import TIME, Declared, lookup_in, standard_columns

if TYPE_CHECKING:
    from pm4py.objects.log.obj import EventLog, EventStream

CASE = "case:concept:name"
MOMENTS = "datetime64[us]"
"""The type of a column of times in UTC."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MemoryLog:
    """The rows of a log, and what it declares."""

    rows: list[dict[str, object]]
    """The attributes of each event, with those of its case as `case:…`; one row per empty case."""
    has_events: bool
    """Whether there is any event; the checks for required attributes need one."""
    declared: Declared | None = None
    """Declarations for all cases and events; None: a table, whose columns are found by names."""

    @property
    def names(self) -> list[str]:
        """The names of all attributes in any row."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def sightings(self) -> Sightings:
        """Return the levels and types of all attributes."""
        seen = Sightings()
        for row in self.rows:
            for name, value in row.items():
                if _plain(value) is not None:
                    key, of_case = name.removeprefix("case:"), name.startswith("case:")
                    seen.add(key, of_case=of_case, kind=_kind(value))
        return seen


def read_memory(source: EventLog | EventStream) -> MemoryLog:
    """Convert a log to rows. As in XES files, each trace is a case, whatever its name."""
    kind = type(source).__name__
    if kind == "EventStream":
        listed = [dict(event) for event in source]
        return MemoryLog(rows=listed, has_events=bool(listed))
    if kind != "EventLog":
        raise ReadError(f"pm4py {kind}", Statement("read.frame.no_pm4py_log"))
    rows: list[dict[str, object]] = []
    for number, trace in enumerate(source):
        of_case = {f"case:{name}": value for name, value in trace.attributes.items()}
        of_case[CASE] = str(number)
        # Attributes of the case come first: no event may override them. An empty case has a row,
        # too.
        rows += [{**dict(event), **of_case} for event in trace] or [of_case]
    return MemoryLog(rows=rows, has_events=any(map(len, source)), declared=_declared(source))


def _declared(source: EventLog) -> Declared:
    """Return the declarations of the XES file that an EventLog was read from."""
    of_cases, of_events = (
        {name: _kind(value) for name, value in (source.omni_present.get(scope) or {}).items()}
        for scope in ("trace", "event")
    )
    prefixes = [said.get("prefix") for said in source.extensions.values()]
    return Declared.of(of_cases, of_events, times="time" in prefixes)


def kinds(source: Source) -> dict[str, str]:
    """List the attributes of events, and those of cases as `case:…`, with their types."""
    seen = source.content.sightings()
    found = {name: seen.present(name.removeprefix("case:")) for name in source.content.names}
    return {name: there.kind for name, there in found.items() if there is not None}


def find(source: Source, options: ReadOptions) -> Columns:
    """Resolve the columns; requested ones must occur."""
    log: MemoryLog = source.content
    names = log.names
    events.check_pattern(options.time_format)
    if log.declared is None:
        columns = replace(resolve_columns(source.name, names, options), taken=(COLUMNS_TAKEN,))
    else:
        columns = _of_event_log(source.name, log, log.declared.times, options)
    declared = [] if log.declared is None else [log.declared]
    lookup = lookup_in(declared, log.sightings() if options.attribute else None, options)
    return with_attributes(columns, source.name, options, lookup, names)


def _of_event_log(name: str, log: MemoryLog, times: bool, options: ReadOptions) -> Columns:
    """Resolve columns by the names of XES; requested ones must occur in some event."""
    what, names = "an EventLog", log.names
    is_timed = options.timestamp is not None or options.order == "time"
    stamp = one_column("timestamp", options.timestamp, what) or TIME
    start = one_column("start", options.start, what)
    marks = (CASE, TRUNCATED)
    columns = standard_columns(options, what, marks=marks, stamp=stamp, start=start)
    asked = [("activity", each) for each in columns.activity]
    asked += [("timestamp", stamp)] * is_timed
    asked += [(role, getattr(options, role)) for role in ("start", "lifecycle", "person")]
    for role, column in asked * log.has_events:
        if column not in (None, *names):
            raise ColumnsError(name, [role], names, column)
    if is_timed or times:
        return columns
    return replace(columns, timestamp=stamp if TIME in names else None, taken=(TIMES_TAKEN,))


def count(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Count the variants."""
    return events.count(_as_table(log), progress, notify)


def cases(log: Log, progress: Progress | None = None, notify: Notify | None = None) -> StoredCases:
    """Return the cases with their times."""
    return events.cases(_as_table(log), progress, notify)


def count_disordered(log: Log) -> int:
    """Count the cases whose rows are not in the order of their times."""
    return events.count_disordered(_as_table(log))


def _as_table(log: Log) -> Log:
    """The same log as a frame, with the columns that are read."""
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("pandas", "evaluate") from None
    memory: MemoryLog = log.source.content
    columns, rows = log.columns, memory.rows
    assert columns is not None
    if columns.timestamp is None and memory.declared is not None:
        # A row without activity and time declares an empty case, so a column for times is needed.
        columns = replace(columns, timestamp=TIME)
    texts = _texts(log.name, columns, rows)
    made = {name: pandas.Series(column, dtype="object") for name, column in texts.items()}
    for name in () if log.options.time_format else columns.times:
        moments = _moments(log, name, texts[name], ordered=name == columns.timestamp)
        # Through NumPy, because pandas 2.0 cannot make a column in UTC with a year beyond 2262.
        made[name] = pandas.Series(np.array(moments, dtype=MOMENTS)).dt.tz_localize("UTC")
    source = Source(name=log.name, format="frame", content=pandas.DataFrame(made))
    return replace(log, source=source, columns=columns)


def _moments(log: Log, column: str, texts: Texts, *, ordered: bool) -> list[datetime | None]:
    """The moments of a column, of which one must be readable to order by them."""
    moments = [_moment(row.get(column)) for row in log.source.content.rows]
    if log.timed and ordered and not any(moments) and {*texts} - {None}:
        raise ReadError(log.name, times_unread("only_iso", column))
    return moments


def _texts(log: str, columns: Columns, rows: list[dict[str, object]]) -> dict[str, Texts]:
    """Return the texts of rows in the columns that are read."""
    fields: dict[str, tuple[str, ...]]
    fields = {name: (name,) for name in columns.roles if name is not None}
    # Of an attribute of cases that a case lacks, the first value of its events counts.
    fields |= {each.key: (each.key, each.name) for each in columns.attributes}
    found: dict[str, Texts] = {}
    for column, names in fields.items():
        use = columns.uses.get(column, "value")
        with in_column(log, column):
            texts = ((text_of(_plain(row.get(name)), use) for name in names) for row in rows)
            found[column] = [next((t for t in row if t is not None), None) for row in texts]
    return found


def _plain(value: object) -> object:
    """Unwrap the value of a pm4py attribute; None if it is missing."""
    if isinstance(value, Mapping):
        value = value.get("value")
    return None if is_missing(value) else value


def _kind(value: object) -> str:
    """Return the XES type of a value."""
    value = _plain(value)
    if type(value).__name__ in ("bool", "bool_"):
        return "boolean"
    if isinstance(value, Integral):
        return "int"
    if isinstance(value, Real):
        return "float"
    return "date" if isinstance(value, date) else "string"


def _moment(value: object) -> datetime | None:
    """Return a time in UTC, without its zone; missing if it is not in ISO 8601."""
    value = _plain(value)
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        elif isinstance(value, date) and not isinstance(value, datetime):
            value = datetime.combine(value, time())
        if not isinstance(value, datetime):
            return None
        # A time stamp of pandas is one of Python, too, and may know nanoseconds.
        moment: datetime = getattr(value, "to_pydatetime", lambda warn: value)(warn=False)
        return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    except (OverflowError, ValueError):
        return None
