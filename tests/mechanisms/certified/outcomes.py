"""Exact likelihood ratios of outcomes, worked out on the production code itself.

A run is given its noise by hand. Everything that it sees after noise is the outcome. On a
neighbouring log every draw is what leads its table to the same answer; where the outcome is another
one all the same, it is impossible there. Every draw is discrete Laplace noise with a known ε, so
the ratio of the two likelihoods is known exactly.

The histogram over all sequences draws its empty cells in other ways. Here it is replaced by one
that noises every cell by hand and shows the same; that both have one distribution, and that what
the real one shows is private, is tested in tests/kernel/queries/test_histogram.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from sacofa.kernel import session as session_module
from sacofa.kernel.accounting import Access
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import CaseBatch, Cases
from sacofa.kernel.language import Language, Word
from sacofa.kernel.laws import DiscreteGaussian, Law
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries import histogram as histogram_module
from sacofa.kernel.queries.histogram import AllSequences
from sacofa.kernel.queries.protocol import Part, Query
from sacofa.kernel.session import Opened, Session
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.certified.certified import Certified
from sacofa.mechanisms.protocol import Output
from sacofa.rules.allowed import all_sequences

Ints = NDArray[np.int64]


Choose = Callable[[int, Fraction, Ints], Ints]
"""Chooses noise: for the n-th draw, its ε, and the table that it is added to."""


class ByHand(Noise):
    """Noise that is chosen by hand; what post-processing draws comes from a fixed seed."""

    def __init__(self, choose: Choose) -> None:
        super().__init__(SeededBits(11))
        self._choose = choose
        self.laws: list[Law] = []
        self.given: list[Ints] = []
        self.seen: list[Ints] = []
        """The noisy tables, in order."""
        self.table: Ints = np.zeros(0, dtype=np.int64)
        """The table that was worked out last: noise is drawn for it."""

    def draw(self, law: Law, size: int) -> Ints:
        """The next values by hand."""
        noise = self._choose(len(self.laws), law.epsilon, self.table)
        if len(noise) != size:
            raise ImpossibleError
        self.laws.append(law)
        self.given.append(noise)
        self.seen.append(self.table + noise)
        return noise.copy()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Take note of each table before its noise is chosen, and list every histogram cell."""
        worked_out = session_module._table

        def watched(number: int, part: Part, *, query: Query) -> Ints:
            self.table = worked_out(number, part, query=query)
            return self.table

        with (
            patch.object(session_module, "_table", watched),
            patch.object(histogram_module, "Histogram", EveryCell),
        ):
            yield


def listed(noise: list[Ints]) -> Choose:
    """The noise of a list; zeros after the last."""
    return lambda place, _, table: noise[place] if place < len(noise) else np.zeros_like(table)


def leading_to(seen: list[Ints]) -> Choose:
    """The noise with which a log is seen as another was."""

    def choose(place: int, epsilon: Fraction, table: Ints) -> Ints:
        if place >= len(seen) or table.shape != seen[place].shape:
            raise ImpossibleError
        return seen[place] - table

    return choose


