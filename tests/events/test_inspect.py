"""What a log looks like."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.events import inspect_variants
from sacofa.kernel.variants import VariantCounts


def test_the_papers_example() -> None:
    """The running example of the paper, with one case that nobody shares."""
    inspection = inspect_variants(
        VariantCounts.of(
            {("Register", "Triage", "Surgery"): 5, ("Register",): 1, (): 2},
            truncated={("Register", "Triage"): 2},
        ),
        frequent=2,
    )
    assert (inspection.events, inspection.activities) == (20, 3)
    assert (inspection.cases, inspection.variants) == (10, 4)
    assert inspection.unique == 0.1
    assert inspection.unfinished == 2
    assert inspection.frequent == ((("Register", "Triage", "Surgery"), 5), ((), 2))
    assert inspection.lengths["0"] == 0 and inspection.lengths["1"] == 3


@given(st.lists(st.integers(0, 9), min_size=1, max_size=50))
@settings(deadline=None)
def test_quantiles_are_those_of_the_cases(lengths: list[int]) -> None:
    """Quantiles by counts are the quantiles of the cases written out."""
    variants = VariantCounts.from_cases([["a"] * length for length in lengths])
    inspection = inspect_variants(variants)
    for share, value in inspection.lengths.items():
        assert value == np.quantile(lengths, float(share), method="inverted_cdf")


def test_no_cases() -> None:
    """A log without cases has nothing to show, and shows that."""
    inspection = inspect_variants(VariantCounts.of({}))
    assert (inspection.cases, inspection.lengths, inspection.frequent) == (0, {}, ())


def test_activities_that_never_occur_do_not_count() -> None:
    """Only activities that occur are counted."""
    assert inspect_variants(VariantCounts.of({("a",): 1}, ["a", "b"])).activities == 1
