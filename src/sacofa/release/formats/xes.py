"""Released logs as XES (IEEE 1849-2023), plain or compressed.

Each case states whether it is unfinished, and each file what its times mean. Names are written
unchanged, so that they are read back exactly.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from functools import partial
from html import escape
from itertools import islice, pairwise, repeat
from pathlib import Path
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from ...events.lifecycle import START, TRANSITION
from ...events.released import CORE_KEY, TIME_KEY, time_mark_of_xes
from ...kernel.attributes import Kind
from ...mechanisms.released import ReleasedLog
from .blocks import EventBlock, describe_times, event_blocks
from .format import ACTIVITY, EVENT_COLUMNS, TIME, Format, log_of_columns

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
    """Read a log back; only elements that `write` writes are read."""
    from ...events.xes_form import traces  # Writing needs no parser.

    mark, rows = time_mark_of_xes(path) or "", []
    for number, trace in enumerate(traces(path, False, None)):
        case, start = _read_values(trace), None
        truncated, core = case.get("unfinished") == "true", case.get(CORE_KEY)
        marked = None if core is None else core == "true"
        of_case = {f"case:{key}": value for key, value in case.items()}
        for event in trace.iterchildren("{*}event"):
            values = _read_values(event)
            seconds = int(datetime.fromisoformat(values[TIME]).timestamp())
            if values.get(TRANSITION) == START:
                start = seconds
                continue
            row = (number, values[ACTIVITY], seconds, start, truncated, marked, mark)
            found = of_case | values
            rows.append((*row, *(found.get(key) for key in kinds)))
            start = None
    keys = (*EVENT_COLUMNS, *kinds)
    columns = list(zip(*rows, strict=True)) or [()] * len(keys)
    return log_of_columns(dict(zip(keys, columns, strict=True)), kinds)


def _read_values(element: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The attributes of a trace or an event."""
    return {key: child.get("value", "") for child in element if (key := child.get("key"))}


def xes_parts(log: ReleasedLog) -> Iterator[str]:
    """Yield the text of an XES file piece by piece."""
    names = [
        f'<string key="concept:name" value={_quote(name)}/>' for name in log.variants.activities
    ]
    people = any(column.name.startswith("org:") for column in log.columns)
    more = _LIFECYCLE * (log.starts is not None) + _ORGANIZATIONAL * people
    yield _HEAD.format(times=describe_times(log), more=more)
    tags = []
    for column in log.columns:
        key, midnight = _quote(column.name), "T00:00:00.000+00:00" * (column.kind == "date")
        values = [_quote(f"{text}{midnight}") for text in column.texts]
        # In the last place: no value, whose code is −1.
        texts = [*(f"<{column.kind} key={key} value={value}/>" for value in values), ""]
        tags.append((column.of_case, texts))
    for block in event_blocks(log):
        yield from _traces(block, names, tags)
    yield "</log>\n"


def _traces(
    block: EventBlock, names: Sequence[str], tags: Sequence[tuple[bool, list[str]]]
) -> Iterator[str]:
    """Yield the text of the cases of a block."""
    of_cases, of_events = [""] * len(block.case), [""] * len(block.case)
    began: Iterator[str] = repeat("")
    if block.starts is not None:
        # The work on an event is an event of its own right before it, as readers join them.
        began = _events(block, names, block.starts, repeat(_STARTED))
        of_events = [_COMPLETE] * len(block.case)
    for (of_case, texts), codes in zip(tags, block.values, strict=True):
        rows = of_cases if of_case else of_events
        rows[:] = [row + texts[code] for row, code in zip(rows, codes.tolist(), strict=True)]
    events = map(str.__add__, began, _events(block, names, block.seconds, of_events))
    # A block holds whole cases: a case begins wherever the number changes.
    begins = np.flatnonzero(np.diff(block.case, prepend=-1)).tolist()
    for begin, end in pairwise([*begins, len(block.case)]):
        flags = [("unfinished", block.truncated[begin])]
        if block.core is not None:
            flags.append((CORE_KEY, block.core[begin]))
        marks = "".join(
            f'<boolean key="{key}" value="{"true" if flag else "false"}"/>' for key, flag in flags
        )
        head = f'<trace><string key="concept:name" value="{block.case[begin]}"/>{marks}'
        yield f"{head}{of_cases[begin]}\n{''.join(islice(events, end - begin))}</trace>\n"


def _events(
    block: EventBlock, names: Sequence[str], seconds: NDArray[np.int64], more: Iterable[str]
) -> Iterator[str]:
    """Return the text of each event, without optional elements."""
    times = np.datetime_as_string(seconds.astype("datetime64[s]")).tolist()
    for activity, time, rest in zip(block.activity_id.tolist(), times, more, strict=False):
        date = f'<date key="{TIME}" value="{time}.000+00:00"/>'
        yield f"<event>{names[activity]}{date}{rest}</event>\n"


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
