"""Formats of released files: declared once, for commands, web app, messages and documents alike.

A format of another package is a `Format` under the entry point group `sacofa.exports`. What it
needs is here: `event_columns` gives the events of a log, `log_of_columns` makes a log of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...base.extensions import load_extensions
from ...errors import OutputError, ReadError, Statement, advised
from ...events import variants_json
from ...kernel.attributes import Kind
from ...mechanisms.released import ReleasedLog
from . import tables, xes
from .blocks import event_columns
from .format import EVENT_COLUMNS, Format, log_of_columns

__all__ = [
    "BUILT_IN",
    "EVENT_COLUMNS",
    "FORMATS",
    "Format",
    "check_texts",
    "event_columns",
    "format_of",
    "listed",
    "log_of_columns",
    "only_variants",
    "read_log",
    "store_log",
]


def _write_variants(log: ReleasedLog, path: Path) -> None:
    """Write the variants of a log with their counts, one in each line."""
    variants = log.variants
    entries = (
        json.dumps({"activities": names, "count": count, "finished": whole}, ensure_ascii=False)
        for (names, count), whole in zip(variants, variants.complete.tolist(), strict=True)
    )
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f'{{"format": "{variants_json.FORMAT}",\n')
        file.write(f' "activities": {json.dumps(variants.activities, ensure_ascii=False)},\n')
        file.write(' "variants": [')
        file.writelines(f"{',' * (place > 0)}\n  {entry}" for place, entry in enumerate(entries))
        file.write("\n ]}\n")


JSON = Format(
    name="JSON: variants and counts",
    suffix=".json",
    write=_write_variants,
    read=lambda path, kinds: ReleasedLog(variants=variants_json.read_variants(path)),
    holds_events=False,
)
BUILT_IN = (xes.PACKED, xes.PLAIN, tables.CSV, tables.PARQUET, JSON)

_by_suffix = {each.suffix: each for each in BUILT_IN}
for _, _each in load_extensions("sacofa.exports"):
    if isinstance(_each, Format):
        _by_suffix.setdefault(_each.suffix, _each)
FORMATS = tuple(_by_suffix.values())
"""All formats: the built-in ones, then those of other packages with suffixes of their own."""


def listed(formats: Iterable[Format]) -> str:
    """The suffixes of formats as a list in words."""
    *others, end = (each.suffix for each in formats)
    return f"{', '.join(others)} or {end}" if others else end


def format_of(
    path: str | os.PathLike[str], error: type[OutputError | ReadError] = OutputError
) -> Format:
    """The format of a file by the end of its name."""
    name = Path(path).name.lower()
    for each in FORMATS:
        if name.endswith(each.suffix):
            return each
    suffix, known = Path(name).suffix, [each.suffix for each in FORMATS]
    unknown = Statement("format.unknown", suffix=suffix, known=known)
    raise error(path, advised(unknown, suffix, known))


def only_variants(suffix: str) -> Statement:
    """The requirement on a setting that needs more than a format of variants stores."""
    others = [each.suffix for each in FORMATS if each.holds_events]
    return Statement("must.be.left_out_for_variants", suffix=suffix, others=others)


def check_texts(texts: Iterable[str], path: str | os.PathLike[str], kind: str = "activity") -> None:
    """Refuse names and values that a file cannot hold: without them, two could become one."""
    output = format_of(path)
    for text in texts:
        if output.holds(text):
            continue
        what = Statement(f"format.{kind}", text=ascii(text))
        others = [each.suffix for each in FORMATS if each.holds_events and each.holds(text)]
        if not others:
            raise OutputError(path, Statement("format.no_text", what=what))
        cannot = Statement("format.cannot_hold", suffix=output.suffix, what=what, others=others)
        raise OutputError(path, cannot)


def store_log(log: ReleasedLog, path: Path) -> None:
    """Write a released log to a place that has its name later, with the same suffix."""
    check_texts(log.variants.activities, path)
    for column in log.columns:
        check_texts((column.name, *column.texts), path, "value")
    format_of(path).write(log, path)


def read_log(path: str | os.PathLike[str], kinds: Mapping[str, Kind]) -> ReleasedLog:
    """Read a released log back; `kinds` as for `Format.read`."""
    stored = format_of(path, ReadError)
    try:
        return stored.read(Path(path), kinds)
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(path, Statement("format.other_layout")) from None
