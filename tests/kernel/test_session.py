"""The session: charges first, answers through noise, and holds a mechanism to its promise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sacofa.base.distance import nearest
from sacofa.errors import PromiseError, SettingError
from sacofa.kernel import session as session_module
from sacofa.kernel.accounting import Leak, Spend, total_epsilon
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import Cases
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries.durations import DAY, bin_of
from sacofa.kernel.queries.flow import (
    VOTE_UNITS,
    CaseCount,
    CaseLengths,
    NearestCandidate,
    StepVotes,
)
from sacofa.kernel.queries.histogram import AllSequences
from sacofa.kernel.queries.protocol import Ints, Query, SparseQuery
from sacofa.kernel.queries.times import CycleTime, Elapsed, row_starts
from sacofa.kernel.session import MAX_SENSITIVITY, Session
from sacofa.kernel.unit import Unit
from sacofa.kernel.variants import VariantCounts

from .queries.bare import Bare, session_of
from .queries.batches import batch

LOG = VariantCounts.of({("a",): 3, ("a", "b"): 2})
HALF = Fraction(1, 2)


class Recorded(Noise):
    """Remembers the 1/scale of all noise that was asked for."""

    def __init__(self) -> None:
        super().__init__(SeededBits(1))
        self.epsilons: list[Fraction] = []

    def laplace(self, epsilon: Fraction, size: int) -> Ints:
        """Noise as ever."""
        self.epsilons.append(epsilon)
        return super().laplace(epsilon, size)


def test_more_than_was_promised_is_refused() -> None:
    """A price above what is left on its line is refused, and nothing is answered or charged."""
    session = session_of(LOG)
    session.ask(CaseCount(), HALF, "all")
    with pytest.raises(PromiseError, match=r"ε = 0\.5 left"):
        session.ask(CaseLengths((1, 2)), Fraction(3, 5), "all")
    assert list(session.transcript) == ["size"]
    assert total_epsilon(session.spent) == HALF
    session.ask(CaseLengths((1, 2)), HALF, "all")
    with pytest.raises(PromiseError, match="ε = 0 left"):
        session.open(AllSequences(), Fraction(1, 10**9), "all")


@pytest.mark.parametrize("price", [Fraction(0), Fraction(-1)])
def test_no_price_is_refused(price: Fraction) -> None:
    """A query for nothing, or that gives something back, is none."""
    with pytest.raises(PromiseError):
        session_of(LOG).ask(CaseCount(), price, "all")


@pytest.mark.parametrize("price", [0.5, 1, math.nan, np.float64(0.5), "1/2", True])
def test_a_price_is_a_fraction(price: Any) -> None:
    """Anything else is refused before it is charged, or the log is touched, in every way to ask."""
    session = session_of(LOG)
    with pytest.raises(PromiseError, match="must be a Fraction"):
        session.ask(CaseCount(), price, "all")
    with pytest.raises(PromiseError, match="must be a Fraction"):
        session.open(AllSequences(), price, "all")
    assert not session.spent and not session.transcript
    session.ask(CaseCount(), Fraction(1), "all")
    assert total_epsilon(session.close()) == 1


def test_an_unknown_line_is_refused() -> None:
    """What was not promised at all cannot be charged, nor read without payment."""
    with pytest.raises(PromiseError, match="line other"):
        session_of(LOG).ask(CaseCount(), HALF, "other")
    with pytest.raises(PromiseError, match="line rules"):
        session_of(LOG).read_unpaid("rules")


def test_an_unspent_line_is_refused_at_the_end() -> None:
    """The certificate says what was promised: a run that charges less did something else."""
    session = session_of(LOG)
    session.ask(CaseCount(), HALF, "all")
    with pytest.raises(PromiseError, match="not spent: all"):
        session.close()
    session.charge("the rest", HALF, "all")
    assert total_epsilon(session.close()) == 1


def test_a_leak_is_read_once_and_must_be() -> None:
    """What the promise names as unpaid is given once; if it is not read, the promise was wrong."""
    leak = Leak(what="rules", why="a test", line="rules")
    session = Session(Cases(variants=LOG), (leak,), Bare(SeededBits(1)))
    with pytest.raises(PromiseError, match="rules"):
        session.close()
    assert session.read_unpaid("rules") is LOG
    with pytest.raises(PromiseError):
        session.read_unpaid("rules")
    assert session.close() == (leak,)


def test_lines_of_one_name_add_up() -> None:
    """A promise of two lines under one name may be charged for both, and has to be."""
    promised = tuple(Spend(what=what, amount=HALF) for what in ("one", "two"))
    session = Session(Cases(variants=LOG), promised, Bare(SeededBits(1)))
    session.ask(CaseCount(), Fraction(1), "")
    assert total_epsilon(session.close()) == total_epsilon(promised)


QUERIES: dict[str, Query] = {
    "size": CaseCount(),
    "lengths": CaseLengths((1, 2)),
    "steps": StepVotes(2),
    "final": NearestCandidate("final", ((0,), (0, 1)), nearest),
}


@pytest.mark.parametrize("max_cases", [1, 3, 40])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_noise_hides_all_cases_of_a_unit(query: Query, max_cases: int) -> None:
    """1/scale of the noise is price / (sensitivity · cases of a person), and the answer says so."""
    log = replace(LOG, unit=Unit(person="patient", max_cases=max_cases))
    noise = Recorded()
    session = session_of(log, noise=noise)
    session.ask(query, HALF, "all")
    expected = HALF / (query.sensitivity * max_cases)
    assert noise.epsilons == [expected]
    assert [answer.epsilon for answer in session.answers] == [expected]
    assert session.open(AllSequences(), HALF, "all").law.epsilon == HALF / max_cases


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_every_cell_has_its_noise(query: Query) -> None:
    """An answer is the table plus the noise that was drawn for it, empty cells too."""
    session = session_of(LOG, noise=Noise(SeededBits(4)))
    values = session.ask(query, HALF, "all")
    drawn = Noise(SeededBits(4)).laplace(HALF / query.sensitivity, len(query.cells))
    assert np.array_equal(values - query.table(LOG), drawn)
    assert np.count_nonzero(drawn) or len(drawn) == 1


class Numbered(Noise):
    """Noise that is a number of its own for each draw: 1, 2, 3, … ."""

    def __init__(self) -> None:
        super().__init__(SeededBits(1))
        self.drawn = 0

    def laplace(self, epsilon: Fraction, size: int) -> Ints:
        """The next numbers."""
        self.drawn += size
        return np.arange(self.drawn - size, self.drawn) + 1


@pytest.mark.parametrize("block", [1, 2, 3, 4, 5, 8, 9, 10])
def test_each_cell_of_each_block_has_a_draw_of_its_own(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table is noised block by block: no draw is used twice, and no cell goes without."""
    monkeypatch.setattr(session_module, "TOGETHER", block)
    noise, query = Numbered(), StepVotes(2)
    values = session_of(LOG, noise=noise).ask(query, HALF, "all")
    assert noise.drawn == len(query.cells) == 9
    assert (values - query.table(LOG)).tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_the_tables_of_all_pieces_of_a_log_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log is counted piece by piece, and each piece once."""
    monkeypatch.setattr(session_module, "PIECE", 1)
    log = batch([[(0, 0, 0), (1, 5, day * DAY)] for day in range(20)], 2)
    query = CycleTime(rung=-1)
    assert len(list(log.pieces(len(query.cells)))) > 3
    cases = Cases(variants=log.variants(), by_case=log)
    promised = [Spend(what="all", amount=HALF, line="all")]
    answer = Session(cases, promised, Bare(SeededBits(1))).ask(query, HALF, "all")
    assert answer.tolist() == query.table(log).tolist()
    assert answer.sum() == 20 * VOTE_UNITS


def test_two_tables_never_share_noise() -> None:
    """Asked again under another name, the same table has other noise."""
    candidates = tuple((i,) for i in range(2)) * 1 + ((0, 1), (1, 0), ())
    session = session_of(LOG, noise=Noise(SeededBits(4)))
    one, two = (
        session.ask(NearestCandidate(name, candidates, nearest), Fraction(1, 100), "all")
        for name in ("search", "final")
    )
    assert (one != two).all()


def test_a_list_of_candidates_is_part_of_the_answer() -> None:
    """Where cells have keys of their own, the transcript has them; else their places."""
    session = session_of(LOG)
    session.ask(QUERIES["final"], HALF, "all")
    session.ask(QUERIES["lengths"], HALF, "all")
    assert session.transcript["final"] == {(0,): 3, (0, 1): 2}
    votes = [3 * VOTE_UNITS, 2 * VOTE_UNITS]
    assert np.array_equal(session.transcript["lengths"], votes)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Strange:
    """A query that can be wrong in many ways."""

    name: str = "strange"
    sensitivity: int = 1
    l2_sensitivity: int = 1
    by_case: bool = False
    values: object = 0

    what = "something"
    cells = range(2)

    def table(self, part: VariantCounts) -> Ints:
        """Whatever it was told."""
        return np.asarray(self.values)

    def counts(self, part: VariantCounts) -> dict[object, int]:
        """Nothing."""
        return {}


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (Strange(name="size"), "queried before"),
        (Strange(sensitivity=0), "sensitivity"),
        (Strange(sensitivity=MAX_SENSITIVITY + 1), "sensitivity"),
        (Strange(by_case=True), "one by one"),
    ],
)
def test_a_wrong_query_is_refused_before_it_is_charged(query: Strange, why: str) -> None:
    """What is wrong with a query itself is known without the log."""
    session = session_of(LOG)
    session.ask(CaseCount(), HALF, "all")
    with pytest.raises(PromiseError, match=why):
        session.ask(query, HALF, "all")
    if not query.by_case:
        sparse: SparseQuery = query  # type: ignore[assignment]
        with pytest.raises(PromiseError, match=why):
            session.open(sparse, HALF, "all")
    assert total_epsilon(session.spent) == HALF


@pytest.mark.parametrize("values", [[0.5, 1.0], [1], [[1, 2]], 3, [True, False]], ids=str)
def test_a_table_of_anything_but_whole_numbers_is_refused(values: object) -> None:
    """Noise protects whole numbers, one to a cell; nothing else gets out."""
    session = session_of(LOG)
    with pytest.raises(PromiseError, match="whole number for each cell"):
        session.ask(Strange(values=values), HALF, "all")
    assert not session.transcript and not session.answers


@pytest.mark.parametrize("max_cases", [1, 1000])
def test_a_price_whose_noise_no_number_holds_is_refused(max_cases: int) -> None:
    """The smallest price that is taken has noise that fits; a smaller one is refused at once."""
    log = replace(LOG, unit=Unit(person="patient", max_cases=max_cases))
    least = Fraction(max_cases, 10**9)
    session = session_of(log, least, Noise(SeededBits(1)))
    votes = session.ask(StepVotes(2), least, "all")
    assert np.abs(votes).max() < 2**62
    assert np.abs(votes).min() > VOTE_UNITS * max_cases
    with pytest.raises(SettingError, match=r"epsilon .* at least"):
        session_of(log, least * Fraction(999, 1000), Noise(SeededBits(1)))


def refusals(log: VariantCounts) -> list[str]:
    """Every message with which a session refuses something, on a log."""
    session = session_of(log, HALF)
    session.ask(CaseCount(), HALF / 2, "all")
    wrong = Strange(values=log.counts.sum() + np.array([0.5, 1.0]))
    refused: list[Callable[[], object]] = [
        lambda: session.ask(CaseCount(), HALF / 4, "all"),
        lambda: session.ask(CaseLengths((1, 2)), HALF, "all"),
        lambda: session.ask(CaseLengths((1, 2)), HALF, "other"),
        lambda: session.open(AllSequences(), HALF, "all"),
        lambda: session.ask(Strange(by_case=True), HALF / 4, "all"),
        lambda: session.ask(Strange(sensitivity=0), HALF / 4, "all"),
        lambda: session.read_unpaid("rules"),
        lambda: session.close(),
        lambda: session.ask(wrong, HALF / 4, "all"),
        lambda: session_of(log, Fraction(1, 10**12)),
    ]
    messages = []
    for refuse in refused:
        with pytest.raises((PromiseError, SettingError)) as error:
            refuse()
        messages.append(str(error.value))
    return messages


def test_refusals_are_worded_alike_whatever_the_log_is() -> None:
    """No message holds a count or a sum of the log."""
    messages = refusals(LOG)
    assert len(set(messages)) == len(messages)
    assert refusals(VariantCounts.of({("b", "a"): 7_777})) == messages
    assert refusals(VariantCounts.of({}, ("a", "b"))) == messages


def test_queries_after_truncation_see_truncated_cases() -> None:
    """Every answer tells where cases were truncated when it was asked."""
    session = session_of(LOG)
    session.ask(StepVotes(2), HALF, "all")
    session.truncate(1)
    session.ask(CaseLengths((1, 2)), HALF, "all")
    assert [answer.max_length for answer in session.answers] == [None, 1]
    votes = [5 * VOTE_UNITS, 0]
    assert np.array_equal(session.transcript["lengths"], votes)  # type: ignore[arg-type]


def test_whole_cases_are_asked_of_all_their_events() -> None:
    """A case takes as long as it took, also where the activity that ended it was dropped."""
    log = batch([[(0, 0, 0), (1, 5, 5), (2, 9 * DAY, 9 * DAY)]] * 3, 3)
    cases = Cases(variants=log.variants(), by_case=log)
    session = Session(cases, [Spend(what="all", amount=Fraction(900), line="all")], Noise())
    session.project_onto(["a", "b"])
    took = session.ask(CycleTime(rung=0), Fraction(300), "all")
    assert int(np.argmax(took)) == int(bin_of(np.array([9 * DAY]), 0)[0])
    gaps = session.ask(Elapsed(rungs=(0, 0)), Fraction(300), "all")
    assert int(np.argmax(gaps)) == int(row_starts((0,))[1])
    # The audit's attacker asks both logs the same way.
    assert [answer.activities for answer in session.answers] == [("a", "b", "c"), ("a", "b")]
