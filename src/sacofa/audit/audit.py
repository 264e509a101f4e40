"""Try to refute what a mechanism claims, by playing the guessing game on neighbouring logs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from ..errors import SettingError
from ..kernel.accounting import total_epsilon
from ..kernel.epsilon import Epsilon, parse_epsilon
from ..kernel.noise import Noise
from ..mechanisms.protocol import Mechanism, perform
from .bound import least_refuted, prove_epsilon
from .guess import Guesser, learn_guesser
from .likelihood import views_for
from .pairs import Pair
from .runs import FAILED, Batch, GuessCounter, count_guesses, observe, processes, work
from .sample import Sample
from .views import View, describe_feature

Stage = Callable[[str, float], None]

DOUBT = 0.05
"""The bound that is reported is too high in at most this part of all audits."""
SURE = 1e-6
"""A claim is called refuted only where even this little doubt leaves the bound above it."""
FEWEST_RUNS = 100
BATCHES = 24
LARGEST_BATCH = 5_000
NAMED = 3


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What an audit found on one pair of logs, looking at one thing."""

    mechanism: str
    """The mechanism's name."""
    pair: str
    """The name of the pair."""
    what: str
    """What the two logs differ by."""
    view: str
    """What was looked at: the release, or the transcript behind it."""
    evidence: str
    """What gave the log away most, in words."""
    right: int
    """How many guesses were right."""
    guesses: int
    """How many were made, on the half of the runs that decides."""
    runs: int
    """How many runs there were on that half."""
    claimed: Fraction
    """The ε that is claimed."""

    @property
    def certified(self) -> float:
        """The ε that is certain from below, at 95 % confidence."""
        return prove_epsilon(self.right, self.guesses, DOUBT)

    @property
    def refuted(self) -> bool:
        """Whether the claim cannot be true."""
        return prove_epsilon(self.right, self.guesses, SURE) > self.claimed

    @property
    def highest(self) -> float:
        """The highest ε that so many runs can make certain, if every guess is right."""
        return prove_epsilon(self.runs, self.runs, DOUBT)

    def refuted_from(self, share: float = 1.0) -> float:
        """The ε that is likely to be refuted if it shows in this share of the runs; may be ∞."""
        return least_refuted(float(self.claimed), int(self.runs * share), SURE)

    @property
    def verdict(self) -> str:
        """What follows, in words."""
        if self.refuted:
            return "refuted"
        if self.certified > self.claimed:
            return "undecided: chance does that once in 20, use more runs"
        return "not refuted"


def audit(
    mechanism: Mechanism,
    pairs: Sequence[Pair],
    *,
    claimed: Epsilon | None = None,
    runs: int = 10_000,
    views: Mapping[str, View] | None = None,
    seed: int | None = None,
    workers: int = 1,
    stage: Stage | None = None,
) -> tuple[Finding, ...]:
    """Audit a mechanism on pairs of neighbouring logs; a finding for each pair and view.

    Each log is run about `runs` times (a coin decides each run). Without `claimed` the price that
    the mechanism promises is taken. Without `views` it is the release and the transcript that are
    looked at. More than one of `workers` needs a mechanism that can be pickled, and a program whose
    main module can be imported. A `seed` repeats an audit.
    """
    if runs < FEWEST_RUNS:
        raise SettingError("runs", runs, f"{FEWEST_RUNS} or more")
    prices = [_claim(mechanism, pair, claimed) for pair in pairs]
    for pair in pairs:
        pair.check_neighbours()
    findings: list[Finding] = []
    with processes(workers) as pool:
        for number, (pair, price) in enumerate(zip(pairs, prices, strict=True)):
            done = _Count(pair.name, 2 * runs, stage)
            chosen_views = views_for(pair) if views is None else views
            batches = _split(mechanism, pair, chosen_views, runs, seed, number)
            half = len(batches) // 2
            guessers = _learn(work(pool, observe, batches[:half], done))
            if not guessers:
                # Every run failed: let the reason be heard.
                perform(mechanism, pair.larger_cases, Noise())
            job = partial(count_guesses, guessers=guessers)
            guessed = work(pool, job, batches[half:], done)
            for name, guesser in guessers.items():
                counter = sum((some[name] for some in guessed), GuessCounter())
                findings.append(
                    Finding(
                        mechanism=mechanism.name,
                        pair=pair.name,
                        what=pair.what,
                        view=name,
                        evidence=_say(guesser, pair),
                        right=counter.right,
                        guesses=counter.guesses,
                        runs=sum(batch.runs for batch in batches[half:]),
                        claimed=price,
                    )
                )
    return tuple(findings)


def _claim(mechanism: Mechanism, pair: Pair, claimed: Epsilon | None) -> Fraction:
    """The ε that is claimed for the unit of a pair."""
    if claimed is not None:
        return parse_epsilon("claimed", claimed)
    price = total_epsilon(mechanism.promise(pair.unit).accesses)
    if price is None:
        raise SettingError("claimed", None, f"given: {mechanism.name} promises no finite ε")
    return price


class _Count:
    """Counts runs, and tells who listens how far a pair is."""

    def __init__(self, name: str, runs: int, stage: Stage | None) -> None:
        self._name, self._runs, self._stage = name, runs, stage
        self._done = 0

    def __call__(self, runs: int) -> None:
        self._done += runs
        if self._stage is not None:
            self._stage(self._name, self._done / self._runs)


def _split(
    mechanism: Mechanism,
    pair: Pair,
    views: Mapping[str, View],
    runs: int,
    seed: int | None,
    number: int,
) -> list[Batch]:
    """Split the runs on both logs into batches, the same for any number of workers."""
    many = 2 * max(BATCHES // 2, math.ceil(runs / LARGEST_BATCH))
    sizes = [2 * runs * (i + 1) // many - 2 * runs * i // many for i in range(many)]
    return [
        Batch(
            mechanism=mechanism,
            pair=pair,
            views=views,
            runs=size,
            # Every batch of every pair has a seed of its own.
            seed=None if seed is None else (seed << 32) + (number << 16) + place,
        )
        for place, size in enumerate(sizes)
    ]


def _learn(parts: Sequence[Mapping[str, Sample]]) -> dict[str, Guesser]:
    """Learn a guesser for each view that shows anything."""
    samples = {name: Sample.join(part[name] for part in parts) for name in parts[0]}
    return {
        name: learn_guesser(sample)
        for name, sample in samples.items()
        if any(feature[0] != FAILED for feature in sample.columns)
    }


def _say(guesser: Guesser, pair: Pair) -> str:
    """What a guesser looks at, in words."""
    names = [describe_feature(name, pair.larger.activities) for name in guesser.weights]
    if len(names) > NAMED:
        return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"
    return ", ".join(names) or "nothing"
