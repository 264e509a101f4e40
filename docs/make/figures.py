"""Writes measured figures into the pages, from benchmarks/figures.json.

    python docs/make/figures.py

A page shows figures between two comments, `<!-- figures: NAME -->` and `<!-- end of figures -->`;
what stands there is written anew. `python benchmarks/figures.py` measures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FILE = ROOT / "benchmarks" / "figures.json"
BLOCK = re.compile(r"<!-- figures: ([\w-]+) -->\n.*?<!-- end of figures -->", re.DOTALL)

LOGS = {"Receipt (CoSeLoG)": "CoSeLoG", "Sepsis": "Sepsis", "Traffic fines": "Traffic fines"}
FILES = {"Sepsis": "sepsis", "Receipt": "receipt", "Traffic fines": "traffic_fines"}
CUT = {"CoSeLoG": 10, "Sepsis": 23, "Traffic fines": 9}
PUBLISHED, TEXT = "sacofa", "sacofa, pruned as the text says"
SERIES = ("laplace", PUBLISHED, TEXT, "sacofa, two thresholds", "certified")

AIMED: dict[str, tuple[str, tuple[float, float, float] | None]] = {
    "similarity": ("similarity, at least", (0.947, 0.70, 0.998)),
    "steps": ("steps, TV, at most", (0.070, 0.16, 0.004)),
    "trigrams": ("3-grams, TV", (0.100, 0.31, 0.007)),
    "activity": ("activity in % of cases", (0.014, 0.07, 0.001)),
    "repeated": ("repeated in % of cases", (0.008, 0.08, 0.001)),
    "length": ("mean length off", (0.05, 0.12, 0.004)),
    "size_error": ("number of cases off", None),
    "f_score": ("F of the model mined from it", None),
}
"""What analysts ask of `certified` at ε = 1: title, and what was aimed at on each log."""

MEASURES = {
    "f_score": "F-score", "generalization": "Generalization", "normal": "Normal behaviour",
    "similarity": "Similarity", "mass_kept": "Mass kept", "size_error": "Size error",
}  # fmt: skip
KINDS = {
    "no rules": "no rules", "learnt from that half": "rules learnt from that half",
    "rules of the model": "rules of the model", "rules, closed": "rules, closed",
    "language, closed, 0 deviations": "language, closed, 0 deviations",
    "language, closed, 1 deviations": "1 deviation",
}  # fmt: skip

SCALE = {
    "10000000 events, bare DuckDB": "10 million events, bare DuckDB query (unstable)",
    "10000000 events, by time": "10 million events, `sacofa`, by time",
    "10000000 events, by file": "10 million events, `sacofa`, in file order",
    "10000000 events, pandas": "10 million events, pandas",
    "50000000 events, by time": "50 million events, `sacofa`, by time",
    "100000000 events, by time": "100 million events, `sacofa`, by time",
    "100000000 events, by file": "100 million events, `sacofa`, in file order",
    "300000000 events, by time": "300 million events, `sacofa`, by time",
    "10000000 events, cases of one event": "10 million cases of one event",
    "10000000 events, cases of two events": "5 million cases of two events",
    "100000000 events, cases of two events": "50 million cases of two events",
    "10000000 events, a single case": "one case of 10 million events",
    "writing": "50 million released events to Parquet",
    "XES": "XES of 185 MB (561,470 events), own reader",
    "XES, r4pm to a frame": "the same, r4pm to a frame",
    "XES, r4pm to variants": "the same, `sacofa --engine r4pm` to variants",
}


@dataclass
class Figures:
    """The file, and which of its figures were shown."""

    entries: dict[str, dict[str, Any]]
    shown: list[dict[str, Any]] = field(default_factory=list)

    def entry(self, name: str) -> dict[str, Any]:
        """A figure with all that is known of it."""
        found = self.entries[name]
        self.shown.append(found)
        return found

    def has(self, name: str) -> bool:
        """Whether it was measured."""
        return name in self.entries

    def value(self, name: str) -> float:
        """The number."""
        return float(self.entry(name)["value"])

    def source(self) -> str:
        """How the figures shown so far were measured, in a line."""
        commands = sorted({entry["command"] for entry in self.shown})
        days = sorted({entry["date"] for entry in self.shown})
        versions = sorted({entry["version"] for entry in self.shown})
        when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        told = " and ".join(f"`{command}`" for command in commands)
        version = f"version{'s' * (len(versions) > 1)} {', '.join(versions)}"
        return f"Measured by {told}; {version}, {when}."


def table(head: Sequence[str], rows: Iterator[Sequence[str]], numbers: int = 0) -> Iterator[str]:
    """The lines of a table; the last columns may be numbers."""
    yield "| " + " | ".join(head) + " |"
    words = len(head) - numbers
    yield "|" + "|".join(["---"] * words + ["--:"] * numbers) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def share(value: float, digits: int = 3) -> str:
    """A number between 0 and 1; one more digit near the ends, where three say nothing."""
    return f"{value:.{digits + 1 if 0.995 <= value < 1 else digits}f}"


def certified_and_sacofa(figures: Figures) -> Iterator[str]:
    """The table of the README."""

    def rows() -> Iterator[Sequence[str]]:
        for title, log in LOGS.items():
            ours = f"certified/{log}/1"
            cells = [
                title,
                *(share(figures.value(f"{ours}/{m}")) for m in ("similarity", "f_score")),
            ]
            for series in (PUBLISHED, TEXT):
                place = f"reproduction/{log}/1/{series}"
                both = [share(figures.value(f"{place}/{m}")) for m in ("similarity", "f_score")]
                cells.append(", ".join(both))
            yield [cells[0], f"{cells[1]}, {cells[2]}", *cells[3:]]

    head = [
        "log",
        "`certified`, ε = 1 in all",
        "`sacofa`, as published",
        "`sacofa`, as in the text",
    ]
    yield from table(head, rows())
    runs = figures.entry("certified/Sepsis/1/similarity")["runs"]
    others = figures.entry(f"reproduction/Sepsis/1/{PUBLISHED}/similarity")["runs"]
    yield ""
    yield f"Each cell: similarity, F. Medians of {runs} runs, of `sacofa` {others}."


def asked(figures: Figures) -> Iterator[str]:
    """What analysts ask of `certified`, and what was aimed at."""

    def rows() -> Iterator[Sequence[str]]:
        for measure, (title, aims) in AIMED.items():
            cells = []
            for place, log in enumerate(LOGS.values()):
                found = share(figures.value(f"certified/{log}/1/{measure}"))
                cells.append(found if aims is None else f"{found} ({aims[place]:g})")
            yield [title, *cells]

    yield from table(["", "Receipt", "Sepsis", "Traffic fines"], rows())
    entry = figures.entry("certified/Sepsis/1/similarity")
    yield ""
    yield f"Medians of {entry['runs']} runs, seeds {entry['seeds']}, on which nothing was tuned."


def spreads(figures: Figures) -> Iterator[str]:
    """`certified` at its defaults beside `sacofa`, with quartiles."""

    def cells(place: str) -> list[str]:
        found = []
        for measure in ("similarity", "f_score"):
            entry = figures.entry(f"{place}/{measure}")
            low, high = share(entry["low"]), share(entry["high"])
            found.append(f"{share(entry['value'])} [{low}–{high}]")
        found += [share(figures.value(f"{place}/{m}")) for m in ("fitness", "precision")]
        return [*found, f"{100 * figures.value(f'{place}/size_error'):.2g} %"]

    def rows() -> Iterator[Sequence[str]]:
        for epsilon in ("1", "0.1"):
            for log in LOGS.values():
                title = f"{'Receipt' if log == 'CoSeLoG' else log} ({CUT[log]})"
                yield [title, epsilon, "certified", *cells(f"certified/{log}/{epsilon}")]
                for series in (PUBLISHED, TEXT):
                    yield ["", "", series, *cells(f"reproduction/{log}/{epsilon}/{series}")]

    head = ["log (k)", "ε", "", "similarity", "F", "fitness", "precision", "size error"]
    yield from table(head, rows())


def seconds(figures: Figures) -> Iterator[str]:
    """How long a run takes."""
    parts = (f"{figures.value(f'certified/{log}/1/seconds'):.1f} s" for log in LOGS.values())
    receipt, sepsis, fines = parts
    yield (
        f"A run at ε = 1 takes {receipt} of processor time on Receipt, {sepsis} on Sepsis and "
        f"{fines} on Traffic fines (variants in memory, no times)."
    )


def learnt_rules(figures: Figures) -> Iterator[str]:
    """Without rules and with rules of a public half, at two prices."""

    def rows() -> Iterator[Sequence[str]]:
        for title in ("Sepsis", "Receipt"):
            for epsilon in ("0.1", "1"):
                place = f"rules/{FILES[title]}/{epsilon}"
                kinds = ("no rules", "learnt from that half")
                found = [share(figures.value(f"{place}/{kind}/median")) for kind in kinds]
                yield [title, epsilon, *found]

    yield from table(["half of", "ε", "without rules", "with rules"], rows())


def kinds_of_rules(figures: Figures) -> Iterator[str]:
    """Similarity with each kind of rules."""

    def rows() -> Iterator[Sequence[str]]:
        for title, log in FILES.items():
            places = (f"rules/{log}/0.1/{kind}/median" for kind in KINDS)
            yield [title, *(share(figures.value(place)) for place in places)]

    yield from table(["half of", *KINDS.values()], rows())


def means_of_rules(figures: Figures) -> Iterator[str]:
    """The same as means with standard errors."""

    def rows() -> Iterator[Sequence[str]]:
        for title in ("Sepsis", "Receipt"):
            entries = [figures.entry(f"rules/{FILES[title]}/0.1/{kind}/mean") for kind in KINDS]
            yield [
                title,
                *(f"{e['value']:.3f} ± {(e['high'] - e['low']) / 2:.3f}" for e in entries),
            ]

    yield from table(["half of", *KINDS.values()], rows())


def originals(figures: Figures) -> Iterator[str]:
    """The model of the original on the original."""
    measures = ("fitness", "precision", "f_score", "generalization")

    def rows() -> Iterator[Sequence[str]]:
        for title, log in LOGS.items():
            place = f"reproduction/{log}/-/original"
            yield [title, *(f"{figures.value(f'{place}/{m}'):.3f}" for m in measures)]

    yield from table(["log", "fitness", "precision", "F", "generalization"], rows())


def reproduction(figures: Figures) -> Iterator[str]:
    """Medians of the paper's experiments."""

    def rows() -> Iterator[Sequence[str]]:
        for log in LOGS.values():
            place = f"reproduction/{log}/-/original"
            yield [log, "", "*original*", "", *cells(place)]
            for epsilon in ("1", "0.1", "0.01"):
                for series in SERIES:
                    place = f"reproduction/{log}/{epsilon}/{series}"
                    if figures.has(f"{place}/spent"):
                        spent = figures.entry(f"{place}/spent").get("value")
                        price = "∞" if spent is None else f"{spent:g}"
                        yield [log, epsilon, series, price, *cells(place)]

    def cells(place: str) -> list[str]:
        return [f"{figures.value(f'{place}/{measure}'):.3f}" for measure in MEASURES]

    head = ["log", "ε asked for", "series", "ε spent", *MEASURES.values()]
    yield from table(head, rows(), numbers=len(MEASURES))


