"""Rules as a TOML file that a person can read, edit and use again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from ..base.files import write_whole
from ..errors import OutputError, Statement, advised
from .kinds import NEVER_FOLLOWS
from .lines import Table, find_line, quoted, read_toml
from .provenance import FromSecretLog, Provenance, Stated
from .refusal import RefusedError, refusing
from .rules import KINDS, MAX_ACTIVITIES, Rules, contradictions

Bools = NDArray[np.bool_]

LEARNED_FROM = "read_off_secret_log"
"""Key of the confidential log that rules were learned from."""
PAIR_KINDS = {kind.key: kind for kind in KINDS if kind.of_pairs}
MIRRORED_KINDS = {kind.mirrored_key: kind for kind in KINDS if kind.mirrored_key}
PAIR_KEYS = (*PAIR_KINDS, *MIRRORED_KINDS)
"""Keys of the table of an activity."""
ACTIVITY_KINDS = {kind.key: kind for kind in KINDS if not kind.of_pairs}
TOP_KEYS = ("source", LEARNED_FROM, "activities", *ACTIVITY_KINDS, "empty", "rules")
"""Keys of a rules file."""
MAX_LINE = 100
"""Longer lists are written with one name per line."""
TOP_TABLE: Table = ()


def _explanation() -> str:
    lists = "\n".join(f"# {kind.key:<11} {kind.meaning}" for kind in ACTIVITY_KINDS.values())
    pairs = [(kind.key, kind.meaning) for kind in PAIR_KINDS.values()]
    pairs += [(kind.mirrored_key, kind.mirrored_meaning) for kind in MIRRORED_KINDS.values()]
    entries = [f'#   {key} = ["B"]'.ljust(34) + meaning for key, meaning in pairs]
    return EXPLANATION.format(learned=LEARNED_FROM, lists=lists, pairs="\n".join(entries))


EXPLANATION = """\
# What makes sense for a process: which activity may, must or must never come where in a case.
#
# source      where the rules come from; the certificate of a release repeats this sentence
# {learned}  names the secret log that they were read off: `certified` refuses such
#             rules. Remove the line, and say so in source, if a person made the rules their own.
# activities  every activity of the process
{lists}
# empty       whether a case may have no events (true or false); left out: it may
#
# [rules."A"] says what holds for a case in which A occurs. Each list may be left out.
{pairs}
# Activities without an entry are free. Nothing else is checked: what no rule forbids is harmless.
"""


def write_rules(rules: Rules, path: str | Path, force: bool = False) -> None:
    """Write rules to a file that explains itself.

    Args:
        rules: The rules.
        path: The file.
        force: Whether to overwrite a file that exists.

    Raises:
        OutputError: If the file exists, or cannot be written.
    """
    lines = [_explanation(), *_top_lines(rules), *_table_lines(rules), ""]
    try:
        text = "\n".join(lines).encode("utf-8")
    except UnicodeEncodeError as error:
        raise OutputError(path, Statement("rules.not_text", text=repr(error.object))) from error
    with write_whole(path, force) as part:
        part.write_bytes(text)


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


def _top_lines(rules: Rules) -> Iterator[str]:
    source = rules.source.text if isinstance(rules.source, Stated) else str(rules.source)
    yield f"source = {quoted(source)}"
    if isinstance(rules.source, FromSecretLog):
        yield f"{LEARNED_FROM} = {quoted(rules.source.name or 'this log')}"
    yield f"activities = {_list(rules.activities)}"
    for kind in ACTIVITY_KINDS.values():
        allowed = rules.tables[kind.name]
        if not allowed.all():
            yield f"{kind.key} = {_list(_chosen(rules.activities, allowed))}"
    if not rules.empty:
        yield "empty = false"


def _table_lines(rules: Rules) -> Iterator[str]:
    for a, name in enumerate(rules.activities):
        rows = {kind.key: rules.tables[kind.name][a] for kind in PAIR_KINDS.values()}
        rows = {key: row for key, row in rows.items() if row.any()}
        if rows:
            yield f"\n[rules.{quoted(name)}]"
        for key, row in rows.items():
            yield f"{key} = {_list(_chosen(rules.activities, row), len(key) + 3)}"


def _chosen(names: Sequence[str], row: Bools) -> list[str]:
    return [names[i] for i in np.flatnonzero(row).tolist()]


def _list(names: Sequence[str], indent: int = 20) -> str:
    items = [quoted(name) for name in names]
    line = f"[{', '.join(items)}]"
    if len(line) + indent <= MAX_LINE:
        return line
    return "[\n" + "".join(f"  {item},\n" for item in items) + "]"


@dataclass(frozen=True)
class _Reader:
    """Reads one rules file."""

    name: str
    text: str
    content: dict[str, object]

    def rules(self) -> Rules:
        """Check every entry and return the rules."""
        for key in self.content:
            if key not in TOP_KEYS:
                what = Statement("rules.no_setting", name=key)
                self.refuse(advised(what, key, TOP_KEYS), key=key)
        if "activities" not in self.content:
            raise RefusedError("rules.no_activities", None)
        names = self.names(self.content["activities"], TOP_TABLE, "activities", None)
        if len(names) > MAX_ACTIVITIES:
            what = Statement("rules.too_many_activities", limit=MAX_ACTIVITIES)
            self.refuse(what, key="activities")
        empty = self.content.get("empty", True)
        if not isinstance(empty, bool):
            self.refuse(Statement("rules.empty_no_flag"), key="empty")
        tables = self.tables({name: i for i, name in enumerate(names)})
        self.refuse_contradictions(names, tables)
        return Rules(activities=tuple(names), **tables, empty=empty, source=self.source())

    def tables(self, ids: Mapping[str, int]) -> dict[str, Bools]:
        """Read the table of each kind."""
        tables = {kind.name: kind.free_table(len(ids)) for kind in KINDS}
        for key, kind in ACTIVITY_KINDS.items():
            if key in self.content:
                allowed = [ids[n] for n in self.names(self.content[key], TOP_TABLE, key, ids)]
                tables[kind.name][:] = False
                tables[kind.name][allowed] = True
        for name, key, others in self.entries(ids):
            columns = [ids[other] for other in others]
            if key in PAIR_KINDS:
                tables[PAIR_KINDS[key].name][ids[name], columns] = True
            else:
                tables[MIRRORED_KINDS[key].name][columns, ids[name]] = True
        return tables

    def source(self) -> Provenance:
        """Return the origin of the rules."""
        learned = self.content.get(LEARNED_FROM)
        if learned is not None:
            if not isinstance(learned, str):
                self.refuse(Statement("rules.log_no_text", key=LEARNED_FROM), key=LEARNED_FROM)
            return FromSecretLog(learned)
        source = self.content.get("source", f"rules file {self.name}")
        if not isinstance(source, str):
            self.refuse(Statement("rules.source_no_text"), key="source")
        return Stated(source)

    def entries(self, ids: Mapping[str, int]) -> Iterable[tuple[str, str, list[str]]]:
        """Check the lists of all activities; yield activity, key and names of each."""
        tables = self.content.get("rules", {})
        if not isinstance(tables, dict):
            self.refuse(Statement("rules.no_tables"), key="rules")
        for name, lists in tables.items():
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
                yield name, key, self.names(listed, here, key, ids)

    def names(
        self, listed: object, table: Table, key: str, known: Collection[str] | None
    ) -> list[str]:
        """Check a list of activities."""
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            self.refuse(Statement("rules.no_list", key=key), table, key)
        seen: set[str] = set()
        for name in listed:
            if known is not None and name not in known:
                what = advised(Statement("rules.unknown", name=name), name, known)
                self.refuse(what, table, key, name)
            if name in seen:
                what = Statement("rules.listed_twice", name=name, key=key)
                self.refuse(what, table, key, name, time=2)
            seen.add(name)
        return listed

    def refuse_contradictions(self, names: list[str], tables: Mapping[str, Bools]) -> None:
        """Refuse demands that another rule forbids."""
        for a, b, kind in contradictions(tables):
            one, other, words = names[a], names[b], kind.key.replace("_", " ")
            if a == b and kind.demands == "before":
                what = Statement("rules.before_itself", name=one, kind=words)
            else:
                pair = (one, other) if kind.demands == "after" else (other, one)
                line = self.line_of_never(*pair) or 0
                what = Statement("rules.clash", name=one, kind=words, other=other, line=line)
            self.refuse(what, ("rules", one), kind.key, other)

    def line_of_never(self, before: str, after: str) -> int | None:
        """Find the rule that `after` never follows `before`; it can be written in two ways."""
        kind = NEVER_FOLLOWS
        tables = self.content["rules"]
        assert isinstance(tables, dict)
        if after in tables.get(before, {}).get(kind.key, ()):
            return find_line(self.text, ("rules", before), kind.key, after)
        return find_line(self.text, ("rules", after), kind.mirrored_key, before)

    def refuse(
        self,
        what: Statement,
        table: Table = TOP_TABLE,
        key: str | None = None,
        name: str | None = None,
        time: int = 1,
    ) -> NoReturn:
        """Refuse an entry with its line."""
        raise RefusedError(what, find_line(self.text, table, key, name, time))
