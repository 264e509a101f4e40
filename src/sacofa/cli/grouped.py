"""Help in groups, for commands with more options than fit on a screen, and in whole sentences."""

from __future__ import annotations

from typing import Any

from typer import Typer
from typer.core import TyperCommand, TyperGroup

WHAT = "What is released"
PROMISE = "The promise"
LOG = "How the log is read"
RULES = "Rules"
PAPER = "The mechanisms of the papers"
OUTPUT = "Output"

LONGEST = 1_000
"""No sentence is longer."""
MAX_UNGROUPED = 20
"""The options that fit on a screen without groups."""

ORDER = (WHAT, PROMISE, LOG, RULES, PAPER, OUTPUT)
"""The groups, in the order in which they are shown."""


class GroupedCommand(TyperCommand):
    """A command whose help shows options by group, if they do not fit on a screen."""

    @property
    def grouped(self) -> bool:
        """Whether there are so many options."""
        return len(self.params) > MAX_UNGROUPED

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write each group with a heading."""
        if not self.grouped:
            super().format_options(ctx, formatter)
            return
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                groups.setdefault(group_of(parameter), []).append(record)
        for title in sorted(groups, key=_place):
            with formatter.section(title):
                formatter.write_dl(groups[title])


class CommandList(TyperGroup):
    """A command that has others, whose help says of each what it does without breaking off."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each command with the first sentence of its help."""
        names = self.list_commands(ctx)
        found = [(name, self.get_command(ctx, name)) for name in names]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, each.get_short_help_str(LONGEST)) for name, each in found if each]
            )


def make_group(help: str) -> Typer:
    """A command that has others."""
    return Typer(cls=CommandList, no_args_is_help=True, rich_markup_mode=None, help=help)


def group_of(parameter: Any) -> str:
    """The heading that an option stands under."""
    if parameter.param_type_name == "argument":
        return "Arguments"
    return getattr(parameter, "rich_help_panel", None) or "Options"


def _place(title: str) -> int:
    return -1 if title == "Arguments" else ORDER.index(title) if title in ORDER else len(ORDER)
