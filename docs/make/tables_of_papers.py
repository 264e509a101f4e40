"""Tables of the paper's experiments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from measured import Figures, table
from tables_of_releases import LOGS, PUBLISHED, TEXT

SERIES = ("laplace", PUBLISHED, f"{PUBLISHED}, {TEXT}", "sacofa, two thresholds", "certified")
MEASURES = {
    "f_score": "F-score", "generalization": "Generalization", "normal": "Normal behaviour",
    "similarity": "Similarity", "mass_kept": "Mass kept", "size_error": "Size error",
    "core_f_score": "F-score, core only", "core_share": "Core, share of cases",
}  # fmt: skip


def originals(figures: Figures) -> Iterator[str]:
    """The model of the original on the original."""
    measures = {
        "fitness": "fitness", "precision": "precision", "f_score": "F",
        "generalization": "generalization", "core_f_score": "F, core only",
        "core_share": "core, share of cases",
    }  # fmt: skip

    def rows() -> Iterator[Sequence[str]]:
        for title, log in LOGS.items():
            place = f"reproduction/{log}/-/original"
            yield [title, *(f"{figures.value(f'{place}/{m}'):.3f}" for m in measures)]

    yield from table(["log", *measures.values()], rows())


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


def claims(figures: Figures) -> Iterator[str]:
    """What the paper says, beside what was measured; medians within 0.01 are even."""
    even = 0.01
    everywhere = [(log, epsilon) for log in LOGS.values() for epsilon in ("1", "0.1", "0.01")]

    def entry(place: tuple[str, str], series: str, measure: str) -> dict[str, Any]:
        return figures.entry(f"reproduction/{place[0]}/{place[1]}/{series}/{measure}")

    def gain(place: tuple[str, str], one: str, other: str, measure: str) -> float:
        return float(entry(place, one, measure)["value"] - entry(place, other, measure)["value"])

    def above(measure: str) -> list[tuple[str, str]]:
        return [p for p in everywhere if gain(p, PUBLISHED, "laplace", measure) > even]

    def rows() -> Iterator[Sequence[str]]:
        apart = [
            p for p in everywhere
            if entry(p, PUBLISHED, "f_score")["low"] > entry(p, "laplace", "f_score")["high"]
        ]  # fmt: skip
        yield [
            "SaCoFa's F is well above the baseline's",
            f"above in {len(above('f_score'))} of 9 combinations of log and ε, quartiles apart in "
            f"{len(apart)}",
        ]
        last = ("Traffic fines", "0.01")
        ours, theirs = (entry(last, s, "f_score")["value"] for s in (PUBLISHED, "laplace"))
        yield [
            "… but on par for Traffic fines at ε = 0.01",
            f"{'even' if abs(ours - theirs) <= even else 'differs'}: "
            f"{ours:.2f} against {theirs:.2f}",
        ]
        yield [
            "SaCoFa's models generalize better",
            f"above in {len(above('generalization'))} of 9",
        ]
        others = ", ".join(
            f"{log} at {e}" for log, e in everywhere if (log, e) not in above("normal")
        )
        yield [
            "SaCoFa's cases are more often normal, clearly so on CoSeLoG and Sepsis",
            f"above in {len(above('normal'))} of 9; even or below: {others or 'none'}",
        ]
        pairs = [p for p in everywhere if p[1] != "1"]
        helped = [p for p in pairs if gain(p, SERIES[3], PUBLISHED, "f_score") > even]
        right = [p for p in pairs if (p in helped) == (p[0] == "Traffic fines")]
        told = ", ".join(f"{log} at {e}" for log, e in helped)
        yield [
            "two thresholds instead of one help only on Traffic fines",
            f"as said in {len(right)} of 6; they help here: {told or 'nowhere'}",
        ]

    yield from table(["claim of the paper", "here"], rows())


def authors(figures: Figures) -> Iterator[str]:
    """Releases of the authors' program next to ours, with quartiles."""
    measures = {"similarity": "similarity", "f_score": "F", "generalization": "generalization",
                "size_error": "size error"}  # fmt: skip

    def rows() -> Iterator[Sequence[str]]:
        for title, log in LOGS.items():
            for epsilon in ("1", "0.1"):
                for series in (PUBLISHED, "laplace"):
                    for who, group, noise in (
                        ("the program", "authors", ""),
                        ("the program, discrete noise", "authors", ", discrete noise"),
                        ("here", "reproduction", ""),
                    ):
                        place = f"{group}/{log}/{epsilon}/{series}{noise}"
                        yield [title, epsilon, f"`{series}`", who, *map(cell, places(place))]

    def places(place: str) -> list[str]:
        return [f"{place}/{measure}" for measure in measures]

    def cell(name: str) -> str:
        if not figures.has(name):
            return "no result"
        entry = figures.entry(name)
        low, middle, high = (f"{entry[key]:.3f}" for key in ("low", "value", "high"))
        return f"{middle} ({low}–{high})"

    yield from table(["log", "ε of a level", "query", "who", *measures.values()], rows())
    lost = [name for name in figures.entries if re.match(r"authors/.*/without result$", name)]
    told = "; ".join(
        f"{figures.value(one):.0f} of {figures.entry(one)['runs']} for {one[8:-15]}" for one in lost
    )
    yield ""
    runs = figures.entry(f"reproduction/Sepsis/1/{PUBLISHED}/similarity")["runs"]
    theirs = figures.entry(f"authors/Sepsis/1/{PUBLISHED}/similarity")["runs"]
    yield f"Medians and quartiles; of the program {theirs} runs, here {runs}; without times."
    if lost:
        yield f"Runs of the program that ended in an error: {told}."
