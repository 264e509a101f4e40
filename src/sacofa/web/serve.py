"""Serve the app until it is terminated.

A client must send a complete request head soon. Connections need no token, so if there are too
many, those that have been idle longest are closed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TextIO

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..base.temporary import make_locked, remove, remove_abandoned
from ..errors import OutputError, SettingError, Statement
from .app import create_app
from .settings import ServeSettings

MAX_HEAD_BYTES = 1 << 16
"""Maximum size of a request head."""
MAX_FILES = 4096
"""Maximum number of connections, files and pipes."""
MAX_CONNECTIONS = 400
PATIENCE_SECONDS = 10.0
"""Time limit for a request without its body."""
MAX_LINES = 30
"""Maximum number of lines per minute in the log of the app."""
PREFIX = "serve-"


def serve(settings: ServeSettings, say: Callable[[ServeSettings], None]) -> None:
    """Serve the app; `say` receives its settings once it listens.

    Its files, in a new subfolder of the folder in the settings, are deleted at the end.
    """
    # Files of the app are readable by their owner alone.
    os.umask(0o077)
    with own_folder(settings.folder) as folder:
        listening = _listen(settings.host, settings.port)
        made = replace(settings, folder=folder, port=listening.getsockname()[1])
        logging.basicConfig(handlers=[QuietHandler()], level=logging.WARNING)
        # Limits match the connections and processes that the app allows.
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = MAX_FILES if hard == resource.RLIM_INFINITY else min(MAX_FILES, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        server = _Server(
            uvicorn.Config(
                create_app(made),
                http=Connection,
                ws="none",
                h11_max_incomplete_event_size=MAX_HEAD_BYTES,
                log_config=None,
                # Addresses contain the token and ids of jobs, so they are not logged.
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


@contextmanager
def own_folder(parent: Path) -> Iterator[Path]:
    """Create a private folder, and delete it with its content at the end.

    Folders of killed apps are deleted first. Its name is absolute: each job runs in a folder of its
    own.
    """
    parent = parent.absolute()
    try:
        parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        remove_abandoned(parent, PREFIX)
        folder, lock = make_locked(parent, PREFIX)
    except OSError as error:
        why = error.strerror or ""
        raise OutputError(parent, Statement("file.not_a_folder", why=why)) from None
    try:
        yield folder
    finally:
        remove(folder, lock)


class _Server(uvicorn.Server):
    """A server that shuts down cleanly on any signal to end it, also on several."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let signals end the server; the caller cleans up and ends the program."""
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
        """Start the shutdown; a second signal does not interrupt it."""
        self.should_exit = True


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    dual = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    try:
        return socket.create_server((host, port), family=family, backlog=128, dualstack_ipv6=dual)
    except OSError as error:
        # The message of the library would repeat the address, which contains the token.
        why = (error.strerror or "").partition(" (while ")[0]
        raise SettingError("port", port, Statement("must.free_port", host=host, why=why)) from None


waiting: dict[Connection, asyncio.TimerHandle] = {}
"""Connections without a request, the oldest first."""


class Connection(H11Protocol):
    """One connection, which is closed if it is idle for too long."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request; close an idle connection if there are too many."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > MAX_CONNECTIONS and waiting:
            next(iter(waiting))._drop()

    def data_received(self, data: bytes) -> None:
        """Receive data; a complete request ends the wait."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()

    def on_response_complete(self) -> None:
        """Wait for the next request, or for the rest of one that was answered early."""
        super().on_response_complete()
        if not self.transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection."""
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._stop()
        waiting[self] = asyncio.get_running_loop().call_later(PATIENCE_SECONDS, self._drop)

    def _stop(self) -> None:
        if timer := waiting.pop(self, None):
            timer.cancel()

    def _drop(self) -> None:
        self._stop()
        # It no longer counts; closing takes a turn of the event loop.
        self.connections.discard(self)
        self.transport.abort()


class QuietHandler(logging.StreamHandler[TextIO]):
    """Writes single lines at a limited rate, and never a traceback, which may quote a log."""

    _minute, _lines = 0, 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Limit the number of lines per minute."""
        minute = int(time.monotonic() // 60)
        self._lines = self._lines + 1 if minute == self._minute else 1
        self._minute = minute
        return self._lines <= MAX_LINES

    def format(self, record: logging.LogRecord) -> str:
        """Return the message without a traceback."""
        text = record.getMessage().splitlines() or [""]
        return f"sacofa: {text[0][:200]}"