def speed(figures: Figures) -> Iterator[str]:
    """Beside pm4py, in the same run."""

    def span(values: Sequence[float], form: Callable[[float], str]) -> str:
        low, high = form(min(values)), form(max(values))
        return low if low == high else f"{low}–{high}"

    def rows() -> Iterator[Sequence[str]]:
        for title, name in (("Receipt", "receipt"), ("Sepsis", "sepsis"),
                            ("Traffic fines (150,370 cases)", "traffic_fines")):  # fmt: skip
            places = [f"speed/{name}/{epsilon}/sacofa" for epsilon in ("1", "0.1", "0.01")]
            ours = [figures.value(f"{place}/sacofa") for place in places]
            theirs = [figures.value(f"{place}/pm4py") for place in places]
            times = [b / a for a, b in zip(ours, theirs, strict=True)]
            yield [
                f"SaCoFa on {title}, variants in memory",
                span(ours, lambda v: f"{v:.1f}") + " ms",
                span(theirs, lambda v: f"{v:,.0f}") + " ms",
                span(times, lambda v: f"{v:,.0f}") + " faster",
            ]
        found = {
            who: [figures.value(f"speed/command/{who}/{what}") for what in ("seconds", "memory")]
            for who in ("sacofa", "pm4py")
        }
        (s, m), (t, n) = found["sacofa"], found["pm4py"]
        yield [
            "`traffic_fines.xes.gz` to a released XES file (pm4py: without writing, reading "
            "through r4pm)",
            f"{s:.1f} s, {m:,.0f} MB", f"{t:.1f} s, {n:,.0f} MB",
            f"{t / s:.1f} faster, {n / m:.0f} smaller",
        ]  # fmt: skip

    yield from table(["", "here", "pm4py", "times"], rows())
    grown = [figures.value(n) for n in figures.entries if n.startswith("speed/growth/")]
    yield ""
    yield (
        "The cost follows what is released: with 10 or 400 activities, whether there are 10^5 or "
        f"400^40 sequences, `laplace` takes {min(grown):.0f} to {max(grown):.0f} ms."
    )


