"""A starting file of columns, from names and types alone: values are for a person to write.

What looks like an identifier, or like a copy of times, is told to whoever asks, and left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..base.domains import IDS, RESOURCES, plain_name
from .columns import TRUNCATED
from .log import open_log
from .options import ReadOptions
from .personal import personal_by_name
from .released import CORE_KEY, TIME_KEY
from .source import Log

TYPES = {"boolean": "yes/no", "int": "number", "float": "number", "date": "date"}
HINTS = {
    "category": '# values = ["…", "…"]      # left out: those of the log are taken to be public',
    "number": "# edges = [0, 10, 20]     # or: min = 0, max = 100, unit = 1; left out: public bins",
    "date": '# first = 2020-01-01, last = 2025-12-31, by = "month"    # left out: years',
    "yes/no": "",
}
ID_WORDS = ("id", "uuid", "guid", "key", "number", "nr", "no", "instance")
# In one word, too, but not in every word that ends so: fluid, paid and lactic acid are none.
ID_IN_ONE_WORD = re.compile(
    r"(case|trace|event|person|patient|client|customer|user|member|employee|resource|citizen|order|"
    r"ticket|request|claim|contract|account|invoice|document|item|product|session|transaction|"
    r"application|process|task|activity|row|record|object|entity|national|tax|u+|g+)id|.*(uu|gu)id"
)
APART = re.compile(r"[\s_.:-]+|(?<=[a-z0-9])(?=[A-Z])")
"""Where a name has its words: orderId, order_id and Order ID have two."""
AT_WORK = "names people at work, whom a unit of cases does not protect"
TIME_WORDS = ("date", "time", "timestamp", "deadline", "duration", "start", "end")


def is_id(word: str) -> bool:
    """Whether the last word of a name says that the column identifies."""
    return word in ID_WORDS or ID_IN_ONE_WORD.fullmatch(word) is not None


def why_left_out(name: str, kind: str) -> str | None:
    """Why a column should not be released, by its name and type; None: nothing speaks against."""
    plain = plain_name(name)
    last = [word for word in APART.split(name) if word][-1:] or [""]
    if name in IDS or plain in IDS or is_id(last[0].lower()):
        return "looks like an identifier: it is left out"
    if (personal := personal_by_name(name)) is not None:
        return f"looks like {personal}: it is left out"
    if kind == "date" or any(plain.endswith(word) for word in TIME_WORDS):
        return "looks like a copy of times: it is left out; declare it if it is none"
    return None


def describe_columns(log: Log, kinds: Mapping[str, str]) -> tuple[str, list[str]]:
    """The text of a starting file, and what there is to say of the columns that it leaves out."""
    told: list[str] = []
    lines = [
        "# Which values attributes may have. All of this is public: write it from what you know of",
        "# the process, not from the log. `sacofa anonymize --columns FILE --attribute NAME …`",
        "",
        "# cases = 1000               # about how many cases there are, if that is public",
    ]
    assert log.columns is not None
    for name, kind in other_columns(log, kinds):
        reason = why_left_out(name, kind)
        if reason is not None:
            told.append(f"{name}: {reason}")
            continue
        type_ = TYPES.get(kind, "category")
        lines += ["", f"[attributes.{_quoted(name)}]", f'type = "{type_}"']
        if plain_name(name) in RESOURCES:
            told.append(f"{name}: {AT_WORK}")
            lines.append('# groups = { "…" = ["…", "…"] }    # or say --employees to release names')
        elif HINTS[type_]:
            lines.append(HINTS[type_])
    return "\n".join(lines) + "\n", told


def other_columns(log: Log, kinds: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The columns without a role, with their types."""
    assert log.columns is not None
    used = {*log.columns.roles, TRUNCATED, TIME_KEY, CORE_KEY, f"case:{CORE_KEY}", "unfinished"}
    for name, kind in kinds.items():
        if name not in used and not name.startswith("lifecycle:"):
            yield name, kind


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in escaped) + '"'


def starting_file(source: object, options: ReadOptions) -> tuple[str, list[str]]:
    """Open a log, and write a starting file from the names and types of its columns."""
    log = open_log(source, options)
    kinds = log.reader.kinds(log.source)
    return describe_columns(log, kinds)
