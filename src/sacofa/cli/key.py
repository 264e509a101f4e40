"""`sacofa key`: keys to sign releases and ledgers with."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..errors import SettingError, Statement
from ..release.keys import (
    PrivateKey,
    PublicKey,
    check_names,
    make_key,
    read_public_key,
    read_trusted_keys,
)
from .grouped import make_group
from .options import Force
from .show import say

PASSPHRASE = "SACOFA_PASSPHRASE"
"""The environment variable with the passphrase; without it, a person is asked."""

TrustedKey = Annotated[
    Path | None, typer.Option("--key", help="Public key (.pub) that must have signed.")
]
TrustedFolder = Annotated[
    Path | None,
    typer.Option("--trusted", help="Folder of public keys, one of which must have signed."),
]

key = make_group("Make keys to sign with, and show them.")


@key.command()
def new(
    name: Annotated[
        Path, typer.Argument(help="NAME.key and NAME.pub are written.", metavar="NAME")
    ],
    passphrase: Annotated[
        bool,
        typer.Option(
            "--passphrase",
            help=f"Protect the private key with a passphrase. You are asked for it, unless "
            f"{PASSPHRASE} is set.",
        ),
    ] = False,
    force: Force = False,
) -> None:
    """Make a key (Ed25519): a private one to sign with, and a public one to hand out."""
    check_names(name)
    secret = ask_passphrase(twice=True) if passphrase else None
    private, public = make_key(name, passphrase=secret, force=force)
    say(Statement("cli.key.private", path=str(private)))
    say(Statement("cli.key.public", path=str(public), id=read_public_key(public).id))


@key.command()
def show(
    keys: Annotated[list[Path], typer.Argument(help="Public keys.", metavar="KEY …")],
) -> None:
    """Show the ids of public keys, to compare them through another channel."""
    for path in keys:
        say(f"{path}: {read_public_key(path).id}")


def ask_passphrase(*, twice: bool = False) -> str:
    """Ask for a passphrase, unless the environment has it."""
    given = os.environ.get(PASSPHRASE)
    if given is not None:
        return given
    if not sys.stdin.isatty():
        must = Statement("must.in_environment", variable=PASSPHRASE)
        raise SettingError("passphrase", None, must)
    return str(typer.prompt("Passphrase", hide_input=True, confirmation_prompt=twice, err=True))


def trusted_keys(key: Path | None, folder: Path | None) -> list[PublicKey]:
    """Read the keys that are trusted; none if none were named."""
    found = [] if key is None else [read_public_key(key)]
    return found + ([] if folder is None else read_trusted_keys(folder))


def say_signed(written: Path, signer: PrivateKey) -> None:
    """Print which signature was written."""
    say(Statement("cli.key.signed", path=str(written), signer=signer.public.name))
