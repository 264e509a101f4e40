"""`sacofa key`: keys to sign releases and ledgers with."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..errors import SettingError, plain
from ..release.keys import (
    PublicKey,
    check_names,
    make_key,
    read_public_key,
    read_trusted_keys,
)
from . import options
from .grouped import CommandList

PASSPHRASE = "SACOFA_PASSPHRASE"
"""Where the passphrase of a key is looked for before a person is asked."""

TrustedKey = Annotated[
    Path | None,
    typer.Option("--key", help="Whose signature it must be: a public key (.pub)."),
]
TrustedFolder = Annotated[
    Path | None,
    typer.Option("--trusted", help="A folder of public keys, any of which will do."),
]

commands = typer.Typer(
    cls=CommandList,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make keys to sign with, and show them.",
)


@commands.command()
def new(
    name: Annotated[
        Path, typer.Argument(help="NAME.key and NAME.pub are written.", metavar="NAME")
    ],
    passphrase: Annotated[
        bool,
        typer.Option(
            "--passphrase",
            help=f"Seal the private key with a passphrase, which is asked for (or {PASSPHRASE}).",
        ),
    ] = False,
    force: options.Force = False,
) -> None:
    """Make a key (Ed25519): a private one to sign with, and a public one to hand out."""
    check_names(name)
    secret = ask_passphrase(twice=True) if passphrase else None
    private, public = make_key(name, passphrase=secret, force=force)
    typer.echo(f"{plain(str(private))}: sign with it, and keep it to yourself")
    typer.echo(f"{plain(str(public))}: hand it out; id {read_public_key(public).id}")


@commands.command()
def show(
    keys: Annotated[list[Path], typer.Argument(help="Public keys.", metavar="KEY …")],
) -> None:
    """Show the ids of public keys, to compare them by another way than they came."""
    for path in keys:
        typer.echo(f"{plain(str(path))}: {read_public_key(path).id}")


def ask_passphrase(*, twice: bool = False) -> str:
    """Ask for a passphrase; a program says it in the environment."""
    given = os.environ.get(PASSPHRASE)
    if given is not None:
        return given
    if not sys.stdin.isatty():
        raise SettingError("passphrase", "missing", f"given in {PASSPHRASE} where nobody is asked")
    return str(typer.prompt("Passphrase", hide_input=True, confirmation_prompt=twice, err=True))


def trusted_keys(key: Path | None, folder: Path | None) -> list[PublicKey]:
    """Read the keys that are trusted; none where none were named."""
    found = [] if key is None else [read_public_key(key)]
    return found + ([] if folder is None else read_trusted_keys(folder))


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(commands, name="key")
