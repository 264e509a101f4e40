"""Text tables: detection of their dialect from the head of a file, and SQL to read them.

Encoding, separator and names are detected from the header and the titles above it, which do not
belong to any case. If they were detected from later rows, one more case could change how all are
read. If names are given, the first line belongs to a case. Then the encoding is UTF-8 unless it is
given, and the separator must be the only one that results in as many columns as names.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ...errors import Argument, ReadError, Statement
from ..bounded_file import BoundedFile, Packing, packing_of
from ..columns import MAX_TITLE_ROWS, TRUNCATED, find_header
from ..csv_injection import unescape_formula
from ..source import Source
from .database import files_literal, literal

MAX_ROW_BYTES = 1 << 24
"""The longest row of a CSV file."""

SEPARATORS = ",;\t|"
"""Separators of columns."""
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
"""Bytes that no column name contains, but a binary file soon does."""
MAX_COLUMNS = 10_000
"""No table of events has more; each takes memory in every step, however short its name."""

BOM = codecs.BOM_UTF8
"""The mark that UTF-8 may begin with."""
MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""Byte order marks and their encodings."""


@dataclass(frozen=True, kw_only=True)
class Head:
    """The dialect of a file, detected from its head."""

    path: Path
    names: tuple[str, ...]
    """The column names in the file."""
    separator: str
    encoding: str
    packing: Packing | None
    """The compression."""
    declares_separator: bool = False
    """Whether the first line declares the separator (`sep=;`)."""
    has_header: bool = True
    """Whether the file has a header."""
    line_end: str = "\n"
    titles: int = 0
    """Number of lines above the header, without `sep=;`."""

    @property
    def skipped(self) -> int:
        """Number of lines above the header, or above the first row if there is no header."""
        return int(self.declares_separator) + self.titles

    @property
    def columns(self) -> list[str]:
        """The column names, without apostrophes that protect formulas in files of this package."""
        if not self.has_header or TRUNCATED not in self.names:
            return list(self.names)
        return [unescape_formula(name) for name in self.names]

    @property
    def is_plain(self) -> bool:
        """Whether DuckDB can read the file directly."""
        return self.encoding == "utf-8" and self.packing in (None, "gzip") and not self.titles


def read_heads(source: Source) -> list[Head]:
    """Read the beginning of each file; all must have the same columns, in any order."""
    heads = [_head(path, source) for path in source.content]
    first = heads[0]
    for head in heads[1:]:
        if sorted(head.names) != sorted(first.names):
            raise ReadError(head.path, Statement("read.files.other_columns"))
        if head.names != first.names and len(set(head.names)) < len(head.names):
            raise ReadError(head.path, Statement("read.files.other_order"))
    for head in heads:
        _refuse_long_start(head.path)
    return heads


def check_alike(heads: Sequence[Head]) -> Head:
    """Refuse files that differ, or that only DuckDB can read; return the first head."""
    first = heads[0]
    for head in heads:
        if not head.is_plain or head.skipped:
            raise ReadError(head.path, Statement("read.csv.not_plain"))
        if head.packing != first.packing:
            raise ReadError(head.path, Statement("read.csv.gzip"))
        if (head.names, head.separator) != (first.names, first.separator):
            raise ReadError(head.path, Statement("read.files.other_columns"))
    return first


def csv_sql(heads: Sequence[Head]) -> str:
    """Return SQL for the rows of files, with the columns c0, c1, … of the first file."""
    names = heads[0].names
    places = {name: i for i, name in reversed(list(enumerate(names)))}
    alike = {(h.names, h.separator, h.packing, h.skipped, h.line_end) for h in heads}
    if len(alike) == 1:
        return _read_csv(heads)
    parts = []
    for head in heads:
        columns = "*"
        if head.names != names:
            columns = ", ".join(f"c{head.names.index(name)} AS c{places[name]}" for name in names)
        parts.append(f"SELECT {columns} FROM {_read_csv([head])}")
    # Rows of the first part come before those of the next.
    return f"({' UNION ALL '.join(parts)})"


