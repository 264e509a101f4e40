"""Write docs/reference/cli.md: every command and option, as `--help` tells them.

python docs/make/cli.py
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer

from sacofa.cli.app import make_app
from sacofa.cli.options import ORDER, GroupedCommand, group_of

TARGET = Path(__file__).parents[1] / "reference" / "cli.md"

HEAD = """\
# Commands

<!-- Written by docs/make/cli.py from the program itself: change the help texts, not this page. -->

`sacofa COMMAND --help` (or `-h`) shows the same on the terminal. Every error is one line on stderr,
and [its class](errors.md) decides the exit status: 0 is success, 1 an input that cannot be used,
2 a wrong setting, command or target, 130 an interruption. What a command adds to these, it says
itself.

`sacofa --install-completion` teaches your shell (bash, zsh, fish or PowerShell) to complete
commands and options; `sacofa --show-completion` prints what it would install.
"""

COMPLETION = {"install_completion", "show_completion"}
"""Told above in our own words: their help texts are Typer's and change with its version."""


def write_reference() -> str:
    """The whole page."""
    program = typer.main.get_command(make_app())
    return "\n".join([HEAD, *_program(program), *_commands("sacofa", program)])


def _program(program: Any) -> Iterator[str]:
    yield "## sacofa\n"
    yield f"{_sentences(program.help)}\n"
    yield from _options(program)


def _commands(name: str, group: Any) -> Iterator[str]:
    """Every command below a group, groups spelled out in their place."""
    for word in sorted(group.commands):
        command = group.commands[word]
        full = f"{name} {word}"
        yield f"## {full}\n"
        yield f"{_sentences(command.help)}\n"
        if hasattr(command, "commands"):
            yield from _commands(full, command)
            continue
        arguments = [p for p in command.params if p.param_type_name == "argument"]
        usage = " ".join([full, *(_value(p) for p in arguments), "[OPTIONS]"])
        yield f"```text\n{usage}\n```\n"
        if arguments:
            yield "\n".join(f"* `{_value(p)}`: {p.help}" for p in arguments) + "\n"
        yield from _options(command)


def _options(command: Any) -> Iterator[str]:
    options = [p for p in command.params if p.param_type_name == "option"]
    shown = [option for option in options if option.name not in COMPLETION]
    groups = ("",)
    if isinstance(command, GroupedCommand) and command.grouped:
        groups = tuple(t for t in (*ORDER, "Options") if any(group_of(p) == t for p in shown))
    for group in groups:
        if group:
            yield f"**{group}**\n"
        yield "| option | meaning | default |"
        yield "|---|---|---|"
        for option in shown:
            if group in ("", group_of(option)):
                yield f"| {_names(option)} | {_cell(option.help)} | {_default(option)} |"
        if group == groups[-1]:
            yield "| `-h`, `--help` | Show the help and exit. | |"
        yield ""


def _names(option: Any) -> str:
    names = [f"`{name}`" for name in (*option.opts, *option.secondary_opts)]
    if not option.is_flag:
        names[-1] = f"`{option.opts[-1]} {_value(option).replace('|', ' or ')}`"
    return ", ".join(names)


def _value(parameter: Any) -> str:
    """What stands for the value: its own word, the choices there are, or the option's name."""
    return parameter.metavar or "|".join(_choices(parameter)) or parameter.name.upper()


def _choices(parameter: Any) -> tuple[str, ...]:
    # Typer keeps them in one of two places, depending on its version.
    described = getattr(parameter, "type_descriptor", None)
    if described is None:
        return tuple(getattr(parameter.type, "choices", ()))
    return get_args(described.annotation) if get_origin(described.annotation) is Literal else ()


def _default(option: Any) -> str:
    if option.required:
        return "required"
    if isinstance(option.show_default, str):
        return _cell(option.show_default)
    if option.is_flag or option.default is None or option.show_default is False:
        return ""
    return f"`{option.default}`"


def _cell(text: str) -> str:
    """Text in a table, where a bar would end the cell."""
    return text.replace("|", "\\|")


def _sentences(text: str | None) -> str:
    return inspect.cleandoc(text or "")


if __name__ == "__main__":
    TARGET.write_text(write_reference(), encoding="utf-8")
