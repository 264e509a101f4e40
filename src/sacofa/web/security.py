"""The door: who may come in, from where, and what browsers may do with the answers.

* The Host header must name this app: another site's name that was made to point here does not.
* Whoever brings the token in the address gets a session of their own, in a cookie that no script
  can read and no other site's request carries. Programs send the token as `Authorization: Bearer`.
* A request that changes something must come from the app's own pages: its Origin is ours, and it
  carries the session's secret in a header, which no form of another site can send.
* Every answer tells the browser to run nothing but the app's own files, and to keep no copy.
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
"""What a request that is no upload may hold."""
MAX_LENGTH_DIGITS = 18
"""The number of bytes of a request has no more digits: Python refuses to read thousands."""
MAX_SESSIONS = 1_000
SESSION_SECONDS = 7 * 24 * 3600
"""How long a browser keeps its session, also when it is closed; it ends with the app."""
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
    """One person at one browser."""

    id: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    """What the pages of this session send along with every change."""


PROGRAMS = Session(id="token", csrf="")
"""The one session of all programs that send the token."""


class Guard:
    """Lets requests through to the app, or not."""

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app, self._settings = app, settings
        self._sessions: dict[str, Session] = {}
        self._cookie = f"sacofa-{settings.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request, and send its answer with the headers of every answer."""
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
        """What to answer right away; None lets the request through."""
        headers, method = Headers(scope=scope), scope["method"]
        # Several of them, joined, are no name of this app.
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
        """Let in who brings the token; who has a session already comes back to their own work."""
        if not _same(token, self._settings.token):
            return _refuse(scope, 403, "wrong_token")
        if session is None:
            session = Session()
            while len(self._sessions) >= MAX_SESSIONS:
                self._sessions.pop(next(iter(self._sessions)))
            self._sessions[session.id] = session
        # The token leaves the address bar, so that it is not seen, bookmarked or shared by chance.
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
        # Compared as it stands, by no parser: an origin is a scheme and a name, and nothing else.
        scheme, _, name = headers.get("origin", "").lower().partition("://")
        ours = scheme in ("http", "https") and name in self._settings.authorities
        if "origin" in headers and not ours:
            return False
        site = headers.get("sec-fetch-site", "none")
        followed = method in SAFE and headers.get("sec-fetch-mode") == "navigate"
        return site in ("same-origin", "none") or followed


def _check_length(scope: Scope, limit: int) -> Response | None:
    """Refuse a request that says that it holds more bytes, or something that is no number."""
    length = Headers(scope=scope).get("content-length", "0")
    if length.isdecimal() and len(length) <= MAX_LENGTH_DIGITS and int(length) <= limit:
        return None
    return _refuse(scope, 413, "too_big", bytes=limit)


def _limited(receive: Receive, limit: int) -> Receive:
    """Refuse a request that goes on after its limit."""
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
    """Compare without telling by the time it takes how much was right."""
    return hmac.compare_digest(given.encode(), expected.encode())


def _refuse(scope: Scope, status: int, code: str, **values: object) -> Response:
    why = Statement(f"web.{code}", **values)
    if scope["path"].startswith("/api"):
        return JSONResponse({"detail": str(why)}, status)
    sentence = Statement("disclosure.sentence", said=why)
    return HTMLResponse(PAGE.format(status=status, sentence=sentence), status)
