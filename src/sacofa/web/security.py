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
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import Statement
from .settings import ServeSettings

LARGEST_REQUEST = 2_000_000
"""What a request that is no upload may hold, in bytes."""
LONGEST_LENGTH = 18
"""The number of bytes of a request has no more digits."""
MOST_SESSIONS = 1_000
REMEMBERED = 7 * 24 * 3600
"""Seconds that a browser keeps its session, also when it is closed; it ends with the app."""
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
log = logging.getLogger("sacofa.web")


@dataclass(frozen=True, kw_only=True)
class Session:
    """One person at one browser."""

    id: str
    csrf: str
    """What the pages of this session send along with every change."""


class Guard:
    """Lets requests through to the app, or not."""

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app, self._settings = app, settings
        self._sessions: dict[str, Session] = {}
        self._cookie = f"sacofa-{settings.port}"
        self._programs = Session(id="token", csrf="")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, _Guarded(send))

    async def _answer(self, scope: Scope, receive: Receive, send: _Guarded) -> None:
        upload = scope["method"] == "POST" and scope["path"] == "/api/logs"
        limit = self._settings.max_upload if upload else LARGEST_REQUEST
        answer: ASGIApp | None = None
        try:
            answer = self._check(scope)
            if answer is None:
                if _is_more(Headers(scope=scope).get("content-length", "0"), limit):
                    raise _TooMuchError
                await self._app(scope, _limited(receive, limit), send)
        except _TooMuchError:
            answer = _refuse(scope, 413, Statement("web.too_big", bytes=limit))
        except Exception as error:
            # The message of an error may quote the log, and so may a traceback.
            log.error("a request failed: %s", type(error).__name__)
            answer = _refuse(scope, 500, Statement("web.failed"))
        if answer is not None and not send.started:
            await answer(scope, receive, send)

    def _check(self, scope: Scope) -> Response | None:
        """What to answer right away; None lets the request through."""
        headers = Headers(scope=scope)
        hosts = [host.lower() for host in headers.getlist("host")]
        if len(hosts) != 1 or hosts[0] not in self._settings.authorities:
            return _refuse(scope, 421, Statement("web.other_name"))
        if scope["path"] == "/" and scope["method"] == "GET":
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
            if given is not None:
                return self._enter(scope, headers, given[-1])
        session = self._session(scope, headers)
        if session is None:
            return _refuse(scope, 401, Statement("web.no_session"))
        if not self._comes_from_here(headers, scope["method"]):
            return _refuse(scope, 403, Statement("web.other_site"))
        if not self._may_change(session, headers, scope["method"]):
            return _refuse(scope, 403, Statement("web.no_csrf"))
        scope.setdefault("state", {})["session"] = session
        return None

    def _may_change(self, session: Session, headers: Headers, method: str) -> bool:
        """Whether a request changes nothing, or carries the secret of its session."""
        if method in SAFE or session is self._programs:
            return True
        return _same(headers.get("x-csrf-token", ""), session.csrf)

    def _enter(self, scope: Scope, headers: Headers, token: str) -> Response:
        if not _same(token, self._settings.token):
            return _refuse(scope, 403, Statement("web.wrong_token"))
        # The token leaves the address bar, so that it is not seen, bookmarked or shared by chance.
        answer = RedirectResponse("/", status_code=303)
        # Whoever comes back by the same address comes back to their own work.
        session = self._session(scope, headers)
        if session is None or session is self._programs:
            session = self._begin()
        answer.set_cookie(
            self._cookie, session.id, httponly=True, samesite="strict", path="/", max_age=REMEMBERED
        )
        return answer

    def _begin(self) -> Session:
        while len(self._sessions) >= MOST_SESSIONS:
            self._sessions.pop(next(iter(self._sessions)))
        session = Session(id=secrets.token_urlsafe(32), csrf=secrets.token_urlsafe(32))
        self._sessions[session.id] = session
        return session

    def _session(self, scope: Scope, headers: Headers) -> Session | None:
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            allowed = scope["path"].startswith("/api/") and _same(token, self._settings.token)
            return self._programs if allowed else None
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
        if site in ("same-origin", "none"):
            return True
        return method in SAFE and headers.get("sec-fetch-mode") == "navigate"


def _is_more(length: str, limit: int) -> bool:
    """Whether a request says that it holds more bytes, or something that is no number of them."""
    # Python refuses to make numbers of thousands of digits.
    return not length.isdecimal() or len(length) > LONGEST_LENGTH or int(length) > limit


class _TooMuchError(Exception):
    """A request that goes on after its limit."""


def _limited(receive: Receive, limit: int) -> Receive:
    size = 0

    async def receive_limited() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > limit:
            raise _TooMuchError
        return message

    return receive_limited


def _same(given: str, expected: str) -> bool:
    """Compare without telling by the time it takes how much was right."""
    return hmac.compare_digest(given.encode(), expected.encode())


class _Guarded:
    """Sends an answer with the headers of every answer, and knows whether it began."""

    def __init__(self, send: Send) -> None:
        self._send, self.started = send, False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("Content-Security-Policy", POLICY)
        await self._send(message)


def _refuse(scope: Scope, status: int, why: Statement) -> Response:
    if scope["path"].startswith("/api"):
        return JSONResponse({"detail": str(why)}, status)
    sentence = Statement("disclosure.sentence", said=why)
    return HTMLResponse(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{status} · sacofa</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<main><h1>Not here</h1><p>{sentence}</p><p><a href="/">To the start</a>'
        "</p></main></html>",
        status,
    )
