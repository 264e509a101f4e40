"""Released logs as XES (IEEE 1849-2023), as they are or packed.

Every case says whether it is unfinished, and every file what its times are. Names are written as
they are, so that they can be read back exactly.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from html import escape
from itertools import islice, pairwise
from pathlib import Path
from typing import IO, cast

import numpy as np

from ...events.lifecycle import START, TRANSITION
from ...events.released import CORE_KEY, PRIVATE, TIME_KEY, time_mark_of_xes
from ...kernel.attributes import Kind
from ...mechanisms.released import ReleasedLog
from ...synthesis.released import ReleasedColumn
from .blocks import EventBlock, describe_times, event_blocks
from .format import CaseCollector, Format

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(log: ReleasedLog, path: Path, packed: bool = False) -> None:
    """Write a log as XES; if it is packed, neither the time nor the name of the file is in it."""
    with ExitStack() as stack:
        file: IO[bytes] = stack.enter_context(path.open("wb"))
        if packed:
            packer = gzip.GzipFile("", "wb", 6, file, mtime=0)
            file = cast("IO[bytes]", stack.enter_context(packer))
        for text in xes_parts(log):
            file.write(text.encode())


def read(path: Path, kinds: Mapping[str, Kind]) -> ReleasedLog:
    """Read a log back; nothing else is taken from a file than what `write` puts there."""
    from ...events.xes_form import traces  # Writing needs no parser.

    cases = CaseCollector(kinds)
    for trace in traces(path, False, None):
        values = _read_values(trace)
        core = values.get(CORE_KEY)
        cases.add_case(
            finished=values.get("unfinished") != "true",
            core=None if core is None else core == "true",
            values={f"case:{key}": value for key, value in values.items()},
        )
        start = None
        for event in trace.iterchildren("{*}event"):
            values = _read_values(event)
            seconds = _read_date(values["time:timestamp"])
            if values.get(TRANSITION) == START:
                start = seconds
                continue
            cases.add_event(values["concept:name"], seconds, start, values)
            start = None
    return cases.log(timed=time_mark_of_xes(path) == PRIVATE)


def _read_values(element: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The attributes of a trace or an event."""
    return {key: child.get("value", "") for child in element if (key := child.get("key"))}


def _read_date(text: str) -> int:
    """A moment in seconds since 1970."""
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(seconds=1)


def xes_parts(log: ReleasedLog) -> Iterator[str]:
    """Yield the text of an XES file piece by piece."""
    names = [
        f'<string key="concept:name" value={_quote(name)}/>' for name in log.variants.activities
    ]
    people = any(column.name.startswith("org:") for column in log.columns)
    more = _LIFECYCLE * (log.starts is not None) + _ORGANIZATIONAL * people
    yield _HEAD.format(times=describe_times(log), more=more)
    tags = [(column.of_case, _tags(column)) for column in log.columns]
    for block in event_blocks(log):
        yield from _traces(block, names, tags)
    yield "</log>\n"


def _tags(column: ReleasedColumn) -> list[str]:
    """An attribute with each of its values, and in the last place without any."""
    key, kind = _quote(column.name), column.kind
    texts = [f"{text}T00:00:00.000+00:00" if kind == "date" else text for text in column.texts]
    return [*(f"<{kind} key={key} value={_quote(text)}/>" for text in texts), ""]


def _traces(
    block: EventBlock, names: Sequence[str], tags: Sequence[tuple[bool, list[str]]]
) -> Iterator[str]:
    """Yield the text of the cases of a block."""
    of_cases, of_events, began = [""] * len(block), [""] * len(block), [""] * len(block)
    ids = block.activity_id.tolist()
    if block.starts is not None:
        # The work on an event is an event of its own right before it, as readers join them.
        began = [
            f"<event>{names[i]}{_date(time)}{_STARTED}</event>\n"
            for i, time in zip(ids, block.starts.tolist(), strict=True)
        ]
        of_events = [_COMPLETE] * len(block)
    for (of_case, texts), codes in zip(tags, block.values, strict=True):
        rows = of_cases if of_case else of_events
        rows[:] = [row + texts[code] for row, code in zip(rows, codes.tolist(), strict=True)]
    events = (
        f"{first}<event>{names[i]}{_date(time)}{more}</event>\n"
        for i, time, first, more in zip(ids, block.seconds.tolist(), began, of_events, strict=True)
    )
    # A block holds whole cases: a case begins wherever the number changes.
    begins = np.flatnonzero(np.diff(block.case, prepend=-1)).tolist()
    for begin, end in pairwise([*begins, len(block)]):
        here = "".join(islice(events, end - begin))
        yield f"{_case(block, begin)}{of_cases[begin]}\n{here}</trace>\n"


def _case(block: EventBlock, place: int) -> str:
    """What stands at the beginning of each case: its number, and what it is."""
    flags = {"unfinished": block.truncated[place]}
    if block.core is not None:
        flags[CORE_KEY] = block.core[place]
    return f'<trace><string key="concept:name" value="{block.case[place]}"/>' + "".join(
        f'<boolean key="{key}" value="{"true" if flag else "false"}"/>'
        for key, flag in flags.items()
    )


def _date(time: int) -> str:
    minutes = _minute(time // 60)
    return f'<date key="time:timestamp" value="{minutes}{time % 60:02}.000+00:00"/>'


@lru_cache(maxsize=4096)
def _minute(minutes: int) -> str:
    return (EPOCH + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:")


def _quote(name: str) -> str:
    """Quote a name so that blanks of every kind survive."""
    return f'"{escape(name, quote=False).translate(_BLANKS)}"'


_BLANKS = str.maketrans({'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
XES_VERSION = "1849.2023"
"""IEEE 1849-2023, written as the decimal number that its schema asks for."""
EXTENSION_URI = "urn:sacofa:xes:1"
"""The extension of the `sacofa:` attributes, which sacofa.xesext next to this file defines."""
_STARTED, _COMPLETE = (
    f'<string key="{TRANSITION}" value="{word}"/>' for word in (START, "complete")
)
_STANDARD = '<extension name="{}" prefix="{}" uri="http://www.xes-standard.org/{}.xesext"/>\n'
_LIFECYCLE = _STANDARD.format("Lifecycle", "lifecycle", "lifecycle")
_ORGANIZATIONAL = _STANDARD.format("Organizational", "org", "org")
_HEAD = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="{XES_VERSION}" xes.features="" xmlns="http://www.xes-standard.org/">
<extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
<extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>
<extension name="Sacofa" prefix="sacofa" uri="{EXTENSION_URI}"/>
{{more}}<global scope="trace">
<string key="concept:name" value=""/>
<boolean key="unfinished" value="false"/>
</global>
<global scope="event">
<string key="concept:name" value=""/>
<date key="time:timestamp" value="2000-01-01T00:00:00.000+00:00"/>
</global>
<classifier name="Activity" keys="concept:name"/>
<string key="{TIME_KEY}" value="{{times}}"/>
"""


PLAIN = Format(name="XES", suffix=".xes", write=write, read=read, refused=_NOT_XML)
PACKED = replace(PLAIN, name="XES, packed", suffix=".xes.gz", write=partial(write, packed=True))
