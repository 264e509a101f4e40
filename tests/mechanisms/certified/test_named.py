"""Small languages are kept between runs: what is shown is the same as without."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sacofa.mechanisms.certified import Certified, named
from sacofa.privacy.bits import SeededBits
from sacofa.privacy.noise import Noise
from sacofa.semantics import learn_rules
from sacofa.semantics.rules import Rules
from sacofa.variants import VariantCounts

LOG = VariantCounts.of({(): 300, ("a",): 900, ("a", "b"): 400, ("b",): 60}, ("a", "b"))
RULES = {"no rules": None, "rules": learn_rules(LOG, source="a test")}


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_kept_languages_are_those_that_would_be_made(
    rules: Rules | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same seeds every noisy value and every note is the same, kept or made anew."""
    mechanism = Certified(epsilon=Fraction(1), max_length=3, rules=rules)

    def run() -> list[tuple[object, ...]]:
        found = [mechanism.run(LOG, Noise(SeededBits(seed))) for seed in range(40)]
        return [(one.variants, one.transcript["named"], one.notes) for one in found]

    named._kept_so_far.cache_clear()
    kept = run()
    assert named._kept_so_far.cache_info().hits > 20
    assert named._kept_of_steps.cache_info().hits > 0 or rules is not None
    monkeypatch.setattr(named, "SMALL", 0)
    before = named._kept_so_far.cache_info()
    assert run() == kept
    assert named._kept_so_far.cache_info() == before
