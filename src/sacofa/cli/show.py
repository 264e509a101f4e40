"""How things look on the terminal: lines, tables, certificates and progress."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import Argument, Statement, plain
from ..kernel.accounting import Leak, Spend
from ..messages import render
from ..release import Certificate
from ..release.publish import Stage

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

LABEL_WIDTH = 16
MAX_NAMES = 10
"""The terminal lists no more names of activities; the certificate has all of them."""
MAX_SINGLE_SPENDS = 3
"""More queries in a row with the same ε share a line."""


def as_option(argument: Argument, flags: Mapping[str, str] | None = None) -> str:
    """An argument that a message names, as an option of the command."""
    flag = (flags or {}).get(argument.name, f"--{argument.name.replace('_', '-')}")
    if argument.value is False:
        return flag.replace("--", "--no-", 1)
    return flag if argument.value in (None, True) else f"{flag} {argument.value}"


def say(said: Statement | str = "", *, err: bool = False) -> None:
    """Print one line, in which settings are options."""
    text = render(said, wording=as_option) if isinstance(said, Statement) else said
    typer.echo(plain(text), err=err)


def notify(note: Statement) -> None:
    """Print a line next to the result."""
    say(note, err=True)


def say_written(files: Mapping[str, str | Path], *, err: bool = False) -> None:
    """Print the label and path of a file that was written."""
    for what, path in files.items():
        say(Statement("cli.written", what=Statement(f"cli.file.{what}"), path=str(path)), err=err)


def format_epsilon(epsilon: Fraction | None, delta: Fraction = Fraction(0)) -> str:
    """An ε as people read it, with the exact fraction if it was rounded, and its δ."""
    if epsilon is None:
        return str(Statement("claim.none"))
    exact = f" (exactly {epsilon})" if Fraction(f"{float(epsilon):.6g}") != epsilon else ""
    more = f", {Statement('claim.delta', delta=delta)}" if delta else ""
    return f"ε = {float(epsilon):.6g}{exact}{more}"


def open_console(*, err: bool = False) -> Console:
    """The terminal, on which texts look as they are."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, stderr=err)


def show_table(
    rows: Iterable[Sequence[str | Text]],
    columns: str | None = None,
    *,
    right: Collection[int] = (),
    title: str | None = None,
) -> None:
    """Print a table; `columns` and `title` are codes, and headings have a bar between them."""
    from rich.table import Table
    from rich.text import Text

    lines, console = [list(row) for row in rows], open_console()
    if title is not None:
        console.print(Text(str(Statement(title)), style="bold"))
    table = Table(box=None, pad_edge=False, show_header=columns is not None, header_style="bold")
    count = len(lines[0]) if lines else 0
    headings = [""] * count if columns is None else str(Statement(columns)).split(" | ")
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place in right else "left", overflow="fold")
    for line in lines:
        table.add_row(*(Text(plain(cell)) if isinstance(cell, str) else cell for cell in line))
    console.print(table)


def show_certificate(certificate: Certificate, *, err: bool = False) -> None:
    """Print a certificate in words, each section with its heading next to it, wrapped."""
    from rich.text import Text

    epsilon, margins = format_epsilon(certificate.epsilon, certificate.delta), certificate.margins
    summary = Statement("cli.whole_release", epsilon=epsilon, mechanism=certificate.mechanism)
    sections: dict[str, Iterable[object]] = {
        "budget": [summary],
        "protects": [certificate.protects],
        "verdict": [certificate.verdict],
        "missing": [_missing(certificate.missing_activities)],
        "margins": [None if margins is None else margins.statement],
        "leaks": [
            Statement("cli.leak", what=access.what, why=access.why)
            for access in certificate.spent
            if isinstance(access, Leak)
        ],
        "spent": _spends(certificate),
        "assumptions": certificate.assumptions,
        "limits": certificate.not_promised,
        "notes": certificate.notes,
    }
    console = open_console(err=err)
    width = max(30, console.width - LABEL_WIDTH)
    for heading, lines in sections.items():
        texts = [Text(plain(str(line))) for line in filter(None, lines)]
        label = str(Statement(f"cli.section.{heading}"))
        for part in (part for text in texts for part in text.wrap(console, width)):
            console.print(Text(f"{label:<{LABEL_WIDTH}}", style="bold") + part, soft_wrap=True)
            label = ""


def _missing(activities: Sequence[str]) -> Statement | None:
    """Which public activities the release does not contain."""
    shown, more = tuple(activities[:MAX_NAMES]), len(activities) - MAX_NAMES
    listed = Statement("columns.listed", names=shown)
    if more > 0:
        listed = Statement("columns.listed_and_more", names=shown, more=more)
    return Statement("cli.missing", names=listed) if shown else None


def _spends(certificate: Certificate) -> Iterator[Statement]:
    """One line for each query; many in a row with the same ε share one."""
    spends = [access for access in certificate.spent if isinstance(access, Spend)]
    if certificate.delta and certificate.rho is not None:
        yield Statement("cli.total_rho", rho=certificate.rho.rho)
    for epsilon, group in groupby(spends, key=lambda spend: spend.amount):
        run, each = list(group), format_epsilon(epsilon)
        if certificate.delta:
            each = str(Statement("claim.amount", rho=epsilon))
        if len(run) > MAX_SINGLE_SPENDS:
            ends = {"first": run[0].what, "last": run[-1].what}
            yield Statement("cli.spends", epsilon=each, number=len(run), **ends)
        else:
            yield from (Statement("cli.spend", epsilon=each, what=one.what) for one in run)


def to_json(content: object, indent: int | None = None) -> str:
    """Write as JSON that any terminal takes: control characters of every kind are escaped."""
    text = json.dumps(content, indent=indent, ensure_ascii=False)
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


# JSON escapes those below a blank itself, but the line breaks of an indented text must stay.
_CONTROL = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@contextmanager
def progress_bar() -> Iterator[Stage | None]:
    """Show progress on a terminal that a person watches; nothing elsewhere."""
    console = open_console(err=True)
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def stage(name: str, done: float) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=1.0)
            bars.update(tasks[name], completed=done)

        yield stage
