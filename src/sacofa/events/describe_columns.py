"""A new columns file, from names and types of columns alone: a person declares the values.

Columns that look like identifiers, personal data or copies of times are left out, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..base.domains import IDS, RESOURCES, kind_of_type, plain_name
from ..kernel.statements import Statement
from .columns import TRUNCATED
from .log import open_log
from .options import ReadOptions
from .personal import named, personal_by_name
from .released import CORE_KEY, TIME_KEY
from .source import Log

HEAD = """\
# The values that attributes may have. All of this is public: take it from what you know of the
# process, not from the log. `sacofa anonymize --columns FILE --attribute NAME …`

# cases = 1000               # about how many cases there are, if that is public
"""
GROUPS = '# groups = { "…" = ["…", "…"] }    # or release names with --employees'
ID_WORDS = ("id", "uuid", "guid", "key", "number", "nr", "no", "instance")
# In one word, too, but not in every word that ends so: fluid, paid and lactic acid are none.
ID_IN_ONE_WORD = re.compile(
    r"(case|trace|event|person|patient|client|customer|user|member|employee|resource|citizen|order|"
    r"ticket|request|claim|contract|account|invoice|document|item|product|session|transaction|"
    r"application|process|task|activity|row|record|object|entity|national|tax|u+|g+)id|.*(uu|gu)id"
)
APART = re.compile(r"[\s_.:-]+|(?<=[a-z0-9])(?=[A-Z])")
"""Where a name has its words: orderId, order_id and Order ID have two."""
AT_WORK = Statement("reason.at_work")
TIME_WORDS = ("date", "time", "timestamp", "deadline", "duration", "start", "end")


def is_id(word: str) -> bool:
    """Whether the last word of a name indicates that the column identifies."""
    return word in ID_WORDS or ID_IN_ONE_WORD.fullmatch(word) is not None


def why_left_out(name: str, kind: str) -> Statement | None:
    """Why a column should not be released, by its name and type; None: no reason found."""
    plain = plain_name(name)
    last = [word for word in APART.split(name) if word][-1:] or [""]
    if {name, plain} & IDS or is_id(last[0].lower()):
        return Statement("reason.identifier")
    if (personal := personal_by_name(name)) is not None:
        return Statement("reason.personal", kind=named(personal))
    if kind == "date" or plain.endswith(TIME_WORDS):
        return Statement("reason.times")
    return None


def describe_columns(log: Log, kinds: Mapping[str, str]) -> tuple[str, list[Statement]]:
    """The text of a new columns file, and notices on columns that it leaves out."""
    notices: list[Statement] = []
    text = HEAD
    for name, type_ in other_columns(log, kinds):
        reason = why_left_out(name, type_)
        if reason is not None:
            notices.append(Statement("notice.columns.left_out", column=name, reason=reason))
            continue
        kind = kind_of_type(type_)
        hint = kind.hint
        if plain_name(name) in RESOURCES:
            notices.append(Statement("notice.columns.advice", column=name, advice=AT_WORK))
            hint = GROUPS
        text += f'\n[attributes.{_quoted(name)}]\ntype = "{kind.name}"\n'
        text += f"{hint}\n" if hint else ""
    return text, notices


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


def starting_file(source: object, options: ReadOptions) -> tuple[str, list[Statement]]:
    """Open a log, and write a new columns file from the names and types of its columns."""
    log = open_log(source, options)
    return describe_columns(log, log.reader.kinds(log.source))
