"""An isolation forest tells usual cases from unusual ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sacofa.evaluate.measures import flow
from sacofa.evaluate.measures.flow import NormalBehaviour
from sacofa.kernel.variants import VariantCounts

USUAL = ("register", "triage", "surgery", "release")
RARE = ("release", "register", "register", "appeal")
LOG = VariantCounts.of({USUAL: 950, ("register", "triage", "release"): 300, RARE: 2})


def test_usual_cases_are_normal_and_rare_ones_are_not() -> None:
    """Shares are of cases, not of variants."""
    behaviour = NormalBehaviour(LOG)
    assert behaviour.share(VariantCounts.of({USUAL: 5})) == 1
    assert behaviour.share(VariantCounts.of({RARE: 5})) == 0
    assert behaviour.share(VariantCounts.of({USUAL: 3, RARE: 1})) == 0.75


def test_counts_matter() -> None:
    """What is rare in one log is usual in another that has the same variants."""
    turned = VariantCounts.of({USUAL: 2, RARE: 950})
    assert NormalBehaviour(turned).share(VariantCounts.of({RARE: 1, USUAL: 1})) == 0.5
    assert NormalBehaviour(LOG).share(VariantCounts.of({RARE: 1})) == 0


def test_the_yardstick_is_the_same_each_time() -> None:
    """Two forests on one log agree."""
    mixed = VariantCounts.of({("triage", "release"): 3, RARE: 1, USUAL: 2})
    assert NormalBehaviour(LOG).share(mixed) == NormalBehaviour(LOG).share(mixed)


@pytest.mark.parametrize("released", [{}, {(): 4}])
def test_no_events_are_not_normal(released: dict[tuple[str, ...], int]) -> None:
    """An empty release has no normal case, nor have cases without events."""
    assert NormalBehaviour(LOG).share(VariantCounts.of(released)) == 0


def test_cases_without_events_are_normal_where_they_occur() -> None:
    """A log of nothing but empty cases calls an empty case normal."""
    assert NormalBehaviour(VariantCounts.of({(): 4})).share(VariantCounts.of({(): 1})) == 1


def test_thinning_a_large_log_keeps_its_proportions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A forest that learns from one case in ten judges alike."""
    whole = NormalBehaviour(LOG)
    monkeypatch.setattr(flow, "LEARNT_CASES", 400)
    thinned = NormalBehaviour(LOG)
    for variant in (USUAL, RARE):
        release = VariantCounts.of({variant: 1})
        assert thinned.share(release) == whole.share(release)


def test_a_real_log_is_mostly_normal(original: Callable[[str], VariantCounts]) -> None:
    """Most cases are normal by their own log's standard, and cases made at random are much less."""
    log = original("receipt")
    behaviour = NormalBehaviour(log)
    random = np.random.default_rng(0)
    nonsense = VariantCounts.from_cases(
        [log.activities[i] for i in random.integers(len(log.activities), size=8)]
        for _ in range(500)
    )
    assert behaviour.share(log) > 0.9
    assert behaviour.share(nonsense) < 0.3
