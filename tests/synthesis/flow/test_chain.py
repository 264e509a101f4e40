"""Sequences sampled step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial

import numpy as np
import pytest

from sacofa.kernel.bits import SeededBits
from sacofa.kernel.language import Ids
from sacofa.kernel.noise import Noise
from sacofa.rules import Rules
from sacofa.rules.semantics import scorer_of
from sacofa.synthesis.flow.chain import Chain
from sacofa.synthesis.flow.steps import KeptSteps
from sacofa.synthesis.numerics import Ints, draw_uniform

LENGTH = 4
WEIGHTS = np.array([[1, 3, 9, 2], [0, 0, 0, 0], [2, 1, 0, 4], [5, 6, 7, 1]])
"""Nothing comes after activity 1, and cases may be empty."""
ORDER = Rules(
    activities=tuple("abc"),
    never_follows=np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0]], dtype=np.bool_),
    always_follows=np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0]], dtype=np.bool_),
    source="the test",
)
"""a and b are not repeated, a does not come after b, and c comes after b."""
CHAINS: dict[str, tuple[Rules | None, frozenset[int]]] = {
    "free": (None, frozenset()),
    "once": (None, frozenset({0, 2})),
    "rules": (ORDER, frozenset()),
}


def chances(
    weights: Ints, rules: Rules | None, once: frozenset[int], *, guided: bool = True
) -> dict[Ids, float]:
    """The chance of each sequence, by the definition of a single draw."""
    end, found = len(weights) - 1, dict[Ids, float]()

    def next_chances(path: Ids) -> Mapping[int, float]:
        allowed = set(range(end + 1)).difference(once.intersection(path))
        if rules is not None:
            states = scorer_of(rules)
            state = states.start()
            for activity in path:
                state = int(states.step(np.array([state]), np.array([activity]))[0])
            allowed = set(np.flatnonzero(states.harmless(np.array([state]))[0]).tolist())
        row = dict(enumerate(weights[path[-1] if path else end].tolist()))
        if not any(row.values()):
            row = {end: 1}
        # What comes next goes by weight, again and again until it is allowed; where nothing is
        # that has weight, rules leave a choice of all that they allow.
        left = {b: row.get(b, 0) if guided else 1 for b in allowed}
        if rules is not None and not any(left.values()):
            left = dict.fromkeys(allowed, 1)
        whole = sum(left.values())
        return {b: n / whole for b, n in left.items()} if whole else {end: 1.0}

    def follow(path: Ids, chance: float) -> None:
        for b, share in next_chances(path).items() if len(path) < LENGTH else [(end, 1.0)]:
            if b == end:
                found[path] = found.get(path, 0.0) + chance * share
            elif share:
                follow((*path, b), chance * share)

    follow((), 1.0)
    return found


def disagreement(drawn: Mapping[Ids, int], expected: Mapping[Ids, float]) -> float:
    """The p-value of a chi-square test; 0 if something impossible was drawn."""
    from scipy.stats import chisquare

    if not set(drawn) <= {ids for ids, chance in expected.items() if chance}:
        return 0.0
    number = sum(drawn.values())
    often = [ids for ids, chance in expected.items() if chance * number >= 10]
    pairs = [(drawn.get(ids, 0), expected[ids] * number) for ids in often]
    rest = number - np.sum(pairs, axis=0)
    if rest[1] >= 10:
        pairs.append(tuple(rest))
    counts, means = zip(*pairs, strict=True)
    return float(chisquare(counts, np.array(means) * sum(counts) / sum(means)).pvalue)


def draw(weights: Ints, kind: str, *, guided: bool = True) -> Counter[Ids]:
    """20,000 samples of a chain."""
    rules, once = CHAINS[kind]
    uniform = partial(draw_uniform, Noise(SeededBits(3)))
    return Counter(
        Chain(KeptSteps(weights=weights), LENGTH, uniform, rules, once).draw(20_000, guided=guided)
    )


@pytest.mark.parametrize("kind", CHAINS)
def test_samples_have_the_distribution_of_single_draws(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where they are drawn in several parts; slightly different weights are rejected."""
    expected = chances(WEIGHTS, *CHAINS[kind])
    assert 1 - 1e-9 < sum(expected.values()) < 1 + 1e-9
    assert disagreement(draw(WEIGHTS, kind), expected) > 0.01
    changed = WEIGHTS + (WEIGHTS > 5)
    assert disagreement(draw(changed, kind), expected) < 1e-6
    monkeypatch.setattr("sacofa.synthesis.flow.chain.TOGETHER", 999 * len(WEIGHTS))
    assert disagreement(draw(WEIGHTS, kind), expected) > 0.01


def test_unguided_samples_are_any_that_rules_allow() -> None:
    """Weights do not count then."""
    expected = chances(WEIGHTS, ORDER, frozenset(), guided=False)
    assert disagreement(draw(WEIGHTS, "rules", guided=False), expected) > 0.01
    assert disagreement(draw(WEIGHTS, "rules"), expected) < 1e-6


@pytest.mark.parametrize("kind", ["once", "rules"])
def test_what_may_not_be_repeated_is_not(kind: str) -> None:
    """Back and forth between two activities is what a chain does, and no case need do."""
    weights = np.array([[0, 8, 0, 2], [8, 0, 0, 2], [0, 0, 0, 0], [5, 5, 0, 0]])

    def repeating(kind: str) -> float:
        return sum(n for ids, n in draw(weights, kind).items() if ids.count(0) > 1) / 20_000

    assert repeating("free") > 0.3
    assert repeating(kind) == 0
