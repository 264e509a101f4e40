"""Serve the app until somebody ends it."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import uvicorn

from ..errors import SettingError
from .app import create_app
from .settings import ServeSettings
from .workspace import default_parent, own_folder


def serve(
    settings: Callable[[Path], ServeSettings],
    say: Callable[[ServeSettings], None],
    parent: Path | None = None,
) -> None:
    """Serve the app; `say` is told its settings once it listens.

    All that it wrote is deleted at the end.
    """
    # What the app writes is for its owner alone.
    os.umask(0o077)
    with own_folder(parent or default_parent()) as folder:
        made = settings(folder)
        listening = _listen(made.host, made.port)
        made = replace(made, port=listening.getsockname()[1])
        logging.basicConfig(format="sacofa: %(message)s", level=logging.WARNING)
        server = uvicorn.Server(
            uvicorn.Config(
                create_app(made),
                log_config=None,
                # Addresses hold the token and the ids of jobs: they are not for a log.
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=2,
                lifespan="on",
            )
        )
        say(made)
        with listening:
            server.run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise SettingError(
            "port", port, f"free at {host}: {error.strerror}; choose another with --port"
        ) from None
    listening.listen(128)
    return listening
