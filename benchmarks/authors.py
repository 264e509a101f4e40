"""Compares `sacofa` and `laplace` with the program of the SaCoFa paper's authors.

    SACOFA_AUTHORS=FOLDER make figures ONLY=authors

FOLDER is a checkout of https://github.com/samadeusfp/SaCoFa. Their functions run unchanged, at the
paper's settings, on variants in place of the log objects of OpyenXES. One thing is replaced:
`random.sample` gets a list, because current Pythons refuse what the program hands it. Runs that end
in an error of theirs are counted. Their releases are measured by the same evaluator as ours.

A second series also replaces their noise, continuous Laplace noise that is cut to whole numbers,
by discrete Laplace noise of the same scale: whatever then differs from ours is the algorithm.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
from figure import Figure, median
from utility import read_logs

from sacofa import VariantCounts
from sacofa.evaluate import Evaluator
from sacofa.evaluate.reproduction import SETTINGS, Setting

PROGRAM = "SACOFA_AUTHORS"
SEEDS = range(10)
EPSILONS = ("1", "0.1")
MEASURES = (
    "similarity", "mass_kept", "size_error", "f_score", "fitness", "precision", "generalization",
)  # fmt: skip
Query = Callable[..., Mapping[str, int]]
DISCRETE = "discrete noise"
END, BETWEEN = "TRACE_END", ">>>"


def measure_authors(folder: Path) -> Iterator[Figure]:
    """Release each log with their program, and measure the releases."""
    program = os.environ.get(PROGRAM)
    if not program:
        print(f"Not measured: {PROGRAM} names no checkout of the program.", file=sys.stderr)
        return
    logs = read_logs(folder)
    with _loaded(Path(program)) as queries:
        for setting in SETTINGS:
            if setting.log in logs:
                yield from _measure(setting, logs[setting.log], queries)


def _measure(
    setting: Setting, log: VariantCounts, queries: Mapping[str, Query]
) -> Iterator[Figure]:
    evaluator = Evaluator(log)
    traces = [list(variant) for variant, count in log for _ in range(count)]
    for epsilon, (prune, _) in setting.thresholds.items():
        if epsilon not in EPSILONS:
            continue
        for series, query in _with_both_noises(queries):
            place = f"authors/{setting.log}/{epsilon}/{series}"
            run = partial(_release, query, traces, setting.max_length, epsilon, prune)
            released = [found for seed in SEEDS if (found := run(seed)) is not None]
            lost = len(SEEDS) - len(released)
            if lost:
                yield Figure(name=f"{place}/without result", value=lost, runs=len(SEEDS))
            rows = [evaluator.measure(one) for one in released]
            for measure in MEASURES if rows else ():
                values = [row[measure] for row in rows]
                yield median(f"{place}/{measure}", values, seeds=f"{SEEDS[0]} to {SEEDS[-1]}")


def _with_both_noises(queries: Mapping[str, Query]) -> Iterator[tuple[str, Query]]:
    """Each query with the program's noise, and with discrete noise."""
    for name, query in queries.items():
        yield name, query
        yield f"{name}, {DISCRETE}", patch("numpy.random.laplace", discrete_laplace)(query)


def discrete_laplace(_: float, scale: float) -> int:
    """Discrete Laplace noise: the difference of two geometric variables."""
    one, other = np.random.geometric(1 - np.exp(-1 / scale), 2)
    return int(one) - int(other)


def _release(
    query: Query, traces: list[list[str]], length: int, epsilon: str, prune: int, seed: int
) -> VariantCounts | None:
    """One release of their program; None where it ends in an error."""
    random.seed(seed)
    np.random.seed(seed)
    try:
        with redirect_stdout(None), np.errstate(all="ignore"):
            found = query([traces], float(epsilon), prune, length)
    except (ValueError, OverflowError, KeyError):
        return None
    counts: dict[tuple[str, ...], int] = {}
    for prefix, count in found.items():
        variant = tuple(part for part in prefix.split(BETWEEN) if part and part != END)
        if count > 0:
            counts[variant] = counts.get(variant, 0) + count
    return VariantCounts.of(counts)


@contextmanager
def _loaded(program: Path) -> Iterator[dict[str, Query]]:
    """Their two queries, imported from the checkout."""
    names = ModuleType("opyenxes.classification.XEventNameClassifier")
    names.XEventNameClassifier = _Names  # type: ignore[attr-defined]
    parts = {"opyenxes": ModuleType("opyenxes"), names.__name__: names}
    parts["opyenxes.classification"] = ModuleType("opyenxes.classification")
    sample = random.sample
    listed = patch.object(random, "sample", lambda found, number: sample(list(found), number))
    path = [str(program / "ExpMechBA"), *sys.path]
    with listed, patch.dict(sys.modules, parts), patch.object(sys, "path", path):
        from privatize_ba import privatize_ba
        from privatize_laplace import privatize_laplace

        yield {
            "sacofa": privatize_ba.privatize_tracevariants,
            "laplace": privatize_laplace.privatize_tracevariants,
        }


class _Names:
    """Gives an event's name, as the class of OpyenXES does; here an event is its name."""

    def get_class_identity(self, event: Any) -> str:
        return str(event)
