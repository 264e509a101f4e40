"""The parts of `certified` that read noisy values only."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacofa.errors import SettingError
from sacofa.mechanisms.certified import Certified, plan
from sacofa.mechanisms.certified.apportion import spread
from sacofa.mechanisms.certified.budget import Price, Shares
from sacofa.mechanisms.certified.candidates import CandidateGenerator
from sacofa.mechanisms.certified.chain import Chain, UniformSampler
from sacofa.mechanisms.certified.lengths import bin_edges, choose_length
from sacofa.mechanisms.certified.medoids import _Orders, select_medoids
from sacofa.mechanisms.certified.steps import KeptSteps, _reached, keep_steps, widest_way
from sacofa.privacy.bits import SeededBits
from sacofa.privacy.noise import Noise
from sacofa.queries.distance import WHOLE, distances, nearest
from sacofa.semantics import learn_rules
from sacofa.semantics.violations import Violations
from sacofa.unit import Unit
from sacofa.variants import VariantCounts

small = st.integers(-30, 60)


@given(st.lists(small, min_size=1, max_size=12), st.integers(0, 10), st.integers(1, 100))
def test_spread_gives_out_all_cases_and_no_more(votes: list[int], least: int, size: int) -> None:
    """Whole numbers, none negative, that add up; what is below the threshold gets nothing."""
    cells = spread(np.array(votes), least, size)
    assert cells.sum() == size and (cells >= 0).all()
    if max(votes) >= max(least, 1):
        assert not cells[np.array(votes) < max(least, 1)].any()
        order = np.argsort(votes, kind="stable")
        assert (np.diff(cells[order]) >= -1).all()


def test_spread_lowers_all_alike_and_scales_up() -> None:
    """Too many votes are lowered by one amount; too few are scaled."""
    assert spread(np.array([10, 6, 1]), 1, 14).tolist() == [9, 5, 0]
    assert spread(np.array([10, 5, -3]), 1, 30).tolist() == [20, 10, 0]
    assert spread(np.array([-5, -2]), 1, 7).tolist() == [0, 7]


@given(st.lists(st.lists(small, min_size=4, max_size=4), min_size=4, max_size=4))
def test_the_widest_way_is_the_widest(rows: list[list[int]]) -> None:
    """Compared with every way from beginning to end that visits no activity twice."""
    votes = np.array(rows)
    ways = [
        min(votes[a, b] for a, b in zip((3, *way), (*way, 3), strict=True))
        for length in (1, 2, 3)
        for way in permutations(range(3), length)
    ]
    assert widest_way(votes) == max(ways)


@given(st.lists(st.lists(st.integers(-9000, 9000), min_size=5, max_size=5), min_size=5, max_size=5))
def test_kept_steps_all_lie_on_a_way(rows: list[list[int]]) -> None:
    """There is always a way from beginning to end, and no kept step leads nowhere."""
    kept = keep_steps(np.array(rows), Fraction(1, 2000), Fraction(2))
    chain = Chain(kept, 50, UniformSampler(Noise(SeededBits(1))))
    assert kept.allowed[-1].any() and kept.allowed[:, -1].any()
    for a in range(4):
        assert kept.allowed[a].any() == kept.allowed[:, a].any()
    for _ in range(5):
        path = (4, *chain.draw(), 4)
        if len(path) < 52:
            assert all(kept.allowed[a, b] for a, b in pairwise(path))


def test_nearest_takes_the_first_of_equals() -> None:
    """Distance is edits by the longer length; ties go to the lower place."""
    columns = [(0, 1), (1, 0), (0,), ()]
    assert nearest([(0, 1), (0,), (2,), ()], columns, 3).tolist() == [0, 2, 0, 3]
    assert distances([(0, 1)], columns, 3)[0].tolist() == [0, WHOLE, WHOLE // 2, WHOLE]
    many = [tuple(range(i, i + 3)) for i in range(3_000)]
    assert nearest(many, many, 4_000).tolist() == list(range(3_000))


def pairs_in_both_orders(sequences: list[tuple[int, ...]]) -> int:
    """Count by definition: pairs seen in both orders, and repeated activities."""
    seen = {(s[i], s[j]) for s in sequences for i in range(len(s)) for j in range(i + 1, len(s))}
    return sum((b, a) in seen for a, b in seen if a < b) + sum(a == b for a, b in seen)


sequences = st.lists(st.integers(0, 4), max_size=6).map(tuple)


@given(sequences, sequences)
def test_disorder_is_counted_by_its_definition(one: tuple[int, ...], two: tuple[int, ...]) -> None:
    """Bit sets agree with a plain count."""
    first, second = _Orders.of(one, 5), _Orders.of(two, 5)
    assert _Orders().new_disorder(first) == pairs_in_both_orders([one])
    expected = pairs_in_both_orders([one, two]) - pairs_in_both_orders([one])
    assert first.new_disorder(second) == expected


def test_representatives_pay_for_disorder() -> None:
    """A few cases in another order are not worth it; many are. All votes find a representative."""
    candidates = [(0, 1, 2, 3), (0, 2, 1, 3), (0, 1, 2)]
    few, represented = select_medoids(
        candidates, np.array([100, 4, 30]), 4, price=Fraction(1), order_penalty=Fraction(5)
    )
    assert few == [0, 2] and represented.tolist() == [104, 30]
    many, represented = select_medoids(
        candidates, np.array([100, 40, 30]), 4, price=Fraction(1), order_penalty=Fraction(5)
    )
    assert many == [0, 1, 2] and represented.tolist() == [100, 40, 30]


def asked_of_all(
    candidates: list[tuple[int, ...]], votes: list[int], price: int, order_penalty: int
) -> list[int]:
    """Choose representatives by definition: ask every candidate, every time."""
    apart = distances(candidates, candidates, 5)
    nearest_now = [WHOLE] * len(candidates)
    chosen: list[int] = []
    while len(chosen) < len(candidates):
        shown = [candidates[i] for i in chosen]
        profits = {
            i: sum(
                vote * max(nearest_now[j] - int(apart[j, i]), 0)
                for j, vote in enumerate(votes)
                if vote > 0
            )
            - price * WHOLE
            - (pairs_in_both_orders([*shown, candidates[i]]) - pairs_in_both_orders(shown))
            * order_penalty
            * WHOLE
            for i in range(len(candidates))
            if i not in chosen
        }
        best = max(profits, key=lambda i: (profits[i], -i))
        if chosen and profits[best] <= 0:
            break
        chosen.append(best)
        nearest_now = [min(n, int(apart[j, best])) for j, n in enumerate(nearest_now)]
    return chosen


@given(
    st.lists(st.tuples(sequences, small), min_size=1, max_size=8, unique_by=lambda one: one[0]),
    st.integers(0, 10),
    st.integers(0, 10),
)
def test_representatives_are_the_best_of_all(
    voted: list[tuple[tuple[int, ...], int]], price: int, order_penalty: int
) -> None:
    """Those that are not asked for their disorder would not have been chosen."""
    candidates, votes = [ids for ids, _ in voted], [vote for _, vote in voted]
    chosen, represented = select_medoids(
        candidates,
        np.array(votes),
        5,
        price=Fraction(price),
        order_penalty=Fraction(order_penalty),
    )
    assert chosen == asked_of_all(candidates, votes, price, order_penalty)
    assert represented.sum() == sum(vote for vote in votes if vote > 0)


@given(st.lists(sequences, min_size=1, max_size=5))
def test_many_activities_are_written_otherwise_and_are_as_far_apart(
    rows: list[tuple[int, ...]],
) -> None:
    """Distances do not depend on how many activities there are besides."""
    few, many = (distances(rows, rows, activities) for activities in (256, 257))
    assert few.tolist() == many.tolist()
    high = [tuple(251 + i for i in ids) for ids in rows]
    assert distances(high, high, 256).tolist() == few.tolist()


@given(st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=6, max_size=6))
def test_what_is_reached_is_found_step_by_step(rows: list[list[bool]]) -> None:
    """The same as going on from each place that was reached."""
    found, todo = {5}, [5]
    while todo:
        here = todo.pop()
        new = {b for b in range(6) if rows[here][b]} - found
        found |= new
        todo += new
    assert np.flatnonzero(_reached(np.array(rows))).tolist() == sorted(found)


def test_what_comes_after_an_activity_is_never_the_end() -> None:
    """The end may come in a draw, but not where an activity is asked for."""
    weights = np.array([[0, 3, 9], [0, 0, 5], [2, 1, 4]])
    chain = Chain(KeptSteps(weights=weights), 3, UniformSampler(Noise(SeededBits(3))))
    after = [[chain.activity_after(a) for _ in range(200)] for a in range(3)]
    assert [{*some} for some in after] == [{1}, {None}, {0, 1}]
    assert () in {chain.draw() for _ in range(200)}


@given(st.fractions(Fraction(1, 100), 100), st.fractions(Fraction(1, 100), 100))
def test_noise_scales_are_rounded_up(number: Fraction, noise: Fraction) -> None:
    """In whole numbers, without rounding on the way."""
    assert Price(epsilon=noise, noise=noise).scales(number) == math.ceil(number / noise)


@pytest.mark.parametrize("max_length", [None, 5])
@pytest.mark.parametrize("rules", [None, "some"])
def test_prices_add_up(max_length: int | None, rules: str | None) -> None:
    """Whether variants are shown by name or not, the looks cost ε; noise hides all of a unit."""
    mechanism = Certified(
        epsilon=Fraction(2, 3),
        max_length=max_length,
        rules=None if rules is None else learn_rules(LOG, source=rules),
        unit=Unit(max_cases=4),
    )
    prices = mechanism.prices
    always = (prices.size, prices.length, prices.semantics, prices.search)
    for last in ((prices.named, prices.last_named), (prices.last_unnamed,)):
        looks = (*always, *last)
        assert sum(price.epsilon for price in looks) == Fraction(2, 3)
        assert all(price.noise * 4 == price.epsilon for price in looks)


def test_lengths_are_chosen_where_cases_end() -> None:
    """Nearly all cases are no longer than the choice; noise alone changes nothing."""
    edges = bin_edges(100)
    assert edges[0] == 1 and edges[-1] == 100 and edges == sorted(set(edges))
    votes = np.full(len(edges), 30)
    votes[edges.index(12)], votes[edges.index(18)] = 500, 300
    assert choose_length(edges, votes, Fraction(1, 20)) == 18
    assert choose_length(edges, np.zeros(len(edges), dtype=np.int64), Fraction(1, 20)) == 30
    assert choose_length(bin_edges(7), np.zeros(5, dtype=np.int64), Fraction(1)) == 7


LOG = VariantCounts.of(
    {tuple("abcd"): 60, tuple("acbd"): 40, tuple("abd"): 30, tuple("ad"): 3}, tuple("abcd")
)


def test_released_cases_keep_public_rules() -> None:
    """With rules, every released case is harmless."""
    rules = learn_rules(LOG, source="a test")
    for seed in range(20):
        for epsilon in ("1/10", "1"):
            mechanism = Certified(epsilon=Fraction(epsilon), max_length=6, rules=rules)
            released = mechanism.run(LOG, Noise(SeededBits(seed))).variants
            count = Violations(rules).count
            for ids, finished in zip(released.sequences(), released.complete, strict=True):
                assert not count(ids, bool(finished))


def test_candidates_are_few_and_new() -> None:
    """No list is longer than asked for, none has a sequence twice or one that is too long."""
    weights = np.ones((5, 5), dtype=np.int64)
    steps = KeptSteps(weights=weights)
    dice = UniformSampler(Noise(SeededBits(2)))
    chain = Chain(steps, 6, dice)
    proposer = CandidateGenerator(steps, chain, dice)
    first = proposer.first(40, {}, 100)
    chain.learn({first[0]: 60, first[1]: 40})
    second = proposer.next(40, {first[0]: 60, first[1]: 40})
    for found in (first, second):
        assert 1 < len(found) <= 40 == len({*found}) + 40 - len(found)
        assert max(map(len, found)) <= 6
    assert second[:2] == first[:2]


def test_a_seed_repeats_everything() -> None:
    """The same seed gives the same release and the same transcript; another one does not."""
    mechanism = Certified(epsilon=Fraction(1))
    one, same, other = (mechanism.run(LOG, Noise(SeededBits(s))) for s in (1, 1, 2))
    assert one.variants == same.variants
    assert str(one.transcript) == str(same.transcript)
    assert one.variants != other.variants


@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon": 0},
        {"epsilon": "x"},
        {"max_length": 0},
        {"longest": 0},
        {"candidates": -1},
        {"rules": learn_rules(LOG)},
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, object]) -> None:
    """Before any log is read, with the name of the setting."""
    with pytest.raises(SettingError, match=next(iter(settings))):
        Certified(**{"epsilon": Fraction(1), **settings})  # type: ignore[arg-type]


def test_shares_leave_something_for_the_last_vote() -> None:
    """Shares of 1 and more, or of nothing, are refused."""
    for bad in ({"semantics": Fraction(9, 10)}, {"size": Fraction(0)}, {"named": Fraction(-1)}):
        with pytest.raises(SettingError):
            Shares(**bad)


@pytest.mark.parametrize("max_length", [None, 10])
@pytest.mark.parametrize("cases", [None, 100, 1_000_000])
def test_a_plan_adds_up(max_length: int | None, cases: int | None) -> None:
    """The shares of a plan add up to ε exactly, and it tells when variants get names."""
    made = plan(epsilon="1/3", activities=27, max_length=max_length, cases=cases)
    assert sum(share.epsilon for share in made.shares) == Fraction(1, 3)
    if max_length is None or cases is None:
        assert made.named is None
    else:
        assert made.named == (cases > 100)
        assert any("names" in share.what for share in made.shares) == made.named
    doubled = plan(epsilon="2/3", activities=27, max_length=max_length, cases=cases)
    assert doubled.candidate_from <= made.candidate_from


def test_a_plan_tells_when_variants_are_shown_by_name() -> None:
    """A run on a log of the size that the plan names shows variants by name, a smaller not."""
    made = plan(epsilon=1, activities=4, max_length=5)
    assert made.rich_from is not None
    for cases, named in ((2 * made.rich_from, True), (made.rich_from // 2, False)):
        log = VariantCounts.of({tuple("abcd"): cases}, tuple("abcd"))
        notes = Certified(epsilon=Fraction(1), max_length=5).run(log, Noise(SeededBits(1))).notes
        assert any("by name" in note for note in notes) == named
