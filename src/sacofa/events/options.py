"""How to read a log: one frozen value, validated when it is created."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar, get_args

from ..base.periods import Period
from ..errors import Argument, SettingError, Statement, advised, is_whole
from ..kernel.unit import ONE_CASE, Unit
from .formats import SUFFIXES
from .time_format import NUMBERS, check_time_format

Order = Literal["time", "file"]
Engine = Literal["spark"]
Protect = Literal["person", "person-period"]

CHOICES = {"order": get_args(Order), "engine": get_args(Engine), "protect": get_args(Protect)}
"""The values of settings that have few."""
Name = TypeVar("Name", bound=str | Sequence[str])

JOINER = "+"
"""Separator of the parts of an activity from several columns."""
ENCODINGS = ("utf-8", "utf-16", "cp1252", "latin-1", "cp850", "mac-roman")
"""Encodings that messages suggest; all encodings of Python are supported."""


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
        engine: Reader to use instead of the built-in one: spark (CSV, TSV and Parquet).
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
    columns: str | Path | Mapping[str, object] | None = None
    employees: bool = False
    personal: bool = False
    accept_other: bool = False
    trusted: bool = False

    def __post_init__(self) -> None:
        normal = {
            "activity": _names(self.activity),
            "timestamp": _stamp("timestamp", self.timestamp),
            "start": _stamp("start", self.start),
            "attribute": _names(self.attribute),
            "pair": tuple(map(_pair, _names(self.pair))),
            "header": tuple(name.strip() for name in _split(self.header)),
            "sheet": None if self.sheet is None else str(self.sheet),
        }
        for name, value in normal.items():
            object.__setattr__(self, name, value)
        _check_file(self)
        _check_columns(self)
        _check_unit(self)

    @property
    def unit(self) -> Unit:
        """The unit of privacy of a log that is read with these options."""
        if self.person is None or self.max_cases is None:
            return ONE_CASE
        per_period = self.protect == "person-period"
        return Unit(person=self.person, max_cases=self.max_cases, per_period=per_period)


def _names(given: str | Sequence[Name] | None) -> tuple[str | Name, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())


def _split(given: str | Sequence[str] | None) -> Sequence[str]:
    return given.split(",") if isinstance(given, str) else given or ()


def _stamp(name: str, given: str | Sequence[str] | None) -> str | tuple[str, ...] | None:
    """One column, or those of the date and of the time of day."""
    columns = _names(given)
    if len(columns) > 2 or len(set(columns)) < len(columns):
        raise SettingError(name, ", ".join(columns), Statement("must.read.stamp"))
    return columns if len(columns) == 2 else next(iter(columns), None)


def _pair(pair: str | Sequence[str]) -> tuple[str, str]:
    """Two names, or a text with a comma between them."""
    names = tuple(_split(pair))
    if len(names) != 2 or not all(isinstance(name, str) and name.strip() for name in names):
        raise SettingError("pair", ",".join(map(str, names)), Statement("must.read.pair"))
    return names[0].strip(), names[1].strip()


def _check_file(options: ReadOptions) -> None:
    """Refuse settings of the file that cannot be."""
    skip = options.skip_rows
    if skip is not None and not (is_whole(skip) and skip >= 0):
        raise SettingError("skip_rows", skip, Statement("must.read.not_negative"))
    if options.encoding is not None and not _is_encoding(options.encoding):
        must = Statement("must.read.such_as", choices=ENCODINGS)
        raise SettingError("encoding", options.encoding, advised(must, options.encoding, ENCODINGS))
    formats = sorted(set(SUFFIXES.values()))
    if options.format is not None and options.format not in formats:
        must = Statement("must.one_of", choices=formats)
        raise SettingError("format", options.format, advised(must, options.format, formats))
    for name, choices in CHOICES.items():
        if (value := getattr(options, name)) not in (None, *choices):
            raise SettingError(name, value, Statement("must.one_of", choices=choices))


def _check_columns(options: ReadOptions) -> None:
    """Refuse duplicate columns, invalid time formats, and settings that need attributes."""
    for name in ("header", "activity"):
        names = getattr(options, name)
        if len(set(names)) < len(names) or "" in options.header:
            raise SettingError(name, ",".join(names), Statement("must.read.different"))
    check_time_format(options.time_format)
    joined = isinstance(options.timestamp, tuple) or isinstance(options.start, tuple)
    if joined and options.time_format in NUMBERS:
        raise SettingError("time_format", options.time_format, Statement("must.read.text_form"))
    for name in ("columns", "pair", "employees", "personal", "accept_other"):
        if getattr(options, name) and not options.attribute:
            must = Statement("must.read.only_with", argument=Argument("attribute"))
            raise SettingError(name, "given", must)


def _check_unit(options: ReadOptions) -> None:
    """Refuse a unit of privacy that cannot be."""
    for name, other in (("person", "max_cases"), ("max_cases", "person")):
        if getattr(options, name) is None and getattr(options, other) is not None:
            raise SettingError(name, None, Statement("must.given_with", argument=Argument(other)))
    if options.period is not None:
        Period.parse(options.period)
    both, protect = None not in (options.person, options.period), options.protect
    if both and protect is None:
        raise SettingError("protect", None, Statement("must.read.protect"))
    if protect is not None and not both:
        arguments = {"person": Argument("person"), "period": Argument("period")}
        raise SettingError("protect", protect, Statement("must.read.no_protect", **arguments))
    _ = options.unit  # It refuses numbers of cases that cannot be.


def _is_encoding(name: str) -> bool:
    """Whether Python knows an encoding, and it is a text encoding."""
    try:
        decoder = codecs.getincrementaldecoder(name)("replace")
        return "a".encode(name).decode(name) == "a" == decoder.decode("a".encode(name), final=True)
    except (LookupError, TypeError, ValueError):
        return False
