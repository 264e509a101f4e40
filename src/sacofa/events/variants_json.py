"""Counted variants as JSON.

{"format": "sacofa-variants-1", "activities": ["a", "b"],
 "variants": [{"activities": ["a", "b"], "count": 3, "finished": true}]}
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, TypeGuard

from ..errors import Argument, ReadError, SettingError
from ..kernel.variants import VariantCounts
from .bounded_file import BoundedFile, Progress
from .case_store import StoredCases
from .options import ReadOptions
from .source import Log, Notify, Source

FORMAT = "sacofa-variants-1"

MOST = 1 << 27
"""A gzip file that unpacks to more than this is refused unless trusted."""

MOST_VALUES = 5_000_000
"""More names and numbers than this are refused unless trusted: each takes up to 100 bytes."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def list_columns(source: Source) -> list[str]:
    """List nothing: there are no columns."""
    return []


def kinds(source: Source) -> dict[str, str]:
    """List nothing: counted variants have no attributes."""
    return {}


def find(source: Source, options: ReadOptions) -> None:
    """Find nothing: there are no columns. Settings that need some are refused."""
    for name in ("case", "activity", "timestamp", "start", "lifecycle", "person", "order"):
        if value := getattr(options, name):
            raise SettingError(name, value, "left out for counted variants")


def count(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Read variants that are counted already."""
    return read_variants(log.source.content[0], trusted=log.source.trusted)


def cases(log: Log, progress: Progress | None = None, notify: Notify | None = None) -> StoredCases:
    """Refuse: counted variants have no times."""
    raise ReadError(log.name, "counted variants have no times: give the log that they come from")


def read_variants(path: Path, *, trusted: bool = False) -> VariantCounts:
    """Read counted variants."""
    # All of it is held in memory at once, and takes many times its size there.
    with BoundedFile(path, trusted=trusted, most=MOST) as stream:
        text = stream.read()
    if not text.strip():
        raise ReadError(path, "the file is empty")
    if not trusted and sum(map(text.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise ReadError(
            path,
            f"holds more than {MOST_VALUES:,} values: say that it is trusted (",
            Argument("trusted", True),
            ") if that is meant",
        )
    try:
        content = json.loads(text)
    except UnicodeDecodeError:
        raise ReadError(path, "not JSON: is not written in utf-8") from None
    except (ValueError, RecursionError) as error:
        raise ReadError(path, f"not JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ReadError(path, f'not variants: "format" is not "{FORMAT}"')
    activities = content.get("activities")
    variants = content.get("variants")
    if not _names(activities) or len(set(activities)) < len(activities):
        raise ReadError(path, '"activities" must be a list of different names')
    if any(_SURROGATE.search(name) for name in activities):
        raise ReadError(path, '"activities" has a name that is not Unicode text')
    if not isinstance(variants, list):
        raise ReadError(path, '"variants" must be a list')
    known = set(activities)
    done: list[tuple[list[str], int]] = []
    cut: list[tuple[list[str], int]] = []
    for number, variant in enumerate(variants, start=1):
        names, count, finished = _variant(path, number, variant)
        unknown = next((name for name in names if name not in known), None)
        if unknown is not None:
            raise ReadError(path, f'variant {number} has an unknown activity "{unknown}"')
        (done if finished else cut).append((names, count))
    return VariantCounts.of(done, activities, cut)


def _names(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _variant(path: Path, number: int, variant: Any) -> tuple[list[str], int, bool]:
    if isinstance(variant, dict):
        names, count = variant.get("activities"), variant.get("count")
        finished = variant.get("finished", True)
        if (
            _names(names)
            and isinstance(count, int)
            and not isinstance(count, bool)
            and 0 <= count < 1 << 62
            and isinstance(finished, bool)
        ):
            return names, count, finished
    raise ReadError(path, f"variant {number} must have activities, a count and a finished flag")
