"""What each idea of `certified` contributes: the full system against itself without one idea.

The logs are generated (see `trees.py`), of different kinds, and none of those that figures are
reported on; with a folder, the paper's logs are measured as well. Both systems run with the same
seeds, so that most noise is the same in both.

    python benchmarks/ablate.py [FOLDER] [--idea NAME ...] [--epsilon 1] [--runs 4]

prints how much worse releases are without the idea (distance of steps, of 3-grams, and mean error
of activity shares; above 0 is worse), each with its standard error over runs, and on how many logs
that is beyond two standard errors. `--idea` may be given several times. `a+b` switches off both
together: parts that are invisible alone can matter together.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import fmean, stdev
from typing import Any
from unittest.mock import patch

import numpy as np
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

LOGS: tuple[TreeLog, ...] = tuple(
    TreeLog(
        name=f"{kind}-{activities}-{cases}",
        cases=cases,
        activities=activities,
        kind=kind,
        seed=seed,
    )
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
PAPER = ("sepsis.xes.gz", "receipt.xes.gz", "traffic_fines.xes.gz")
"""The paper's logs, in the folder."""

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
    "changes of usual sequences": tuned(changes=0.0),
    "connected activities": replaced(steps, "connect", lambda *_: None),
    "inserted activities": replaced(
        certified_run, "insert_missing", lambda counts, *_: dict(counts)
    ),
    "likeliest paths": tuned(likeliest=0.0),
    "moves of samples": tuned(most_moved=0),
    "potentials of pairs that follow the fit": tuned(pace=0.0),
    "rounds after the last answer": tuned(gain_of_round=1e9),
    "samples that stay": tuned(one_stays=10**9),
    "sampling variance in the fit": tuned(sampling=0.0),
    "shares by length of cases": replaced(budget, "PER_DOUBLING", 0),
    "shrinkage": replaced(fit, "shrink", not_shrunk),
    "steps by what they likely have": tuned(least_expected=0.0),
    "3-grams": tuned(various=2.0),
    "trust in activities and lengths": replaced(questions, "TRUST", questions.Fraction(1)),
    "variants published individually": replaced(
        settings.CertifiedSettings, "published_from", lambda self, *_: None
    ),
    "ways back to repeated activities": replaced(steps, "likeliest_ways_back", lambda *_: {}),
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


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean of some values, and its standard error."""
    return fmean(values), stdev(values) / math.sqrt(len(values))


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="the paper's logs")
    parser.add_argument("--idea", action="append", help="this one; a+b: both together")
    parser.add_argument("--log", action="append", help="this one of the logs")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--first-seed", type=int, default=5_001)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    assert not {log.name for log in LOGS} & {log.name for log in KEPT}
    names = options.log or [*(log.name for log in LOGS), *(PAPER if options.folder else ())]
    ideas = options.idea or list(IDEAS)
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
