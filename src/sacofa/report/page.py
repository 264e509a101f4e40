"""One self-contained page: text, style and script in one file that asks nobody for anything."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from .colours import DARK_INK, LIGHT_INK, choose_colours
from .durations import say_duration

FOLDER = Path(__file__).parent / "templates"
SCRIPTS = ("common.js", "layout.js", "choose.js", "map.js", "variants.js")
"""The script of a page is these, one after the other."""


def render_page(template: str, *, colours: int, **content: object) -> str:
    """Fill a template; its style and script are the only ones that its policy lets run."""
    style = (FOLDER / "report.css").read_text(encoding="utf-8") + colour_rules(colours)
    parts = "".join((FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS)
    script = f'"use strict";\n(() => {{\n{parts}}})();\n'
    return (
        _templates()
        .get_template(template)
        .render(
            style=Markup(style),
            script=Markup(script),
            policy=Markup(_policy(style, script)),
            **content,
        )
    )


@lru_cache
def _templates() -> Environment:
    """Templates that are compiled once, however many pages are made of them."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = lambda value: f"{value:,}"
    environment.filters["percent"] = say_percent
    environment.filters["duration"] = say_duration
    return environment


def say_percent(share: float) -> str:
    """A share as people read it, with more digits near nothing and near all."""
    percent = 100 * share
    digits = 0 if percent in (0, 100) else 2 if percent < 0.95 or percent > 99.05 else 1
    return f"{percent:.{digits}f} %"


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def colour_rules(number: int) -> str:
    """A class for each activity. Style attributes would need a laxer policy."""
    colours = choose_colours(number)
    return _rules(LIGHT_INK, [c.light for c in colours]) + (
        "@media screen and (prefers-color-scheme:dark){"
        + _rules(DARK_INK, [c.dark for c in colours])
        + "}\n"
    )


def _rules(ink: str, colours: Sequence[str]) -> str:
    return f".trace li{{color:{ink}}}" + "".join(
        f".a{i}{{background:{colour};fill:{colour}}}" for i, colour in enumerate(colours)
    )
