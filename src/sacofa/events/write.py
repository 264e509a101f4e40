"""Writes variants as an event log, or as they are.

Events come from one generator (module `released`); a writer only formats them. Every case says
whether it is unfinished, and every file what its times are. Nothing in the file tells more than the
variants and their counts do, and the same variants give the same bytes.

Names are written as they are, so that they can be read back exactly. In CSV alone, those that a
spreadsheet would take for a formula get an apostrophe first (module `formulas`).
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..base.files import write_whole
from ..errors import OutputError, nearest
from ..kernel.released import Columns, ReleasedColumn
from ..kernel.variants import VariantCounts
from . import variants_json
from .bounded_file import Progress
from .lifecycle import START, TRANSITION
from .released import CORE_KEY, TIME_KEY, EventBlock, describe_times, event_blocks

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Output = Literal["xes", "xes.gz", "csv", "parquet", "json"]

OUTPUTS: dict[str, Output] = {
    ".xes.gz": "xes.gz",
    ".xes": "xes",
    ".csv": "csv",
    ".parquet": "parquet",
    ".json": "json",
}

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_variants(
    variants: VariantCounts,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    progress: Progress | None = None,
    times: NDArray[np.int64] | None = None,
    core: NDArray[np.bool_] | None = None,
    columns: Columns = (),
    starts: NDArray[np.int64] | None = None,
) -> None:
    """Write variants to a file, in the format that the end of its name tells.

    XES, XES.gz, CSV and Parquet hold an event log; JSON holds the variants and their counts. A
    case without events is in JSON alone.
    """
    target = Path(path)
    output = output_of(target)
    check_names(variants.activities, target)
    for column in columns:
        check_names((column.name, *column.texts), target, "value")
    with write_whole(target, force) as part:
        if output in ("csv", "parquet"):
            from .write_table import write_table

            write_table(variants, part, output, progress, times, core, columns, starts)
            return
        with part.open("wb") as file:
            if output == "xes.gz":
                with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
                    for text in xes_parts(variants, progress, times, core, columns, starts):
                        packed.write(text.encode())
                return
            for text in (
                variants_json.lines(variants)
                if output == "json"
                else xes_parts(variants, progress, times, core, columns, starts)
            ):
                file.write(text.encode())


def output_of(path: str | os.PathLike[str]) -> Output:
    """Tell the format of a file that is written."""
    name = Path(path).name.lower()
    for suffix, output in OUTPUTS.items():
        if name.endswith(suffix):
            return output
    suffix = Path(name).suffix
    raise OutputError(
        path,
        f'unknown suffix "{suffix}", known are {", ".join(OUTPUTS)}.{nearest(suffix, OUTPUTS)}',
    )


def check_names(
    activities: Sequence[str], path: str | os.PathLike[str], what: str = "activity"
) -> None:
    """Refuse names that a file cannot hold: XML has no control characters, nothing has surrogates.

    Leaving such characters out would make two activities one.
    """
    output = output_of(path)
    for name in activities:
        if output in ("xes", "xes.gz") and _NOT_XML.search(name):
            raise OutputError(
                path, f"XES cannot hold the {what} {name!a}: write Parquet or JSON instead"
            )
        if not name.isascii() and any("\ud800" <= letter <= "\udfff" for letter in name):
            raise OutputError(path, f"the {what} {name!a} is not Unicode text")


def xes_parts(
    variants: VariantCounts,
    progress: Progress | None = None,
    times: NDArray[np.int64] | None = None,
    core: NDArray[np.bool_] | None = None,
    columns: Columns = (),
    starts: NDArray[np.int64] | None = None,
) -> Iterator[str]:
    """Give an XES file piece by piece."""
    tags = [_tags(column) for column in columns]
    people = any(column.name.startswith("org:") for column in columns)
    more = ("" if starts is None else _LIFECYCLE) + (_ORGANIZATIONAL if people else "")
    yield _HEAD.format(times=describe_times(times), more=more)
    names = [f'<string key="concept:name" value={_quote(name)}/>' for name in variants.activities]
    total = max(variants.cases, 1)
    for block in event_blocks(variants, times, core, columns, starts):
        # A block holds whole cases: a case begins wherever the number changes.
        begins = np.flatnonzero(np.diff(block.case, prepend=-1)).tolist()
        ids, seconds = block.activity_id.tolist(), block.seconds.tolist()
        of_cases, of_events = _values(block, columns, tags)
        began = [""] * len(block)
        if block.starts is not None:
            # The work on an event is an event of its own right before it, as readers join them.
            began = _began(names, ids, block.starts.tolist())
            of_events = [_COMPLETE + more for more in of_events]
        for start, end in pairwise([*begins, len(block)]):
            case = int(block.case[start])
            flag = "true" if block.truncated[start] else "false"
            events = "".join(
                [
                    f"{first}<event>{names[i]}{_date(time)}{more}</event>\n"
                    for i, time, first, more in zip(
                        ids[start:end],
                        seconds[start:end],
                        began[start:end],
                        of_events[start:end],
                        strict=True,
                    )
                ]
            )
            mark = ""
            if block.core is not None:
                inside = "true" if block.core[start] else "false"
                mark = f'<boolean key="{CORE_KEY}" value="{inside}"/>'
            yield (
                f'<trace><string key="concept:name" value="{case}"/>'
                f'<boolean key="unfinished" value="{flag}"/>{mark}{of_cases[start]}\n'
                f"{events}</trace>\n"
            )
            if progress is not None and case % 10_000 == 0:
                progress(case / total)
    yield "</log>\n"


def _tags(column: ReleasedColumn) -> list[str]:
    """An attribute with each of its values, and in the last place without any."""
    key, kind = _quote(column.name), column.kind
    texts = [f"{text}T00:00:00.000+00:00" if kind == "date" else text for text in column.texts]
    return [*(f"<{kind} key={key} value={_quote(text)}/>" for text in texts), ""]


def _values(
    block: EventBlock, columns: Columns, tags: list[list[str]]
) -> tuple[list[str], list[str]]:
    """What stands in each row of a block for the attributes of its case, and of its event."""
    found = {True: [""] * len(block), False: [""] * len(block)}
    for column, texts, codes in zip(columns, tags, block.values, strict=True):
        rows = found[column.of_case]
        found[column.of_case] = [
            row + texts[code] for row, code in zip(rows, codes.tolist(), strict=True)
        ]
    return found[True], found[False]


def _began(names: Sequence[str], ids: Sequence[int], starts: Sequence[int]) -> list[str]:
    """The event that says when the work on each event began."""
    return [
        f"<event>{names[i]}{_date(time)}{_STARTED}</event>\n"
        for i, time in zip(ids, starts, strict=True)
    ]


def _date(time: int) -> str:
    minutes = _minute(time // 60)
    return f'<date key="time:timestamp" value="{minutes}{time % 60:02}.000+00:00"/>'


@lru_cache(maxsize=4096)
def _minute(minutes: int) -> str:
    return (EPOCH + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:")


def _quote(name: str) -> str:
    """Quote a name so that blanks of every kind survive."""
    return f'"{name.translate(_ESCAPED)}"'


_ESCAPED = str.maketrans(
    {'"': "&quot;", "&": "&amp;", "<": "&lt;", ">": "&gt;"}
    | {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)


XES_VERSION = "1849.2023"
"""IEEE 1849-2023, written as the decimal number that its schema asks for."""
EXTENSION_URI = "urn:sacofa:xes:1"
"""The extension of the `sacofa:` attributes, which sacofa.xesext next to this file defines."""
_LIFECYCLE = (
    '<extension name="Lifecycle" prefix="lifecycle" '
    'uri="http://www.xes-standard.org/lifecycle.xesext"/>\n'
)
_ORGANIZATIONAL = (
    '<extension name="Organizational" prefix="org" uri="http://www.xes-standard.org/org.xesext"/>\n'
)
_STARTED, _COMPLETE = (
    f'<string key="{TRANSITION}" value="{word}"/>' for word in (START, "complete")
)
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