def _read_csv(heads: Sequence[Head]) -> str:
    first = heads[0]
    files = files_literal(head.path for head in heads)
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(first.names)))
    # DuckDB must not detect anything, neither from rows nor from names of folders.
    sql = (
        f"read_csv({files}, auto_detect = false, columns = {{{columns}}}, "
        f"header = {str(first.has_header).lower()}, skip = {first.skipped}, "
        f"delim = {literal(first.separator)}, quote = '\"', escape = '\"', nullstr = '', "
        f"new_line = {literal(repr(first.line_end)[1:-1])}, comment = '', "
        "null_padding = false, ignore_errors = false, hive_partitioning = false, "
        f"allow_quoted_nulls = false, compression = '{first.packing or 'none'}', "
        f"max_line_size = {MAX_ROW_BYTES})"
    )
    if not first.has_header or len(set(first.names)) < 2:
        return sql
    # Concatenated files repeat their header in the middle.
    again = " AND ".join(
        f"c{i} IS NOT DISTINCT FROM {literal(name) if name else 'NULL'}"
        for i, name in enumerate(first.names)
    )
    return f"(SELECT * FROM {sql} WHERE NOT ({again}))"


def _head(path: Path, source: Source) -> Head:
    start, has_header, titles = _start(path), not source.header, source.skip_rows
    encoding = source.encoding or _encoding(path, start, has_header=has_header)
    if titles is None:
        titles = _titles(start, encoding, source) if has_header else 0
    if titles and has_header and source.encoding is None:
        # Detected from the titles and the header together.
        lines = titles + 1 + start.removeprefix(BOM).lower().startswith(b"sep=")
        encoding = _encoding(path, start, has_header=True, lines=lines)
    # Unreadable bytes are reported when all rows are read; only the first line matters here.
    declared, text = _declared_separator(start, encoding)
    text = "".join(lines_of(text)[titles:]) if titles else text
    line_end = _line_end(path, text)
    separator = _separator(path, text, declared, source)
    return Head(
        path=path,
        names=source.header or _names(path, text, separator, encoding),
        separator=separator,
        encoding="utf-8" if encoding.lower() in ("utf8", "utf_8", "utf-8-sig") else encoding,
        packing=packing_of(path),
        declares_separator=declared is not None,
        has_header=has_header,
        line_end=line_end,
        titles=titles,
    )


def _separator(path: Path, text: str, declared: str | None, source: Source) -> str:
    """Detect the separator of columns."""
    line = text.partition("\n")[0]
    if max(map(line.count, declared or SEPARATORS)) >= MAX_COLUMNS:
        raise too_wide(path)
    separator = declared or ("\t" if source.format == "tsv" else None)
    if source.header:
        return _fitting_separator(path, text, separator or SEPARATORS, len(source.header))
    return separator or max(SEPARATORS, key=line.count)


def _fitting_separator(path: Path, text: str, separators: str, columns: int) -> str:
    """Detect the separator of a file without a header from the required number of columns."""
    found = {each: _first_row(text, each) for each in separators}
    fits = [each for each, row in found.items() if row is None or _has(row, columns)]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise ReadError(path, Statement("read.csv.no_separator"))
    most = max(len(row) for row in found.values() if row is not None)
    raise ReadError(path, Statement("read.csv.columns_of_row", found=most, expected=columns))


def _has(row: list[str], columns: int) -> bool:
    """Whether a row has this number of columns; DuckDB ignores empty ones at the end."""
    return len(row) >= columns and not any(row[columns:])


def _names(path: Path, text: str, separator: str, encoding: str) -> tuple[str, ...]:
    """The names of the columns in the first row."""
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), None)
    except csv.Error as error:
        argument = Argument("encoding")
        what = Statement("read.csv.no_table", encoding=encoding, why=str(error), argument=argument)
        raise ReadError(path, what) from None
    if not names:
        raise ReadError(path, Statement("file.empty"))
    if any(map(CONTROL.search, names)):
        raise ReadError(path, Statement("read.csv.damaged", encoding=encoding))
    return tuple(names)


def _start(path: Path) -> bytes:
    """The beginning of a file: the lines among which its header is."""
    with BoundedFile(path) as stream:
        start = b""
        while len(start) < MAX_ROW_BYTES and (more := stream.read(1 << 16)):
            start += more
            if start.count(b"\n") > MAX_TITLE_ROWS and start.count(b'"') % 2 == 0:
                break
    return start


