"""Rules straight from their definitions: slow, one pair of activities at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sacofa.rules.rules import Rules

Case = tuple[tuple[int, ...], bool]
"""Activity ids and whether the case is finished."""
Fact = tuple[int, int, str]


def after_first(case: Sequence[int], a: int) -> set[int]:
    """The activities somewhere after the first a."""
    return set(case[list(case).index(a) + 1 :])


def before_first(case: Sequence[int], a: int) -> set[int]:
    """The activities somewhere before the first a."""
    return set(case[: list(case).index(a)])


def before_last(case: Sequence[int], a: int) -> set[int]:
    """The activities somewhere before the last a."""
    return set(case[: len(case) - 1 - list(case)[::-1].index(a)])


def prefixes(case: Sequence[int]) -> list[tuple[int, ...]]:
    """All prefixes of a case, itself among them."""
    return [tuple(case[:n]) for n in range(len(case) + 1)]


def learn(cases: list[Case], size: int) -> Rules:
    """Read off rules by asking every case (and for what is checked at once every prefix)."""
    never, follows, precedes = (np.zeros((size, size), dtype=bool) for _ in range(3))
    for a in range(size):
        for b in range(size):
            having = [case for case, _ in cases if a in case]
            done = [case for case, finished in cases if finished and a in case]
            begun = [prefix for case in having for prefix in prefixes(case) if a in prefix]
            never[a, b] = not any(b in after_first(case, a) for case in having)
            follows[a, b] = done != [] and all(b in after_first(case, a) for case in done)
            precedes[a, b] = begun != [] and all(b in before_last(case, a) for case in begun)
    starts = np.array([any(case[:1] == (a,) for case, _ in cases) for a in range(size)], dtype=bool)
    return Rules(
        activities=tuple(map(str, range(size))),
        never_follows=never,
        always_follows=follows,
        always_precedes=precedes,
        starts=starts,
        empty=() in [case for case, finished in cases if finished] or not cases,
        source="test",
    )


def broken(rules: Rules, prefix: Sequence[int], finished: bool) -> set[Fact]:
    """Every fact that a prefix breaks."""
    facts: set[Fact] = set()
    size = len(rules.activities)
    for a in set(prefix):
        for b in range(size):
            if rules.never_follows[a, b] and b in after_first(prefix, a):
                facts.add((a, b, "never follows"))
            if rules.never_precedes[a, b] and b in before_last(prefix, a):
                facts.add((a, b, "never precedes"))
            if rules.always_precedes[a, b] and b not in before_first(prefix, a):
                facts.add((a, b, "always precedes"))
            if finished and rules.always_follows[a, b] and b not in after_first(prefix, a):
                facts.add((a, b, "always follows"))
    if not prefix and finished and not rules.empty:
        facts.add((-1, -1, "empty"))
    if prefix and not rules.starts[prefix[0]]:
        facts.add((prefix[0], prefix[0], "start"))
    return facts
