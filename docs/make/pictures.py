"""Draw the pictures of the pages from the embedded examples: docs/pictures/*.svg.

    python docs/make/pictures.py

Everything shown is computed by the package, or was measured (benchmarks/figures.json). Boxes bring
their own background and what lies outside of them is grey, so that the pictures can be read on
light and on dark pages.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from sacofa import Certified, VariantCounts, anonymize, learn_rules
from sacofa.base.distance import nearest
from sacofa.examples import hospital, hospital_model, running_example
from sacofa.kernel import Noise
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.queries.flow import VOTE_UNITS
from sacofa.report import make_internal_report
from sacofa.report.rules_picture import draw_rules
from sacofa.rules import ModelOptions, Rules, RuleStates, read_model

HOSPITAL = "the ward's process manual of 2025"
TARGET = Path(__file__).parents[1] / "pictures"
FIGURES = Path(__file__).parents[2] / "benchmarks" / "figures.json"
LINES = ("#1a73e8", "#d93025")
NAMES = {"CoSeLoG": "Receipt"}
Point = tuple[str, float, float, float]
"""An order penalty, how far steps are off, and F of the whole release and of its core."""
DEFAULT = "6"
"""The order penalty where nobody asks for another."""

PLAIN, HARMLESS, HARMFUL, CHOSEN = "#e8eaed", "#cdebd3", "#f8d3cf", "#d5e3fb"
INK, GREY, EDGE = "#1b1b1b", "#80868b", "#80868b"
BOX, HEIGHT = 104, 30
FLAT = 0.64
"""Process maps are made lower, so that they fit the first screen."""


@dataclass
class Picture:
    """An SVG that grows by shapes."""

    width: int
    height: int
    title: str
    shapes: list[str] = field(default_factory=list)

    def box(
        self,
        x: float,
        y: float,
        text: str,
        fill: str = PLAIN,
        *,
        width: float = BOX,
        dashed: bool = False,
    ) -> None:
        """Draw a box around its middle (x at the left edge) with a word in it."""
        dashes = ' stroke-dasharray="5 3"' if dashed else ""
        self.shapes.append(
            f'<rect x="{x}" y="{y - HEIGHT / 2}" width="{width}" height="{HEIGHT}" rx="6" '
            f'fill="{fill}" stroke="{EDGE}"{dashes}/>'
        )
        self.text(x + width / 2, y, text, colour=INK, anchor="middle")

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        colour: str = GREY,
        anchor: str = "start",
        weight: str = "normal",
    ) -> None:
        """Write a line."""
        self.shapes.append(
            f'<text x="{x}" y="{y + 4.5}" fill="{colour}" text-anchor="{anchor}" '
            f'font-weight="{weight}">{escape(text)}</text>'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, width: float = 1.5) -> None:
        """Draw a line that bends in the middle."""
        middle = (x1 + x2) / 2
        self.shapes.append(
            f'<path d="M{x1} {y1} C{middle} {y1} {middle} {y2} {x2} {y2}" fill="none" '
            f'stroke="{EDGE}" stroke-width="{width:g}"/>'
        )

    def bar(self, x: float, y: float, width: float, height: float, fill: str) -> None:
        """Draw a bar."""
        self.shapes.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height}" fill="{fill}" '
            f'stroke="{EDGE}"/>'
        )

    def to_svg(self) -> str:
        """The whole file."""
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" role="img" font-size="13" '
                'font-family="system-ui, sans-serif">',
                f"<title>{escape(self.title)}</title>",
                *self.shapes,
                "</svg>\n",
            ]
        )


@dataclass
class Node:
    """A prefix in the tree."""

    name: str
    count: int = 0
    complete: int = 0
    children: dict[str, Node] = field(default_factory=dict)


def tree_of(log: VariantCounts) -> Node:
    """All prefixes of a log with their counts."""
    root = Node("")
    for variant, count in log:
        node = root
        for name in variant:
            node = node.children.setdefault(name, Node(name))
            node.count += count
        node.complete += count
    return root


def prefix_tree() -> Picture:
    """The tree of all prefixes; a dot is the end of cases."""
    picture = Picture(720, 290, "The prefix tree of the running example, with counts")
    gap, row = 140, iter(range(6))

    def place(node: Node, level: int) -> float:
        below = [place(child, level + 1) for child in node.children.values()]
        y = sum(below) / len(below) if below else 30 + 46 * next(row)
        x = 10 + gap * level
        for other in below:
            picture.line(x + BOX, y, x + gap, other)
        picture.box(x, y, f"{node.name} {node.count}")
        if node.complete:
            picture.shapes.append(f'<circle cx="{x + BOX + 14}" cy="{y}" r="5" fill="{GREY}"/>')
        return y

    place(tree_of(running_example()).children["Register"], 0)
    return picture


def next_steps() -> Picture:
    """What may come after a prefix, and which rule forbids the rest."""
    prefix = ("Register", "Triage", "Antibiotics", "Surgery")
    rules = learn_rules(running_example())
    names = rules.activities
    ids = [names.index(name) for name in prefix]
    states = RuleStates(rules)
    here = np.array([states.start()])
    for activity in ids:
        here = states.step(here, np.array([activity]))
    allowed = states.harmless(here)[0].tolist()
    order = sorted(range(len(allowed)), key=lambda i: (not allowed[i], i))
    picture = Picture(820, 290, f"Harmless and harmful next steps after {', '.join(prefix)}")
    middle = 145
    for place, name in enumerate(prefix):
        x = 10 + 104 * place
        picture.box(x, middle, name, width=90)
        if place:
            picture.line(x - 14, middle, x, middle)
    for row, candidate in enumerate(order):
        y = 25 + 40 * row
        picture.line(412, middle, 450, y)
        word = "(end)" if candidate == len(names) else names[candidate]
        fill = HARMLESS if allowed[candidate] else HARMFUL
        picture.box(450, y, word, fill, dashed=not allowed[candidate])
        why = "harmless" if allowed[candidate] else f"harmful: {broken(rules, ids, candidate)}"
        picture.text(564, y, why)
    return picture


def broken(rules: Rules, prefix: Sequence[int], step: int) -> str:
    """One rule that a step breaks, in words."""
    names = rules.activities
    if step == len(names):
        owed = next(b for a in prefix for b in np.flatnonzero(rules.always_follows[a]).tolist())
        return f"{names[owed]} is still owed"
    before = next(a for a in reversed(prefix) if rules.never_follows[a, step])
    return f"never follows {names[before]}"


def noisy_level() -> Picture:
    """The candidates below one prefix, with true and noisy counts and the two thresholds."""
    log, at = running_example(), ("Register", "Triage")
    node = tree_of(log)
    for name in at:
        node = node.children[name]
    rules = learn_rules(log)
    harmless = RuleStates(rules)
    state = np.array([harmless.start()])
    for name in at:
        state = harmless.step(state, np.array([rules.activities.index(name)]))
    allowed = harmless.harmless(state)[0].tolist()
    names = [*rules.activities, "(end)"]
    true = [node.children[n].count if n in node.children else 0 for n in names]
    epsilon = Fraction(1, 2)
    drawn = Noise(SeededBits(190)).laplace(epsilon, len(names)).tolist()
    picture = Picture(820, 300, "Counts and noisy counts of the candidates after Register, Triage")
    scale, zero, low, high = 11.0, 110, 3, 6
    for row, (name, count, noise) in enumerate(zip(names, true, drawn, strict=True)):
        y = 40 + 34 * row
        noisy = max(0, count + noise)
        fill = HARMLESS if allowed[row] else HARMFUL
        picture.text(zero - 10, y, name, anchor="end")
        picture.bar(zero, y - 11, count * scale, 7, PLAIN)
        picture.bar(zero, y - 2, noisy * scale, 13, fill)
        kept = noisy >= (low if allowed[row] else high)
        what = "harmless" if allowed[row] else "harmful"
        fate = "stays" if kept else "pruned"
        picture.text(zero + 430, y, f"{count} → {noisy}: {what}, {fate}")
    for threshold, word in ((low, "prune_harmless"), (high, "prune_harmful")):
        x = zero + threshold * scale
        picture.shapes.append(
            f'<path d="M{x} 22 V278" stroke="{GREY}" stroke-width="1.5" stroke-dasharray="3 3"/>'
        )
        picture.text(x, 12 if threshold == low else 290, f"{word} = {threshold}", anchor="middle")
    return picture


def votes() -> Picture:
    """A short and a long case: both have the same number of votes."""
    picture = Picture(820, 170, "A short and a long case with as many votes each")
    cases = (
        ("Register", "Consultation", "Release"),
        (
            "Register",
            "Triage",
            "Blood test",
            "Surgery",
            "Blood test",
            "Recovery",
            "Blood test",
            "Release",
        ),
    )
    for row, case in enumerate(cases):
        y = 40 + 80 * row
        path = ["▷", *(name[:4] for name in case), "□"]
        share = VOTE_UNITS // (len(path) - 1)
        width, gap = (700 - 30 * len(path)) / len(path), 30
        for place, name in enumerate(path):
            x = 10 + (width + gap) * place
            picture.box(x, y, name, width=width)
            if place:
                picture.line(x - gap, y, x, y)
                picture.text(x - gap / 2, y - 22, str(share), anchor="middle")
        steps = len(path) - 1
        picture.text(720, y - 8, f"{steps} × {share}")
        picture.text(720, y + 10, f"= {steps * share} units")
    return picture


def nearest_votes() -> Picture:
    """Each case votes for the candidate that is nearest to it."""
    log = running_example()
    chosen = [
        ("Register", "Triage", "Surgery", "Release"),
        ("Register", "Triage", "Antibiotics", "Surgery", "Release"),
        ("Register", "Triage", "Consultation", "Release"),
    ]
    ids = [tuple(log.activities.index(name) for name in words) for words in chosen]
    found = nearest(list(log.sequences()), ids, len(log.activities)).tolist()
    picture = Picture(820, 300, "Cases vote for the nearest candidate")
    picture.text(10, 14, "variants of the log (confidential)", weight="bold")
    picture.text(500, 14, "candidates, with their votes before noise", weight="bold")
    totals = [0] * len(chosen)
    rows = sorted(zip(log, found, strict=True), key=lambda row: (row[1], -row[0][1]))
    for row, ((variant, count), target) in enumerate(rows):
        y = 50 + 44 * row
        exact = variant == chosen[target]
        fill = CHOSEN if exact else PLAIN
        picture.box(10, y, f"{count}   {short(variant)}", fill, width=270)
        picture.line(280, y, 500, 90 + 80 * target, max(1, count / 4))
        totals[target] += count
    for place, words in enumerate(chosen):
        picture.box(500, 90 + 80 * place, short(words), CHOSEN, width=240)
        picture.text(752, 90 + 80 * place, f"{totals[place]} cases")
    return picture


def hospital_rules() -> str:
    """The rules of the embedded model; needs Graphviz."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "hospital.bpmn"
        file.write_bytes(hospital_model())
        return draw_rules(read_model(file).rules(ModelOptions(source=HOSPITAL)))


