"""Tables that DuckDB does not read as they are, written down as CSV in UTF-8 for a while.

Spreadsheets, JSON lines, files in other encodings or packed otherwise than with gzip go row by row
into a folder for secrets, so memory holds one row. It is removed when the log was read.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.temporary import secret_folder, writing_in
from ...errors import Argument, ColumnsError, ReadError
from ..attributes import column_of
from ..bounded_file import BoundedFile
from ..cells import Use, duckdb_sql, text_of
from ..columns import COMMON, Columns, partner, plain_name
from ..frames import in_column
from ..header import MAX_TITLE_ROWS, find_header
from ..options import ReadOptions
from ..source import Source
from .csv_files import ADVICE, MAX_COLUMNS, MAX_ROW_BYTES, Head, lines_of, read_heads, too_wide
from .ordering import as_double
from .source import clear_errors
from .sql import quoted

if TYPE_CHECKING:
    from ..sheets import Row

NAMED = 5
"""So many fields are named in a message."""


def text_columns(source: Source) -> list[str] | None:
    """List the columns of files that hold nothing but text; nothing where there are types."""
    if source.format in ("csv", "tsv"):
        return read_heads(source)[0].columns
    if source.declared.is_read_by_row:
        return _named_rows(source, source.content[0])[0]
    return None


def count_titles(source: Source) -> int:
    """How many lines or rows were found above the header of the first file, unless it was said."""
    if source.skip_rows is not None:
        return 0
    if source.format in ("csv", "tsv"):
        return read_heads(source)[0].titles
    return _named_rows(source, source.content[0])[2] if source.declared.is_read_by_row else 0


@contextmanager
def staged(source: Source, columns: Columns | None = None) -> Iterator[Source]:
    """Give a source as DuckDB can read it; of some, only these columns are needed."""
    heads = read_heads(source) if source.format in ("csv", "tsv") else []
    is_read_by_row = source.declared.is_read_by_row
    is_written = is_read_by_row or source.format == "relation"
    if not is_written and all(head.is_plain for head in heads):
        yield source
        return
    with secret_folder() as folder:
        if source.format == "relation":
            with clear_errors(source.name):
                written = _relation(source, folder, columns)
            yield written
            return
        files = []
        for number, path in enumerate(source.content):
            target = folder / f"{number}.csv"
            with writing_in(folder):
                if heads:
                    _transcode(heads[number], target, source.trusted)
                else:
                    _write_rows(source, path, target, {} if columns is None else columns.uses)
            files.append(target)
        yield replace(
            source,
            content=tuple(files),
            format="csv" if is_read_by_row else source.format,
            encoding="utf-8",
            header=() if is_read_by_row else source.header,
            skip_rows=0 if is_read_by_row else source.skip_rows,
        )


def check_fields(source: Source, names: list[str], options: ReadOptions) -> ReadOptions:
    """Refuse JSON lines in which one field more could change what all others are read by.

    The fields of a line are part of a case. So two that could both be meant are refused, and times
    are read only where there is a field for them or nobody wants them.
    """
    if not source.declared.names_are_in_cases:
        return options
    said = {
        "case": options.case,
        "activity": options.activity,
        "timestamp": options.timestamp,
        "start": options.start,
    }
    for role, common in COMMON.items():
        found = [name for name in names if plain_name(name) in common]
        if role in ("timestamp", "start"):
            pairs = [partner(name, names) or () for name in found]
            found = list(dict.fromkeys([*found, *chain(*pairs)]))
        if len(found) > 1 and not said.get(role):
            raise ReadError(
                source.name,
                f"several fields may be the {role} ({', '.join(found)}): name one with ",
                Argument(role),
            )
        if role == "timestamp" and not found and not said[role] and options.order != "file":
            raise ColumnsError(source.name, [role], names)
    return options


def _transcode(head: Head, target: Path, trusted: bool) -> None:
    """Write a text file as UTF-8; lines above its header become empty, so all keep their place."""
    decoder = codecs.getincrementaldecoder(head.encoding)()
    with BoundedFile(head.path, trusted=trusted) as stream, target.open("wb") as file:
        first, done = True, False
        above, waiting = head.skipped if head.titles else 0, ""
        while not done:
            block = stream.read(1 << 18)
            done = not block
            try:
                text = decoder.decode(block, final=done)
            except UnicodeDecodeError:
                raise ReadError(head.path, f"is not written in {head.encoding}", *ADVICE) from None
            text = text.removeprefix("\ufeff") if first else text
            first = first and not text
            if above > 0:
                # These are few lines, which come in the first blocks.
                waiting += text
                lines = lines_of(waiting)
                if len(lines) <= above and not done:
                    continue
                kept = lines[: int(head.said)]
                blank = [head.line_end] * (above - len(kept))
                text, above = "".join([*kept, *blank, *lines[above:]]), 0
            file.write(text.encode("utf-8", "replace"))


def _write_rows(source: Source, path: Path, target: Path, uses: Mapping[str, Use]) -> None:
    """Write rows as CSV; what is missing is an empty field, and text stands in quotes."""
    names, rows, _ = _named_rows(source, path)
    write_table(target, names, _as_texts(path, names, rows, uses))


def _as_texts(
    path: Path, names: list[str], rows: Iterable[Row], uses: Mapping[str, Use]
) -> Iterator[list[str | None]]:
    """Convert the cells of rows, each by itself."""
    used: list[tuple[str, Use]] = [(name, uses.get(name, "value")) for name in names]
    for row in rows:
        texts = []
        for cell, (name, use) in zip(row, used, strict=False):
            with in_column(path, name):
                texts.append(text_of(cell, use))
        yield texts


def write_table(target: Path, names: list[str], rows: Iterable[list[str | None]]) -> None:
    """Write rows under the names of their columns; those that are too short lack the last.

    Half a character, which a name can hold and no text can, becomes a question mark: that is not a
    reason to refuse all cases.
    """
    width = len(names)
    with target.open("w", encoding="utf-8", newline="", errors="replace") as file:
        header: list[str | None] = [*names]
        for row in chain([header], rows):
            cells = [*row[:width], *[None] * (width - len(row))]
            quoted = ("" if c is None else '"' + c.replace('"', '""') + '"' for c in cells)
            file.write(",".join(quoted) + "\n")


def _named_rows(source: Source, path: Path) -> tuple[list[str], Iterator[Row], int]:
    """The names of the columns, the rows below them, and how many rows stand above them."""
    declared = source.declared
    is_sheet = "sheet" in declared.options
    if is_sheet:
        from ..sheets import sheet_rows

        rows = sheet_rows(
            path,
            source.format,
            trusted=source.trusted,
            skip=source.skip_rows or 0,
            sheet=source.sheet,
        )
    else:
        rows = (declared.rows or _json_rows)(path, source.trusted)
    is_open = is_sheet and source.skip_rows is None and not source.header
    above = MAX_TITLE_ROWS + 1 if is_open else 1
    first = list(islice(rows, above))
    if not first:
        raise ReadError(path, "the file is empty")
    if source.header:
        return list(source.header), chain(first, rows), 0
    texts = [[text_of(cell) for cell in row] for row in first] if above > 1 else []
    place = find_header(texts)
    names = [text_of(name) or "" for name in first[place]]
    return names, chain(first[place + 1 :], rows), place


def _json_rows(path: Path, trusted: bool) -> Iterator[Row]:
    """Give the fields of the first line, and then the values of each."""
    names: list[str] = []
    for number, line in enumerate(_lines(path, trusted), start=1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            raise ReadError(path, f"line {number} is not JSON") from None
        if not isinstance(fields, dict):
            raise ReadError(path, f"line {number} is no object: {{…}} with a field for each column")
        if not names:
            names = list(fields)
            if len(names) > MAX_COLUMNS:
                raise too_wide(path)
            yield list(names)
        if not fields.keys() <= set(names):
            more = ", ".join(sorted(fields.keys() - set(names))[:NAMED])
            raise ReadError(path, f"line {number} has fields that the first line lacks: {more}")
        yield [_json_cell(fields.get(name)) for name in names]


def _json_cell(value: Any) -> Any:
    """Give what is nested as JSON: it is text in the file, too."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _lines(path: Path, trusted: bool) -> Iterator[bytes]:
    with BoundedFile(path, trusted=trusted) as stream:
        yield from stream.lines(MAX_ROW_BYTES)


