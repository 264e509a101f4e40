"""Audits: attempts to refute the claim of a mechanism by a guessing game on neighbouring logs.

A fair coin selects one of two neighbouring logs, and the mechanism runs on it. A guesser sees the
outcome and guesses the log, or passes. Under ε-differential privacy, every guess is right with
probability at most e^ε / (1 + e^ε). If `right` of `guesses` are right, the probability p of a right
guess is at least BetaInv(doubt; right, guesses − right + 1), except with probability `doubt`
(Clopper and Pearson, 1934), and ε is at least ln(p / (1 − p)).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from multiprocessing import get_context
from typing import TypeVar

import numpy as np

from ..base.epsilon import LARGEST_DELTA, Epsilon, parse_epsilon
from ..errors import SacofaError, SettingError, Statement
from ..kernel.bits import SeededBits, SystemBits
from ..kernel.noise import Noise
from ..kernel.unit import Unit
from ..mechanisms.protocol import Mechanism, perform
from ..mechanisms.registry import MECHANISMS, make_mechanism
from ..mechanisms.settings import settings_of
from .bounds import Claim
from .guess import Guesser, Sample, learn_guesser
from .pairs import Pair
from .views import Feature, Features, View, describe_feature, views_for

Result = TypeVar("Result")
Stage = Callable[[str, float], None]
"""Receives the name of a pair, and the share of its runs that are done."""

BOUND_DOUBT = 0.05
"""Probability that the reported bound is too high."""
REFUTED_DOUBT = 1e-6
"""Probability that a true claim is called refuted."""
FAILED = "failed"
"""Name of the feature of a run that failed: whether it fails may depend on the log."""
MIN_RUNS = 100
MIN_BATCHES = 24
MAX_BATCH_RUNS = 5_000
NAMED_FEATURES = 3
"""Number of features that a finding names."""
THRESHOLD_ACTIVITIES = 2
"""Number of activities in the pairs around a threshold."""
DEFAULT_THRESHOLD = 10
"""Threshold that is tried if a mechanism does not state its own."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The result of an audit for one pair of logs and one view.

    Attributes:
        mechanism: Name of the mechanism.
        pair: Name of the pair.
        what: Difference between the two logs.
        view: What the attacker observed: the release, or the transcript behind it.
        evidence: The most significant features, in words.
        right: Number of right guesses.
        guesses: Number of guesses on the half of the runs that decides.
        runs: Number of runs on that half.
        claim: The claim that was attacked.
        by_rho: Whether the guesses are to prove a ρ, which implies ε at δ.
    """

    mechanism: str
    pair: str
    what: str
    view: str
    evidence: str
    right: int
    guesses: int
    runs: int
    claim: Claim
    by_rho: bool = False

    @property
    def claimed(self) -> Fraction:
        """The claimed ε."""
        return self.claim.epsilon

    @property
    def delta(self) -> Fraction:
        """The δ that it is claimed with."""
        return self.claim.delta

    @property
    def certified(self) -> float:
        """Lower bound on ε at 95 % confidence; at δ, if there is one."""
        return self._prove(self.right, self.guesses, BOUND_DOUBT)

    @property
    def refuted(self) -> bool:
        """Whether the claim cannot be true."""
        return self._prove(self.right, self.guesses, REFUTED_DOUBT) > self.claimed

    @property
    def highest(self) -> float:
        """Largest lower bound that this number of runs can prove, if every guess is right."""
        return self._prove(self.runs, self.runs, BOUND_DOUBT)

    def _prove(self, right: int, guesses: int, doubt: float) -> float:
        return self.claim.prove(right, guesses, self.runs, doubt, by_rho=self.by_rho)

    def refuted_from(self, share: float = 1.0) -> float:
        """Return the ε that is likely to be refuted, if it shows in this share of the runs."""
        guesses = int(self.runs * share)
        return self.claim.least_refuted(guesses, self.runs, REFUTED_DOUBT, by_rho=self.by_rho)

    @property
    def verdict(self) -> str:
        """The conclusion, in words."""
        if self.refuted:
            return "refuted"
        if self.certified > self.claimed:
            return "undecided: chance does that once in 20, use more runs"
        return "not refuted"


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Runs that one process makes."""

    mechanism: Mechanism
    pair: Pair
    views: Mapping[str, View]
    runs: int
    seed: int | None  # None uses the generator of the operating system

    def play(self) -> Iterator[tuple[bool, Mapping[str, Features]]]:
        """Return for each run whether it was on the larger log, and the features of each view."""
        noise = Noise(SystemBits() if self.seed is None else SeededBits(self.seed))
        cases = self.pair.larger_cases
        mechanism = self.mechanism.for_log(timed=cases.timed, attributes=cases.attributes)
        for coin in noise.below(2, self.runs).tolist():
            log = self.pair.larger_cases if coin else self.pair.smaller_cases
            try:
                outcome = perform(mechanism, log, noise)
            except SacofaError as error:
                failed: Features = {(FAILED, type(error).__name__): 1}
                yield bool(coin), dict.fromkeys(self.views, failed)
            else:
                yield bool(coin), {name: view(outcome) for name, view in self.views.items()}