def periods(figures: Figures) -> Iterator[str]:
    """What a year from months is worth."""
    ways = {
        "months at ε/n": "months at ε/12 each, put together",
        "months at ε": "months at ε each, put together",
        "months at ε, with earlier ones": "months at ε each, with earlier ones",
        "one release of all": "one release of all twelve at ε",
        "a month of months at ε": "*a single month* at ε",
        "a month of months at ε, with earlier ones": "*a single month* at ε, with earlier ones",
    }
    measures = ("similarity", "steps", "trigrams")

    def rows() -> Iterator[Sequence[str]]:
        for way, title in ways.items():
            places = [f"periods/{log}/{way}/{m}" for log in ("receipt", "sepsis") for m in measures]
            yield [title, *(f"{figures.value(place):.3f}" for place in places)]

    head = ["", "Receipt: similarity", "steps", "3-grams", "Sepsis: similarity", "steps", "3-grams"]
    yield from table(head, rows())


def hospital(figures: Figures) -> Iterator[str]:
    """How good releases of the tutorial are."""
    similar, kept, fits = (
        figures.value(f"hospital/{measure}") for measure in ("similarity", "mass_kept", "fitness")
    )
    yield (
        f"In {figures.entry('hospital/similarity')['runs']} runs the median similarity was "
        f"{similar:.2f} (1 is the same distribution), {100 * kept:.0f} % of the original cases "
        "took a path that is in the release, and the model found in it fitted the original with "
        f"{fits:.2f}."
    )


