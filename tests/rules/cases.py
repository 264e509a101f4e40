"""Random logs and rules to test with."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from sacofa.examples import running_example
from sacofa.kernel.variants import VariantCounts
from sacofa.rules.rules import Rules

from .oracle import Case

RUNNING_EXAMPLE = running_example()
"""Table 1 of the SaCoFa paper."""


def variants_of(cases: list[Case], size: int) -> VariantCounts:
    """The counts of cases given as activity ids."""
    return VariantCounts.from_arrays(
        [str(i) for i in range(size)],
        [a for case, _ in cases for a in case],
        [len(case) for case, _ in cases],
        [1] * len(cases),
        [finished for _, finished in cases],
    )


def random_cases(rng: np.random.Generator, size: int, number: int, length: int) -> list[Case]:
    """Cases that lean on an order, so that rules of every kind arise."""
    order = rng.permutation(size)
    cases = []
    for _ in range(number):
        events = np.sort(rng.integers(0, size, rng.integers(0, length + 1)))
        flips = rng.random(len(events)) < 0.2
        events[flips] = rng.integers(0, size, int(flips.sum()))
        cases.append((tuple(int(order[e]) for e in events), bool(rng.random() < 0.8)))
    return cases


def random_rules(rng: np.random.Generator, size: int, density: float) -> Rules:
    """Rules at random, as a person may write them; none contradict each other."""
    never, follows, precedes = (rng.random((size, size)) < density for _ in range(3))
    follows &= ~never
    precedes &= ~never.T & ~np.eye(size, dtype=bool)
    starts = rng.random(size) < 0.7
    return Rules(
        activities=tuple(map(str, range(size))),
        never_follows=never,
        always_follows=follows,
        always_precedes=precedes,
        starts=starts,
        empty=bool(rng.random() < 0.5),
        source="test",
    )


@st.composite
def logs(draw: st.DrawFn) -> tuple[list[Case], int]:
    """Small logs of any shape, with the number of activities."""
    size = draw(st.integers(1, 5))
    case = st.lists(st.integers(0, size - 1), max_size=7).map(tuple)
    return draw(st.lists(st.tuples(case, st.booleans()), max_size=6)), size
