"""One self-contained page: text, style and script in one file that asks nobody for anything."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from .colours import DARK_INK, LIGHT_INK, choose_colours
from .durations import say_duration

FOLDER = Path(__file__).parent / "templates"
MAP_SCRIPTS = ("common.js", "layout.js", "choose.js", "map.js")
"""The files that draw a process map. The script of a page is its files, one after the other."""
REPORT_SCRIPTS = (*MAP_SCRIPTS, "variants.js")


def render_page(
    template: str,
    scripts: Sequence[str],
    colours: int,
    content: Mapping[str, object],
    **more: object,
) -> str:
    """Fill the template of a page. The policy of the page allows its own style and script only.

    Args:
        template: The name of the template.
        scripts: The files of its script.
        colours: The number of activities that get a colour.
        content: The values that the template names.
        more: Further values.

    Returns:
        The page as HTML.
    """
    style = (FOLDER / "report.css").read_text(encoding="utf-8") + colour_rules(colours)
    parts = "".join((FOLDER / name).read_text(encoding="utf-8") for name in scripts)
    script = f'"use strict";\n(() => {{\n{parts}}})();\n'
    return render(
        template,
        style=Markup(style),
        script=Markup(script),
        policy=Markup(_policy(style, script)),
        **content,
        **more,
    )


def render(template: str, **content: object) -> str:
    """Fill a template. Everything in it is escaped."""
    return _templates().get_template(template).render(**content)


@lru_cache
def _templates() -> Environment:
    """Templates that are compiled once, for any number of pages."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "number": lambda value: f"{value:,}",
        "percent": say_percent,
        "duration": lambda seconds: "–" if seconds is None else say_duration(seconds),
        "xml": text_of_xml,
    }
    return environment


def text_of_xml(text: str) -> str:
    """A text without the characters that XML cannot hold."""
    shown = "".join(letter for letter in text if letter.isprintable())
    return shown.encode("utf-8", "ignore").decode("utf-8")


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
