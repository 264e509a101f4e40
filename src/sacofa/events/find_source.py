"""Where a log is and how it is stored: files by their names, frames by their library."""

from __future__ import annotations

import codecs
import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from glob import glob, has_magic
from pathlib import Path

from ..base.files import identity
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
from .frames import frame_name, is_pm4py, is_query
from .options import ReadOptions
from .source import Source

ADDRESSES = ("postgresql://", "postgres://")
"""How addresses of databases begin."""
OLD_OFFICE = bytes.fromhex("d0cf11e0a1b11ae1")
"""How files begin that Excel wrote before 2007."""
WEB_PAGE = re.compile(r"<(!doctype html|html|table|head|body)", re.IGNORECASE)
SNIFFED_BYTES = 4096
"""Bytes of a file of unknown suffix that are looked at to tell its format."""


def find_source(source: object, options: ReadOptions) -> Source:
    """Find where a log is and how it is stored; which column holds what is not asked yet.

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
    """Tell what frames and logs of other libraries are."""
    if is_pm4py(source):
        from .pm4py_log import read_memory

        return Source(name="pm4py log", format="pm4py log", content=read_memory(source))
    name = frame_name(source)
    if is_query(source):
        from .duckdb.source import as_relation

        relation, database = as_relation(name, source)
        return Source(name=name, format="relation", content=relation, held=database)
    family = name.partition(" ")[0]
    apart = (each.name for each in FORMATS.values() if each.family == family)
    return Source(name=name, format=next(apart, "frame"), content=source)


def _open_files(paths: list[str], options: ReadOptions) -> Source:
    """Open files that make up one log, in the order in which they are named."""
    if not paths:
        raise ReadError("[]", Statement("read.file.none_named"))
    name = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1:,} more"
    held = None
    if STANDARD_INPUT in paths:
        held, name = _standard_input(paths, options), "standard input"
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


def _standard_input(paths: list[str], options: ReadOptions) -> StandardInput:
    if len(paths) > 1:
        raise SettingError("log", ", ".join(paths), Statement("read.must.input_alone"))
    if options.format is None:
        raise SettingError("format", None, Statement("read.must.format_of_input"))
    return StandardInput()


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
    # Cases of files that are one, by whatever names and links, would count twice.
    seen: dict[object, Path] = {}
    for file in files:
        marks = identity(file)
        for mark in marks & seen.keys():
            other_name = {} if file == seen[mark] else {"other": str(seen[mark])}
            code = "read.file.twice_as" if other_name else "read.file.twice"
            raise ReadError(file, Statement(code, **other_name))
        seen |= dict.fromkeys(marks, file)
    return files, found


def find_files(source: str, format: str | None = None) -> tuple[tuple[Path, ...], str]:
    """Find the files that a path, a pattern or a folder names, in the order of their names.

    In a folder, files and folders whose name begins with a dot or an underscore are passed over,
    as Spark and Hive do. All files must be of one format.

    Args:
        source: A path, a pattern or a folder.
        format: The name of the format; None: what the names of the files say.

    Returns:
        The files, and the name of their format.

    Raises:
        ReadError: There is no such file, or the files do not make up one log.
    """
    files = _named_files(source, Path(source))
    if format is None and Path(source).is_dir():
        _refuse_strange(source, files)
    formats = {format or format_of(file) for file in files}
    if len(formats) > 1:
        raise ReadError(source, Statement("read.file.several_formats", formats=sorted(formats)))
    (found,) = formats
    if len(files) > 1 and FORMATS[found].is_one_file:
        raise ReadError(source, Statement("read.file.one_file"))
    return tuple(sorted(files, key=Path.as_posix)), found


def _named_files(source: str, path: Path) -> list[Path]:
    """The files of a folder, the file itself, or those that fit a pattern."""
    if path.is_dir():
        files, missing = list(_walk(path)), "empty_folder"
    elif path.exists():
        refuse_endless(path)
        return [path]
    elif has_magic(source):
        named = map(Path, glob(source, recursive=True))
        files, missing = [each for each in named if each.is_file()], "no_match"
    else:
        files, missing = [], "missing"
    if not files:
        raise ReadError(source, Statement(f"read.file.{missing}"))
    return files


def _walk(folder: Path) -> Iterator[Path]:
    """Go through all files of a folder and its folders; one that cannot be read is an error."""

    def refuse(error: OSError) -> None:
        said = error.strerror or str(error)
        raise ReadError(error.filename, Statement("file.unreadable", why=said))

    for place, folders, names in os.walk(folder, onerror=refuse, followlinks=False):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        for name in names:
            path = Path(place, name)
            if not name.startswith((".", "_")) and path.is_file():
                yield path


def _refuse_strange(folder: str, files: Sequence[Path]) -> None:
    """Refuse a folder with files that are no logs."""
    # A text file next to logs of another kind explains them.
    is_mixed = {suffix_of(file) for file in files} != {".txt"}
    known = SUFFIXES.keys() - ({".txt"} if is_mixed else set())
    for file in files:
        if suffix_of(file) not in known:
            raise ReadError(folder, Statement("read.file.no_log", name=file.name))


def suffix_of(path: Path) -> str:
    """The end of a file's name that tells its format, without what says how it is packed."""
    name = path.name.lower()
    if name.endswith(".zip") and not Path(name.removesuffix(".zip")).suffix and path.is_file():
        name = name_inside(path).lower()
    packed = next((ending for ending in ENDINGS if name.endswith(ending)), "")
    return Path(name.removesuffix(packed)).suffix


def format_of(path: Path) -> str:
    """Tell the format of a file that is read: the name of a `Format`."""
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
    """Tell the format of a file by how it begins, whatever it is called; None if it is no log."""
    with path.open("rb") as file:
        start = file.read(len(OLD_OFFICE))
    if start == OLD_OFFICE:
        raise ReadError(path, Statement("read.file.old_office"))
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"PK"):
        return _format_of_archive(path)
    with BoundedFile(path) as stream:
        start = stream.read(SNIFFED_BYTES)
    is_wide = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = start.decode("utf-16" if is_wide else "utf-8-sig", "replace").lstrip()
    if WEB_PAGE.match(text):
        raise ReadError(path, Statement("read.file.web_page"))
    if not text or re.search(r"[\x00-\x08\x0e-\x1f]", text):
        return None
    return _format_of_text(text)


def _format_of_text(text: str) -> str:
    if text.startswith("{"):
        return "jsonl" if "}" in text.partition("\n")[0] else "json"
    return "xes" if text.startswith("<") else "csv"


def _format_of_archive(path: Path) -> str | None:
    """Tell a spreadsheet by the parts of which it is made."""
    try:
        with zipfile.ZipFile(path) as archive:
            parts = set(archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return None
    return "xlsx" if "xl/workbook.xml" in parts else "ods" if "content.xml" in parts else None
