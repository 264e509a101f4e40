"""Medians, quartiles, and verdicts on claims."""

from __future__ import annotations

import math

import pytest

from sacofa.evaluate.reproduction import ACCEPTED, CLAIMS, Claim, observe
from sacofa.evaluate.runs import Row, Spread, Summary


def row(series: str, epsilon: str, f_score: float | None, **more: object) -> Row:
    """A row of which only a few cells matter."""
    values = {
        "log": "L", "digest": "", "mechanism": series, "settings": "{}", "repetition": 1,
        "seed": 0, "status": "timeout" if f_score is None else "done",
    }  # fmt: skip
    measures = {} if f_score is None else {"f_score": f_score}
    return Row(**{**values, **more}, series=series, epsilon=epsilon, measures=measures)  # type: ignore[arg-type]


ROWS = [
    row("original", "", 0.5),
    *(row("laplace", "0.1", value, spent=1.0) for value in (0.1, 0.2, 0.3, 0.4)),
    *(row("laplace", "1", value, spent=10.0, times="no") for value in (0.3, 0.3, 0.3)),
    row("laplace", "1", None),
    *(row("sacofa", "0.1", value, spent=math.inf) for value in (0.6, 0.7, 0.0)),
    *(row("sacofa", "1", value, spent=math.inf) for value in (0.305, 0.305)),
]


def test_spreads() -> None:
    """Quartiles over runs that were done; zeros count."""
    summary = Summary(ROWS)
    assert summary.spread("f_score", "L", "laplace", "0.1") == Spread(
        pytest.approx(0.175), pytest.approx(0.25), pytest.approx(0.325)
    )
    assert summary.median("f_score", "L", "sacofa", "0.1") == 0.6
    assert math.isnan(summary.median("f_score", "L", "nobody", "0.1"))


def test_the_table_shows_prices_and_what_is_missing() -> None:
    """A timeout, an infinite price, whether times were released; large ε come first."""
    lines = list(Summary(ROWS).table(["f_score"]))
    assert lines[2:] == [
        "| L |  | *original* |  |  |  | 0.500 |",
        "| L | 1 | laplace | 10 | no | 4 (1 timeout) | 0.300 |",
        "| L | 1 | sacofa | ∞ | – | 2 | 0.305 |",
        "| L | 0.1 | laplace | 1 | – | 4 | 0.250 |",
        "| L | 0.1 | sacofa | ∞ | – | 3 | 0.600 |",
    ]


def test_a_claim_is_judged_cell_by_cell() -> None:
    """Above, and even: the claim that it is above everywhere holds in part."""
    claim = Claim(
        says="it is better",
        measure="f_score",
        better="sacofa",
        other="laplace",
        expected=lambda log, epsilon: "above",
    )
    lines = list(claim.report(Summary(ROWS)))
    assert "**Holds in part**: in 1 of 2 cases." in lines
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[6:-1]]
    assert [(row[1], row[5], row[6]) for row in rows] == [
        ("1", "even", "**differs**"),
        ("0.1", "above", "holds"),
    ]


@pytest.mark.parametrize(
    ("ours", "seen", "holding"),
    [
        (Spread(0.5, 0.6, 0.7), "well above", {"above"}),
        (Spread(0.3, 0.6, 0.7), "above", {"above"}),
        (Spread(0.1, 0.305, 0.4), "even", {"even", "not above"}),
        (Spread(0.1, 0.2, 0.9), "below", {"not above"}),
    ],
)
def test_verdicts(ours: Spread, seen: str, holding: set[str]) -> None:
    """How medians stand, and which expectations that meets."""
    assert observe(ours, Spread(0.2, 0.3, 0.4)) == seen
    assert {expected for expected, accepted in ACCEPTED.items() if seen in accepted} == holding


def test_claims_that_were_not_measured_say_so() -> None:
    """No figures, no verdict."""
    for claim in CLAIMS:
        assert "**Not measured.**" in list(claim.report(Summary([])))
