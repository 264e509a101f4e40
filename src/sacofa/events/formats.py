"""Which files make up a log, and how they are stored."""

from __future__ import annotations

import codecs
import os
import re
import zipfile
from collections.abc import Iterator
from glob import glob, has_magic
from pathlib import Path
from typing import Literal

from ..errors import ReadError, nearest
from .bounded_file import BoundedFile, refuse_endless
from .unpacking import ENDINGS, name_inside

Format = Literal[
    "xes", "csv", "tsv", "xlsx", "ods", "jsonl", "parquet", "json", "frame", "pm4py log",
    "relation", "spark frame", "postgresql",
]  # fmt: skip

SUFFIXES: dict[str, Format] = {
    ".xes": "xes",
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "csv",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".ods": "ods",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "json",
}


PACKED_ALREADY: tuple[Format, ...] = ("parquet", "xlsx", "ods")
"""Formats that cannot be read as a stream, and gain nothing by being packed again."""


OLD_OFFICE = bytes.fromhex("d0cf11e0a1b11ae1")
"""How files begin that Excel wrote before 2007."""

SNIFFED_BYTES = 4096
"""Bytes of a file of unknown suffix that are looked at to tell its format."""


ONLY_SOME = "name those that make up the log, or a pattern such as 'folder/*.csv'"
"""What to do where a folder holds other files, too."""


def suffix_of(path: Path) -> str:
    """The end of a file's name that tells its format, without what says how it is packed."""
    name = path.name.lower()
    if name.endswith(".zip") and not Path(name.removesuffix(".zip")).suffix and path.is_file():
        name = name_inside(path).lower()
    packed = next((ending for ending in ENDINGS if name.endswith(ending)), "")
    return Path(name.removesuffix(packed)).suffix


def format_of(path: Path) -> Format:
    """Tell the format of a file that is read."""
    suffix = suffix_of(path)
    if SUFFIXES.get(suffix) in PACKED_ALREADY and path.name.lower().endswith(ENDINGS):
        raise ReadError(path, f'unknown suffix "{suffix}{path.suffix}": unpack the file first')
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    found = _format_inside(path) if path.is_file() else None
    if found is None:
        known = ", ".join(SUFFIXES)
        raise ReadError(
            path, f'unknown suffix "{suffix}", known are {known}.{nearest(suffix, SUFFIXES)}'
        )
    return found


def _format_inside(path: Path) -> Format | None:
    """Tell the format of a file by how it begins, whatever it is called; None if it is no log."""
    with path.open("rb") as file:
        start = file.read(len(OLD_OFFICE))
    if start == OLD_OFFICE:
        raise ReadError(path, "is a spreadsheet in the old format: save it as .xlsx or CSV")
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"PK"):
        return _format_of_archive(path)
    with BoundedFile(path) as stream:
        start = stream.read(SNIFFED_BYTES)
    wide = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = start.decode("utf-16" if wide else "utf-8-sig", "replace").lstrip()
    if re.match(r"<(!doctype html|html|table|head|body)", text, re.IGNORECASE):
        raise ReadError(path, "is a web page, whatever it is called: save it as .xlsx or CSV")
    if not text or re.search(r"[\x00-\x08\x0e-\x1f]", text):
        return None
    if text.startswith("{"):
        return "jsonl" if "}" in text.partition("\n")[0] else "json"
    return "xes" if text.startswith("<") else "csv"


def _format_of_archive(path: Path) -> Format | None:
    """Tell a spreadsheet by the parts of which it is made."""
    try:
        with zipfile.ZipFile(path) as archive:
            parts = set(archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return None
    if "xl/workbook.xml" in parts:
        return "xlsx"
    return "ods" if "content.xml" in parts else None


def _walk(folder: Path) -> Iterator[Path]:
    """Go through all files of a folder and its folders; one that cannot be read is an error."""

    def refuse(error: OSError) -> None:
        raise ReadError(error.filename, f"cannot be read: {error.strerror}")

    for place, folders, names in os.walk(folder, onerror=refuse, followlinks=False):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        for name in names:
            path = Path(place, name)
            if not name.startswith((".", "_")) and path.is_file():
                yield path


def find_files(source: str, format: Format | None = None) -> tuple[tuple[Path, ...], Format]:
    """Find the files that a path, a pattern or a folder names, in the order of their names.

    In a folder, files and folders whose name begins with a dot or an underscore are passed over,
    as Spark and Hive do. All files must be of one format.
    """
    path = Path(source)
    if path.is_dir():
        files = list(_walk(path))
        if not files:
            raise ReadError(source, "the folder is empty")
    elif path.exists():
        refuse_endless(path)
        files = [path]
    elif has_magic(source):
        files = [Path(name) for name in glob(source, recursive=True) if Path(name).is_file()]
        if not files:
            raise ReadError(source, "no file fits this pattern")
    else:
        raise ReadError(source, "there is no such file")
    if path.is_dir() and format is None:
        # A text file next to logs of another kind explains them.
        mixed = {suffix_of(file) for file in files} != {".txt"}
        known = SUFFIXES.keys() - ({".txt"} if mixed else set())
        strange = [file for file in files if suffix_of(file) not in known]
        if strange:
            raise ReadError(source, f"{strange[0].name} is no log: {ONLY_SOME}")
    formats = {format or format_of(file) for file in files}
    if len(formats) > 1:
        several = ", ".join(sorted(formats))
        raise ReadError(source, f"files of several formats ({several}): {ONLY_SOME}")
    (found,) = formats
    if found == "json" and len(files) > 1:
        raise ReadError(source, "variants must be one file")
    return tuple(sorted(files, key=Path.as_posix)), found
