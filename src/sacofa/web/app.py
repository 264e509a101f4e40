"""The app: pages and interface behind the guard, and what begins and ends with it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exception_handlers import http_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from .._version import __version__
from ..errors import plain
from .api import api
from .jobs import Jobs
from .pages import pages
from .security import Guard
from .settings import ServeSettings
from .uploads import Uploads

SWEEP = 20.0
"""Seconds between two looks for logs that have been here for long."""


log = logging.getLogger("sacofa.web")


def create_app(settings: ServeSettings) -> FastAPI:
    """Make the app."""
    app = FastAPI(
        title="sacofa",
        version=__version__,
        summary="Anonymize event logs under differential privacy.",
        lifespan=_lifespan,
        # The usual documentation pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.settings = settings
    app.state.uploads = Uploads(settings)
    app.include_router(api, tags=["api"])
    app.include_router(pages)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))
    app.add_middleware(Guard, settings=settings)
    app.add_exception_handler(RequestValidationError, _say_what_is_wrong)
    app.add_exception_handler(HTTPException, _say_why)
    return app


MUST_BE = {
    "json_invalid": "must be JSON",
    "missing": "must be given",
    "extra_forbidden": "is unknown: leave it out",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
}
"""What is wrong with a field, by pydantic's type of error, if its own message speaks of Python."""


async def _say_what_is_wrong(request: Request, error: Exception) -> JSONResponse:
    """One line about the first thing that is wrong with a request."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = _field_path(first["loc"], error.body, first["type"] == "missing") or "the request"
    empty = first["type"] == "string_too_short" and not first["input"]
    must = MUST_BE.get("missing" if empty else first["type"])
    message = f"{where}: {first['msg']}" if must is None else f"{where} {must}"
    return JSONResponse({"detail": plain(message.replace(": Input should", " must"))}, 422)


def _field_path(places: Sequence[str | int], content: object, missing: bool) -> str:
    """The path of a field in a request; pydantic adds names of Python types, which are left out."""
    source, *inner = places
    if source != "body":
        return ".".join(map(str, inner))
    path: list[str] = []
    for place in inner:
        if isinstance(content, dict) and (place in content or missing):
            content = content.get(place)
        elif isinstance(content, list) and isinstance(place, int):
            content = content[place]
        else:
            continue
        path.append(str(place))
    return ".".join(path)


async def _say_why(request: Request, error: Exception) -> Response:
    """Say why something is refused; what was sent, and is no text, is spelt out."""
    assert isinstance(error, HTTPException)
    error.detail = plain(str(error.detail))
    return await http_exception_handler(request, error)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    app.state.jobs = Jobs(app.state.settings, app.state.uploads)
    sweeper = asyncio.create_task(_sweep(app))
    try:
        yield
    finally:
        sweeper.cancel()
        await app.state.jobs.close()


async def delete_expired(app: FastAPI) -> None:
    """Delete logs that have been here for long, and what is known of them."""
    for upload in app.state.uploads.expired():
        # Whatever becomes of one log, those of others must go.
        try:
            await app.state.jobs.delete_log(upload)
        except Exception as error:
            log.error("a log could not be deleted: %s", type(error).__name__)


async def _sweep(app: FastAPI) -> None:
    while True:
        await asyncio.sleep(SWEEP)
        try:
            await delete_expired(app)
        except Exception as error:
            log.error("logs could not be deleted: %s", type(error).__name__)