READ_MAPS = """(share) => {
  const paths = document.querySelector("#paths-shown");
  paths.value = share;
  paths.dispatchEvent(new Event("input"));
  const number = (element, name) => Number(element.getAttribute(name));
  return [...document.querySelectorAll("#map-box svg.map")].map((map) => ({
    size: map.getAttribute("viewBox").split(" ").map(Number).slice(2),
    arrows: [...map.querySelectorAll("path.arrow")].map((arrow) => ({
      path: arrow.getAttribute("d"), head: arrow.nextElementSibling.getAttribute("points"),
      width: number(arrow, "stroke-width"), dashed: arrow.classList.contains("unsure"),
    })),
    ends: [...map.querySelectorAll(".end")].map((end) => {
      const { x, y, width, height } = end.getBBox();
      return [x + width / 2, y + height / 2];
    }),
    boxes: [...map.querySelectorAll("rect.box")].map((box) => ({
      title: box.parentNode.querySelector("title").textContent,
      x: number(box, "x"), y: number(box, "y"),
      width: number(box, "width"), height: number(box, "height"),
    })),
  }));
}"""
"""Lets a report show a share of the paths, and reads what its script drew."""


def before_after() -> str:
    """The process maps of an internal report: the embedded log, and a release.

    Chromium opens the report, because the script of the page draws the maps.
    """
    from playwright.sync_api import sync_playwright

    original = hospital()
    release = anonymize(original, Certified(epsilon=1), seed=1)
    with sync_playwright() as playwright, TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(make_internal_report(release, original, title="maps"), encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        window = browser.new_page()
        window.goto(page.as_uri())
        maps = window.evaluate(READ_MAPS, 55)
        browser.close()
    gap, head = 50.0, 30.0
    width, height = maps[0]["size"][0], maps[0]["size"][1] * FLAT
    titles = (
        f"original, {original.cases:,} cases (confidential)",
        f"release, {release.variants.cases:,} cases (ε = 1)",
    )
    picture = Picture(
        round(2 * width + gap + 16), round(height + head), "The same process before and after"
    )
    for place, (title, drawn) in enumerate(zip(titles, maps, strict=True)):
        left = place * (width + gap)
        picture.text(left + width / 2, 16, title, anchor="middle", weight="bold")
        picture.shapes.append(f'<g font-size="11" transform="translate({left + 8:g} {head:g})">')
        add_map(picture, drawn)
        picture.shapes.append("</g>")
    return picture.to_svg()


def add_map(picture: Picture, drawn: dict[str, Any]) -> None:
    """Draw a process map, flattened: arrows as thick as steps are frequent, boxes with counts."""
    for arrow in drawn["arrows"]:
        dashes = ' stroke-dasharray="3 4"' if arrow["dashed"] else ""
        picture.shapes.append(
            f'<path d="{flat(arrow["path"])}" fill="none" stroke="{EDGE}"{dashes} '
            f'stroke-width="{arrow["width"]:g}"/>'
            f'<polygon points="{flat(arrow["head"])}" fill="{EDGE}"/>'
        )
    for x, y in drawn["ends"]:
        picture.shapes.append(f'<circle cx="{x:g}" cy="{y * FLAT:g}" r="6" fill="{GREY}"/>')
    for box in drawn["boxes"]:
        x, y = box["x"] + box["width"] / 2, (box["y"] + box["height"] / 2) * FLAT
        width, height = box["width"] + 8, box["height"] * FLAT
        picture.shapes.append(
            f'<rect x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width:g}" '
            f'height="{height:g}" rx="6" fill="{CHOSEN}" stroke="{EDGE}"/>'
        )
        picture.text(
            x, y, re.sub(r"(.*): ([0-9,]+).*", r"\1 \2", box["title"]), colour=INK, anchor="middle"
        )


def flat(points: str) -> str:
    """Points of a curve, with their heights made smaller."""
    return re.sub(
        r"(-?[\d.]+)([ ,])(-?[\d.]+)",
        lambda found: f"{found[1]}{found[2]}{float(found[3]) * FLAT:.1f}",
        points,
    )


def frontier() -> Picture:
    """What order costs and buys, as measured: a panel for each log, a point for each penalty."""
    entries = json.loads(FIGURES.read_text(encoding="utf-8"))
    points: dict[str, list[Point]] = {}
    for name in entries:
        group, log, *rest = name.split("/")
        if group == "frontier" and rest[1] == "steps":
            kinds = ("steps", "f_score", "core_f_score")
            found = [entries[f"frontier/{log}/{rest[0]}/{kind}"]["value"] for kind in kinds]
            points.setdefault(log, []).append((rest[0], *found))
    picture = Picture(720, 330, "How right steps are against how precise a model is")
    picture.text(8, 12, "F of the model that a miner finds (higher is better)")
    picture.text(712, 290, "steps off, total variation (left is better)", anchor="end")
    picture.text(8, 314, "● the whole release", colour=LINES[0])
    picture.text(160, 314, "○ its orderly core", colour=LINES[1])
    picture.text(300, 314, "numbers: order penalty; 6, drawn larger, is the default")
    for place, (log, each) in enumerate(sorted(points.items())):
        _panel(picture, 50 + 228 * place, log, sorted(each, key=lambda point: float(point[0])))
    return picture


def _panel(picture: Picture, left: float, log: str, points: Sequence[Point]) -> None:
    width, top, bottom, lowest = 190, 50, 240, 0.2
    steps = [point[1] for point in points]
    middle = (min(steps) + max(steps)) / 2
    reach = max((max(steps) - min(steps)) * 0.75, 0.004)

    def at(off: float, model: float) -> tuple[float, float]:
        x = left + width * (0.5 + (off - middle) / (2 * reach))
        return round(x, 1), round(bottom - (bottom - top) * (model - lowest) / (1 - lowest), 1)

    picture.text(left + width / 2, 34, NAMES.get(log, log), anchor="middle", weight="bold")
    for share in (0.2, 0.4, 0.6, 0.8, 1):
        _, y = at(middle, share)
        picture.shapes.append(f'<path d="M{left} {y} h{width}" stroke="{GREY}" opacity="0.3"/>')
        picture.text(left - 8, y, f"{share:g}", anchor="end")
    for off in (middle - 0.8 * reach, middle, middle + 0.8 * reach):
        picture.text(at(off, lowest)[0], bottom + 16, f"{off:.3f}", anchor="middle")
    for column, colour in ((2, LINES[0]), (3, LINES[1])):
        way = [at(point[1], float(point[column])) for point in points]
        corners = " ".join(f"{x},{y}" for x, y in way)
        picture.shapes.append(f'<polyline points="{corners}" fill="none" stroke="{colour}"/>')
        for (x, y), point in zip(way, points, strict=True):
            size = 6 if point[0] == DEFAULT else 4
            fill = colour if column == 2 else "#ffffff"
            picture.shapes.append(
                f'<circle cx="{x}" cy="{y}" r="{size}" fill="{fill}" stroke="{colour}" '
                'stroke-width="2"/>'
            )
            if column == 2:
                picture.text(x, y + 16, point[0], colour=colour, anchor="middle")


def short(variant: Sequence[str]) -> str:
    """A variant by the beginnings of its activities."""
    return " · ".join(name[:4] for name in variant)


def draw_all() -> Iterator[tuple[str, str]]:
    """Every picture with its name."""
    for draw in (prefix_tree, next_steps, noisy_level, votes, nearest_votes, frontier):
        yield f"{draw.__name__.replace('_', '-')}.svg", draw().to_svg()


if __name__ == "__main__":
    TARGET.mkdir(exist_ok=True)
    for name, svg in draw_all():
        (TARGET / name).write_text(svg, encoding="utf-8")
    (TARGET / "hospital-rules.svg").write_text(hospital_rules(), encoding="utf-8")
    (TARGET / "before-after.svg").write_text(before_after(), encoding="utf-8")
