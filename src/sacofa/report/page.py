"""Self-contained pages: text, style and script in one file without external resources."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

FOLDER = Path(__file__).parent / "templates"
MAP_SCRIPTS = ("common.js", "layout.js", "choose.js", "map.js")
"""The files that draw a process map. The script of a page is their concatenation."""
REPORT_SCRIPTS = (*MAP_SCRIPTS, "variants.js")
INKS = ("#ffffff", "#16181d")
"""The colours of text on coloured areas of light and of dark pages."""
DURATIONS = (("y", 31_536_000, 2), ("d", 86_400, 2), ("h", 3_600, 1), ("min", 60, 1), ("s", 1, 0))
"""Units with their seconds and smallest amounts, the largest unit first: 1.5 d is 36 h."""


def render_page(
    template: str, scripts: Sequence[str], colours: int, content: dict[str, object]
) -> str:
    """Render the template of a page, with a policy that allows its own style and script only."""
    style = (FOLDER / "report.css").read_text(encoding="utf-8") + colour_rules(colours)
    parts = "".join((FOLDER / name).read_text(encoding="utf-8") for name in scripts)
    script = f'"use strict";\n(() => {{\n{parts}}})();\n'
    style_hash, script_hash = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (style, script)
    )
    policy = (
        f"default-src 'none'; style-src 'sha256-{style_hash}'; script-src 'sha256-{script_hash}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    own = {"style": Markup(style), "script": Markup(script), "policy": Markup(policy)}
    return render(template, **own, **content)


def render(template: str, **content: object) -> str:
    """Render a template; all values are escaped."""
    return _templates().get_template(template).render(**content)


@lru_cache
def _templates() -> Environment:
    """Return templates that are compiled once for any number of pages."""
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
    """Remove the characters that XML does not allow from a text."""
    shown = "".join(letter for letter in text if letter.isprintable())
    return shown.encode("utf-8", "ignore").decode("utf-8")


def say_percent(share: float) -> str:
    """Format a share as a percentage, with more digits near 0 % and 100 %."""
    percent = 100 * share
    digits = 0 if percent in (0, 100) else 2 if percent < 0.95 or percent > 99.05 else 1
    return f"{percent:.{digits}f} %"


def say_duration(seconds: float) -> str:
    """Format a duration in one unit, with two digits, or all before the point."""
    name, size, _ = next(
        unit for unit in DURATIONS if seconds == unit[1] or seconds >= unit[2] * unit[1]
    )
    amount = seconds / size
    return f"{amount:,.{0 if amount >= 10 or amount == int(amount) else 1}f} {name}"


def choose_colours(number: int) -> list[tuple[str, ...]]:
    """Assign colours to activities, for light and dark pages; beyond the table they repeat."""
    lines = (FOLDER / "colours.txt").read_text(encoding="utf-8").splitlines()
    return [tuple(lines[i % len(lines)].split()) for i in range(number)]


def colour_rules(number: int) -> str:
    """Return a CSS class for each activity. Style attributes would need a weaker policy."""
    colours = choose_colours(number)
    light, dark = (
        f".trace li{{color:{ink}}}"
        + "".join(
            f".a{i}{{background:{colour[page]};fill:{colour[page]}}}"
            for i, colour in enumerate(colours)
        )
        for page, ink in enumerate(INKS)
    )
    return f"{light}@media screen and (prefers-color-scheme:dark){{{dark}}}\n"
