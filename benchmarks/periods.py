"""Releases that repeat: what a year from months is worth, and what earlier months help later ones.

For each way, the log of all periods is compared with what was released of it: every period at ε,
put together (no case is in two: ε in all); every period at ε/n, as if prices added up; and one
release of everything at ε. Then the same months, each with the releases before it as candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from figure import Figure, median

from sacofa import Certified, VariantCounts, anonymize, count_variants, open_log
from sacofa.evaluate.measures.flow import similarity, steps_distance, trigrams_distance
from sacofa.release.combine import combine

MEASURES = {"similarity": similarity, "steps": steps_distance, "trigrams": trigrams_distance}
YEARS = {"receipt": 2011, "sepsis": 2014}
"""The year of each log whose twelve months are released."""
RUNS = 5
EPSILON = Fraction(1)


def together(parts: list[VariantCounts]) -> VariantCounts:
    """The variants of several logs as those of one."""
    counts: dict[tuple[str, ...], int] = {}
    for part in parts:
        for variant, count in part:
            counts[tuple(variant)] = counts.get(tuple(variant), 0) + count
    return VariantCounts.of(counts)


def measure_periods(folder: Path) -> Iterator[Figure]:
    """Medians of all ways, for each log."""
    seeds = f"0 to {RUNS - 1}, for months 100 times that and the number of the month"
    for log, year in YEARS.items():
        path = folder / f"{log}.parquet"
        names = [f"{year}-{month:02}" for month in range(1, 13)]
        months = [count_variants(open_log(path, period=name)) for name in names]
        for way, rows in compare_ways(months).items():
            for measure in MEASURES:
                values = [row[measure] for row in rows]
                yield median(f"periods/{log}/{way}/{measure}", values, seeds=seeds)


def compare_ways(months: list[VariantCounts]) -> dict[str, list[dict[str, float]]]:
    """What each way gives, run by run."""
    names = sorted({name for month in months for name in month.activities})
    whole = together(months)
    found: dict[str, list[dict[str, float]]] = {}

    def note(way: str, original: VariantCounts, released: VariantCounts) -> None:
        values = {what: measure(original, released) for what, measure in MEASURES.items()}
        found.setdefault(way, []).append(values)

    for run in range(RUNS):
        year = anonymize(whole, Certified(epsilon=EPSILON), activities=names, seed=run)
        note("one release of all", whole, year.variants)
        for way, price, helped in (
            ("months at ε", EPSILON, False),
            ("months at ε/n", EPSILON / len(months), False),
            ("months at ε, with earlier ones", EPSILON, True),
        ):
            made = []
            for number, month in enumerate(months):
                earlier = together([one.variants for one in made]) if helped and made else None
                mechanism = Certified(epsilon=price, earlier=earlier)
                seed = 100 * run + number
                made.append(anonymize(month, mechanism, activities=names, seed=seed))
                if price == EPSILON and number:
                    note(f"a month of {way}", month, made[-1].variants)
            note(way, whole, combine(made).variants)
    return found