def observe(batch: Batch) -> dict[str, Sample]:
    """Make the runs of a batch and return the features of each view."""
    sides: list[bool] = []
    seen: dict[str, dict[Feature, tuple[list[int], list[int]]]] = {name: {} for name in batch.views}
    for run, (side, shown) in enumerate(batch.play()):
        sides.append(side)
        for name, features in shown.items():
            columns = seen[name]
            for feature, value in features.items():
                runs, values = columns.setdefault(feature, ([], []))
                runs.append(run)
                values.append(value)
    flags = np.array(sides, dtype=np.bool_)
    return {
        name: Sample(
            sides=flags,
            columns={f: (np.array(runs), np.array(values)) for f, (runs, values) in found.items()},
        )
        for name, found in seen.items()
    }


def count_guesses(batch: Batch, guessers: Mapping[str, Guesser]) -> dict[str, tuple[int, int]]:
    """Run a batch, and count the right guesses and all guesses of each guesser."""
    samples = observe(batch)
    return {name: guesser.count(samples[name]) for name, guesser in guessers.items()}


def audit(
    mechanism: Mechanism,
    pairs: Sequence[Pair],
    *,
    claimed: Epsilon | None = None,
    delta: Epsilon = 0,
    runs: int = 10_000,
    views: Mapping[str, View] | None = None,
    seed: int | None = None,
    workers: int = 1,
    stage: Stage | None = None,
) -> tuple[Finding, ...]:
    """Audit a mechanism on pairs of neighbouring logs.

    Args:
        mechanism: The mechanism.
        pairs: The pairs.
        claimed: The claimed ε; the promise of the mechanism if omitted.
        delta: The δ that it is claimed with, if `claimed` is given.
        runs: Number of runs on each log, about: a coin decides each run.
        views: What the attacker observes, by name; release and transcript if omitted.
        seed: Repeats an audit.
        workers: Number of processes. More than one needs a mechanism that can be pickled, and a
            program whose main module can be imported.
        stage: Receives the progress.

    Returns:
        A finding for each pair and view.

    Raises:
        SettingError: If there are too few runs, a pair is not one of neighbours, or no finite ε is
            claimed.
    """
    if runs < MIN_RUNS:
        raise SettingError("runs", runs, Statement("must.at_least", least=MIN_RUNS))
    given = None
    if claimed is not None:
        at = parse_epsilon("delta", delta, LARGEST_DELTA, may_be_zero=True)
        given = Claim(epsilon=parse_epsilon("claimed", claimed), delta=at)
    claims = [given or _claim(mechanism, pair) for pair in pairs]
    for pair in pairs:
        pair.check_neighbours()
    findings: list[Finding] = []
    with ExitStack() as stack:
        pool = None
        if workers > 1:
            pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
            stack.callback(pool.shutdown, cancel_futures=True)
        for number, (pair, claim) in enumerate(zip(pairs, claims, strict=True)):
            shown = views_for(pair) if views is None else views
            batch = Batch(mechanism=mechanism, pair=pair, views=shown, runs=2 * runs, seed=seed)
            findings += _attack(_split(batch, number), claim, pool, stage)
    return tuple(findings)


def _claim(mechanism: Mechanism, pair: Pair) -> Claim:
    """The claim of a mechanism for the unit of a pair."""
    cases = pair.smaller_cases
    adapted = mechanism.for_log(timed=cases.timed, attributes=cases.attributes)
    claim = Claim.of(adapted.promise(pair.unit))
    if claim is None:
        must = Statement("must.given_no_epsilon", mechanism=mechanism.name)
        raise SettingError("claimed", None, must)
    return claim


