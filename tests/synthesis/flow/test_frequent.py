"""Which variants are shown as they are: thresholds by meaning, from strict to lenient."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import Cases
from sacofa.kernel.laws import DiscreteLaplace
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries.histogram import AllSequences, Histogram
from sacofa.kernel.reals import tail
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms import perform
from sacofa.mechanisms.certified import Certified
from sacofa.rules import Steps, learn_rules
from sacofa.rules.provenance import Stated
from sacofa.rules.rules import Rules
from sacofa.synthesis.flow import frequent
from sacofa.synthesis.flow.frequent import all_threshold, show_frequent
from sacofa.synthesis.thresholds import smallest_threshold
from tests.kernel.queries.bare import session_of

LOG = VariantCounts.of({(): 600, ("a",): 1800, ("a", "b"): 800, ("b",): 120}, ("a", "b"))
RULES = {"no rules": None, "rules": learn_rules(LOG, source=Stated("a test"))}


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_kept_languages_are_those_that_would_be_made(
    rules: Rules | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same seeds every noisy value and every note is the same, kept or made anew."""
    mechanism = Certified(
        epsilon=Fraction(1), max_length=3, rules=rules, min_candidates=3, max_candidates=3
    )

    def run() -> list[tuple[object, ...]]:
        cases = Cases(variants=LOG)
        found = [perform(mechanism, cases, Noise(SeededBits(seed))) for seed in range(40)]
        return [(one.log.variants, one.transcript["named"], one.output.notes) for one in found]

    frequent._kept_so_far.cache_clear()
    kept = run()
    assert frequent._kept_so_far.cache_info().hits > 20
    assert frequent._kept_of_steps.cache_info().hits > 0 or rules is not None
    monkeypatch.setattr(frequent, "SMALL", 0)
    before = frequent._kept_so_far.cache_info()
    assert run() == kept
    assert frequent._kept_so_far.cache_info() == before


def test_thresholds_bound_what_is_invented() -> None:
    """No threshold lets more than a tenth of a variant pass, expected; none could be lower."""
    for activities, max_length in ((1, 1), (5, 4), (27, 10), (400, 100)):
        cells = sum(activities**n for n in range(max_length + 1)) + activities**max_length
        threshold = all_threshold(DiscreteLaplace(Fraction(1, 10)), activities, max_length)
        rate = tail(Fraction(1, 10), threshold)(30)
        assert cells * rate <= Decimal("0.1")
        assert threshold == smallest_threshold(
            DiscreteLaplace(Fraction(1, 10)), cells, Fraction(1, 10)
        )
        # Close to ln(cells / 0.2) / ε.
        assert threshold == pytest.approx(10 * math.log(cells * 5), rel=0.05, abs=2)


def test_frequent_variants_are_shown_and_hardly_any_is_invented() -> None:
    """A variant far above the threshold is shown with about its count; most others are not."""
    names = tuple("abcde")
    log = VariantCounts.of({("a", "b", "c"): 900, ("a", "c"): 700, ("e",): 2}, names)
    invented = 0
    for seed in range(30):
        opened = session_of(log, noise=Noise(SeededBits(seed))).open(
            AllSequences(), Fraction(1, 10), "all"
        )
        histogram = Histogram(opened)
        show_frequent(histogram, Steps.every(names), None, 5, DiscreteLaplace(Fraction(1, 10)))
        shown = {ids: count for (ids, _), count in histogram.shown.items()}
        assert shown[0, 1, 2] == pytest.approx(900, abs=150)
        assert shown[0, 2] == pytest.approx(700, abs=150)
        invented += len(shown) - 2
    assert invented <= 12
