"""What each idea of `certified` contributes.

The logs are generated (see `trees.py`), of different kinds, and none of those that figures are
reported on. `make figures ONLY=ablation` measures all ideas at once: for each log, ε and seed a
random half of the ideas is switched off, then the other half. Least squares over many such pairs
tell by how much the errors of a release grow without each idea, whatever else is on or off. So each
run says something about every idea, and parts that are invisible alone can show.

    python benchmarks/ablate.py [FOLDER] --idea A+B [--epsilon 1] [--runs 4]

compares the full system with itself without one idea, or without several together, on the same
seeds, so that most noise is the same: what is deleted together has to be confirmed together. With a
folder, the paper's logs are measured as well. It prints how much worse releases are (distance of
pairs, of 3-grams, and mean error of activity shares; above 0 is worse without), each with its
standard error over runs, and on how many logs that is beyond two standard errors.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from figure import Figure
from generated import MEASURES
from trees import KEPT, TreeLog

from sacofa import Certified, anonymize, count_variants, open_log
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.certified import budget, questions, settings
from sacofa.mechanisms.certified import run as certified_run
from sacofa.synthesis.flow import (
    answers,
    candidates,
    fit,
    frequent,
    population,
    release,
    steps,
    tuning,
)
from sacofa.synthesis.thresholds import VARIANCE

LOGS: tuple[TreeLog, ...] = tuple(
    TreeLog(cases=cases, activities=activities, kind=kind, seed=seed)
    for cases, activities, kind, seed in (
        (500, 10, "mixed", 401),
        (1_000, 40, "choices", 402),
        (2_000, 15, "loops", 403),
        (3_000, 30, "sequential", 404),
        (4_000, 15, "parallel", 405),
        (8_000, 60, "mixed", 406),
        (15_000, 25, "loops", 407),
        (50_000, 20, "choices", 408),
        (50_000, 7, "choices", 410),
        (2_500, 120, "choices", 411),
        (1_500, 6, "sequential", 419),
        (20_000, 12, "mixed", 423),
        (700, 45, "loops", 434),
    )
)
EPSILONS = ("0.1", "1", "10")
SEEDS = range(8_001, 8_007)
"""Of the design; measurements of single ideas take others."""
PAPER = ("sepsis.xes.gz", "receipt.xes.gz", "traffic_fines.xes.gz")
"""The paper's logs, in the folder."""
ROUNDED = 0.002
"""Added to errors before they are compared: smaller ones are as good as none."""
LEAST_SPREAD = 0.02
"""Lower bound on the relative spread of a log's errors."""

TUNED = (certified_run, answers, candidates, fit, frequent, population, release, steps, tuning)
"""The modules that read tuning parameters of the flow."""

Switch = Callable[[], Any]
"""Makes a context in which an idea is switched off."""


def tuned(**values: object) -> Switch:
    """Other values of tuning parameters."""

    @contextmanager
    def switched() -> Iterator[None]:
        with ExitStack() as stack:
            other = replace(tuning.TUNING, **values)  # type: ignore[arg-type]
            for module in TUNED:
                stack.enter_context(patch.object(module, "TUNING", other))
            yield

    return switched


def replaced(module: object, name: str, value: object) -> Switch:
    """Something else instead of a function or a constant of a module."""
    return lambda: patch.object(module, name, value)


def not_shrunk(answers: Any, shape: Any = None) -> tuple[Any, Any]:
    """Every cell holds what was answered."""
    return np.maximum(answers, 0.0), np.full(answers.shape, fit.VARIANCE)


IDEAS: Mapping[str, Switch] = {
    "activities that happen once": replaced(
        questions.Questions, "once", lambda self, votes: frozenset()
    ),
    "balance of steps": replaced(steps, "balance", lambda *_: None),
    "certainty of cells above that of noise": tuned(min_variance=VARIANCE),
    "changes of usual sequences": replaced(candidates.CandidateGenerator, "changed", lambda *_: []),
    "connected activities": replaced(steps, "connect", lambda *_: None),
    "inserted activities": replaced(
        certified_run, "insert_missing", lambda counts, *_: dict(counts)
    ),
    "lengths far beyond all others take more": tuned(false_far_lengths=Fraction(1, 200)),
    "likeliest paths": replaced(steps, "likeliest_ways", lambda *_: []),
    "moves of samples": tuned(most_moved=0),
    "potentials of pairs that follow the fit": tuned(pace=0.0),
    "rounds after the last answer": tuned(gain_of_round=1e9),
    "samples that stay": tuned(one_stays=10**9),
    "sampling variance in the fit": tuned(sampling=0.0),
    "shares by length of cases": replaced(budget, "PER_DOUBLING", 0),
    "shrinkage": replaced(fit, "shrink", not_shrunk),
    "steps by what they likely have": tuned(least_expected=0.0),
    "3-grams": tuned(various=2.0),
    "variants published individually": replaced(
        settings.CertifiedSettings, "published_from", lambda self, *_: None
    ),
    "weaker holds in the fit": tuned(holds=(1.0,)),
    "weights of rare steps": tuned(common_scales=10**9),
}
"""What can be switched off."""


@cache
def log_of(name: str, folder: Path | None) -> VariantCounts:
    """A log by its name."""
    if folder is not None and (folder / name).exists():
        return count_variants(open_log(folder / name))
    return next(log for log in LOGS if log.name == name).variants


