"""`sacofa verify`: check a released file against its certificate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..release.verify import verify as verify_file
from . import options
from .show import format_epsilon


def verify(
    released: Annotated[Path, typer.Argument(help="The released file.", metavar="FILE")],
    certificate: Annotated[
        Path | None,
        typer.Option(
            "--certificate", help="Its certificate; FILE.certificate.json unless it is given."
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Say whether a file is the one certified, and whether the certificate adds up."""
    checked = verify_file(released, certificate)
    price = format_epsilon(checked.certificate.epsilon)
    if as_json:
        content = {
            "file": str(released),
            "holds": checked.holds,
            "findings": list(checked.findings),
            "epsilon": None
            if checked.certificate.epsilon is None
            else str(checked.certificate.epsilon),
            "publishable": checked.certificate.publishable,
        }
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    elif checked.holds:
        queries = len(checked.certificate.spent)
        typer.echo(f"{released}: this is the file that was certified")
        typer.echo(f"its certificate adds up: {queries} queries to the log, {price}")
        if not checked.certificate.publishable:
            typer.echo("it must not be published: its noise can be drawn again from a seed")
    for finding in () if as_json else checked.findings:
        typer.echo(f"{released}: {finding}")
    if not checked.holds:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(verify)
