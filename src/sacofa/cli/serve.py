"""`sacofa serve`: the web app."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ..errors import Argument, MissingExtraError, SettingError, Statement
from ..ledger import Ledger
from ..release.keys import read_private_key
from .certificates import ask_passphrase
from .options import Fields
from .show import say

LIBRARIES = ("fastapi", "pydantic", "starlette", "uvicorn")


@dataclass(frozen=True, kw_only=True)
class Serving:
    """How the app is served.

    Attributes:
        port: Port. 0 takes any free one.
        host: Address to listen at. One that other machines can reach requires --expose.
        expose: Let other machines reach the app.
        name: Name under which browsers call the app. Repeat for several.
        max_upload: Largest log, in megabytes.
        max_memory: Memory for reading a trusted file that looks like a decompression bomb, in
            megabytes.
        workers: Number of jobs at the same time. Default: one for each core.
        ledger: Ledger that can pay for releases.
        key: Private key (.key) that signs released files.
        folder: Parent of the folder that the app makes for itself. Default: ~/.cache/sacofa.
    """

    port: int = 8000
    host: str = "127.0.0.1"
    expose: bool = False
    name: tuple[str, ...] = ()
    max_upload: int = 2000
    max_memory: int = 2000
    workers: int | None = None
    ledger: Path | None = None
    key: Path | None = None
    folder: Path | None = None

    def __post_init__(self) -> None:
        for name, least in (("max_upload", 1), ("max_memory", 200)):
            if getattr(self, name) < least:
                must = Statement("must.at_least", least=least)
                raise SettingError(name, getattr(self, name), must)


def serve(serving: Annotated[Serving, Fields()]) -> None:
    """Serve the web app on this machine. Ctrl-C ends it and deletes all that it holds."""
    try:
        from ..web.serve import serve as serve_app
        from ..web.settings import MEGABYTE, ServeSettings, is_loopback
    except ModuleNotFoundError as error:
        if error.name not in LIBRARIES:
            raise
        raise MissingExtraError(error.name, "web") from None
    if not is_loopback(serving.host) and not serving.expose:
        must = Statement("must.loopback", argument=Argument("expose", True))
        raise SettingError("host", serving.host, must)
    if serving.ledger is not None:
        Ledger.open(serving.ledger)
    signer = None if serving.key is None else read_private_key(serving.key, ask_passphrase)

    def settings(own: Path) -> ServeSettings:
        return ServeSettings(
            folder=own,
            host=serving.host,
            port=serving.port,
            names=tuple(serving.name),
            max_upload=serving.max_upload * MEGABYTE,
            max_memory=serving.max_memory * MEGABYTE,
            workers=serving.workers or os.cpu_count() or 1,
            ledger=serving.ledger,
            signer=signer,
        )

    def show(made: ServeSettings) -> None:
        say(Statement("cli.serve.open", address=made.address))
        say(Statement("cli.serve.end"))
        if not made.loopback:
            say(Statement("cli.serve.exposed"), err=True)

    serve_app(settings, show, serving.folder)
