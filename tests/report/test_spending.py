"""What was spent, as bars and as a picture: prices and dates, and no number of cases."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from fractions import Fraction
from pathlib import Path

import pytest

from sacofa import Ledger
from sacofa.report.spending import bars, draw_spending, read_spending


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with releases of the whole and of periods, one of which took 4,711 cases."""
    made = Ledger.create(tmp_path / "a.ledger")
    made.set_budget("<visits> & more", Fraction(1))
    made.set_budget("none", None)

    def reserve(price: Fraction | None, period: str | None, dataset: str) -> object:
        return made.reserve(
            dataset, mechanism="m", settings="{}", price=price, period=period,
            certificate='{"unit": {"person": null, "max_cases": 1}}',
        )  # fmt: skip

    reserve(Fraction(1, 4), None, "<visits> & more")
    for month in ("2025-01", "2025-02"):
        entry = reserve(Fraction(1, 2), month, "<visits> & more")
    made.claim(entry, [i.to_bytes(16, "big") for i in range(4711)])  # type: ignore[arg-type]
    reserve(None, None, "none")
    return made


def test_spending_is_told_release_by_release(ledger: Ledger) -> None:
    """With what a case has cost by then: periods have none in common."""
    spendings = {one.account.dataset: one for one in read_spending(ledger)}
    steps = spendings["<visits> & more"].steps
    assert [step.spent for step in steps] == [Fraction(1, 4), Fraction(3, 4), Fraction(3, 4)]
    assert [step.period for step in steps] == [None, "2025-01", "2025-02"]
    assert {step.unit for step in steps} == {"case"}
    assert spendings["none"].steps[0].spent is None


def test_bars_are_as_long_as_prices_are_large(ledger: Ledger) -> None:
    """Three quarters of the budget, and half of it for each period beside the whole."""
    one = next(one for one in read_spending(ledger) if one.account.budget is not None)
    lines = list(map(str, bars(one)))
    assert lines[0].count("█") == 22 and "75% of the budget" in lines[0]
    assert sum("period 2025-0" in line for line in lines) == 2
    assert "ε = 0.75 in 3 releases" in lines[1]


def test_the_picture_is_whole_and_tells_no_secret(ledger: Ledger) -> None:
    """It can be read as XML, names are text, and the number of cases is nowhere."""
    spendings = read_spending(ledger)
    svg, page = draw_spending(spendings), draw_spending(spendings, "<a>")
    root = ElementTree.fromstring(svg)
    name = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f".//{name}circle")) == 4
    assert len(root.findall(f".//{name}rect")) == 2
    assert "<visits>" not in svg + page and "<h1>&lt;a&gt;</h1>" in page
    for text in (svg, page, *(line for one in spendings for line in map(str, bars(one)))):
        assert "4711" not in text and "4,711" not in text
    assert draw_spending([])
