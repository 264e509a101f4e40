"""Rules as a TOML file that a person can read, edit and give back."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..base.files import write_whole
from ..errors import OutputError, ReadError, RulesError, nearest
from .lines import Table, find_line, quoted
from .provenance import FromSecretLog, Provenance, Stated
from .rules import Rules

FOLLOWED = "always_followed_by"
PRECEDED = "always_preceded_by"
NOT_FOLLOWED = "never_followed_by"
NOT_PRECEDED = "never_preceded_by"
SECRET = "read_off_secret_log"
KINDS = (FOLLOWED, PRECEDED, NOT_FOLLOWED, NOT_PRECEDED)
KEYS = ("source", SECRET, "activities", "starts", "empty", "rules")
WIDTH = 100
TOP: Table = ()
MAX_ACTIVITIES = 4_000
"""Every pair of activities has a place in each table of rules; more would not fit into memory."""

EXPLANATION = f"""\
# What makes sense for a process: which activity may, must or must never come where in a case.
#
# source      where the rules come from; the certificate of a release repeats this sentence
# {SECRET}  names the secret log that they were read off: `certified` refuses such
#             rules. Remove the line, and say so in source, if a person made the rules their own.
# activities  every activity of the process
# starts      the activities that may begin a case; left out: any may
# empty       whether a case may have no events (true or false); left out: it may
#
# [rules."A"] says what holds for a case in which A occurs. Each list may be left out.
#   {FOLLOWED} = ["B"]    some B comes after the first A
#   {PRECEDED} = ["B"]    some B comes before the first A
#   {NOT_FOLLOWED} = ["B"]     no B comes after an A; for ["A"] itself: A occurs at most once
#   {NOT_PRECEDED} = ["B"]     no B comes before an A: another way to write that B
#                                 is never followed by A
# Activities without an entry are free. Nothing else is checked: what no rule forbids is harmless.
"""


def write_rules(rules: Rules, path: str | Path, force: bool = False) -> None:
    """Write rules to a file that explains itself."""
    try:
        text = "\n".join([EXPLANATION, *_lines(rules), ""]).encode("utf-8")
    except UnicodeEncodeError as error:
        raise OutputError(path, f"cannot hold {error.object!r}, which is not text") from error
    with write_whole(path, force) as part:
        part.write_bytes(text)


def read_rules(path: str | Path) -> Rules:
    """Read rules from a file; a wrong entry is an error that names its line."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ReadError(path, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RulesError(path, None, "is not text in UTF-8") from error
    try:
        content = tomllib.loads(text)
    except RecursionError as error:
        raise RulesError(path, None, "not TOML: nested beyond belief") from error
    except ValueError as error:
        what, _, place = str(error).partition(" (at ")
        found = re.match(r"line (\d+)", place)
        line = int(found[1]) if found else text.count("\n") + 1 if place else None
        raise RulesError(path, line, f"not TOML: {what}") from error
    return _Reader(path, text, content).rules()


def _lines(rules: Rules) -> Iterable[str]:
    names = rules.activities
    yield f"source = {quoted(str(rules.source))}"
    if isinstance(rules.source, FromSecretLog):
        yield f"{SECRET} = {quoted(rules.source.name or 'this log')}"
    yield f"activities = {_listed(names)}"
    if not rules.starts.all():
        yield f"starts = {_listed(_chosen(names, rules.starts))}"
    if not rules.empty:
        yield "empty = false"
    for a, name in enumerate(names):
        rows = (
            (FOLLOWED, rules.always_follows[a]),
            (PRECEDED, rules.always_precedes[a]),
            (NOT_FOLLOWED, rules.never_follows[a]),
        )
        if any(row.any() for _, row in rows):
            yield f"\n[rules.{quoted(name)}]"
            for kind, row in rows:
                if row.any():
                    yield f"{kind} = {_listed(_chosen(names, row), len(kind) + 3)}"


def _chosen(names: Sequence[str], row: NDArray[np.bool_]) -> list[str]:
    return [names[i] for i in np.flatnonzero(row).tolist()]


def _listed(names: Sequence[str], indent: int = 20) -> str:
    items = [quoted(name) for name in names]
    line = f"[{', '.join(items)}]"
    if len(line) + indent <= WIDTH:
        return line
    return "[\n" + "".join(f"  {item},\n" for item in items) + "]"


