"""Connections that do not wait forever, and cannot crowd out others.

Whoever connects must send a whole request head soon. Nobody needs a token to connect; so where
there are too many connections, those go first that have waited longest without a request.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TextIO

from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 400
PATIENCE_SECONDS = 10.0
"""Time within which a request must have been sent, but for its body."""
MAX_LINES = 30
"""How many lines a minute are written to the app's log."""

waiting: dict[Connection, asyncio.TimerHandle] = {}
"""Connections without a request, the longest first."""


class Connection(H11Protocol):
    """One connection, which is dropped if it neither asks nor is answered."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request; make room if there is none."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > MAX_CONNECTIONS and waiting:
            next(iter(waiting))._drop()

    def data_received(self, data: bytes) -> None:
        """Take what was sent; a request that is whole need not be waited for."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()

    def on_response_complete(self) -> None:
        """Wait for the next request, and for the rest of one that was answered early."""
        super().on_response_complete()
        if not self.transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
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
        # It counts no more from now on; the rest takes a turn of the loop.
        self.connections.discard(self)
        self.transport.abort()


class QuietHandler(logging.StreamHandler[TextIO]):
    """Writes one line for each message, not too many, and never a traceback: it may quote a log."""

    _minute, _lines = 0, 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Let so many lines a minute through."""
        minute = int(time.monotonic() // 60)
        self._lines = self._lines + 1 if minute == self._minute else 1
        self._minute = minute
        return self._lines <= MAX_LINES

    def format(self, record: logging.LogRecord) -> str:
        """The message alone."""
        text = record.getMessage().splitlines() or [""]
        return f"sacofa: {text[0][:200]}"
