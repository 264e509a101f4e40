"""Counted variants as JSON.

{"format": "sacofa-variants-1", "activities": ["a", "b"],
 "variants": [{"activities": ["a", "b"], "count": 3, "finished": true}]}
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TypeGuard

from ..errors import ReadError, SettingError, Statement
from ..kernel.variants import VariantCounts
from .bounded_file import TRUSTED, BoundedFile, Progress
from .case_store import StoredCases
from .notices import Notify
from .options import ReadOptions
from .source import Log, Source

FORMAT = "sacofa-variants-1"

MAX_BYTES = 1 << 27
"""A gzip file that unpacks to more than this is refused unless trusted."""

MOST_VALUES = 5_000_000
"""More names and numbers than this are refused unless trusted: each takes up to 100 bytes."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def kinds(source: Source) -> dict[str, str]:
    """Return nothing: counted variants have no attributes."""
    return {}


def find(source: Source, options: ReadOptions) -> None:
    """Return None, because the format has no columns; refuse settings that need them."""
    for name in ("case", "activity", "timestamp", "start", "lifecycle", "person", "order"):
        if value := getattr(options, name):
            must = Statement("read.must.left_out_for", what="counted variants")
            raise SettingError(name, value, must)


def count(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Read variants that are counted already."""
    return read_variants(log.source.content[0], trusted=log.source.trusted)


def cases(log: Log, progress: Progress | None = None, notify: Notify | None = None) -> StoredCases:
    """Refuse: counted variants have no times."""
    raise ReadError(log.name, _said("no_times"))


def read_variants(path: Path, *, trusted: bool = False) -> VariantCounts:
    """Read counted variants."""
    content = _read_json(path, trusted)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ReadError(path, _said("no_format", expected=FORMAT))
    names, variants = content.get("activities"), content.get("variants")
    if not _is_names(names) or len(known := set(names)) < len(names):
        raise ReadError(path, _said("activities"))
    if _SURROGATE.search("".join(names)):
        raise ReadError(path, _said("no_text"))
    if not isinstance(variants, list):
        raise ReadError(path, _said("no_list"))
    found: dict[bool, list[tuple[list[str], int]]] = {True: [], False: []}
    for number, entry in enumerate(variants, start=1):
        activities, count, finished = _checked(path, number, entry)
        if not known.issuperset(activities):
            name = min({*activities} - known)
            raise ReadError(path, _said("unknown", number=number, name=name))
        found[finished].append((activities, count))
    return VariantCounts.of(found[True], names, found[False])


def _checked(path: Path, number: int, entry: object) -> tuple[list[str], int, bool]:
    """The activities, the count and the mark of an entry."""
    said = entry if isinstance(entry, dict) else {}
    names, count, finished = said.get("activities"), said.get("count"), said.get("finished", True)
    is_count = isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 1 << 62
    if count is None or not is_count or not _is_names(names) or not isinstance(finished, bool):
        raise ReadError(path, _said("entry", number=number))
    return names, count, finished


def _read_json(path: Path, trusted: bool) -> object:
    # The whole file is kept in memory, and takes many times its size there.
    with BoundedFile(path, trusted=trusted, most=MAX_BYTES) as stream:
        text = stream.read()
    if not text.strip():
        raise ReadError(path, Statement("file.empty"))
    if not trusted and sum(map(text.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise ReadError(path, _said("too_many", most=MOST_VALUES, trusted=TRUSTED))
    try:
        return json.loads(text)
    except UnicodeDecodeError:
        raise ReadError(path, _said("no_utf8")) from None
    except (ValueError, RecursionError) as error:
        raise ReadError(path, _said("no_json", why=str(error))) from None


def _said(code: str, **values: object) -> Statement:
    return Statement(f"read.variants.{code}", **values)


def _is_names(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)
