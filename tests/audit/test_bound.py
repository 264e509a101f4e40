"""What right guesses prove, checked against SciPy and against its own promise."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from scipy import stats

from sacofa.audit.bounds import Claim, prove_epsilon


@pytest.mark.parametrize("guesses", [1, 2, 10, 333, 5_000, 100_000])
@pytest.mark.parametrize("part", [0.55, 0.731, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("doubt", [0.05, 1e-6])
def test_it_is_the_bound_of_clopper_and_pearson(guesses: int, part: float, doubt: float) -> None:
    """SciPy's inverse of the beta distribution gives the same bound, cut at 0."""
    right = math.ceil(part * guesses)
    p = stats.beta.ppf(doubt, right, guesses - right + 1)
    assert prove_epsilon(right, guesses, doubt) == pytest.approx(
        max(0.0, math.log(p / (1 - p))), abs=1e-8
    )


def test_guesses_no_better_than_chance_prove_nothing() -> None:
    """Half right, none right and no guess at all prove ε ≥ 0, which everyone knows."""
    assert prove_epsilon(0, 0, 0.05) == 0
    assert prove_epsilon(0, 100, 0.05) == 0
    assert prove_epsilon(500, 1_000, 0.05) == 0


def wrong_audits(bound: Callable[[int, int, float], float], guesses: int, epsilon: float) -> float:
    """How often a bound is above the true ε, exactly."""
    p = 1 / (1 + math.exp(-epsilon))
    return float(
        sum(
            stats.binom.pmf(right, guesses, p)
            for right in range(guesses + 1)
            if bound(right, guesses, 0.05) > epsilon + 1e-9
        )
    )


@pytest.mark.parametrize("guesses", [5, 50, 500])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_it_is_too_high_in_at_most_one_audit_of_twenty(guesses: int, epsilon: float) -> None:
    """Added up over all possible numbers of right guesses, the bound keeps its confidence."""
    assert wrong_audits(prove_epsilon, guesses, epsilon) <= 0.05


def test_a_bound_without_its_margin_breaks_the_confidence() -> None:
    """The same check rejects the plain ratio of right to wrong guesses."""

    def plain(right: int, guesses: int, doubt: float) -> float:
        return math.log((right + 1e-9) / (guesses - right + 1e-9))

    assert wrong_audits(plain, 500, 1.0) > 0.3


def least_refuted(claimed: float, guesses: int, doubt: float) -> float:
    """The ε that refutes a claim without δ."""
    claim = Claim(epsilon=Fraction(claimed))
    return claim.least_refuted(guesses, guesses, doubt, by_rho=False)


@pytest.mark.parametrize("guesses", [50, 100, 1_000, 20_000])
@pytest.mark.parametrize("claimed", [0.1, 1.0, 3.0])
def test_what_so_many_guesses_refute(guesses: int, claimed: float) -> None:
    """As many right guesses as that ε allows refute the claim, one fewer does not."""
    least = least_refuted(claimed, guesses, 1e-6)
    if math.isinf(least):
        assert prove_epsilon(guesses - 1, guesses, 1e-6) <= claimed
    else:
        right = round(guesses / (1 + math.exp(-least)))
        assert prove_epsilon(right, guesses, 1e-6) > claimed
        assert prove_epsilon(right - 1, guesses, 1e-6) <= claimed


def test_too_few_guesses_refute_nothing() -> None:
    """Ten right guesses of ten are no proof beyond doubt that ε is above 1; none are none."""
    assert math.isinf(least_refuted(1.0, 10, 1e-6))
    assert math.isinf(least_refuted(1.0, 0, 1e-6))
    assert math.isinf(least_refuted(50.0, 10_000, 1e-6))


def test_the_page_tells_what_so_many_runs_can_show() -> None:
    """Every row of the table in docs/audit.md is what comes out."""
    page = (Path(__file__).parents[2] / "docs" / "audit.md").read_text(encoding="utf-8")
    table = page.split("| runs on each log | refute a claim of 1 from |")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    assert len(rows) >= 4
    for runs, every, rare, highest in rows:
        number = int(runs.replace(",", ""))
        assert every == f"{least_refuted(1.0, number, 1e-6):.2f}"
        from_rare = least_refuted(1.0, number // 100, 1e-6)
        assert rare == ("never" if math.isinf(from_rare) else f"{from_rare:.2f}")
        assert highest == f"{prove_epsilon(number, number, 0.05):.1f}"
