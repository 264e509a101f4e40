"""Detection of the kind of a log: files by their names, frames by their library."""

from __future__ import annotations

import codecs
import os
import re
import zipfile
from contextlib import suppress
from glob import glob, has_magic
from pathlib import Path

from ..base.files import identity, unreadable
from ..errors import ReadError, SettingError, Statement, advise_nearest
from .bounded_file import (
    ENDINGS,
    STANDARD_INPUT,
    BoundedFile,
    StandardInput,
    name_inside,
    refuse_endless,
)
from .formats import FORM_OPTIONS, FORMATS, SUFFIXES
from .frames import frame_name
from .options import ReadOptions
from .source import Source

ADDRESSES = ("postgresql://", "postgres://")
"""The schemes of database addresses."""
SHEETS = {"content.xml": "ods", "xl/workbook.xml": "xlsx"}
"""The members that distinguish a spreadsheet from other archives."""
OLD_OFFICE = bytes.fromhex("d0cf11e0a1b11ae1")
"""The first bytes of Excel files before 2007."""
WEB_PAGE = re.compile(r"<(!doctype html|html|table|head|body)", re.IGNORECASE)
SNIFFED_BYTES = 4096
"""Number of bytes that are read to detect the format of a file with an unknown suffix."""


def find_source(source: object, options: ReadOptions) -> Source:
    """Locate a log and detect its format; columns are not resolved yet.

    Args:
        source: Anything that `open_log` takes.
        options: How to read it.

    Raises:
        ReadError: There is no such log.
        SettingError: An option does not fit this kind of source.
    """
    if isinstance(source, str) and source.startswith(ADDRESSES):
        from .postgresql import public_name

        if options.query is None:
            raise SettingError("query", None, Statement("read.must.query"))
        name = public_name(source)
        return Source(name=name, format="postgresql", content=source, query=options.query)
    if options.query is not None:
        raise SettingError("query", options.query, Statement("read.must.no_query"))
    named = [*source] if isinstance(source, (list, tuple)) else [source]
    paths = [os.fspath(each) for each in named if isinstance(each, (str, os.PathLike))]
    return _open_files(paths, options) if len(paths) == len(named) else _in_memory(source)


def _in_memory(source: object) -> Source:
    """Return the format of frames and logs of other libraries."""
    if type(source).__module__.startswith("pm4py.objects.log"):
        from .pm4py_log import read_memory

        return Source(name="pm4py log", format="pm4py log", content=read_memory(source))
    name = frame_name(source)
    # A query of polars returns its rows in any order.
    if name.startswith("polars") and type(source).__name__ == "LazyFrame":
        from .duckdb.source import as_relation

        relation, database = as_relation(name, source)
        return Source(name=name, format="relation", content=relation, held=database)
    form = {"DuckDB frame": "relation", "Spark frame": "spark frame"}.get(name, "frame")
    return Source(name=name, format=form, content=source)


def _open_files(paths: list[str], options: ReadOptions) -> Source:
    """Open files that make up one log, in the order in which they are named."""
    if not paths:
        raise ReadError("[]", Statement("read.file.none_named"))
    name, held = paths[0] + f" and {len(paths) - 1:,} more" * (len(paths) > 1), None
    if STANDARD_INPUT in paths:
        if len(paths) > 1:
            raise SettingError("log", ", ".join(paths), Statement("read.must.input_alone"))
        if options.format is None:
            raise SettingError("format", None, Statement("read.must.format_of_input"))
        held, name = StandardInput(), "standard input"
        paths = [str(held.path)]
    files, found = _find_all(paths, options.format)
    form = {option: getattr(options, option) for option in FORM_OPTIONS}
    for option, value in form.items():
        if value not in (None, ()) and option not in FORMATS[found].options:
            shown = ",".join(value) if isinstance(value, tuple) else value
            raise SettingError(option, shown, Statement("read.must.left_out_for", what=found))
    return Source(
        name=name, format=found, content=files, trusted=options.trusted, held=held, **form
    )


def _find_all(paths: list[str], format: str | None) -> tuple[tuple[Path, ...], str]:
    """Find the files of several paths, which must be of one format and different."""
    files, found = find_files(paths[0], format)
    for path in paths[1:]:
        more, other = find_files(path, format)
        if other != found:
            what = Statement("read.file.other_format", format=other, first=paths[0], other=found)
            raise ReadError(path, what)
        files += more
    if len(files) > 1 and FORMATS[found].is_one_file:
        raise ReadError(paths[-1], Statement("read.file.one_file"))
    # If one file is listed under several names or links, its cases would count twice.
    seen: dict[object, Path] = {}
    for file in files:
        marks = identity(file)
        for mark in marks & seen.keys():
            if file == seen[mark]:
                raise ReadError(file, Statement("read.file.twice"))
            raise ReadError(file, Statement("read.file.twice_as", other=str(seen[mark])))
        seen |= dict.fromkeys(marks, file)
    return files, found


