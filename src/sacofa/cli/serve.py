"""`sacofa serve`: the web app."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from ..errors import MissingExtraError, Statement
from ..ledger import Ledger
from ..release.keys import read_private_key
from ..web.settings import ServeSettings
from .certificates import ask_passphrase
from .options import Fields
from .show import say

LIBRARIES = ("fastapi", "pydantic", "starlette", "uvicorn")
INTERNAL = ("signer", "token", "keep", "longest_job", "clock")
"""Settings without an option."""


def serve(settings: Annotated[ServeSettings, Fields(leave_out=INTERNAL)]) -> None:
    """Serve the web app on this machine. Ctrl-C ends it and deletes all that it holds."""
    try:
        from ..web.serve import serve as serve_app
    except ModuleNotFoundError as error:
        if error.name not in LIBRARIES:
            raise
        raise MissingExtraError(error.name, "web") from None
    if settings.ledger is not None:
        Ledger.open(settings.ledger)
    if settings.key is not None:
        settings = replace(settings, signer=read_private_key(settings.key, ask_passphrase))

    def show(made: ServeSettings) -> None:
        say(Statement("cli.serve.open", address=made.address))
        say(Statement("cli.serve.end"))
        if not made.loopback:
            say(Statement("cli.serve.exposed"), err=True)

    serve_app(settings, show)