def _refuse_long_start(path: Path) -> None:
    """Refuse an unterminated first row: DuckDB would treat the file as empty."""
    quotes = rows = done = 0
    with BoundedFile(path, trusted=True) as stream:
        while done <= 2 * MAX_ROW_BYTES and (block := stream.read(1 << 16)):
            done += len(block)
            *lines, rest = block.replace(b"\r", b"\n").split(b"\n")
            for line in lines:
                quotes += line.count(b'"')
                rows += quotes % 2 == 0
            quotes += rest.count(b'"')
            if rows > 1:
                return
    if done > 2 * MAX_ROW_BYTES:
        raise ReadError(path, Statement("read.csv.long_row", megabytes=MAX_ROW_BYTES >> 20))


def _declared_separator(start: bytes, encoding: str) -> tuple[str | None, str]:
    """Return the separator that the first line declares, and the text below it."""
    text = codecs.getincrementaldecoder(encoding)("replace").decode(start).removeprefix("\ufeff")
    line, _, rest = text.partition("\n")
    declared = re.fullmatch(r"sep=([!#-/:-@\[-`{-~\t ])\r?", line, re.IGNORECASE)
    return (declared[1], rest) if declared else (None, text)


def _titles(start: bytes, encoding: str, source: Source) -> int:
    """Count the lines above the header, without the line `sep=;`."""
    if encoding in ("utf-8", "cp1252"):
        # The characters of one line do not affect how another is parsed.
        lines = start.removeprefix(BOM).split(b"\n")
        start, encoding = "\n".join(map(_any_text, lines)).encode(), "utf-8"
    declared, text = _declared_separator(start, encoding)
    separator = declared or ("\t" if source.format == "tsv" else None)
    rows = list(islice(_text_rows(text), MAX_TITLE_ROWS + 1))
    # Wider tables are refused.
    cells = [
        (_first_row(row, separator or max(SEPARATORS, key=row.count)) or [])[:MAX_COLUMNS]
        for row in rows
    ]
    return sum(len(lines_of(row)) for row in rows[: find_header(cells) if cells else 0])


def _any_text(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace")


def _text_rows(text: str) -> Iterator[str]:
    """Join lines to rows; line breaks in quotes are part of a cell."""
    row = ""
    for line in lines_of(text):
        row += line
        if row.count('"') % 2 == 0:
            yield row
            row = ""
    if row:
        yield row


def lines_of(text: str) -> list[str]:
    """Yield the lines of a text with their ends; only LF ends a line."""
    return io.StringIO(text, newline="\n").readlines()


def wrong_encoding(encoding: str) -> Statement:
    """State that letters cannot be read."""
    return Statement("read.csv.encoding", encoding=encoding, argument=Argument("encoding"))


def _encoding(path: Path, start: bytes, *, has_header: bool, lines: int = 1) -> str:
    """Detect the encoding by a byte order mark, or by lines that do not belong to a case."""
    for mark, encoding in MARKS.items():
        if start.startswith(mark):
            return encoding
    line = b"\n".join(start.split(b"\n", lines)[:lines])
    if not has_header:
        if b"\0" in line:
            raise ReadError(path, wrong_encoding("utf-8"))
        return "utf-8"
    if b"\0" in line:
        return "utf-16-le" if line[1:2] == b"\0" else "utf-16-be"
    try:
        line.decode()
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _line_end(path: Path, text: str) -> str:
    """Detect the line end from the first one; line breaks in quotes are part of a name."""
    inside = False
    for found in re.finditer(r'"|\r?\n|\r', text):
        if found[0] == '"':
            inside = not inside
        elif found[0] == "\r" and not inside:
            raise ReadError(path, Statement("read.csv.line_ends"))
        elif not inside:
            return found[0]
    return "\n"


def _first_row(text: str, separator: str) -> list[str] | None:
    """Return the first row that is not blank; None if only DuckDB can read it."""
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        return next((row for row in rows if row), [])
    except csv.Error:
        return None


def too_wide(path: Path) -> ReadError:
    """Refuse a table with too many columns."""
    return ReadError(path, Statement("read.file.too_wide", most=MAX_COLUMNS))
