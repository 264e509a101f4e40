"""XES through r4pm (extra `fast-xes`): faster, at ten times the memory.

r4pm gives variants by the activity `concept:name`, in the order of the file. It is asked only about
files in the plainest form there is, which both readers read alike, case by case; every other file
is left to the own reader. So one odd case changes who reads, and nothing else. Time stamps are not
looked at, so nothing is told of cases whose times contradict the order of the file.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import Argument, MissingExtraError, SettingError, Statement
from ..kernel.variants import VariantCounts
from . import xes
from .bounded_file import BoundedFile, Progress
from .columns import Columns
from .lifecycle import TRANSITION
from .notices import Notify
from .options import ReadOptions
from .source import Log, Source
from .xes_form import LONGEST_HEAD, NAME
from .xes_stream import MAX_CASE_BYTES

list_columns, kinds, cases = xes.list_columns, xes.kinds, xes.cases
"""As the own reader does: r4pm gives variants alone."""

NO_NAME = "No Activity"
"""What r4pm calls an event without a name."""

_VALUE = rb"(?:[^\"<>&\x00-\x1f]|&(?:amp|lt|gt|quot|apos|#(?:9|10|13)|#x[9aAdD]);)*+"
_ATTRIBUTE = (
    rb"<(?:"
    # An activity that is no string is none for r4pm, and only completions are alike for both.
    rb"string key=\"(?:concept:name\" value=\"" + _VALUE + rb"|"
    rb"lifecycle:transition\" value=\"[cC][oO][mM][pP][lL][eE][tT][eE])|"
    rb"(?:string|date|int|float|boolean|id)"
    rb" key=\"(?!concept:name\"|lifecycle:transition\"|unfinished\")[^\"<>&\x00-\x1f]*+\""
    rb" value=\"" + _VALUE + rb")\" ?/>"
)
_BLANK = rb"[ \t\r\n]*+"
_ATTRIBUTES = rb"(?:" + _ATTRIBUTE + _BLANK + rb")*+"
_EVENT = rb"<event>" + _BLANK + _ATTRIBUTES + rb"</event>" + _BLANK
_CASES = re.compile(
    rb"(?:<trace>" + _BLANK + _ATTRIBUTES + rb"(?:" + _EVENT + rb")*+</trace>" + _BLANK + rb")*+"
)
"""Cases in the plainest form: as programs write them, with nothing inside attributes."""
_HEAD = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:<\?xml [^>]*?\?>)?(?:\s|<!--(?:(?!-->)(?s:.))*+-->)*+<log[ >]"
)
"""How such a file begins."""
_ENCODING = re.compile(rb"encoding\s*=\s*[\"'](?!utf-8[\"']|us-ascii[\"'])", re.IGNORECASE)
_ODD_HEAD = (b"<!DOCTYPE", b"<!ENTITY", b"<![CDATA[", b"<event", b"</log", b"\0")
_BLOCK = 1 << 20


def find(source: Source, options: ReadOptions) -> Columns:
    """Find the attributes to count by."""
    _library()
    columns = xes.find(source, options)
    is_named = columns.activity != (NAME,)
    if is_named or options.order == "time" or options.person is not None:
        named = (Argument("activity"), Argument("order"), Argument("person"))
        raise SettingError("engine", "r4pm", Statement("read.must.left_out_with", arguments=named))
    return columns


def count(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Count the variants of XES files."""
    if log.columns is None or log.columns.lifecycle != TRANSITION:
        return xes.count(log, progress, notify)
    total: Counter[tuple[str, ...]] = Counter()
    for path in log.source.content:
        variants = _read(path) if _is_plain(path, log.source.trusted) else None
        if variants is None:
            return xes.count(log, progress, notify)
        for names, number in variants:
            total[tuple(names)] += number
    if progress is not None:
        progress(1.0)
    return VariantCounts.of(total)


def _library() -> Any:
    try:
        import r4pm
        from r4pm.bindings import get_variants
    except ImportError:
        raise MissingExtraError("r4pm 0.6 or newer", "fast-xes") from None
    assert get_variants is not None
    return r4pm


class _OddError(Exception):
    """A file that r4pm may read otherwise than the own reader does."""


def _is_plain(path: Path, trusted: bool) -> bool:
    """Tell whether r4pm reads a file as the own reader does; bombs are refused on the way."""
    with BoundedFile(path, trusted=trusted) as stream:
        blocks = _text_blocks(stream)
        try:
            text = _after_head(blocks)
            for block in blocks:
                text = _after_cases(text + block)
        except _OddError:
            return False
    return text.strip(b" \t\r\n") == b"</log>"


def _text_blocks(stream: BoundedFile) -> Iterator[bytes]:
    """Yield blocks of text in UTF-8 that XML can have."""
    letters = getincrementaldecoder("utf-8")()
    while block := stream.read(_BLOCK):
        try:
            text = letters.decode(block)
        except UnicodeDecodeError:
            raise _OddError from None
        if "\ufffe" in text or "\uffff" in text:
            raise _OddError
        yield block


def _after_head(blocks: Iterator[bytes]) -> bytes:
    """What was read behind a plain head and the first cases."""
    text = b""
    for block in blocks:
        text += block
        head, found, _ = text.partition(b"<trace")
        if found and _is_plain_head(head):
            return _after_cases(text[len(head) :])
        if found or len(text) >= LONGEST_HEAD:
            break
    raise _OddError


def _is_plain_head(head: bytes) -> bool:
    """Tell the same of what stands before the first case."""
    declaration, _, _ = head.partition(b"?>")
    return (
        _HEAD.match(head) is not None
        and _ENCODING.search(declaration) is None
        and not any(odd in head for odd in _ODD_HEAD)
    )


def _after_cases(text: bytes) -> bytes:
    """What stands behind the plain cases that a text begins with."""
    found = _CASES.match(text)
    rest = text if found is None else text[found.end() :]
    if len(rest) > MAX_CASE_BYTES:
        raise _OddError
    return rest


def _read(path: Path) -> list[tuple[list[str], int]] | None:
    r4pm = _library()
    items: list[str] = []
    try:
        items.append(r4pm.import_item("EventLog", str(path)))
        items.append(r4pm.bindings.log_to_activity_projection(items[0]))
        variants = r4pm.bindings.get_variants(items[1])
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # r4pm raises what it likes; the own reader finds out what is wrong.
        return None
    finally:
        for item in items:
            r4pm.remove_item(item)
    pairs = [(variant["activities"], variant["count"]) for variant in variants]
    return None if any(NO_NAME in names for names, _ in pairs) else pairs
