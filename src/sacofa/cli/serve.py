"""`sacofa serve`: the web app."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ..errors import MissingExtraError, SettingError
from ..ledger import Ledger
from ..release.keys import read_private_key
from .key import ask_passphrase


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("serve")(serve)


def serve(
    port: Annotated[int, typer.Option("--port", help="The port; 0 takes any that is free.")] = 8000,
    host: Annotated[
        str, typer.Option("--host", help="The address; one that others reach needs --expose.")
    ] = "127.0.0.1",
    expose: Annotated[
        bool, typer.Option("--expose", help="Let other machines reach the app.")
    ] = False,
    name: Annotated[
        list[str] | None,
        typer.Option("--name", help="A name by which browsers call the app; repeat it."),
    ] = None,
    max_upload: Annotated[
        int, typer.Option("--max-upload", help="The largest log, in megabytes.", min=1)
    ] = 2000,
    max_memory: Annotated[
        int,
        typer.Option(
            "--max-memory",
            help="Memory for reading a file that looks like a bomb and is trusted, in megabytes.",
            min=200,
        ),
    ] = 2000,
    workers: Annotated[
        int | None,
        typer.Option("--workers", help="Jobs at the same time.", show_default="one for each core"),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", help="Releases can be paid from this ledger.", metavar="LEDGER"),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--key", help="Released files can be signed with this private key (.key)."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder",
            help="Where the app makes its own folder.",
            show_default="~/.cache/sacofa",
        ),
    ] = None,
) -> None:
    """Serve the web app on this machine. Ctrl-C ends it and deletes all that it holds."""
    try:
        from ..web.serve import serve as serve_app
        from ..web.settings import MEGABYTE, ServeSettings, is_loopback
    except ModuleNotFoundError as error:
        if error.name not in ("fastapi", "pydantic", "starlette", "uvicorn"):
            raise
        raise MissingExtraError(error.name, "web") from None
    if not is_loopback(host) and not expose:
        raise SettingError("host", host, "this machine's own, or give --expose too")
    if ledger is not None:
        Ledger.open(ledger)
    signer = None if key is None else read_private_key(key, ask_passphrase)

    def settings(own: Path) -> ServeSettings:
        return ServeSettings(
            folder=own,
            host=host,
            port=port,
            names=tuple(name or ()),
            max_upload=max_upload * MEGABYTE,
            max_memory=max_memory * MEGABYTE,
            workers=workers or os.cpu_count() or 1,
            ledger=ledger,
            signer=signer,
        )

    def say(made: ServeSettings) -> None:
        typer.echo(f"Open {made.address}\nCtrl-C ends the app and deletes all that it holds.")
        if not made.loopback:
            typer.echo(
                "Whoever can reach this address and knows the token can use the app. What goes "
                "over the network, logs and token included, is not encrypted: use it only behind "
                "a proxy that adds TLS, or in a network that you trust.",
                err=True,
            )

    serve_app(settings, say, folder)
