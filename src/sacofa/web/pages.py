"""The pages: shells that the app's own script fills through the interface under /api."""

from __future__ import annotations

import re
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool

from ..events.formats import SUFFIXES
from ..events.unpacking import ENDINGS
from ..mechanisms.registry import choices
from ..release.formats import FORMATS
from ..report.page import colour_rules
from .api.common import OneJob, refused
from .reading import more_fields

TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
SETTINGS = [choice for choice in choices() if choice.kind not in ("epsilon", "rules")]
"""What can be set about mechanisms, but for ε and rules, which have a place of their own."""

pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


def _page(request: Request, template: str) -> HTMLResponse:
    settings = request.app.state.settings
    content = TEMPLATES.get_template(template).render(
        csrf=request.state.session.csrf,
        max_upload=settings.max_upload,
        has_ledger=settings.ledger is not None,
        loopback=settings.loopback,
        max_memory=settings.max_memory,
        reading=more_fields(),
        suffixes=",".join((*SUFFIXES, *ENDINGS)),
        formats=", ".join(dict.fromkeys(kind.upper() for kind in SUFFIXES.values())),
        written=FORMATS,
        settings=SETTINGS,
    )
    return HTMLResponse(content)


@pages.get("/")
async def home(request: Request) -> HTMLResponse:
    """Where a log is dropped, and all jobs."""
    return _page(request, "home.html.j2")


@pages.get("/colours.css")
async def colours() -> Response:
    """The colours of activities, the same as in reports."""
    return Response(colour_rules(60), media_type="text/css")


@pages.get("/interface")
async def interface(request: Request) -> HTMLResponse:
    """The interface under /api, for people who write programs."""
    return _page(request, "interface.html.j2")


@pages.get("/logs/{log}")
async def log(request: Request) -> HTMLResponse:
    """What a log contains, and how it is to be released."""
    return _page(request, "log.html.j2")


@pages.get("/jobs/{job}")
async def job(request: Request) -> HTMLResponse:
    """How a release is getting on, and what came of it."""
    return _page(request, "job.html.j2")


@pages.get("/jobs/{job}/report")
async def report(found: OneJob) -> HTMLResponse:
    """The report: under its own policy, and apart from the app as if it came from elsewhere."""
    path = found.folder / "report.html"
    if found.release is None:
        raise refused(404, "no_report")
    html = await run_in_threadpool(path.read_text, "utf-8")
    own = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    policy = own[1] if own else "default-src 'none'"
    headers = {
        "Content-Security-Policy": f"{policy}; frame-ancestors 'none'; sandbox allow-scripts"
    }
    return HTMLResponse(html, headers=headers)