def scale(figures: Figures) -> Iterator[str]:
    """Reading and counting on one machine."""

    def rows() -> Iterator[Sequence[str]]:
        for name, title in SCALE.items():
            place = f"scale/{name}"
            time = figures.value(f"{place}/seconds")
            each = f"{figures.value(f'{place}/each'):.2f} µs" if "XES" not in name else ""
            memory = f"{figures.value(f'{place}/memory'):,.0f} MB"
            yield [title, f"{time:.0f} s" if time >= 20 else f"{time:.1f} s", each, memory]

    yield from table(["what", "processor time", "per event", "peak memory"], rows())


BLOCKS: dict[str, Callable[[Figures], Iterator[str]]] = {
    "certified-and-sacofa": certified_and_sacofa,
    "speed": speed,
    "asked": asked,
    "spreads": spreads,
    "seconds": seconds,
    "learnt-rules": learnt_rules,
    "kinds-of-rules": kinds_of_rules,
    "means-of-rules": means_of_rules,
    "originals": originals,
    "reproduction": reproduction,
    "periods": periods,
    "hospital": hospital,
    "scale": scale,
}


def write_block(name: str, entries: dict[str, dict[str, Any]]) -> str:
    """A block with its comments: figures, and how they were measured."""
    figures = Figures(entries)
    lines = list(BLOCKS[name](figures))
    source = figures.source()
    # After a sentence in the same paragraph; under a table apart from it.
    lines += [source] if not lines[-1].startswith("|") else ["", source]
    text = "\n".join(lines)
    return f"<!-- figures: {name} -->\n\n{text}\n\n<!-- end of figures -->"


def write_page(text: str, entries: dict[str, dict[str, Any]]) -> str:
    """A page with its blocks of figures written anew."""
    return BLOCK.sub(lambda found: write_block(found[1], entries), text)


def pages() -> list[Path]:
    """Every page that may show figures."""
    return [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]


def main() -> None:
    """Write all pages."""
    entries = json.loads(FILE.read_text(encoding="utf-8"))
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = write_page(before, entries)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(page.relative_to(ROOT))


if __name__ == "__main__":
    main()
