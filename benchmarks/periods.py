"""Releases that repeat: what a year from months is worth, and what earlier months help later ones.

    python benchmarks/periods.py LOG PERIOD … [--runs N] [--epsilon E]

For each way, the log of all periods is compared with what was released of it: every period at ε,
put together (no case is in two: ε in all); every period at ε/n, as if prices added up; and one
release of everything at ε. Then the same months, each with the releases before it as candidates.
"""

from __future__ import annotations

import argparse
import statistics
from fractions import Fraction

from sacofa import Certified, anonymize, count_variants, open_log
from sacofa.evaluation.measures.analysts import (
    activity_error,
    eventually_error,
    steps_distance,
    trigrams_distance,
)
from sacofa.evaluation.measures.similarity import similarity
from sacofa.release.combine import combine
from sacofa.variants import VariantCounts

MEASURES = {
    "similarity": similarity,
    "steps": steps_distance,
    "3-grams": trigrams_distance,
    "activities": activity_error,
    "eventually": eventually_error,
}


def together(parts: list[VariantCounts]) -> VariantCounts:
    """The variants of several logs as those of one."""
    counts: dict[tuple[str, ...], int] = {}
    for part in parts:
        for variant, count in part:
            counts[tuple(variant)] = counts.get(tuple(variant), 0) + count
    return VariantCounts.of(counts)


def main() -> None:
    """Measure, and print medians."""
    parser = argparse.ArgumentParser()
    parser.add_argument("log")
    parser.add_argument("periods", nargs="+")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--epsilon", type=Fraction, default=Fraction(1))
    given = parser.parse_args()
    months = [count_variants(open_log(given.log, period=name)) for name in given.periods]
    names = sorted({name for month in months for name in month.activities})
    whole = together(months)
    print(f"{whole.cases} cases: {[month.cases for month in months]}")
    found: dict[str, list[dict[str, float]]] = {}

    def note(way: str, original: VariantCounts, released: VariantCounts) -> None:
        values = {what: measure(original, released) for what, measure in MEASURES.items()}
        found.setdefault(way, []).append(values)

    for run in range(given.runs):
        year = anonymize(whole, Certified(epsilon=given.epsilon), activities=names, seed=run)
        note("one release of all", whole, year.variants)
        for way, price, helped in (
            ("months at ε", given.epsilon, False),
            ("months at ε/n", given.epsilon / len(months), False),
            ("months at ε, with earlier ones", given.epsilon, True),
        ):
            made = []
            for number, month in enumerate(months):
                earlier = together([one.variants for one in made]) if helped and made else None
                mechanism = Certified(epsilon=price, earlier=earlier)
                seed = 100 * run + number
                made.append(anonymize(month, mechanism, activities=names, seed=seed))
                if price == given.epsilon and number:
                    note(f"  a month of {way}", month, made[-1].variants)
            note(way, whole, combine(made).variants)
    print(f"{'':40}" + "".join(f"{what:>12}" for what in MEASURES))
    for way, rows in found.items():
        medians = [statistics.median(row[what] for row in rows) for what in MEASURES]
        print(f"{way:40}" + "".join(f"{value:12.3f}" for value in medians))


if __name__ == "__main__":
    main()