def run(job: tuple[str, Path | None, str, str, int]) -> list[float]:
    """Release a log without some ideas; give every measure."""
    name, folder, ideas, epsilon, seed = job
    log = log_of(name, folder)
    with ExitStack() as stack:
        for idea in filter(None, ideas.split("+")):
            stack.enter_context(IDEAS[idea]())
        released = anonymize(log, Certified(epsilon=epsilon, time=False), seed=seed).variants
    return [measure(log, released) for measure in MEASURES.values()]


def measure_ablation(folder: Path) -> Iterator[Figure]:
    """By how much errors grow without each idea, as a part of them."""
    pairs = [halves((log.name, e, seed)) for log in LOGS for e in EPSILONS for seed in SEEDS]
    for epsilon in EPSILONS:
        some = [pair for pair in pairs if pair.place[1] == epsilon]
        yield from effects(some, "steps", f"ablation/{epsilon}/steps")
    for measure in MEASURES:
        yield from effects(pairs, measure, f"ablation/all/{measure}")


class Pair(NamedTuple):
    """Two releases: one without some ideas, the other without all others."""

    place: tuple[str, str, int]
    """The log, ε and the seed."""
    signs: Sequence[int]
    """Of each idea: 1 if the first is without it, −1 if the second is."""
    growth: Mapping[str, float]
    """The logarithm of how many times as large the errors of the first are, for each measure."""


def halves(place: tuple[str, str, int]) -> Pair:
    """Switch off a random half of the ideas, then the other half."""
    draw = random.Random(str(place))
    signs = [draw.choice((1, -1)) for _ in IDEAS]
    name, epsilon, seed = place
    one, other = (
        run((name, None, "+".join(idea for idea, n in zip(IDEAS, signs, strict=True) if n == on),
             epsilon, seed))
        for on in (1, -1)
    )  # fmt: skip
    errors = zip(MEASURES, one, other, strict=True)
    growth = {measure: math.log((a + ROUNDED) / (b + ROUNDED)) for measure, a, b in errors}
    return Pair(place, signs, growth)


def effects(pairs: Sequence[Pair], measure: str, place: str) -> Iterator[Figure]:
    """The effect of each idea, by least squares; logs that differ more at an ε count less."""
    table = np.array([pair.signs for pair in pairs], dtype=np.float64)
    growth = np.array([pair.growth[measure] for pair in pairs])
    kinds = [pair.place[:2] for pair in pairs]
    squares = {
        kind: fmean(pair.growth[measure] ** 2 for pair in pairs if pair.place[:2] == kind)
        for kind in kinds
    }
    weights = np.array([1 / math.sqrt(squares[kind] + LEAST_SPREAD**2) for kind in kinds])
    table, growth = table * weights[:, None], growth * weights
    inverse = np.linalg.pinv(table.T @ table)
    found = inverse @ table.T @ growth
    # The variance of residuals may differ from pair to pair (White, 1980).
    left = (growth - table @ found) * math.sqrt(len(growth) / max(len(growth) - len(found), 1))
    bread = inverse @ (table * left[:, None]).T
    errors = np.sqrt(np.diag(bread @ bread.T))
    seeds = f"{SEEDS[0]} to {SEEDS[-1]}"
    for idea, effect, error in zip(IDEAS, found.tolist(), errors.tolist(), strict=True):
        yield Figure(
            name=f"{place}/{idea}",
            value=round(effect, 4),
            low=round(effect - error, 4),
            high=round(effect + error, 4),
            runs=len(pairs),
            seeds=seeds,
        )


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean of some values, and its standard error."""
    return fmean(values), stdev(values) / math.sqrt(len(values))


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="the paper's logs")
    parser.add_argument(
        "--idea", action="append", required=True, help="this one; a+b: both together"
    )
    parser.add_argument("--log", action="append", help="this one of the logs")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--first-seed", type=int, default=5_001)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    assert not {log.name for log in LOGS} & {log.name for log in KEPT}
    names = options.log or [*(log.name for log in LOGS), *(PAPER if options.folder else ())]
    ideas = options.idea
    seeds = range(options.first_seed, options.first_seed + options.runs)
    jobs = [
        (name, options.folder, idea, options.epsilon, seed)
        for idea in ["", *ideas]
        for name in names
        for seed in seeds
    ]
    with multiprocessing.Pool(options.workers) as pool:
        found = dict(zip(jobs, pool.imap(run, jobs), strict=True))
        print("| without | " + " | ".join(MEASURES) + " | logs worse, better |")
        print("|---" * (len(MEASURES) + 2) + "|")
        for idea in ideas:
            print(row_of(idea, [job for job in jobs if job[2] == idea], found), flush=True)


def row_of(idea: str, jobs: Sequence[tuple[Any, ...]], found: Mapping[Any, list[float]]) -> str:
    """One line of the table."""
    apart = {job: np.subtract(found[job], found[(*job[:2], "", *job[3:])]) for job in jobs}
    cells, worse, better = [], set[str](), set[str]()
    for place in range(len(MEASURES)):
        mean, error = mean_and_error([float(each[place]) for each in apart.values()])
        cells.append(f"{mean:+.4f} ± {error:.4f}")
        for name in dict.fromkeys(job[0] for job in jobs):
            of_log = [float(apart[job][place]) for job in jobs if job[0] == name]
            mean, error = mean_and_error(of_log)
            if abs(mean) > 2 * error:
                (worse if mean > 0 else better).add(name)
    return f"| {idea} | " + " | ".join(cells) + f" | {len(worse)}, {len(better)} |"


if __name__ == "__main__":
    main()
