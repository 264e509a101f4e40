"""What a public model gives: similarity of releases with its rules, and with its language.

Each of the paper's logs is halved four times. One half is taken as public: rules are learnt from
it, and a model is mined from it (pm4py's inductive miner, noise 0.2) and given as a PNML file. The
other half is released by `certified` several times. Told are the mean over the ways to halve the
log of the median run, and the mean of all runs with its standard error.
"""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pm4py

from sacofa import Certified, Rules, VariantCounts, learn_rules
from sacofa.evaluate.measures.flow import similarity
from sacofa.events import count_variants, open_log
from sacofa.kernel import Noise
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import Cases
from sacofa.mechanisms.protocol import perform
from sacofa.rules import FromPublicLog, Model, ModelOptions, read_model

EPSILON = "0.1"
LEARNT = "learnt from that half"
NOISE = 0.2
HALVES = range(4)
LOGS = {"sepsis": 23, "receipt": None, "traffic_fines": 9}
"""The logs, and where cases are cut; None: chosen under a share of ε."""


def halve(log: VariantCounts, seed: int) -> tuple[VariantCounts, VariantCounts]:
    """Part the cases of a log into two halves at random."""
    cases = np.repeat(np.arange(len(log)), log.counts)
    np.random.default_rng(seed).shuffle(cases)
    first = np.bincount(cases[: len(cases) // 2], minlength=len(log))
    return _counted(log, first), _counted(log, log.counts - first)


def _counted(log: VariantCounts, counts: np.ndarray) -> VariantCounts:
    names = [log.activities[i] for i in range(len(log.activities))]
    rows = zip(log.sequences(), counts.tolist(), strict=True)
    return VariantCounts.of(
        {tuple(names[i] for i in ids): count for ids, count in rows if count}, log.activities
    )


def mine(log: VariantCounts, folder: Path) -> Model:
    """Mine a model and read it as anybody's file."""
    variants = zip(log.sequences(), log.counts.tolist(), strict=True)
    cases = [ids for ids, count in variants for _ in range(count)]
    table = pd.DataFrame(
        [
            (str(case), log.activities[a], pd.Timestamp(2026, 1, 1) + pd.Timedelta(minutes=place))
            for case, ids in enumerate(cases)
            for place, a in enumerate(ids)
        ],
        columns=["case:concept:name", "concept:name", "time:timestamp"],
    )
    net = pm4py.discover_petri_net_inductive(table, noise_threshold=NOISE)
    path = folder / "mined.pnml"
    pm4py.write_pnml(*net, str(path))
    return read_model(path)


def kinds(public: VariantCounts, folder: Path) -> Iterator[tuple[str, Rules | None]]:
    """Everything that one may know from the public half."""
    yield "no rules", None
    yield LEARNT, learn_rules(public, FromPublicLog("half"))
    model, names = mine(public, folder), public.activities
    yield "rules of the model", model.rules(activities=names)
    yield "rules, closed", model.rules(ModelOptions(closed=True), activities=names)
    for deviations in (0, 1):
        rules = model.rules(ModelOptions(closed=True, deviations=deviations), activities=names)
        yield f"language, closed, {deviations} deviations", rules


def similarities(mechanism: Certified, log: VariantCounts, seeds: Iterable[int]) -> list[float]:
    """How similar releases of a log are to it, for each seed."""
    cases = Cases(variants=log)
    released = (perform(mechanism, cases, Noise(SeededBits(seed))) for seed in seeds)
    return [similarity(log, outcome.log.variants) for outcome in released]


def mean_and_error(halves: Sequence[Sequence[float]]) -> tuple[float, float]:
    """The mean over runs and ways to halve a log, and its standard error over runs."""
    means = [statistics.mean(values) for values in halves]
    errors = [statistics.variance(values) / len(values) for values in halves]
    return statistics.mean(means), math.sqrt(sum(errors)) / len(halves)


def releases(name: str, path: Path, epsilon: str, runs: int) -> dict[str, list[list[float]]]:
    """Similarities of releases for each kind of rules: a list for each way to halve the log.

    Only at the smaller price is a model worth its time.
    """
    log = count_variants(open_log(path))
    found: dict[str, list[list[float]]] = {}
    for half in HALVES:
        public, secret = halve(log, half)
        with tempfile.TemporaryDirectory() as folder:
            for kind, rules in kinds(public, Path(folder)):
                mechanism = Certified(epsilon=epsilon, max_length=LOGS[name], rules=rules)
                values = similarities(mechanism, secret, range(1_000, 1_000 + runs))
                found.setdefault(kind, []).append(values)
                if kind == LEARNT and epsilon != EPSILON:
                    break
    return found