def find_files(source: str, format: str | None = None) -> tuple[tuple[Path, ...], str]:
    """Find the files of a path, a pattern or a folder, in the order of their names.

    In a folder, files and folders whose name begins with a dot or an underscore are passed over,
    as Spark and Hive do. All files must be of one format.

    Args:
        source: A path, a pattern or a folder.
        format: The name of the format; None: detected from the file names.

    Returns:
        The files, and the name of their format.

    Raises:
        ReadError: There is no such file, or the files are of several formats.
    """
    path, missing = Path(source), "missing"
    if path.is_dir():
        files, missing = _files_in(path, any_suffix=format is not None), "empty_folder"
    elif path.exists():
        refuse_endless(path)
        files = [path]
    else:
        files = [*filter(Path.is_file, map(Path, glob(source, recursive=True)))]
        missing = "no_match" if has_magic(source) else "missing"
    if not files:
        raise ReadError(source, Statement(f"read.file.{missing}"))
    formats = {format or format_of(file) for file in files}
    if len(formats) > 1:
        raise ReadError(source, Statement("read.file.several_formats", formats=sorted(formats)))
    return tuple(sorted(files, key=Path.as_posix)), formats.pop()


def _files_in(folder: Path, *, any_suffix: bool) -> list[Path]:
    """All files of a folder and its folders; one that cannot be read, or is no log, is an error."""

    def refuse(error: OSError) -> None:
        raise unreadable(error.filename, error)

    files: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=refuse, followlinks=False):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        paths = (Path(place, name) for name in names if not name.startswith((".", "_")))
        files += filter(Path.is_file, paths)
    # A text file next to logs of another kind explains them.
    suffixes = [] if any_suffix else [suffix_of(file) for file in files]
    known = SUFFIXES.keys() - [".txt"] * (set(suffixes) != {".txt"})
    for file, suffix in zip(files, suffixes, strict=False):
        if suffix not in known:
            raise ReadError(folder, Statement("read.file.no_log", name=file.name))
    return files


def suffix_of(path: Path) -> str:
    """Return the suffix that identifies the format, without that of compression."""
    name = path.name.lower()
    if name.endswith(".zip") and not Path(name.removesuffix(".zip")).suffix and path.is_file():
        name = name_inside(path).lower()
    packed = next((ending for ending in ENDINGS if name.endswith(ending)), "")
    return Path(name.removesuffix(packed)).suffix


def format_of(path: Path) -> str:
    """Return the format of a file: the name of a `Format`."""
    suffix = suffix_of(path)
    named = SUFFIXES.get(suffix)
    if named is not None and FORMATS[named].is_packed and path.name.lower().endswith(ENDINGS):
        raise ReadError(path, Statement("read.file.packed", suffix=f"{suffix}{path.suffix}"))
    found = named or (_format_inside(path) if path.is_file() else None)
    if found is None:
        what = Statement("read.file.suffix", suffix=suffix, known=tuple(SUFFIXES))
        raise ReadError(path, Statement.plain(what, " ", advise_nearest(suffix, SUFFIXES)))
    return found


def _format_inside(path: Path) -> str | None:
    """Detect the format from the first bytes of a file; None if it is not a log."""
    with path.open("rb") as file:
        start = file.read(len(OLD_OFFICE))
    if start == OLD_OFFICE:
        raise ReadError(path, Statement("read.file.old_office"))
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"PK"):
        with suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
            parts = {*archive.namelist()} & SHEETS.keys()
            return SHEETS.get(max(parts, default=""))
        return None
    with BoundedFile(path) as stream:
        start = stream.read(SNIFFED_BYTES)
    is_wide = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = start.decode("utf-16" if is_wide else "utf-8-sig", "replace").lstrip()
    if WEB_PAGE.match(text):
        raise ReadError(path, Statement("read.file.web_page"))
    if re.search(r"^$|[\x00-\x08\x0e-\x1f]", text):
        return None
    if text.startswith("{"):
        return "jsonl" if "}" in text.partition("\n")[0] else "json"
    return "xes" if text.startswith("<") else "csv"
