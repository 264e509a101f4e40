"""Rules as a TOML file that a person can read, edit and use again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import NoReturn

from ..base.files import write_whole
from ..errors import OutputError, Statement, advised
from .kinds import NEVER_FOLLOWS, Bools, Tables
from .provenance import FromSecretLog, Provenance, Stated
from .reading import RefusedError, Table, find_line, quoted, read_toml, refusing
from .rules import KINDS, MAX_ACTIVITIES, Rules, contradictions, free_tables

LEARNED_FROM = "read_off_secret_log"
"""Key of the confidential log that rules were learned from."""
NEVER_PRECEDED = "never_preceded_by"
"""Another key for *never follows*, from the other side."""
PAIR_KINDS = {kind.key: kind for kind in KINDS if kind.of_pairs}
PAIR_KEYS = (*PAIR_KINDS, NEVER_PRECEDED)
"""Keys of the table of an activity."""
ACTIVITY_KINDS = {kind.key: kind for kind in KINDS if not kind.of_pairs}
TOP_KEYS = ("source", LEARNED_FROM, "activities", *ACTIVITY_KINDS, "empty", "rules")
"""Keys of a rules file."""
MAX_LINE = 100
"""Longer lists are written with one name per line."""

LISTS = "\n".join(f"# {kind.key:<11} {kind.meaning}" for kind in ACTIVITY_KINDS.values())
PAIRS = "\n".join(f'#   {k.key} = ["B"]'.ljust(34) + k.meaning for k in PAIR_KINDS.values())
EXPLANATION = f"""\
# What makes sense for a process: which activity may, must or must never come where in a case.
#
# source      where the rules come from; the certificate of a release repeats this sentence
# {LEARNED_FROM}  names the secret log that they were read off: `certified` refuses such
#             rules. Remove the line, and say so in source, if a person made the rules their own.
# activities  every activity of the process
{LISTS}
# empty       whether a case may have no events (true or false); left out: it may
#
# [rules."A"] says what holds for a case in which A occurs. Each list may be left out.
{PAIRS}
#   never_preceded_by = ["B"]     no B comes before an A: another way to write that B
#                                 is never followed by A
# Activities without an entry are free. Nothing else is checked: what no rule forbids is harmless.
"""


def write_rules(rules: Rules, path: str | Path, force: bool = False) -> None:
    """Write rules to a file with explanatory comments.

    Args:
        rules: The rules.
        path: The file.
        force: Whether to overwrite a file that exists.

    Raises:
        OutputError: If the file exists, or cannot be written.
    """
    try:
        text = "\n".join([EXPLANATION, *_lines(rules), ""]).encode("utf-8")
    except UnicodeEncodeError as error:
        raise OutputError(path, Statement("rules.not_text", text=repr(error.object))) from error
    with write_whole(path, force) as part:
        part.write_bytes(text)


def _lines(rules: Rules) -> Iterator[str]:
    source = rules.source.text if isinstance(rules.source, Stated) else str(rules.source)
    yield f"source = {quoted(source)}"
    if isinstance(rules.source, FromSecretLog):
        yield f"{LEARNED_FROM} = {quoted(rules.source.name or 'this log')}"
    yield f"activities = {_list(rules.activities)}"
    for kind in ACTIVITY_KINDS.values():
        if not rules.tables[kind.name].all():
            yield f"{kind.key} = {_list(compress(rules.activities, rules.tables[kind.name]))}"
    if not rules.empty:
        yield "empty = false"
    yield from _table_lines(rules)


def _table_lines(rules: Rules) -> Iterator[str]:
    for a, name in enumerate(rules.activities):
        rows = {kind.key: rules.tables[kind.name][a] for kind in PAIR_KINDS.values()}
        if any(row.any() for row in rows.values()):
            yield f"\n[rules.{quoted(name)}]"
        for key, row in rows.items():
            if row.any():
                yield f"{key} = {_list(compress(rules.activities, row), len(key) + 3)}"


def _list(names: Iterable[str], indent: int = 20) -> str:
    items = [quoted(name) for name in names]
    line = f"[{', '.join(items)}]"
    if len(line) + indent <= MAX_LINE:
        return line
    return "[\n" + "".join(f"  {item},\n" for item in items) + "]"


def read_rules(path: str | Path) -> Rules:
    """Read rules from a file.

    Args:
        path: The file.

    Returns:
        The rules.

    Raises:
        ReadError: If the file cannot be read.
        RulesError: If an entry is wrong; the error names its line.
    """
    with refusing(path):
        return _Reader(Path(path).name, *read_toml(path)).rules()


class _Reader:
    """Reads one rules file."""

    def __init__(self, name: str, text: str, content: dict[str, object]) -> None:
        self.name, self.text, self.content = name, text, content

    def rules(self) -> Rules:
        for key in self.content:
            if key not in TOP_KEYS:
                what = Statement("rules.no_setting", name=key)
                self.refuse(advised(what, key, TOP_KEYS), key=key)
        if "activities" not in self.content:
            raise RefusedError("rules.no_activities", None)
        names = self.names(self.content["activities"], (), "activities", None)
        if len(names) > MAX_ACTIVITIES:
            what = Statement("rules.too_many_activities", limit=MAX_ACTIVITIES)
            self.refuse(what, key="activities")
        empty = self.content.get("empty", True)
        if not isinstance(empty, bool):
            self.refuse(Statement("rules.empty_no_flag"), key="empty")
        tables = self.tables({name: i for i, name in enumerate(names)})
        self.refuse_contradictions(names, tables)
        return Rules(activities=tuple(names), **tables, empty=empty, source=self.source())

    def source(self) -> Provenance:
        learned = self.content.get(LEARNED_FROM)
        source = self.content.get("source", f"rules file {self.name}")
        if not isinstance(learned, str | None):
            self.refuse(Statement("rules.log_no_text", key=LEARNED_FROM), key=LEARNED_FROM)
        if learned is not None:
            return FromSecretLog(learned)
        if not isinstance(source, str):
            self.refuse(Statement("rules.source_no_text"), key="source")
        return Stated(source)

    def tables(self, ids: Mapping[str, int]) -> dict[str, Bools]:
        tables = free_tables(len(ids))
        for key, kind in ACTIVITY_KINDS.items():
            if key in self.content:
                allowed = self.names(self.content[key], (), key, ids)
                tables[kind.name][:] = list(map(allowed.__contains__, ids))
        entries = self.content.get("rules", {})
        if not isinstance(entries, dict):
            self.refuse(Statement("rules.no_tables"), key="rules")
        for name, lists in entries.items():
            here = ("rules", name)
            if name not in ids:
                self.refuse(advised(Statement("rules.unknown", name=name), name, ids), here)
            if not isinstance(lists, dict):
                what = Statement("rules.no_table", name=name, quoted=quoted(name))
                self.refuse(what, ("rules",), name)
            for key, listed in lists.items():
                if key not in PAIR_KEYS:
                    what = Statement("rules.no_kind", name=key)
                    self.refuse(advised(what, key, PAIR_KEYS), here, key)
                others = list(map(ids.__getitem__, self.names(listed, here, key, ids)))
                if key == NEVER_PRECEDED:
                    tables[NEVER_FOLLOWS.name][others, ids[name]] = True
                else:
                    tables[PAIR_KINDS[key].name][ids[name], others] = True
        return tables

    def names(
        self, listed: object, table: Table, key: str, known: Collection[str] | None
    ) -> list[str]:
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            self.refuse(Statement("rules.no_list", key=key), table, key)
        before = set[str]()
        for name in listed:
            if known is not None and name not in known:
                what = advised(Statement("rules.unknown", name=name), name, known)
                self.refuse(what, table, key, name)
            if name in before:
                what = Statement("rules.listed_twice", name=name, key=key)
                raise RefusedError(what, find_line(self.text, table, key, name, 2))
            before.add(name)
        return listed

    def refuse_contradictions(self, names: Sequence[str], tables: Tables) -> None:
        """Refuse a demand that another rule forbids."""
        for a, b, kind in contradictions(tables):
            one, other, words = names[a], names[b], kind.key.replace("_", " ")
            if a == b and kind.demands == "before":
                what = Statement("rules.before_itself", name=one, kind=words)
            else:
                before, after = (one, other) if kind.demands == "after" else (other, one)
                entries = self.content["rules"]
                assert isinstance(entries, dict)
                # That one never follows the other can be written in two ways.
                rule = (("rules", after), NEVER_PRECEDED, before)
                if after in entries.get(before, {}).get(NEVER_FOLLOWS.key, ()):
                    rule = (("rules", before), NEVER_FOLLOWS.key, after)
                line = find_line(self.text, *rule) or 0
                what = Statement("rules.clash", name=one, kind=words, other=other, line=line)
            self.refuse(what, ("rules", one), kind.key, other)

    def refuse(
        self, what: Statement, table: Table = (), key: str | None = None, name: str | None = None
    ) -> NoReturn:
        raise RefusedError(what, find_line(self.text, table, key, name))