@dataclass(frozen=True)
class _Reader:
    """One rules file in the reading."""

    path: str | Path
    text: str
    content: dict[str, Any]

    def rules(self) -> Rules:
        """Check every entry and put them together."""
        for key in self.content:
            if key not in KEYS:
                self.refuse(f'"{key}" is not a setting here.{nearest(key, KEYS)}', key=key)
        if "activities" not in self.content:
            raise RulesError(self.path, None, "no activities: list them as activities = […]")
        names = self.names(self.content["activities"], TOP, "activities", None)
        if len(names) > MAX_ACTIVITIES:
            self.refuse(f"more than {MAX_ACTIVITIES:,} activities", key="activities")
        ids = {name: i for i, name in enumerate(names)}
        starts = np.ones(len(names), dtype=np.bool_)
        if "starts" in self.content:
            starts[:] = False
            for name in self.names(self.content["starts"], TOP, "starts", ids):
                starts[ids[name]] = True
        empty = self.content.get("empty", True)
        if not isinstance(empty, bool):
            self.refuse("empty must be true or false", key="empty")
        parts = {kind: np.zeros((len(names), len(names)), dtype=np.bool_) for kind in KINDS}
        for name, kind, others in self.entries(ids):
            for other in others:
                parts[kind][ids[name], ids[other]] = True
        never = parts[NOT_FOLLOWED] | parts[NOT_PRECEDED].T
        self.refuse_contradictions(names, parts, never)
        return Rules(
            activities=tuple(names),
            never_follows=never,
            always_follows=parts[FOLLOWED],
            always_precedes=parts[PRECEDED],
            starts=starts,
            empty=empty,
            source=self.source(),
        )

    def source(self) -> Provenance:
        """Where the rules come from."""
        secret = self.content.get(SECRET)
        if secret is not None:
            if not isinstance(secret, str):
                self.refuse(f"{SECRET} must be the name of a log in quotes", key=SECRET)
            return FromSecretLog(secret)
        source = self.content.get("source", f"rules file {Path(self.path).name}")
        if not isinstance(source, str):
            self.refuse("source must be a sentence in quotes", key="source")
        return Stated(source)

    def entries(self, ids: dict[str, int]) -> Iterable[tuple[str, str, list[str]]]:
        """Each list of the tables, checked: whose it is, its kind, and its names."""
        tables = self.content.get("rules", {})
        if not isinstance(tables, dict):
            self.refuse('rules must be tables: [rules."A"]', key="rules")
        for name, kinds in tables.items():
            here = ("rules", name)
            if name not in ids:
                self.refuse(f'"{name}" is not among the activities.{nearest(name, ids)}', here)
            if not isinstance(kinds, dict):
                self.refuse(f'"{name}" must be a table: [rules.{quoted(name)}]', ("rules",), name)
            for kind, listed in kinds.items():
                if kind not in KINDS:
                    self.refuse(f'"{kind}" is no kind of rule.{nearest(kind, KINDS)}', here, kind)
                yield name, kind, self.names(listed, here, kind, ids)

    def names(
        self, listed: Any, table: Table, key: str, known: Collection[str] | None
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

    def refuse_contradictions(
        self, names: list[str], parts: dict[str, NDArray[np.bool_]], never: NDArray[np.bool_]
    ) -> None:
        """Refuse what always and never holds."""
        for a in np.flatnonzero(np.diagonal(parts[PRECEDED])).tolist():
            what = f'"{names[a]}" cannot be {PRECEDED.replace("_", " ")} itself: one is the first'
            self.refuse(what, ("rules", names[a]), PRECEDED, names[a])
        for kind, clash in (
            (FOLLOWED, parts[FOLLOWED] & never),
            (PRECEDED, parts[PRECEDED] & never.T),
        ):
            for a, b in np.argwhere(clash).tolist():
                one, other = names[a], names[b]
                where = self.line_of_never(kind, one, other)
                says = f'"{one}" cannot be {kind.replace("_", " ")} "{other}"'
                self.refuse(f"{says}: line {where} says never", ("rules", one), kind, other)

    def line_of_never(self, kind: str, one: str, other: str) -> int | None:
        """Find the never that contradicts an always; it can be written in two ways."""
        same, mirrored = NOT_FOLLOWED, NOT_PRECEDED
        if kind == PRECEDED:
            same, mirrored = mirrored, same
        if other in self.content["rules"][one].get(same, ()):
            return find_line(self.text, ("rules", one), same, other)
        return find_line(self.text, ("rules", other), mirrored, one)

    def refuse(
        self,
        what: str,
        table: Table = TOP,
        key: str | None = None,
        name: str | None = None,
        time: int = 1,
    ) -> NoReturn:
        """Say what is wrong with an entry, and where it stands."""
        raise RulesError(self.path, find_line(self.text, table, key, name, time), what)
