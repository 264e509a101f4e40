"""`sacofa verify`: check a released file against its certificate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import plain
from ..release.envelope import signature_path
from ..release.sign import verify_signed
from ..release.verify import verify as verify_file
from . import options
from .key import TrustedFolder, TrustedKey, trusted_keys
from .show import format_epsilon, to_json


def verify(
    released: Annotated[Path, typer.Argument(help="The released file.", metavar="FILE")],
    certificate: Annotated[
        Path | None,
        typer.Option(
            "--certificate", help="Its certificate; FILE.certificate.json unless it is given."
        ),
    ] = None,
    key: TrustedKey = None,
    trusted: TrustedFolder = None,
    as_json: options.Json = False,
) -> None:
    """Say whether a file is the one certified, whether the certificate adds up, and who signed."""
    keys = trusted_keys(key, trusted)
    checked = (
        verify_signed(released, keys, certificate=certificate)
        if keys
        else verify_file(released, certificate)
    )
    price = format_epsilon(checked.certificate.epsilon)
    if as_json:
        content = {
            "file": str(released),
            "holds": checked.holds,
            "findings": list(map(str, checked.findings)),
            "signer": checked.signer,
            "epsilon": None
            if checked.certificate.epsilon is None
            else str(checked.certificate.epsilon),
            "publishable": checked.certificate.publishable,
        }
        typer.echo(to_json(content, indent=2))
    elif checked.holds:
        queries = len(checked.certificate.spent)
        typer.echo(f"{released}: this is the file that was certified")
        typer.echo(f"its certificate adds up: {queries} queries to the log, {price}")
        if checked.signer is not None:
            typer.echo(f"both were signed by {plain(checked.signer)}, and are as they were then")
        elif signature_path(released).exists():
            typer.echo("its signature was not checked: name whom you trust with --key or --trusted")
        if not checked.certificate.publishable:
            typer.echo("it must not be published: its noise can be drawn again from a seed")
    for finding in () if as_json else checked.findings:
        typer.echo(f"{plain(str(released))}: {plain(str(finding))}")
    if not checked.holds:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(verify)
