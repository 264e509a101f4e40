"""How a log is to be read: one frozen value, refused when it is made."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ..base.periods import Period
from ..errors import Argument, SettingError, is_whole, nearest
from ..kernel.unit import ONE_CASE, Unit
from .formats import SUFFIXES
from .time_format import NUMBERS, check_time_format

Order = Literal["time", "file"]
Engine = Literal["spark", "r4pm"]
Protect = Literal["person", "person-period"]

JOINER = "+"
"""Stands between the parts of an activity that is built from several columns."""


ENCODINGS = ("utf-8", "utf-16", "cp1252", "latin-1", "cp850", "mac-roman")
"""Encodings that are named in messages; any that Python knows can be asked for."""


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How to read an event log. Columns that are omitted are detected by their names.

    Attributes:
        case: Column of the case id.
        activity: Column of the activity. Several columns are joined with a plus sign.
        timestamp: Column of the time stamp. If the date and the time of day are in two columns,
            name both, first the date, then the time of day.
        time_format: Format of time stamps: iso, day-first, month-first, epoch, epoch-ms, epoch-us,
            excel, number, or a pattern such as "%d.%m.%Y %H:%M". Detected automatically if omitted.
        start: Column of the time at which work began, if the time stamp is the time at which it
            ended. Two columns, date and time of day, are joined like those of the time stamp.
        lifecycle: Column with the life cycle of work: start or complete.
        order: Order of events inside a case: time (ties in file order) or file. Default: file for
            XES; for tables time, or file if there is no time column.
        person: Column that identifies the person. The guarantee is then for a person, not for a
            case.
        max_cases: Maximum number of cases per person. Requires person.
        period: Read only cases that were completed in this period (UTC): 2026, 2026-Q4, 2026-10 or
            2026-10-31.
        protect: Unit of privacy if person and period are given. person: ε adds up over all periods.
            person-period: ε adds up over periods that overlap.
        format: File format, if the file name does not end with it.
        encoding: Character encoding of a text file, such as cp1252. Detected automatically if
            omitted.
        header: Names of the columns, separated by commas, if the file has no header.
        skip_rows: Number of lines of a text table, or rows of a spreadsheet, above the header.
            Detected automatically if omitted.
        sheet: Sheet of a spreadsheet, by its name or its number from 1. The first if omitted.
        query: SQL query to run on a database. It returns one row per event.
        engine: Reader to use instead of the built-in one: spark (tables) or r4pm (XES).
        attribute: Attribute of cases or events to release. Repeat for several.
        pair: Two attributes, A,B, whose joint distribution the release preserves. Repeat for
            several.
        columns: File that declares the values of attributes: TOML, as `sacofa columns` writes it.
        employees: Allow attributes that identify people at work. A unit of privacy per case does
            not protect them.
        personal: Allow attributes that look like names, birth dates, contact details, addresses,
            free text or identifiers of persons. The certificate repeats it.
        accept_other: Release an attribute with too many different values as "other" instead of
            stopping.
        trusted: Skip the checks for decompression bombs and other hostile files.
    """

    case: str | None = None
    activity: tuple[str, ...] = ()
    timestamp: str | tuple[str, ...] | None = None
    time_format: str | None = None
    start: str | tuple[str, ...] | None = None
    lifecycle: str | None = None
    order: Order | None = None
    person: str | None = None
    max_cases: int | None = None
    period: str | None = None
    protect: Protect | None = None
    format: str | None = None
    encoding: str | None = None
    header: tuple[str, ...] = ()
    skip_rows: int | None = None
    sheet: str | None = None
    query: str | None = None
    engine: Engine | None = None
    attribute: tuple[str, ...] = ()
    pair: tuple[tuple[str, str], ...] = ()
    columns: Any = None
    employees: bool = False
    personal: bool = False
    accept_other: bool = False
    trusted: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.activity, str):
            object.__setattr__(self, "activity", (self.activity,))
        object.__setattr__(self, "activity", tuple(self.activity or ()))
        for name in ("timestamp", "start"):
            object.__setattr__(self, name, _stamp(name, getattr(self, name)))
        if self.time_format in NUMBERS and not {type(self.timestamp), type(self.start)}.isdisjoint(
            {tuple}
        ):
            raise SettingError(
                "time_format",
                self.time_format,
                "iso, day-first, month-first or a pattern if date and time of day are two columns",
            )
        for name in ("attribute", "pair"):
            given = getattr(self, name) or ()
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        object.__setattr__(self, "pair", tuple(_pair(pair) for pair in self.pair))
        if not self.attribute:
            for name in ("columns", "pair", "employees", "personal", "accept_other"):
                if getattr(self, name):
                    raise SettingError(name, "given", "left out unless attributes are asked for")
        if isinstance(self.header, str):
            object.__setattr__(self, "header", tuple(self.header.split(",")))
        object.__setattr__(self, "header", tuple(name.strip() for name in self.header or ()))
        if len(set(self.header)) < len(self.header) or "" in self.header:
            raise SettingError("header", ",".join(self.header), "different names")
        if self.skip_rows is not None and not (is_whole(self.skip_rows) and self.skip_rows >= 0):
            raise SettingError("skip_rows", self.skip_rows, "a whole number, 0 or more")
        if self.sheet is not None:
            object.__setattr__(self, "sheet", str(self.sheet))
        if self.encoding is not None and not _is_encoding(self.encoding):
            advice = nearest(self.encoding, ENCODINGS)
            raise SettingError(
                "encoding", self.encoding, f"such as {', '.join(ENCODINGS)}.{advice}"
            )
        if len(set(self.activity)) < len(self.activity):
            raise SettingError("activity", JOINER.join(self.activity), "different columns")
        if self.order is not None and self.order not in get_args(Order):
            raise SettingError("order", self.order, "time or file")
        if self.engine is not None and self.engine not in get_args(Engine):
            raise SettingError("engine", self.engine, f"one of {', '.join(get_args(Engine))}")
        check_time_format(self.time_format)
        known = sorted(set(SUFFIXES.values()))
        if self.format is not None and self.format not in known:
            advice = nearest(self.format, known)
            raise SettingError("format", self.format, f"one of {', '.join(known)}.{advice}")
        if self.person is None and self.max_cases is not None:
            raise SettingError("person", None, "given where ", Argument("max_cases"), " is")
        if self.person is not None and self.max_cases is None:
            raise SettingError("max_cases", None, "given where ", Argument("person"), " is")
        if self.period is not None:
            Period.parse(self.period)
        if self.protect is not None and self.protect not in get_args(Protect):
            raise SettingError("protect", self.protect, f"one of {', '.join(get_args(Protect))}")
        both = self.person is not None and self.period is not None
        if both and self.protect is None:
            raise SettingError(
                "protect",
                None,
                "said for persons with a period: person (what they cost adds up over periods) or "
                "person-period (what a person does in one period is protected by itself)",
            )
        if self.protect is not None and not both:
            raise SettingError(
                "protect",
                self.protect,
                "left out without both ",
                Argument("person"),
                " and ",
                Argument("period"),
            )
        self._make_unit()  # It refuses what cannot be.

    def _make_unit(self) -> Unit:
        if self.person is None or self.max_cases is None:
            return ONE_CASE
        per_period = self.protect == "person-period"
        return Unit(person=self.person, max_cases=self.max_cases, per_period=per_period)

    @property
    def unit(self) -> Unit:
        """What is protected where a log is read so."""
        return self._make_unit()


def _stamp(name: str, given: Any) -> str | tuple[str, ...] | None:
    """Take one column, or those of the date and of the time of day."""
    columns = (given,) if isinstance(given, str) else tuple(given or ())
    if len(columns) > 2 or len(set(columns)) < len(columns):
        raise SettingError(
            name, ", ".join(columns), "one column, or those of the date and of the time of day"
        )
    return columns if len(columns) == 2 else next(iter(columns), None)


def _pair(pair: Any) -> tuple[str, str]:
    """Take two names, or a text with a comma between them."""
    names = tuple(pair.split(",")) if isinstance(pair, str) else tuple(pair)
    if len(names) != 2 or not all(isinstance(name, str) and name.strip() for name in names):
        raise SettingError(
            "pair", ",".join(map(str, names)), "two attributes with a comma between them: A,B"
        )
    return names[0].strip(), names[1].strip()


def _is_encoding(name: str) -> bool:
    """Whether Python knows an encoding, and it is one of text."""
    try:
        decoder = codecs.getincrementaldecoder(name)("replace")
        return "a".encode(name).decode(name) == "a" == decoder.decode("a".encode(name), final=True)
    except (LookupError, TypeError, ValueError):
        return False
