"""Rows of spreadsheets: a sheet of an .xlsx or .ods file, as text, one row at a time.

Both are archives of XML, which is read as a stream: memory holds one row, and for .xlsx the texts
that its cells share. A cell that holds a date says so itself, so it is known for what it is.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Any

from lxml import etree

from ..errors import Argument, ReadError, Statement, advised
from .bounded_file import MAX_EXPANSION, SMALL, unreadable
from .source import Source
from .unpacking import explained

Element = Any
"""An element of lxml, which has no types."""
Row = list[object]
"""Cells as text, numbers, moments, True or False; None: nothing."""

MAX_WIDTH = 10_000
"""No table of events has more columns."""
MAX_DAYS = 3_000_000
"""Numbers of more days are no dates."""
MAX_NAMED_SHEETS = 20
"""A message names no more sheets than this."""
MAX_REPEATED = 1 << 20
"""More equal rows one after the other are refused unless trusted."""
MAX_SHARED_BYTES = 1 << 28
"""More bytes of shared texts than this are refused unless trusted: all are held in memory."""


def sheet_rows(source: Source, path: Path) -> Iterator[Row]:
    """Give the rows of a sheet that have any content, without those that are to be skipped.

    The sheet is given by its name or by its number, from 1; it is the first otherwise.
    """
    form, skip = source.format, source.skip_rows or 0
    try:
        with zipfile.ZipFile(path) as archive:
            parts = _Parts(archive, path, source.trusted)
            rows = _xlsx(parts, source.sheet) if form == "xlsx" else _ods(parts, source.sheet)
            for number, row in rows:
                while row and row[-1] is None:
                    row.pop()
                if row and number > skip:
                    yield row
    except (zipfile.BadZipFile, etree.XMLSyntaxError):
        raise _damaged(path, form) from None
    except OSError as error:
        raise unreadable(path, error) from None


class _Parts:
    """The files in an archive, each as a stream of XML that cannot grow past all bounds."""

    def __init__(self, archive: zipfile.ZipFile, path: Path, trusted: bool) -> None:
        self.path = path
        self.trusted = trusted
        self._archive = archive
        self._left = max(SMALL, MAX_EXPANSION * path.stat().st_size)
        self._names = set(archive.namelist())

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def elements(self, name: str, *tags: str) -> Iterator[Element]:
        """Go through the elements with these tags; each is forgotten when the next is asked for."""
        if name not in self:
            raise ReadError(self.path, Statement("read.sheet.no_part", part=name))
        with explained(self.path, "zip"), self._archive.open(name) as file:
            parser = etree.iterparse(
                _Bounded(file, self),
                events=("end",),
                tag=[f"{{*}}{tag}" for tag in tags],
                resolve_entities=False,
                no_network=True,
                huge_tree=self.trusted,
                remove_comments=True,
            )
            for _, element in parser:
                yield element
                element.clear()
                parent = element.getparent()
                while parent is not None and element.getprevious() is not None:
                    del parent[0]

    def take(self, size: int) -> None:
        """Count bytes that were unpacked."""
        self._left -= size
        if self._left < 0 and not self.trusted:
            trusted = Argument("trusted", True)
            raise ReadError(self.path, Statement("read.sheet.bomb", trusted=trusted))


class _Bounded:
    """Bytes of one file in an archive."""

    def __init__(self, file: IO[bytes], parts: _Parts) -> None:
        self._file = file
        self._parts = parts

    def read(self, size: int) -> bytes:
        data: bytes = self._file.read(size)
        self._parts.take(len(data))
        return data


def _local(element: Element) -> str:
    return str(etree.QName(element).localname)


def _refuse_sheet(path: Path, names: list[str], sheet: str | None) -> None:
    """Refuse a file without the sheet that was named."""
    if sheet is not None:
        there = tuple(f'"{name}"' for name in names[:MAX_NAMED_SHEETS])
        what = Statement("read.sheet.no_sheet", sheet=sheet, names=there)
        raise ReadError(path, advised(what, sheet, names))


def _damaged(path: Path, form: str = "xlsx") -> ReadError:
    return ReadError(path, Statement("read.sheet.damaged", form=form))


def _xlsx(parts: _Parts, sheet: str | None) -> Iterator[tuple[int, Row]]:
    link, epoch = _chosen_sheet(parts, sheet)
    cells = _Cells(parts=parts, shared=_shared(parts), dates=_date_styles(parts), epoch=epoch)
    number = 0
    for row in parts.elements(_part_of(parts, link), "row"):
        number = _whole(parts, row.get("r", str(number + 1)))
        yield number, cells.of(row)


def _chosen_sheet(parts: _Parts, sheet: str | None) -> tuple[str | None, datetime]:
    """The link to the sheet that was given, or to the first, and the day that is day 0."""
    epoch, names, chosen = datetime(1899, 12, 30), list[str](), None
    for element in parts.elements("xl/workbook.xml", "workbookPr", "sheet"):
        if _local(element) == "workbookPr":
            epoch = datetime(1904, 1, 1) if element.get("date1904") in ("1", "true") else epoch
            continue
        names.append(element.get("name", ""))
        if chosen is None and _is_chosen(names, sheet):
            chosen = _value(element, "id")
    if chosen is None:
        _refuse_sheet(parts.path, names, sheet)
    return chosen, epoch


def _part_of(parts: _Parts, chosen: str | None) -> str:
    """The file of a sheet in the archive."""
    target = "worksheets/sheet1.xml"
    for link in parts.elements("xl/_rels/workbook.xml.rels", "Relationship"):
        if link.get("Id") == chosen:
            target = link.get("Target", target)
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


@dataclass(frozen=True, kw_only=True)
class _Cells:
    """What is needed to read the cells of an .xlsx file."""

    parts: _Parts
    shared: list[str]
    """The texts that cells share."""
    dates: set[int]
    """The styles of cells that show a date."""
    epoch: datetime
    """The day that is day 0."""

    def of(self, row: Element) -> Row:
        cells: Row = []
        for cell in row.iterchildren("{*}c"):
            place = _column(cell.get("r"), len(cells))
            if place < MAX_WIDTH:
                cells += [None] * (place + 1 - len(cells))
                cells[place] = self._value(cell)
        return cells

    def _value(self, cell: Element) -> object:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return "".join(cell.xpath(".//*[local-name()='t']/text()"))
        value = cell.findtext("{*}v")
        if value is None or kind == "e":
            return None
        if kind == "s":
            return self._shared_text(value)
        if kind == "n":
            is_date = _whole(self.parts, cell.get("s", "0")) in self.dates
            return _number(value, self.epoch if is_date else None)
        return value == "1" if kind == "b" else str(value)

    def _shared_text(self, place: str) -> str:
        try:
            return self.shared[_whole(self.parts, place)]
        except IndexError:
            raise _damaged(self.parts.path) from None


def _number(text: str, epoch: datetime | None) -> object:
    """Give a number, or the moment that it stands for."""
    try:
        number = float(text)
    except ValueError:
        return text
    if epoch is not None and (date := _date(number, epoch)) is not None:
        if 0 <= number < 1 and date.date() == epoch.date():
            # A time of day without a date: no event of a log was on the first day of the calendar.
            return date.time()
        return date
    # Long case ids would lose digits as floating point numbers.
    return int(text) if re.fullmatch(r"-?\d{1,300}", text) else number


def _date(days: float, epoch: datetime) -> datetime | None:
    """The date that a number of days stands for; none where no calendar has it."""
    if not abs(days) < MAX_DAYS:
        return None
    try:
        # To the millisecond: a third of a day has no end in binary.
        return epoch + timedelta(milliseconds=round(days * 86_400_000))
    except OverflowError:
        return None


def _whole(parts: _Parts, text: str) -> int:
    """A number that the format needs to be whole."""
    if not re.fullmatch("[0-9]{1,9}", text):
        raise _damaged(parts.path)
    return int(text)


def _shared(parts: _Parts) -> list[str]:
    """The texts that cells share."""
    found: list[str] = []
    size = 0
    if "xl/sharedStrings.xml" in parts:
        for item in parts.elements("xl/sharedStrings.xml", "si"):
            # How a word is pronounced (rPh) is no part of it.
            text = "".join(item.xpath("(./*|./*[local-name()='r']/*)[local-name()='t']/text()"))
            found.append(text)
            size += len(text) + 50
            if size > MAX_SHARED_BYTES and not parts.trusted:
                raise ReadError(parts.path, Statement("read.sheet.too_much_text"))
    return found


_DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
"""Numbers of the formats for dates and times that every spreadsheet knows."""


def _date_styles(parts: _Parts) -> set[int]:
    """The styles of cells that show a date."""
    if "xl/styles.xml" not in parts:
        return set()
    formats, found = set(_DATES), set()
    for element in parts.elements("xl/styles.xml", "numFmt", "cellXfs"):
        if _local(element) == "numFmt":
            code = re.sub(r'"[^"]*"|\[[^\]]*\]|\\.', "", element.get("formatCode", ""))
            if re.search("[dmyhs]", code, re.IGNORECASE) and "general" not in code.lower():
                formats.add(_whole(parts, element.get("numFmtId", "0")))
        else:
            kinds = [_whole(parts, style.get("numFmtId", "0")) for style in element]
            found = {place for place, kind in enumerate(kinds) if kind in formats}
    return found


def _column(reference: str | None, after: int) -> int:
    """The place of a cell in its row, from 0: `C5` is at 2."""
    letters = re.match("[A-Z]{1,3}", reference or "")
    if letters is None:
        return after
    place = 0
    for letter in letters[0]:
        place = place * 26 + ord(letter) - 64
    return place - 1


def _ods(parts: _Parts, sheet: str | None) -> Iterator[tuple[int, Row]]:
    table: Element = None
    names: list[str] = []
    number = 0
    for row in parts.elements("content.xml", "table-row"):
        around = [*row.iterancestors("{*}table")]
        if len(around) != 1:
            # A table in a cell is no part of the sheet, nor the end of it.
            continue
        if around[0] is not table:
            if _is_chosen(names, sheet):
                return
            table, number = around[0], 0
            names.append(_value(table, "name") or "")
        if _is_chosen(names, sheet):
            cells, many = _ods_cells(row), _repeated(row, "number-rows-repeated")
            if cells:
                yield from ((number + i + 1, list(cells)) for i in _places(parts, many))
            number += many
    if not _is_chosen(names, sheet):
        _refuse_sheet(parts.path, names, sheet)


def _places(parts: _Parts, many: int) -> range:
    """The places of equal rows one after the other."""
    if many > MAX_REPEATED and not parts.trusted:
        raise ReadError(parts.path, Statement("read.sheet.repeated", number=many))
    return range(many)


def _is_chosen(names: list[str], sheet: str | None) -> bool:
    """Whether the last of these sheets is the one that was given, or the first."""
    return (
        len(names) == 1 if sheet is None else bool(names) and sheet in (names[-1], str(len(names)))
    )


def _ods_cells(row: Element) -> Row:
    cells: Row = []
    for cell in row:
        if _local(cell) not in ("table-cell", "covered-table-cell"):
            continue
        many = min(_repeated(cell, "number-columns-repeated"), MAX_WIDTH - len(cells))
        cells += [_ods_value(cell)] * many
    while cells and cells[-1] is None:
        cells.pop()
    return cells


def _value(element: Element, name: str) -> str | None:
    """The value of an attribute, whatever namespace it has."""
    return next((v for k, v in element.items() if k.rpartition("}")[2] == name and "}" in k), None)


def _repeated(element: Element, name: str) -> int:
    value = _value(element, name) or "1"
    return int(value) if re.fullmatch("[0-9]{1,18}", value) else 1


def _ods_value(cell: Element) -> object:
    said = {k.rpartition("}")[2]: v for k, v in cell.items()}
    kind = said.get("value-type")
    if kind == "date":
        return str(said.get("date-value"))
    if kind in ("float", "percentage", "currency"):
        return _number(said.get("value", ""), None)
    if kind == "boolean":
        return said.get("boolean-value")
    if kind == "time":
        return _clock(said.get("time-value", ""))
    if kind is None:
        return None
    if "string-value" in said:
        return str(said["string-value"])
    return "\n".join(_text(part) for part in cell.iterchildren("{*}p"))


def _clock(duration: str) -> str:
    """A time of day as people write it: `PT08H30M00S` is 08:30:00; longer durations stay."""
    parts = re.fullmatch(r"PT(\d+)H(\d\d?)M(\d\d?)([.,]\d+)?S", duration)
    if parts is None or int(parts[1]) > 23:
        return duration
    return f"{int(parts[1]):02}:{int(parts[2]):02}:{int(parts[3]):02}{parts[4] or ''}"


def _text(element: Element) -> str:
    """The text of a paragraph, in which blanks and tabs are elements."""
    name = _local(element) if isinstance(element.tag, str) else ""
    if name == "s":
        return " " * min(_repeated(element, "c"), 10_000)
    inner = {"tab": "\t", "line-break": "\n"}.get(name, element.text or "")
    return inner + "".join(_text(child) + (child.tail or "") for child in element)
