"""`sacofa sign`: vouch for a release with a key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import plain
from ..release.keys import read_private_key
from ..release.sign import sign as sign_release
from . import options
from .key import ask_passphrase

SigningKey = Annotated[Path, typer.Option("--key", help="The private key to sign with (.key).")]


def sign(
    released: Annotated[Path, typer.Argument(help="The released file.", metavar="FILE")],
    key: SigningKey,
    certificate: Annotated[
        Path | None,
        typer.Option(
            "--certificate", help="Its certificate; FILE.certificate.json unless it is given."
        ),
    ] = None,
    force: options.Force = False,
) -> None:
    """Sign a release: the file and its certificate, as they are, in FILE.signature.json."""
    signer = read_private_key(key, ask_passphrase)
    written = sign_release(released, signer, certificate=certificate, force=force)
    typer.echo(f"{plain(str(written))}: signed with {plain(signer.public.name)}")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(sign)
