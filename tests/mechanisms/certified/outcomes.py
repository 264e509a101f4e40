"""Exact likelihood ratios of outcomes, worked out on the production code itself.

A run is given its noise by hand. Everything that it sees after noise is the outcome. For a
neighbouring log the noise that leads to the same outcome is worked out, query by query; where
there is none, the outcome is impossible there. Every draw is discrete Laplace noise with a known
ε, so the ratio of the two likelihoods is known exactly.

The histogram over all sequences draws its empty cells in other ways. Here it is replaced by one
that noises every cell by hand and shows the same; that both have one distribution, and that what
the real one shows is private, is tested in tests/queries/test_histogram.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from sacofa.cases import CaseBatch, Cases
from sacofa.mechanisms.certified.certified import Certified
from sacofa.privacy.bits import SeededBits
from sacofa.privacy.noise import Noise
from sacofa.queries import histogram as histogram_module
from sacofa.queries.histogram import AllSequences
from sacofa.queries.protocol import Query
from sacofa.queries.session import Opened, Session
from sacofa.semantics.allowed import all_sequences
from sacofa.semantics.language import Language, Word
from sacofa.variants import VariantCounts

Ints = NDArray[np.int64]


class ByHand(Noise):
    """Noise that was chosen by hand; what post-processing draws comes from a fixed seed."""

    def __init__(self, noise: list[Ints]) -> None:
        super().__init__(SeededBits(11))
        self.given = list(noise)
        self.epsilons: list[Fraction] = []

    def laplace(self, epsilon: Fraction, size: int) -> Ints:
        """The next values by hand; zeros after the last."""
        self.epsilons.append(epsilon)
        place = len(self.epsilons) - 1
        if place >= len(self.given):
            return np.zeros(size, dtype=np.int64)
        if len(self.given[place]) != size:
            raise ImpossibleError
        return self.given[place].copy()


class EveryCell:
    """The histogram that lists every cell: what is shown is made of all noisy cells."""

    made: EveryCell

    def __init__(self, opened: Opened) -> None:
        EveryCell.made = self
        self._opened = opened
        self._noisy: dict[Word, int] | None = None
        self.shown: dict[Word, int] = {}

    @property
    def noisy(self) -> Ints:
        """All cells, shown or not: more than anyone sees."""
        return np.array(list((self._noisy or {}).values()), dtype=np.int64)

    def show(self, language: Language, threshold: int) -> dict[Word, int]:
        """Show the cells of a language that reach a threshold."""
        opened = self._opened
        if self._noisy is None:
            whole = all_sequences(language.activities, language.max_length)
            words = [whole.word(i) for i in range(whole.size)]
            assert isinstance(opened.variants, VariantCounts)
            counts = AllSequences().counts(opened.variants)
            noise = opened.noise.laplace(opened.epsilon, len(words)).tolist()
            self._noisy = {w: counts.get(w, 0) + z for w, z in zip(words, noise, strict=True)}
        new = {
            word: value
            for word, value in sorted(self._noisy.items())
            if value >= threshold and word not in self.shown and language.contains(*word)
        }
        self.shown.update(new)
        return new


class ImpossibleError(Exception):
    """No noise leads this log to the outcome."""


@dataclass(frozen=True, kw_only=True)
class ByHandOutcome:
    """What a run with noise by hand came to."""

    seen: list[Ints]
    """Everything that was seen after noise, in order."""
    asked_for: list[object]
    """The queries, with the candidates that cases voted for."""
    epsilons: list[Fraction]
    """1/scale of all noise that was drawn."""
    released: VariantCounts
    times: Ints | None
    """The times that were released."""
    columns: list[tuple[tuple[str, ...], list[int]]]
    """The attributes that were released."""
    shown: int
    """How many variants were shown as they are."""


Secret = VariantCounts | Cases
"""A log without times, or with them."""


def run_by_hand(
    mechanism: Certified, log: Secret, noise: list[Ints], session: type[Session] = Session
) -> ByHandOutcome:
    """Run with noise by hand."""
    hand = ByHand(noise)
    cases = log if isinstance(log, Cases) else Cases(variants=log)
    mechanism = mechanism if cases.by_case is not None else mechanism.without_times()
    if cases.attributes:
        mechanism = mechanism.with_attributes(cases.attributes)
    asked = session(cases, mechanism.promise(cases.unit).accesses, hand)
    with patch.object(histogram_module, "Histogram", EveryCell):
        output = mechanism.run(asked)
    shown = [answer.values for answer in asked.answers if isinstance(answer.values, Mapping)]
    return ByHandOutcome(
        seen=[
            EveryCell.made.noisy if isinstance(answer.values, Mapping) else answer.values
            for answer in asked.answers
        ],
        asked_for=[answer.query for answer in asked.answers],
        epsilons=hand.epsilons,
        released=output.variants,
        times=output.times,
        columns=[(column.texts, column.codes.tolist()) for column in output.columns],
        shown=sum(map(len, shown)),
    )


def log_ratio(
    mechanism: Certified,
    log: Secret,
    neighbour: Secret,
    noise: list[Ints],
    session: type[Session] = Session,
) -> float:
    """ln of how much likelier an outcome is for the log than for its neighbour; ∞ if impossible."""
    outcome = run_by_hand(mechanism, log, noise, session)
    if len(outcome.epsilons) != len(outcome.seen):
        # Something was answered without noise of its own: any log can be told from any other.
        return math.inf
    first = [*noise, *(np.zeros_like(v) for v in outcome.seen[len(noise) :])]
    second: list[Ints] = []
    try:
        for seen in outcome.seen:
            # With no noise on this query, what is seen is the truth of the neighbour.
            truth = run_by_hand(mechanism, neighbour, second, session).seen[len(second)]
            if truth.shape != seen.shape:
                return math.inf
            second.append(seen - truth)
        again = run_by_hand(mechanism, neighbour, second, session)
    except ImpossibleError:
        return math.inf
    if any(not np.array_equal(a, b) for a, b in zip(outcome.seen, again.seen, strict=True)):
        return math.inf
    # The queries and the release are made of what is seen, and of nothing else.
    assert again.asked_for == outcome.asked_for
    assert again.released == outcome.released
    assert np.array_equal(again.times, outcome.times)  # type: ignore[arg-type]
    assert again.columns == outcome.columns
    return float(
        sum(
            epsilon * int((np.abs(b) - np.abs(a)).sum())
            for epsilon, a, b in zip(outcome.epsilons, first, second, strict=True)
        )
    )


def some_noise(
    mechanism: Certified, log: Secret, number: int, session: type[Session] = Session
) -> Iterator[list[Ints]]:
    """Noise of many sizes and signs for each query of a run, worked out query by query."""
    draw = np.random.default_rng(4)
    for i in range(number):
        noise: list[Ints] = []
        while True:
            outcome = run_by_hand(mechanism, log, noise, session)
            if len(noise) >= len(outcome.epsilons):
                break
            scale = float(1 / outcome.epsilons[len(noise)])
            size = len(outcome.seen[len(noise)])
            sign = (1, -1, draw.choice([-1, 1], size))[i % 3]
            reach = int(scale * (1 + i % 4)) + 3
            noise.append(np.asarray(sign * draw.integers(2, reach, size)).astype(np.int64))
        yield noise


def largest_ratio(
    mechanism: Certified,
    pair: tuple[VariantCounts | Cases, VariantCounts | Cases],
    session: type[Session] = Session,
    noises: int = 1,
) -> float:
    """The largest ratio (its logarithm, in ε) of two logs, over directions and outcomes."""
    worst = 0.0
    for first, second in (pair, pair[::-1]):
        for noise in some_noise(mechanism, first, noises, session):
            ratio = log_ratio(mechanism, first, second, noise, session)
            worst = max(worst, ratio / float(mechanism.price))
            if math.isinf(worst):
                return worst
    return worst


def breaks(name: str, change: Callable[[Ints, Ints], Ints]) -> type[Session]:
    """A session that changes the answer to one question by what is true."""

    class Changed(Session):
        def ask(self, query: Query, epsilon: Fraction, line: str) -> Ints:
            noisy = super().ask(query, epsilon, line)
            if query.name == name:
                assert isinstance(self._by_case, CaseBatch)
                noisy[:] = change(noisy, query.table(self._by_case))
            return noisy

    return Changed


class ForgetsCases(Session):
    """Hides one case of a person of three where cases are asked one by one."""

    def ask(self, query: Query, epsilon: Fraction, line: str) -> Ints:
        """Three times the price, that is, for one."""
        if query.by_case:
            self._left[line] += 2 * epsilon
            epsilon = 3 * epsilon
        return super().ask(query, epsilon, line)
