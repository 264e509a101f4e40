"""How things look on the terminal: certificates in plain words, and progress."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING

from ..errors import plain
from ..kernel.accounting import Access, Leak, Spend
from ..release import Certificate
from ..release.publish import Stage

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 100
MAX_NAMES = 10
"""The terminal lists no more names of activities; the certificate has all of them."""


def format_epsilon(epsilon: Fraction | None) -> str:
    """A price as people read it."""
    if epsilon is None:
        return "no finite ε"
    exact = f" (exactly {epsilon})" if Fraction(f"{float(epsilon):.6g}") != epsilon else ""
    return f"ε = {float(epsilon):.6g}{exact}"


def show_certificate(certificate: Certificate, console: Console) -> None:
    """Print a certificate in plain words."""
    section = _Section(console)
    section(
        "Price",
        [f"{format_epsilon(certificate.epsilon)} for the whole release ({certificate.mechanism})"],
    )
    section("Protects", [str(certificate.protects)])
    section("Verdict", [] if certificate.verdict is None else [str(certificate.verdict)])
    section("Missing", say_missing(certificate.missing_activities))
    section("Margins", _describe_margins(certificate))
    section("Not protected", [_describe_leak(leak) for leak in _leaks(certificate.spent)])
    section("Paid for", list(_describe_spends(certificate.spent)))
    section("Assumed", list(map(str, certificate.assumptions)))
    section("Not promised", list(map(str, certificate.not_promised)))
    section("Notes", list(map(str, certificate.notes)))


def say_missing(activities: tuple[str, ...]) -> list[str]:
    """Which public activities the release does not contain; nothing if it contains all."""
    if not activities:
        return []
    more = len(activities) - MAX_NAMES
    names = ", ".join(activities[:MAX_NAMES]) + (f" and {more:,} more" if more > 0 else "")
    return [f"The release contains no case with these activities: {names}."]


def to_json(content: object, indent: int | None = None) -> str:
    """Write as JSON that any terminal takes: control characters of every kind are escaped."""
    text = json.dumps(content, indent=indent, ensure_ascii=False)
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


# Those below a blank are escaped already, but for the line breaks of an indented text.
_CONTROL = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class _Section:
    """Prints a heading with lines beside it, wrapped."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __call__(self, heading: str, lines: tuple[str, ...] | list[str]) -> None:
        from rich.text import Text

        for i, line in enumerate(lines):
            label = f"{heading if i == 0 else '':<14}"
            wrapped = Text(plain(line)).wrap(self._console, max(30, self._console.width - 14))
            for j, part in enumerate(wrapped):
                self._console.print(
                    Text(label if j == 0 else " " * 14, style="bold") + part, soft_wrap=True
                )


def _describe_margins(certificate: Certificate) -> list[str]:
    """The margins of error of counts, where they are known."""
    known = None if certificate.margins is None else certificate.margins.statement
    return [] if known is None else [str(known)]


def _leaks(accesses: tuple[Access, ...]) -> list[Leak]:
    return [access for access in accesses if isinstance(access, Leak)]


def _describe_leak(leak: Leak) -> str:
    return f"{leak.what} (a leak: {leak.why})"


def _describe_spends(accesses: tuple[Access, ...]) -> Iterator[str]:
    """One line a query; a run of queries of one price is told once."""
    spends = [access for access in accesses if isinstance(access, Spend)]
    for epsilon, group in groupby(spends, key=lambda spend: spend.epsilon):
        run = list(group)
        if len(run) > 3:
            each = format_epsilon(epsilon)
            yield f"{each} each, {len(run)} times: {run[0].what} … {run[-1].what}"
        else:
            yield from (f"{format_epsilon(epsilon)}: {spend.what}" for spend in run)


@contextmanager
def progress_bar(console: Console) -> Iterator[Stage | None]:
    """Show progress on a terminal that a person watches; nothing elsewhere."""
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
