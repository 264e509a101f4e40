"""The pages: shells that the app's own script fills through the interface under /api."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool

from ..events.bounded_file import ENDINGS
from ..events.formats import SUFFIXES
from ..mechanisms.registry import choices
from ..release.formats import FORMATS
from ..report.page import colour_rules
from .api import OneJob, refused
from .requests import OWN_PLACE, read_fields

TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
PAGES = {"/": "home", "/interface": "interface", "/logs/{log}": "log", "/jobs/{job}": "job"}
"""Where a log is dropped, the interface for programs, a log with its settings, and a release."""
CONTENT = {
    "reading": [entry for entry in read_fields() if entry.name not in OWN_PLACE],
    "suffixes": ",".join((*SUFFIXES, *ENDINGS)),
    "formats": ", ".join(dict.fromkeys(kind.upper() for kind in SUFFIXES.values())),
    "written": FORMATS,
    # ε and rules have a place of their own.
    "settings": [choice for choice in choices() if choice.kind not in ("epsilon", "rules")],
}
"""What pages say of formats, of reading and of mechanisms."""

pages = APIRouter(include_in_schema=False)


def _page(template: str) -> Callable[[Request], Awaitable[Response]]:
    async def show(request: Request) -> Response:
        settings = request.app.state.settings
        content = TEMPLATES.get_template(f"{template}.html.j2").render(
            CONTENT,
            csrf=request.state.session.csrf,
            max_upload=settings.max_upload,
            has_ledger=settings.ledger is not None,
            loopback=settings.loopback,
            max_memory=settings.max_memory,
        )
        return HTMLResponse(content)

    return show


for _path, _template in PAGES.items():
    pages.add_route(_path, _page(_template))


@pages.get("/colours.css")
async def colours() -> Response:
    """The colours of activities, the same as in reports."""
    return Response(colour_rules(60), media_type="text/css")


@pages.get("/jobs/{job}/report")
async def report(found: OneJob) -> HTMLResponse:
    """The report: under its own policy, and apart from the app as if it came from elsewhere."""
    if found.release is None:
        raise refused(404, "no_report")
    html = await run_in_threadpool((found.folder / "report.html").read_text, "utf-8")
    own = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    policy = own[1] if own else "default-src 'none'"
    headers = {
        "Content-Security-Policy": f"{policy}; frame-ancestors 'none'; sandbox allow-scripts"
    }
    return HTMLResponse(html, headers=headers)
