"""The ε spent on datasets over time: as numbers, as bars of text, and as a chart.

It contains ε, dates and the unit of privacy. The number of cases of a release is confidential.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from ..base.claims import say_claim
from ..kernel.statements import Statement
from ..ledger import Account, Entry, Ledger
from ..ledger.records import Charged
from .promise import say_number

BAR = 30
"""Number of characters of a bar."""
SMALLEST = Fraction(1, 10**9)
"""Minimum ε at the top of a chart."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One release that counts as spent."""

    entry: Entry
    unit: str
    """The unit: case, person or person_period."""
    period: str | None
    """The charged period; None: the whole dataset."""
    charged: Charged
    """The releases with which it adds up."""
    spent: Fraction | None
    """The maximum ε of all releases so far for one case or person-period."""


@dataclass(frozen=True, kw_only=True)
class Spending:
    """The ε spent on one dataset."""

    account: Account
    steps: tuple[Step, ...]
    """Every release, in order."""


def read_spending(ledger: Ledger) -> list[Spending]:
    """Read the ε spent on every dataset."""
    claims = ledger.claims()
    entries = [entry for entry in ledger.entries() if entry.spent]
    spendings = []
    for account in ledger.accounts():
        so_far, steps = Account(dataset="", budget=None, delta=account.delta), []
        for entry in (entry for entry in entries if entry.dataset == account.dataset):
            claim = claims.get(entry.id)
            charged: Charged = "dataset" if claim is None else claim.charged
            period = None if claim is None or charged == "dataset" else claim.period
            so_far = so_far.book(entry.cost, period, charged)
            unit, spent = _unit(entry.certificate), so_far.spent
            steps.append(Step(entry=entry, unit=unit, period=period, charged=charged, spent=spent))
        spendings.append(Spending(account=account, steps=tuple(steps)))
    return spendings


def _unit(certificate: str) -> str:
    """Return the unit of a release by its certificate. The ledger may come from somebody else."""
    try:
        unit = json.loads(certificate)["unit"]
        if unit["person"] is None:
            return "case"
        return "person_period" if unit.get("per_period") else "person"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "unknown"


def bars(spending: Spending) -> Iterator[Statement]:
    """Return bars of text: the share of the budget spent, then by month, then by period."""
    account, budget = spending.account, spending.account.budget
    if budget is not None:
        share = Fraction(1) if account.spent is None else account.spent / budget
        yield Statement("spending.of_budget", bar=_bar(share), share=share)
    months = _by_month(spending)
    most = max((total for _, total in months.values() if total), default=Fraction(1))
    for (month, unit), (releases, total) in months.items():
        yield Statement(
            "spending.of_month",
            month=month,
            bar=_bar(Fraction(1) if total is None else total / most),
            epsilon=account.say(total),
            releases=releases,
            unit=Statement(f"noun.{unit}"),
        )
    for period, of_period in sorted(account.in_periods.items()):
        if of_period is not None and budget is not None:
            bar = _bar((of_period + account.finite) / budget)
            values = {"spent": account.say(of_period), "budget": account.number(budget)}
            yield Statement("spending.of_period", period=f"{period:<10}", bar=bar, **values)


def _by_month(spending: Spending) -> dict[tuple[str, str], tuple[int, Fraction | None]]:
    """Return the number of releases by month and unit, and the maximum ε for one of it."""
    months: dict[tuple[str, str], list[Step]] = {}
    for step in spending.steps:
        months.setdefault((step.entry.at[:7], step.unit), []).append(step)
    found = {}
    for month in sorted(months):
        so_far = Account(dataset="", budget=None, delta=spending.account.delta)
        for step in months[month]:
            so_far = so_far.book(step.entry.cost, step.period, step.charged)
        found[month] = len(months[month]), so_far.spent
    return found


def _bar(share: Fraction) -> str:
    full = min(round(BAR * share), BAR)
    return "█" * full + "░" * (BAR - full)


def draw_spending(spendings: Sequence[Spending], title: str | None = None) -> str:
    """Draw the ε spent over time as SVG, one chart for each dataset; with a title, as a page."""
    from .page import render  # Imported here, because the terminal needs no templates.

    template = "spending.svg.j2" if title is None else "spending.html.j2"
    charts = [_chart(one.account, one.steps) for one in spendings]
    return render(template, name=title, charts=charts)


def _chart(account: Account, steps: Sequence[Step]) -> dict[str, object]:
    """Return the data of a chart; positions are shares of its width and height."""
    budget = account.budget
    finite = [step.spent for step in steps if step.spent is not None]
    highest = max([*finite, budget or SMALLEST, SMALLEST])
    times = [datetime.fromisoformat(step.entry.at).timestamp() for step in steps]
    first, last = min(times, default=0.0), max(times, default=1.0)
    values = {"dataset": account.dataset, "spent": account.say(account.spent)}
    title = Statement("spending.without_limit", **values)
    periods: list[tuple[str, Fraction | None]] = []
    if budget is not None:
        title = Statement("spending.with_budget", budget=account.number(budget), **values)
        periods = sorted(account.in_periods.items())

    def share_of(value: Fraction | None, whole: Fraction | None) -> float:
        return 1.0 if value is None or whole is None else float(value / whole)

    return {
        "title": str(title),
        "budget": None if budget is None else say_number(account.epsilon(budget, fits=True)),
        "level": share_of(budget, highest),
        "points": [
            {
                "at": (time - first) / max(last - first, 1.0),
                "level": share_of(step.spent, highest),
                "day": step.entry.at[:10],
                "released": step.entry.state == "released",
                "title": str(_say(step)),
            }
            for time, step in zip(times, steps, strict=True)
        ],
        # One box per period, filled by the share that is spent.
        "parts": [
            {"share": min(share_of(spent, budget), 1.0), "title": f"{period}: {account.say(spent)}"}
            for period, spent in periods
        ],
    }


def _say(step: Step) -> Statement:
    """Describe a release."""
    nothing, released = Statement.plain(""), step.entry.state == "released"
    of_period = Statement("spending.in_period", period=step.period or "")
    return Statement(
        "spending.release",
        day=step.entry.at[:10],
        epsilon=say_claim(step.entry.price, step.entry.delta),
        period=nothing if step.period is None else of_period,
        unit=Statement(f"noun.{step.unit}"),
        result=nothing if released else Statement("spending.unreleased"),
    )
