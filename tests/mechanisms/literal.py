"""The growth of a prefix tree, straight from the paper's text: every candidate is listed."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from sacofa.kernel.noise import Noise
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.growth import Growth
from sacofa.rules.kinds import Semantics

Prefix = tuple[int, ...]


def grow_literally(
    variants: VariantCounts,
    semantics: Semantics,
    growth: Growth,
    noise: Noise,
    epsilon: Fraction = Fraction(1),
) -> dict[tuple[Prefix, bool], int]:
    """Release noisy counts of finished prefixes and of those of full length."""
    number = len(variants.activities)
    cases = list(zip(variants.sequences(), variants.counts.tolist(), strict=True))

    def count(prefix: Prefix, finished: bool) -> int:
        if finished:
            return sum(n for case, n in cases if case == prefix)
        return sum(n for case, n in cases if case[: len(prefix)] == prefix)

    released: dict[tuple[Prefix, bool], int] = {}
    frontier: list[Prefix] = [()]
    for length in range(1, growth.max_length + 1):
        candidates = [((*v, a), False) for v in frontier for a in range(number)]
        candidates += [(v, True) for v in frontier]
        harmless = [c for c in candidates if is_harmless(semantics, *c)]
        harmful = [c for c in candidates if not is_harmless(semantics, *c)]
        chosen = admit(harmful, semantics, growth, noise)
        frontier = []
        for group, threshold in ((harmless, growth.prune_harmless), (chosen, growth.prune_harmful)):
            for prefix, finished in group:
                noisy = count(prefix, finished) + int(noise.laplace(epsilon, 1)[0])
                last = finished or length == growth.max_length
                if noisy < (threshold if growth.prune_finished or not last else 1):
                    continue
                if finished or length == growth.max_length:
                    released[prefix, finished] = noisy
                else:
                    frontier.append(prefix)
    return released


# Asked for the same few prefixes in every run.
@cache
def is_harmless(semantics: Semantics, prefix: Prefix, finished: bool) -> bool:
    """Whether every step of a prefix is harmless, and its end where it is finished."""
    state = np.array([semantics.start()])
    for step in prefix:
        if not semantics.harmless(state)[0, step]:
            return False
        state = semantics.step(state, np.array([step]))
    return bool(semantics.harmless(state)[0, len(semantics.activities)]) if finished else True


def admit(
    harmful: list[tuple[Prefix, bool]], semantics: Semantics, growth: Growth, noise: Noise
) -> list[tuple[Prefix, bool]]:
    """Draw the harm to admit from the list of its chances, then candidates that add up to it."""
    if growth.prune_harmful is None:
        return []
    weights = [
        Fraction(float(np.exp(-float(growth.choice_epsilon) * h))) for h in range(len(harmful) + 1)
    ]
    point = Fraction(noise.integer(10**15), 10**15) * sum(weights)
    harm = 0
    while point >= weights[harm]:
        point -= weights[harm]
        harm += 1
    chosen, total = [], 0
    for i in noise.choose(len(harmful), len(harmful)).tolist():
        prefix, finished = harmful[i]
        bound = growth.max_violations or 1
        total += min(max(1, semantics.violations(prefix, finished)), bound)
        if total > harm:
            break
        chosen.append(harmful[i])
    return chosen
