"""Rules as a TOML file that a person can read, edit and use again."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from ..base.files import write_whole
from ..errors import OutputError, ReadError, RulesError, nearest
from .kinds import NEVER_FOLLOWS
from .lines import Table, find_line, quoted
from .provenance import FromSecretLog, Provenance, Stated
from .rules import KINDS, Rules, contradictions

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
MAX_ACTIVITIES = 4_000
"""Each table of rules has a cell for every pair of activities; more would not fit into memory."""


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
    try:
        text = "\n".join([_explanation(), *_lines(rules), ""]).encode("utf-8")
    except UnicodeEncodeError as error:
        raise OutputError(path, f"cannot hold {error.object!r}, which is not text") from error
    with write_whole(path, force) as part:
        part.write_bytes(text)


def read_toml(path: str | Path) -> tuple[str, dict[str, object]]:
    """Read a TOML file.

    Args:
        path: The file.

    Returns:
        Its text and its content.

    Raises:
        ReadError: If it cannot be read.
        RulesError: If it is not TOML.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ReadError(path, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RulesError(path, None, "is not text in UTF-8") from error
    try:
        return text, tomllib.loads(text)
    except RecursionError as error:
        raise RulesError(path, None, "not TOML: nested too deeply") from error
    except ValueError as error:
        what, _, place = str(error).partition(" (at ")
        found = re.match(r"line (\d+)", place)
        line = int(found[1]) if found else text.count("\n") + 1 if place else None
        raise RulesError(path, line, f"not TOML: {what}") from error


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
    return _Reader(path, *read_toml(path)).rules()


def _lines(rules: Rules) -> Iterator[str]:
    names = rules.activities
    yield f"source = {quoted(str(rules.source))}"
    if isinstance(rules.source, FromSecretLog):
        yield f"{LEARNED_FROM} = {quoted(rules.source.name or 'this log')}"
    yield f"activities = {_list(names)}"
    for kind in ACTIVITY_KINDS.values():
        allowed = rules.tables[kind.name]
        if not allowed.all():
            yield f"{kind.key} = {_list(_chosen(names, allowed))}"
    if not rules.empty:
        yield "empty = false"
    for a, name in enumerate(names):
        rows = [(kind.key, rules.tables[kind.name][a]) for kind in PAIR_KINDS.values()]
        if any(row.any() for _, row in rows):
            yield f"\n[rules.{quoted(name)}]"
            for key, row in rows:
                if row.any():
                    yield f"{key} = {_list(_chosen(names, row), len(key) + 3)}"


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

    path: str | Path
    text: str
    content: dict[str, object]

    def rules(self) -> Rules:
        """Check every entry and return the rules."""
        for key in self.content:
            if key not in TOP_KEYS:
                self.refuse(f'"{key}" is not a setting here.{nearest(key, TOP_KEYS)}', key=key)
        if "activities" not in self.content:
            raise RulesError(self.path, None, "no activities: list them as activities = […]")
        names = self.names(self.content["activities"], TOP_TABLE, "activities", None)
        if len(names) > MAX_ACTIVITIES:
            self.refuse(f"more than {MAX_ACTIVITIES:,} activities", key="activities")
        empty = self.content.get("empty", True)
        if not isinstance(empty, bool):
            self.refuse("empty must be true or false", key="empty")
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
                self.refuse(f"{LEARNED_FROM} must be the name of a log in quotes", key=LEARNED_FROM)
            return FromSecretLog(learned)
        source = self.content.get("source", f"rules file {Path(self.path).name}")
        if not isinstance(source, str):
            self.refuse("source must be a sentence in quotes", key="source")
        return Stated(source)

    def entries(self, ids: Mapping[str, int]) -> Iterable[tuple[str, str, list[str]]]:
        """Check the lists of all activities; yield activity, key and names of each."""
        tables = self.content.get("rules", {})
        if not isinstance(tables, dict):
            self.refuse('rules must be tables: [rules."A"]', key="rules")
        for name, lists in tables.items():
            here = ("rules", name)
            if name not in ids:
                self.refuse(f'"{name}" is not among the activities.{nearest(name, ids)}', here)
            if not isinstance(lists, dict):
                self.refuse(f'"{name}" must be a table: [rules.{quoted(name)}]', ("rules",), name)
            for key, listed in lists.items():
                if key not in PAIR_KEYS:
                    self.refuse(f'"{key}" is no kind of rule.{nearest(key, PAIR_KEYS)}', here, key)
                yield name, key, self.names(listed, here, key, ids)

    def names(
        self, listed: object, table: Table, key: str, known: Collection[str] | None
    ) -> list[str]:
        """Check a list of activities."""
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            self.refuse(f'{key} must be a list of activities: ["A", "B"]', table, key)
        seen: set[str] = set()
        for name in listed:
            if known is not None and name not in known:
                what = f'"{name}" is not among the activities.{nearest(name, known)}'
                self.refuse(what, table, key, name)
            if name in seen:
                self.refuse(f'"{name}" is listed twice in {key}', table, key, name, time=2)
            seen.add(name)
        return listed

    def refuse_contradictions(self, names: list[str], tables: Mapping[str, Bools]) -> None:
        """Refuse demands that another rule forbids."""
        for a, b, kind in contradictions(tables):
            one, other, words = names[a], names[b], kind.key.replace("_", " ")
            if a == b and kind.demands == "before":
                what = f'"{one}" cannot be {words} itself: one is the first'
            else:
                pair = (one, other) if kind.demands == "after" else (other, one)
                line = self.line_of_never(*pair)
                what = f'"{one}" cannot be {words} "{other}": line {line} says never'
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
        what: str,
        table: Table = TOP_TABLE,
        key: str | None = None,
        name: str | None = None,
        time: int = 1,
    ) -> NoReturn:
        """Raise an error that names the line of an entry."""
        raise RulesError(self.path, find_line(self.text, table, key, name, time), what)
