"""Access control, and security headers of responses.

* The Host header must name this app, which prevents DNS rebinding.
* A request with the token in its address gets a session, in a cookie that scripts cannot read and
  requests of other sites do not contain. Programs send the token as `Authorization: Bearer`.
* A request that changes state must come from the app's own pages: it has their Origin, and the
  session's secret in a header, which forms of other sites cannot send.
* The headers of every response forbid the browser to run other files than those of the app, and to
  cache it.
"""

from __future__ import annotations

import hmac
import logging
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import Statement
from .settings import ServeSettings

MAX_REQUEST_BYTES = 2_000_000
"""Maximum size of a request other than an upload."""
MAX_LENGTH_DIGITS = 18
"""Maximum number of digits of a content length: Python refuses to parse thousands."""
MAX_SESSIONS = 1_000
SESSION_SECONDS = 7 * 24 * 3600
"""Lifetime of the session cookie, also when the browser is closed; it ends with the app."""
SAFE = ("GET", "HEAD", "OPTIONS")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{status} · sacofa</title>\
<meta name="viewport" content="width=device-width, initial-scale=1">\
<main><h1>Not here</h1><p>{sentence}</p><p><a href="/">To the start</a></p></main></html>"""
log = logging.getLogger("sacofa.web")


@dataclass(frozen=True, kw_only=True)
class Session:
    """One browser session."""

    id: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    """The secret that the pages of this session send with every change."""


PROGRAMS = Session(id="token", csrf="")
"""The common session of all programs that send the token."""


class Guard:
    """Lets requests through to the app, or not."""

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app, self._settings = app, settings
        self._sessions: dict[str, Session] = {}
        self._cookie = f"sacofa-{settings.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request, and send the response with the security headers."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return
        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("Content-Security-Policy", POLICY)
            await send(message)

        upload = (scope["method"], scope["path"]) == ("POST", "/api/logs")
        limit = self._settings.upload_bytes if upload else MAX_REQUEST_BYTES
        try:
            answer = self._check(scope) or _check_length(scope, limit)
            if answer is None:
                await self._app(scope, _limited(receive, limit), send_guarded)
        except Exception as error:
            # The message of an error may quote the log, and so may a traceback.
            log.error("a request failed: %s", type(error).__name__)
            answer = _refuse(scope, 500, "failed")
        if answer is not None and not started:
            await answer(scope, receive, send_guarded)

    def _check(self, scope: Scope) -> Response | None:
        """Return the response to a refused request or a login; None lets the request through."""
        headers, method = Headers(scope=scope), scope["method"]
        # Several Host headers are joined, which does not match any name of the app.
        if ",".join(headers.getlist("host")).lower() not in self._settings.authorities:
            return _refuse(scope, 421, "other_name")
        session = self._session(scope, headers)
        if scope["path"] == "/" and method == "GET":
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
            if given is not None:
                return self._enter(scope, session, given[-1])
        if session is None:
            return _refuse(scope, 401, "no_session")
        if not self._comes_from_here(headers, method):
            return _refuse(scope, 403, "other_site")
        free = method in SAFE or session is PROGRAMS
        if not free and not _same(headers.get("x-csrf-token", ""), session.csrf):
            return _refuse(scope, 403, "no_csrf")
        scope.setdefault("state", {})["session"] = session
        return None

    def _enter(self, scope: Scope, session: Session | None, token: str) -> Response:
        """Log in with the token; an existing session is kept."""
        if not _same(token, self._settings.token):
            return _refuse(scope, 403, "wrong_token")
        if session is None:
            session = Session()
            while len(self._sessions) >= MAX_SESSIONS:
                self._sessions.pop(next(iter(self._sessions)))
            self._sessions[session.id] = session
        # The redirect removes the token from the address bar, against shoulder surfing and
        # The redirect removes the token from the address bar, so that it is not seen or bookmarked.
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(
            self._cookie, session.id, max_age=SESSION_SECONDS, httponly=True, samesite="strict"
        )
        return answer

    def _session(self, scope: Scope, headers: Headers) -> Session | None:
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            allowed = scope["path"].startswith("/api/") and _same(token, self._settings.token)
            return PROGRAMS if allowed else None
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return None
        return self._sessions.get(cookies[self._cookie].value) if self._cookie in cookies else None

    def _comes_from_here(self, headers: Headers, method: str) -> bool:
        # Compared literally, without a parser: an origin is a scheme and a name only.
        scheme, _, name = headers.get("origin", "").lower().partition("://")
        ours = scheme in ("http", "https") and name in self._settings.authorities
        if "origin" in headers and not ours:
            return False
        site = headers.get("sec-fetch-site", "none")
        followed = method in SAFE and headers.get("sec-fetch-mode") == "navigate"
        return site in ("same-origin", "none") or followed


def _check_length(scope: Scope, limit: int) -> Response | None:
    """Refuse a request whose declared length is too large or not a number."""
    length = Headers(scope=scope).get("content-length", "0")
    if length.isdecimal() and len(length) <= MAX_LENGTH_DIGITS and int(length) <= limit:
        return None
    return _refuse(scope, 413, "too_big", bytes=limit)


def _limited(receive: Receive, limit: int) -> Receive:
    """Stop reading a request at its limit."""
    size = 0

    async def receive_limited() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > limit:
            raise HTTPException(413, str(Statement("web.too_big", bytes=limit)))
        return message

    return receive_limited


def _same(given: str, expected: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(given.encode(), expected.encode())


def _refuse(scope: Scope, status: int, code: str, **values: object) -> Response:
    why = Statement(f"web.{code}", **values)
    if scope["path"].startswith("/api"):
        return JSONResponse({"detail": str(why)}, status)
    sentence = Statement("disclosure.sentence", said=why)
    return HTMLResponse(PAGE.format(status=status, sentence=sentence), status)