def _split(batch: Batch, number: int) -> list[Batch]:
    """Split the runs on a pair into batches, the same for any number of workers."""
    many = 2 * max(MIN_BATCHES // 2, math.ceil(batch.runs / 2 / MAX_BATCH_RUNS))
    batches = []
    for place in range(many):
        # Every batch of every pair has a seed of its own.
        seed = None if batch.seed is None else (batch.seed << 32) + (number << 16) + place
        size = batch.runs * (place + 1) // many - batch.runs * place // many
        batches.append(replace(batch, runs=size, seed=seed))
    return batches


def _attack(
    batches: Sequence[Batch], claim: Claim, pool: Executor | None, stage: Stage | None
) -> Iterator[Finding]:
    """Learn on the first half of the batches how to guess, and guess on the second half."""
    mechanism, pair = batches[0].mechanism, batches[0].pair
    total, done = sum(batch.runs for batch in batches), 0

    def work(job: Callable[[Batch], Result], part: Sequence[Batch]) -> Iterator[Result]:
        nonlocal done
        results = map(job, part) if pool is None else pool.map(job, part)
        for batch, result in zip(part, results, strict=True):
            done += batch.runs
            if stage is not None:
                stage(pair.name, done / total)
            yield result

    first, second = batches[: len(batches) // 2], batches[len(batches) // 2 :]
    guessers = _learn(list(work(observe, first)), claim)
    if not guessers:
        # Every run failed: raise the error.
        perform(mechanism, pair.larger_cases, Noise())
    counted = list(work(partial(count_guesses, guessers=guessers), second))
    for name, guesser in guessers.items():
        yield Finding(
            mechanism=mechanism.name,
            pair=pair.name,
            what=pair.what,
            view=name,
            evidence=_describe(guesser, pair),
            right=sum(some[name][0] for some in counted),
            guesses=sum(some[name][1] for some in counted),
            runs=sum(batch.runs for batch in second),
            claim=claim,
            by_rho=guesser.by_rho,
        )


def _learn(parts: Sequence[Mapping[str, Sample]], claim: Claim) -> dict[str, Guesser]:
    """Learn a guesser for each view that has any feature."""
    samples = {name: Sample.join(part[name] for part in parts) for name in parts[0]}
    return {
        name: learn_guesser(sample, claim)
        for name, sample in samples.items()
        if any(feature[0] != FAILED for feature in sample.columns)
    }


def _describe(guesser: Guesser, pair: Pair) -> str:
    """The features that a guesser uses, in words."""
    features = [describe_feature(used, pair.larger.activities) for used in guesser.weights]
    named, more = ", ".join(features[:NAMED_FEATURES]), len(features) - NAMED_FEATURES
    return f"{named} and {more} more" if more > 0 else named or "nothing"


def make_minimal(name: str, given: Mapping[str, object]) -> Mechanism:
    """Make a mechanism with minimal settings: the same code and promise, but runs in a millisecond.

    Settings that do not affect the promise are reduced, as `minimal` of the mechanism lists them.
    They are not suitable for releases.

    Args:
        name: Name of the mechanism.
        given: Settings that are not reduced, by option.

    Returns:
        The mechanism.
    """
    stated = {option: given[option] for option in given if given[option] is not None}
    if name not in MECHANISMS:
        return make_mechanism(name, stated)
    kind = MECHANISMS[name]
    reduced, offered = dict(kind.minimal), {entry.option for entry in settings_of(kind)}
    if any(option.startswith("prune") for option in stated):
        reduced.pop("prune", None)
    public = {option: reduced.pop(option) for option in offered & reduced.keys()}
    return replace(make_mechanism(name, public | stated), **reduced)  # type: ignore[type-var]


def threshold_of(mechanism: Mechanism, unit: Unit) -> int:
    """Return the minimum count of a released variant, if it is known in advance."""
    # Pairs around a threshold have no times, so that nothing is spent on them.
    found = mechanism.for_log(timed=False).shown_from(unit, THRESHOLD_ACTIVITIES)
    return DEFAULT_THRESHOLD if found is None else found
