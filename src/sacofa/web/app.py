"""The app: pages and API behind the guard, and background tasks.

Pages are shells that the app's own script fills through the API under /api.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.staticfiles import StaticFiles

from .._version import __version__
from ..errors import Argument, LedgerError, SacofaError, Statement, plain
from ..events.bounded_file import ENDINGS
from ..events.formats import SUFFIXES
from ..mechanisms.certified import Certified
from ..mechanisms.registry import choices, option_names
from ..mechanisms.settings import settings_of
from ..messages import render
from ..release.formats import FORMATS
from ..report.page import colour_rules
from .api import OneJob, api
from .jobs import Jobs
from .requests import SEPARATE_INPUTS, JobRequest, PlanRequest, read_fields
from .security import Guard
from .settings import ServeSettings
from .uploads import StatusError, Uploads

SWEEP_SECONDS = 20.0
"""Interval of the search for expired logs."""
REQUESTS: dict[str, type[BaseModel]] = {"/api/jobs": JobRequest, "/api/plan": PlanRequest}
"""Routes whose settings may be refused by the library after validation of the schema."""
TYPE_MESSAGES = {
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
"""Messages for types of pydantic errors whose own message mentions Python."""

TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
PAGES = {"/": "home", "/interface": "interface", "/logs/{log}": "log", "/jobs/{job}": "job"}
"""The upload page, the API documentation, a log with its settings, and a release."""
CONTENT = {
    "reading": [entry for entry in read_fields() if entry.name not in SEPARATE_INPUTS],
    "suffixes": ",".join((*SUFFIXES, *ENDINGS)),
    "formats": ", ".join(dict.fromkeys(kind.upper() for kind in SUFFIXES.values())),
    "written": FORMATS,
    # ε, δ and rules have separate inputs.
    "settings": [
        choice
        for choice in choices()
        if choice.kind not in ("epsilon", "rules") and choice.option != "delta"
    ],
    "of_delta": next(each.help for each in settings_of(Certified) if each.option == "delta"),
}
"""Descriptions of formats, reading options and mechanisms for pages."""

pages = APIRouter(include_in_schema=False)


def create_app(settings: ServeSettings) -> FastAPI:
    """Make the app."""
    app = FastAPI(
        title="sacofa",
        version=__version__,
        summary="Anonymize event logs under differential privacy.",
        lifespan=_lifespan,
        # The standard documentation pages load external scripts.
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.settings = settings
    app.state.uploads = Uploads(settings)
    app.include_router(api)
    app.include_router(pages)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))
    app.add_middleware(Guard, settings=settings)
    app.add_exception_handler(RequestValidationError, _say_what_is_wrong)
    app.add_exception_handler(SacofaError, _say_what_is_refused)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    app.state.jobs = Jobs(app.state.settings, app.state.uploads)

    async def sweep() -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            await app.state.jobs.delete_expired()

    sweeper = asyncio.create_task(sweep())
    try:
        yield
    finally:
        sweeper.cancel()
        await app.state.jobs.close()


async def _show(request: Request, template: str) -> Response:
    settings = request.app.state.settings
    content = TEMPLATES.get_template(f"{template}.html.j2").render(
        CONTENT,
        csrf=request.state.session.csrf,
        max_upload=settings.upload_bytes,
        has_ledger=settings.ledger is not None,
        loopback=settings.loopback,
        max_memory=settings.memory_bytes,
    )
    return HTMLResponse(content)


for _path, _template in PAGES.items():
    pages.add_route(_path, partial(_show, template=_template))


@pages.get("/colours.css")
async def colours() -> Response:
    """Return the colours of activities, the same as in reports."""
    return Response(colour_rules(60), media_type="text/css")


@pages.get("/jobs/{job}/report")
async def report(found: OneJob) -> HTMLResponse:
    """Serve the report under its own policy, isolated from the app as a foreign origin."""
    if found.release is None:
        raise StatusError(404, Statement("web.no_report"))
    html = await run_in_threadpool((found.folder / "report.html").read_text, "utf-8")
    own = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    policy = own[1] if own else "default-src 'none'"
    headers = {
        "Content-Security-Policy": f"{policy}; frame-ancestors 'none'; sandbox allow-scripts"
    }
    return HTMLResponse(html, headers=headers)


async def _say_what_is_wrong(request: Request, error: Exception) -> JSONResponse:
    """Describe the first error of a request in one line."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = _field_path(first["loc"], error.body, first["type"] == "missing") or "the request"
    empty = first["type"] == "string_too_short" and not first["input"]
    must = TYPE_MESSAGES.get("missing" if empty else first["type"])
    message = f"{where}: {first['msg']}" if must is None else f"{where} {must}"
    return JSONResponse({"detail": plain(message.replace(": Input should", " must"))}, 422)


def _field_path(places: Sequence[str | int], content: object, missing: bool) -> str:
    """Return the path of a field in a request, without the names of types that pydantic adds."""
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


async def _say_what_is_refused(request: Request, error: Exception) -> JSONResponse:
    """Refuse a request in one line that names its fields, not the arguments of Python."""
    assert isinstance(error, SacofaError)
    model = REQUESTS.get(request.url.path)
    paths = {} if model is None else _paths(model)

    def wording(argument: Argument) -> str:
        path = paths.get(argument.name, argument.name)
        return path if argument.value is None else f"{path}: {json.dumps(argument.value)}"

    status = getattr(error, "status", 503 if isinstance(error, LedgerError) else 422)
    return JSONResponse({"detail": plain(render(error.statement, wording=wording))}, status)


def _paths(model: type[BaseModel]) -> dict[str, str]:
    """Return the paths of fields in a request, by the names in errors."""
    # Errors may use other names for settings than requests.
    paths = {**option_names(), **{name: name for name in model.model_fields}}
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            paths |= {inner: f"{name}.{inner}" for inner in field.annotation.model_fields}
    if "attributes" in paths:
        paths["attribute"] = "attributes"
    return paths
