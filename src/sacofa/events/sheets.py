"""Rows of spreadsheets: a sheet of an .xlsx or .ods file, as text, one row at a time.

Both are archives of XML, which is read as a stream: memory holds one row, and for .xlsx the texts
that its cells share. Each cell declares whether it is a date.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from lxml import etree
from lxml.etree import _Element as Element

from ..base.files import unreadable
from ..errors import Argument, ReadError, Statement, advised
from .bounded_file import MAX_EXPANSION, UNCHECKED_BYTES, explained
from .source import Source

Row = list[object]
"""Cells as text, numbers, moments, True or False; None is missing."""

MAX_WIDTH, MAX_DAYS, MAX_NAMED_SHEETS = 10_000, 3_000_000, 20
"""Maximum number of columns of a table, of days of a date, and of sheets in a message."""
MAX_REPEATED = 1 << 20
"""More equal rows one after the other are refused unless trusted."""
MAX_SHARED_BYTES = 1 << 28
"""Maximum number of bytes of shared texts unless trusted, because all are kept in memory."""
EPOCHS = (datetime(1899, 12, 30), datetime(1904, 1, 1))
"""The day that is day 0, and that of files which count from 1904."""
OPTIONAL = ("xl/sharedStrings.xml", "xl/styles.xml")
"""Parts that an .xlsx file may lack: shared texts and styles."""
DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
"""Numbers of the built-in formats for dates and times."""


def sheet_rows(source: Source, path: Path) -> Iterator[Row]:
    """Yield the rows of a sheet with any content, without the skipped ones.

    `sheet` is its name or its number, from 1; None is the first.
    """
    form, skip = source.format, source.skip_rows or 0
    read = _xlsx if form == "xlsx" else _ods
    try:
        with zipfile.ZipFile(path) as archive:
            for number, row in read(_Parts(archive, path, source.trusted), source.sheet):
                while row and row[-1] is None:
                    row.pop()
                if row and number > skip:
                    yield row
    except (zipfile.BadZipFile, etree.XMLSyntaxError):
        raise ReadError(path, Statement("read.sheet.damaged", form=form)) from None
    except OSError as error:
        raise unreadable(path, error) from None


class _Parts:
    """The files in an archive, each as a stream of XML that cannot grow past all bounds."""

    def __init__(self, archive: zipfile.ZipFile, path: Path, trusted: bool) -> None:
        self.path, self.trusted = path, trusted
        self._archive = archive
        self._left = max(UNCHECKED_BYTES, MAX_EXPANSION * path.stat().st_size)
        self._sizes = {member.filename: member.file_size for member in archive.infolist()}

    def elements(self, name: str, *tags: str) -> Iterator[tuple[str, Element]]:
        """Iterate over the elements with these tags; each is freed when the next is requested."""
        if name not in self._sizes:
            if name in OPTIONAL:
                return
            raise ReadError(self.path, Statement("read.sheet.no_part", part=name))
        # No more bytes are unpacked than the archive declares.
        self._left -= self._sizes[name]
        if self._left < 0 and not self.trusted:
            trusted = Argument("trusted", True)
            raise ReadError(self.path, Statement("read.sheet.bomb", trusted=trusted))
        with explained(self.path, "zip"), self._archive.open(name) as file:
            parser = etree.iterparse(
                file,
                events=("end",),
                tag=[f"{{*}}{tag}" for tag in tags],
                resolve_entities=False,
                no_network=True,
                huge_tree=self.trusted,
                remove_comments=True,
            )
            for _, element in parser:
                yield _local(element.tag), element
                element.clear()
                parent = element.getparent()
                while parent is not None and element.getprevious() is not None:
                    del parent[0]

    def whole(self, text: str) -> int:
        """Parse a number that must be whole."""
        if not re.fullmatch("[0-9]{1,9}", text):
            raise self.damaged()
        return int(text)

    def damaged(self) -> ReadError:
        """The refusal of an .xlsx file that contradicts itself."""
        return ReadError(self.path, Statement("read.sheet.damaged", form="xlsx"))

    def no_sheet(self, names: list[str], sheet: str) -> ReadError:
        """The refusal of a file without the sheet that was named."""
        there = tuple(f'"{name}"' for name in names[:MAX_NAMED_SHEETS])
        what = Statement("read.sheet.no_sheet", sheet=sheet, names=there)
        return ReadError(self.path, advised(what, sheet, names))


def _local(name: object) -> str:
    """Return the name of an element or attribute without its namespace; empty for a comment."""
    return name.rpartition("}")[2] if isinstance(name, str) else ""


def _attributes(element: Element) -> dict[str, str]:
    """Return the attributes of an element without namespaces."""
    return {_local(name): value for name, value in element.items()}


def _xlsx(parts: _Parts, sheet: str | None) -> Iterator[tuple[int, Row]]:
    epoch, names, link = EPOCHS[False], list[str](), None
    for name, element in parts.elements("xl/workbook.xml", "workbookPr", "sheet"):
        if name == "workbookPr":
            epoch = EPOCHS[element.get("date1904") in ("1", "true")]
            continue
        names.append(element.get("name", ""))
        if link is None and sheet in (None, names[-1], str(len(names))):
            link = _attributes(element).get("id")
    if link is None and sheet is not None:
        raise parts.no_sheet(names, sheet)
    target, number = "worksheets/sheet1.xml", 0
    for _, element in parts.elements("xl/_rels/workbook.xml.rels", "Relationship"):
        target = element.get("Target", target) if element.get("Id") == link else target
    part = posixpath.join("xl", target).lstrip("/")
    cells = _Cells(parts=parts, shared=_shared(parts), dates=_date_styles(parts), epoch=epoch)
    for _, row in parts.elements(part, "row"):
        number = parts.whole(row.get("r", str(number + 1)))
        yield number, cells.of(row)


@dataclass(frozen=True, kw_only=True)
class _Cells:
    """The data that cells of an .xlsx file refer to."""

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
            letters, place = re.match("[A-Z]{1,3}", cell.get("r", "")), 0
            for letter in "" if letters is None else letters[0]:
                place = place * 26 + ord(letter) - 64
            place = len(cells) if letters is None else place - 1
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
            place = self.parts.whole(value)
            if place >= len(self.shared):
                raise self.parts.damaged()
            return self.shared[place]
        if kind == "n":
            is_date = self.parts.whole(cell.get("s", "0")) in self.dates
            return _number(value, self.epoch if is_date else None)
        return value == "1" if kind == "b" else str(value)


def _number(text: str, epoch: datetime | None = None) -> object:
    """Return a number, or the moment that it represents if it is a valid date."""
    try:
        number = float(text)
    except ValueError:
        return text
    if epoch is not None and abs(number) < MAX_DAYS:
        with suppress(OverflowError):
            # Rounded to the millisecond, because a third of a day has no exact binary form.
            date = epoch + timedelta(milliseconds=round(number * 86_400_000))
            # A time of day without a date: no event of a log was on the first day of the calendar.
            return date.time() if 0 <= number < 1 and date.date() == epoch.date() else date
    # Long case ids would lose digits as floating point numbers.
    return int(text) if re.fullmatch(r"-?\d{1,300}", text) else number


def _shared(parts: _Parts) -> list[str]:
    """The texts that cells share."""
    found, size = list[str](), 0
    for _, item in parts.elements(OPTIONAL[0], "si"):
        # The phonetic guide of a word (rPh) is not part of its text.
        found.append("".join(item.xpath("(./*|./*[local-name()='r']/*)[local-name()='t']/text()")))
        size += len(found[-1]) + 50
        if size > MAX_SHARED_BYTES and not parts.trusted:
            raise ReadError(parts.path, Statement("read.sheet.too_much_text"))
    return found


def _date_styles(parts: _Parts) -> set[int]:
    """The styles of cells that show a date."""
    formats, found = set(DATES), set[int]()
    for name, element in parts.elements(OPTIONAL[1], "numFmt", "cellXfs"):
        if name == "numFmt":
            code = re.sub(r'"[^"]*"|\[[^\]]*\]|\\.', "", element.get("formatCode", ""))
            if re.search("[dmyhs]", code, re.IGNORECASE) and "general" not in code.lower():
                formats.add(parts.whole(element.get("numFmtId", "0")))
        else:
            kinds = [parts.whole(style.get("numFmtId", "0")) for style in element]
            found = {place for place, kind in enumerate(kinds) if kind in formats}
    return found


def _ods(parts: _Parts, sheet: str | None) -> Iterator[tuple[int, Row]]:
    table: Element = None
    names, number, is_chosen = list[str](), 0, False
    for _, row in parts.elements("content.xml", "table-row"):
        around = [*row.iterancestors("{*}table")]
        if len(around) != 1:
            # A table inside a cell neither belongs to the sheet nor ends it.
            continue
        if around[0] is not table:
            if is_chosen:
                return
            table, number = around[0], 0
            names.append(_attributes(table).get("name", ""))
            is_chosen = sheet in (None, names[-1], str(len(names)))
        if is_chosen:
            cells, many = _ods_cells(row), _repeated(row, "number-rows-repeated")
            # Empty rows, of which there may be millions, are counted only.
            for place in _places(parts, number + 1, many) if cells else ():
                yield place, [*cells]
            number += many
    if sheet is not None and not is_chosen:
        raise parts.no_sheet(names, sheet)


def _places(parts: _Parts, first: int, many: int) -> range:
    """The places of equal rows one after the other."""
    if many > MAX_REPEATED and not parts.trusted:
        raise ReadError(parts.path, Statement("read.sheet.repeated", number=many))
    return range(first, first + many)


def _ods_cells(row: Element) -> Row:
    cells: Row = []
    for cell in row:
        if _local(cell.tag) in ("table-cell", "covered-table-cell"):
            many = min(_repeated(cell, "number-columns-repeated"), MAX_WIDTH - len(cells))
            cells += [_ods_value(cell)] * many
    while cells and cells[-1] is None:
        cells.pop()
    return cells


def _repeated(element: Element, name: str) -> int:
    value = _attributes(element).get(name, "1")
    return int(value) if re.fullmatch("[0-9]{1,18}", value) else 1


def _ods_value(cell: Element) -> object:
    said = _attributes(cell)
    kind = said.get("value-type")
    if kind in ("float", "percentage", "currency"):
        return _number(said.get("value", ""))
    if kind is None:
        return None
    if kind in ("date", "boolean"):
        return said.get(f"{kind}-value")
    if kind == "time":
        return _clock(said.get("time-value", ""))
    paragraphs = (_text(part) for part in cell.iterchildren("{*}p"))
    return said["string-value"] if "string-value" in said else "\n".join(paragraphs)


def _clock(duration: str) -> str:
    """Format a time of day: `PT08H30M00S` is 08:30:00; longer durations are unchanged."""
    parts = re.fullmatch(r"PT(\d+)H(\d\d?)M(\d\d?)([.,]\d+)?S", duration)
    if parts is None or int(parts[1]) > 23:
        return duration
    return f"{int(parts[1]):02}:{int(parts[2]):02}:{int(parts[3]):02}{parts[4] or ''}"


def _text(element: Element) -> str:
    """The text of a paragraph, in which blanks and tabs are elements."""
    name = _local(element.tag)
    if name == "s":
        return " " * min(_repeated(element, "c"), 10_000)
    inner = {"tab": "\t", "line-break": "\n"}.get(name, element.text or "")
    return inner + "".join(_text(child) + (child.tail or "") for child in element)
