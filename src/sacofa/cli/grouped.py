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
ORDER = (WHAT, PROMISE, LOG, RULES, PAPER, OUTPUT)
"""The groups, in the order in which they are shown."""
MAX_UNGROUPED = 20
"""The options that fit on a screen without groups."""


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
        groups: dict[str, list[object]] = {t: [] for t in ("Arguments", *ORDER, "Options")}
        for parameter in self.get_params(ctx):
            groups[group_of(parameter)].append(parameter.get_help_record(ctx))
        for title, records in groups.items():
            if shown := [record for record in records if record is not None]:
                with formatter.section(title):
                    formatter.write_dl(shown)


class CommandList(TyperGroup):
    """A command that has others, whose help says of each what it does without breaking off."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each command with the first sentence of its help, however long it is."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, each.get_short_help_str(1_000)) for name, each in self.commands.items()]
            )


def make_group(help: str) -> Typer:
    """A command that has others."""
    return Typer(cls=CommandList, no_args_is_help=True, rich_markup_mode=None, help=help)


def group_of(parameter: Any) -> str:
    """The heading that an option stands under."""
    if parameter.param_type_name == "argument":
        return "Arguments"
    return getattr(parameter, "rich_help_panel", None) or "Options"
