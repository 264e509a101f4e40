"""Serve the app until somebody ends it."""

from __future__ import annotations

import logging
import os
import resource
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType

import uvicorn

from ..errors import SettingError, Statement
from .app import create_app
from .connections import QuietHandler, make_protocol
from .settings import ServeSettings
from .workspace import default_parent, own_folder

LARGEST_HEAD = 1 << 16
"""What a request may hold before its body, in bytes."""
FILES = 4096


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
        logging.basicConfig(handlers=[QuietHandler()], level=logging.WARNING)
        _allow_files()
        server = _Server(
            uvicorn.Config(
                create_app(made),
                http=make_protocol(),
                ws="none",
                h11_max_incomplete_event_size=LARGEST_HEAD,
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


class _Server(uvicorn.Server):
    """Ends in good order by any signal that asks for it, also by several."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let signals end the server; what comes after it cleans up and ends the program."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.getsignal(number) for number in numbers}
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, self.handle_exit)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end; a second signal does not break that off."""
        self.should_exit = True


def _allow_files() -> None:
    """Let the app have as many connections and processes as it allows itself."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        must = Statement("must.free_port", host=host, why=error.strerror or "")
        raise SettingError("port", port, must) from None
    listening.listen(128)
    return listening