class EveryCell:
    """The histogram that lists every cell: what is shown is made of all noisy cells."""

    made: EveryCell

    def __init__(self, opened: Opened) -> None:
        EveryCell.made = self
        self._opened = opened
        self._noisy: dict[Word, int] | None = None
        self.shown: dict[Word, int] = {}

    @property
    def least(self) -> int | None:
        """The threshold below which no cell is shown."""
        return self._opened.threshold

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
            assert isinstance(opened.noise, ByHand)
            counts = AllSequences().counts(opened.variants)
            table = np.array([counts.get(word, 0) for word in words], dtype=np.int64)
            opened.noise.table = table
            noisy = table + opened.noise.draw(opened.law, len(words))
            self._noisy = dict(zip(words, noisy.tolist(), strict=True))
            # Where δ hides which cells are empty, these are never shown, whatever their noise is.
            self._empty = {word for word in words if opened.threshold and word not in counts}
        new = {
            word: value
            for word, value in sorted(self._noisy.items())
            if value >= max(threshold, opened.threshold or 1) and word not in self._empty
            if word not in self.shown and language.contains(*word)
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
    laws: list[Law]
    """All noise that was drawn."""
    noise: list[Ints]
    """The noise that was chosen."""
    spent: tuple[Access, ...]
    """What was charged, and for what."""
    output: Output
    """The release and everything that is said about it."""
    progress: list[float]
    """What was reported while the run went on."""
    shown: int
    """How many variants were shown as they are."""

    @property
    def epsilons(self) -> list[Fraction]:
        """1/scale of all noise that was drawn."""
        return [law.epsilon for law in self.laws]


Secret = VariantCounts | Cases
"""A log without times, or with them."""


def run_by_hand(
    mechanism: Certified, log: Secret, choose: Choose, session: type[Session] = Session
) -> ByHandOutcome:
    """Run with noise by hand."""
    hand = ByHand(choose)
    cases = log if isinstance(log, Cases) else Cases(variants=log)
    mechanism = mechanism.for_log(timed=cases.by_case is not None, attributes=cases.attributes)
    promise = mechanism.promise(cases.unit)
    asked = session(cases, promise.accesses, hand, promise.budget)
    progress: list[float] = []
    with hand.watching():
        output = mechanism.run(asked, progress.append)
    shown = [answer.values for answer in asked.answers if isinstance(answer.values, Mapping)]
    return ByHandOutcome(
        seen=[
            EveryCell.made.noisy if isinstance(answer.values, Mapping) else answer.values
            for answer in asked.answers
        ],
        asked_for=[answer.query for answer in asked.answers],
        laws=hand.laws,
        noise=hand.given,
        spent=tuple(asked.spent),
        output=output,
        progress=progress,
        shown=sum(map(len, shown)),
    )


def plain(value: object) -> object:
    """A value in which every array and dataclass is spelled out, so that two can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind, value.shape, value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        content = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        return type(value).__name__, content
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def parts_of(output: Output) -> dict[str, object]:
    """All parts of an output, those of its log one by one."""
    found = {field.name: getattr(output, field.name) for field in fields(output)}
    log = found.pop("log")
    return {field.name: getattr(log, field.name) for field in fields(log)} | found


def differences(one: ByHandOutcome, other: ByHandOutcome) -> list[str]:
    """What two runs with the same noisy answers do not have in common, although they must."""
    parts = {
        name: (getattr(one, name), getattr(other, name))
        for name in ("asked_for", "laws", "spent", "progress")
    }
    others = parts_of(other.output)
    parts |= {name: (part, others[name]) for name, part in parts_of(one.output).items()}
    return [name for name, (a, b) in parts.items() if plain(a) != plain(b)]


def led(
    mechanism: Certified, outcome: ByHandOutcome, neighbour: Secret, session: type[Session]
) -> ByHandOutcome | None:
    """The run on a neighbouring log that comes to the same outcome; None if there is none."""
    if len(outcome.laws) != len(outcome.seen):
        # Something was answered without noise of its own: any log can be told from any other.
        return None
    try:
        again = run_by_hand(mechanism, neighbour, leading_to(outcome.seen), session)
    except ImpossibleError:
        return None
    if len(again.seen) != len(outcome.seen) or any(
        not np.array_equal(a, b) for a, b in zip(outcome.seen, again.seen, strict=True)
    ):
        return None
    # Queries, charges, release, verdict, notes and progress follow from what is seen alone.
    differing = differences(outcome, again)
    assert not differing, f"depends on more than noisy answers: {', '.join(differing)}"
    return again


def log_ratio(
    mechanism: Certified, outcome: ByHandOutcome, neighbour: Secret, session: type[Session]
) -> float:
    """ln of how much likelier an outcome is for its log than for a neighbour; ∞ if impossible.

    With a budget in ρ, what the draws cost that lead to it.
    """
    again = led(mechanism, outcome, neighbour, session)
    if again is None:
        return math.inf
    return float(sum(map(cost, outcome.laws, outcome.noise, again.noise)))


def cost(law: Law, one: Ints, other: Ints) -> Fraction:
    """The log-likelihood ratio of two vectors of Laplace noise; the ρ of Gaussian noise."""
    if isinstance(law, DiscreteGaussian):
        return sum(int(d) ** 2 for d in (other - one).tolist()) / (2 * law.sigma_squared)
    return law.epsilon * int((np.abs(other) - np.abs(one)).sum())


def some_outcomes(
    mechanism: Certified, log: Secret, number: int, session: type[Session] = Session
) -> Iterator[ByHandOutcome]:
    """What runs come to whose draws have noise of many sizes and signs."""
    draw = np.random.default_rng(4)
    for i in range(number):

        def choose(place: int, epsilon: Fraction, table: Ints, i: int = i) -> Ints:
            sign = (1, -1, draw.choice([-1, 1], len(table)))[i % 3]
            reach = int(float(1 / epsilon) * (1 + i % 4)) + 3
            return np.asarray(sign * draw.integers(2, reach, len(table))).astype(np.int64)

        yield run_by_hand(mechanism, log, choose, session)


def largest_ratio(
    mechanism: Certified,
    pair: tuple[VariantCounts | Cases, VariantCounts | Cases],
    session: type[Session] = Session,
    noises: int = 1,
    known: Iterable[ByHandOutcome] | None = None,
    enough: float = math.inf,
) -> float:
    """The largest ratio (its logarithm, in ε; or ρ, in that of the budget) of two logs.

    Over both directions and some outcomes.

    What the first log comes to may be `known` from another pair. The search ends at a ratio that is
    `enough`, or infinite.
    """
    worst = 0.0
    for first, second in (pair, pair[::-1]):
        found = some_outcomes(mechanism, first, noises, session)
        for outcome in found if known is None or first is not pair[0] else known:
            ratio = log_ratio(mechanism, outcome, second, session)
            worst = max(worst, ratio / float(mechanism.price))
            if worst > enough or math.isinf(worst):
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