def _relation(source: Source, folder: Path, columns: Columns | None) -> Source:
    """Write a relation of DuckDB as Parquet, in an order that only the cells that are read decide.

    Moments and numbers are compared by their size, everything else by its text, byte by byte: a
    collation may take two texts for equal. The type of a column may follow from all of its values.
    """
    target = folder / "relation.parquet"
    found = dict(zip(source.content.columns, map(str, source.content.types), strict=True))
    used = list(found)
    if columns is not None:
        values = (column_of(each, found) for each in columns.attributes)
        roles = (columns.timestamp, *columns.activity, columns.start, *columns.roles, *values)
        used = list(dict.fromkeys(name for name in roles if name is not None))
    keys = []
    for name in used:
        sql, kind = duckdb_sql.canonical(quoted(name), found[name])
        use = "value" if columns is None else columns.uses.get(name, "value")
        written = f"encode({duckdb_sql.text(sql, kind, use)})"
        if duckdb_sql.is_number(kind) and use == "value":
            keys.append(as_double(sql))
        keys.append(sql if duckdb_sql.is_moment(kind) else written)
    chosen = source.content.order(", ".join(keys)).project(", ".join(map(quoted, used)))
    chosen.write_parquet(str(target))
    return replace(source, format="parquet", content=(target,))
