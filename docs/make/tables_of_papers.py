"""Tables of the paper's experiments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from measured import Figures, table
from tables_of_releases import LOGS, PUBLISHED, TEXT

SERIES = ("laplace", PUBLISHED, TEXT, "sacofa, two thresholds", "certified")
MEASURES = {
    "f_score": "F-score", "generalization": "Generalization", "normal": "Normal behaviour",
    "similarity": "Similarity", "mass_kept": "Mass kept", "size_error": "Size error",
}  # fmt: skip


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
