"""How a log is stored, told by the end of its name."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ..errors import ReadError, nearest

Format = Literal["xes", "csv", "tsv", "parquet", "json", "frame"]

SUFFIXES: dict[str, Format] = {
    ".xes": "xes",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "json",
}


def suffix_of(path: Path) -> str:
    """The end of a file's name that tells its format, without `.gz`."""
    name = path.name.lower()
    return Path(name.removesuffix(".gz")).suffix


def format_of(path: Path) -> Format:
    """Tell the format of a file that is read."""
    suffix = suffix_of(path)
    if suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise ReadError(
            path, f'unknown suffix "{suffix}", known are {known}.{nearest(suffix, SUFFIXES)}'
        )
    return SUFFIXES[suffix]
