"""What was spent on which dataset over time: as numbers, as bars of text, and as a picture.

It shows ε, dates and the unit of privacy. The number of cases of a release is confidential.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from ..kernel.statements import Statement
from ..ledger import Account, Entry, Ledger
from ..ledger.records import Charged, Claim
from .promise import say_number

BAR = 30
"""The number of characters of a bar."""
WIDTH, CHART_HEIGHT, LEFT, RIGHT = 720, 190, 60, 700
FLOOR, CEILING = 130, 45
"""Where ε = 0 and the largest ε are in a chart."""
MAX_PART_WIDTH = 60.0
SMALLEST = Fraction(1, 10**9)
"""The smallest ε at the top of a chart."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One release that counts as spent."""

    at: str
    """When it was requested, in UTC."""
    price: Fraction | None
    """Its ε."""
    unit: str
    """What it protects: case, person or person_period."""
    period: str | None
    """The period that is charged for it. None: the whole dataset is."""
    charged: Charged
    """Which releases it adds up with."""
    released: bool
    """Whether a file came of it."""
    spent: Fraction | None
    """The most that all releases so far add up to for one case or person-period."""


@dataclass(frozen=True, kw_only=True)
class Spending:
    """What was spent on one dataset."""

    account: Account
    """How it stands."""
    steps: tuple[Step, ...]
    """Every release, in its order."""


def read_spending(ledger: Ledger) -> list[Spending]:
    """Read what was spent on every dataset."""
    claims = ledger.claims()
    entries = [entry for entry in ledger.entries() if entry.spent]
    return [
        Spending(
            account=account,
            steps=tuple(
                _steps(account, [e for e in entries if e.dataset == account.dataset], claims)
            ),
        )
        for account in ledger.accounts()
    ]


def _steps(account: Account, entries: list[Entry], claims: dict[int, Claim]) -> Iterator[Step]:
    so_far = Account(dataset=account.dataset, budget=account.budget)
    for entry in entries:
        claim = claims.get(entry.id)
        charged: Charged = "dataset" if claim is None else claim.charged
        period = None if claim is None or charged == "dataset" else claim.period
        so_far = so_far.book(entry.price, period, charged)
        yield Step(
            at=entry.at,
            price=entry.price,
            unit=_unit(entry.certificate),
            period=period,
            charged=charged,
            released=entry.state == "released",
            spent=so_far.spent,
        )


def bars(spending: Spending) -> Iterator[Statement]:
    """Bars of text: what is spent of the budget, then month by month, then period by period."""
    account, budget = spending.account, spending.account.budget
    if budget is not None:
        share = Fraction(1) if account.spent is None else account.spent / budget
        yield Statement("spending.of_budget", bar=_bar(share), share=share)
    yield from _bars_of_months(account, spending.steps)
    for period, spent in sorted(account.in_periods.items()):
        if spent is not None and budget is not None:
            bar = _bar((spent + account.finite) / budget)
            values = {"spent": say_number(spent), "budget": say_number(budget)}
            yield Statement("spending.of_period", period=f"{period:<10}", bar=bar, **values)


def _bars_of_months(account: Account, steps: Sequence[Step]) -> Iterator[Statement]:
    months: dict[tuple[str, str], list[Step]] = {}
    for step in steps:
        months.setdefault((step.at[:7], step.unit), []).append(step)
    spent = {month: _sum(account, some) for month, some in months.items()}
    most = max((total for total in spent.values() if total), default=Fraction(1))
    for (month, unit), some in sorted(months.items()):
        total = spent[month, unit]
        yield Statement(
            "spending.of_month",
            month=month,
            bar=_bar(Fraction(1) if total is None else total / most),
            epsilon=_epsilon(total),
            releases=len(some),
            unit=Statement(f"noun.{unit}"),
        )


def draw_spending(spendings: Sequence[Spending]) -> str:
    """Draw what was spent over time, one chart for each dataset, as SVG."""
    return _render("spending.svg.j2", spendings)


def spending_page(spendings: Sequence[Spending], name: str) -> str:
    """The picture as one page, with its content in words."""
    return _render("spending.html.j2", spendings, name=name)


def _render(template: str, spendings: Sequence[Spending], **content: object) -> str:
    from .page import render  # The terminal needs no templates.

    return render(
        template,
        charts=[_chart(one) for one in spendings],
        width=WIDTH,
        height=CHART_HEIGHT * max(len(spendings), 1),
        chart_height=CHART_HEIGHT,
        left=LEFT,
        right=RIGHT,
        floor=FLOOR,
        **content,
    )


def _chart(spending: Spending) -> dict[str, object]:
    """The places of what a chart shows."""
    account, steps = spending.account, spending.steps
    finite = [step.spent for step in steps if step.spent is not None]
    highest = max([*finite, account.budget or SMALLEST, SMALLEST])
    times = [datetime.fromisoformat(step.at).timestamp() for step in steps]
    first, last = min(times, default=0.0), max(times, default=1.0)

    def x(time: float) -> float:
        return round(LEFT + (time - first) / max(last - first, 1.0) * (RIGHT - LEFT), 1)

    def y(value: Fraction | None) -> float:
        share = 1.0 if value is None else float(value / highest)
        return round(FLOOR - share * (FLOOR - CEILING), 1)

    parts = list(_parts(account))
    return {
        "title": str(_say(account)),
        "budget": None if account.budget is None else say_number(account.budget),
        "level": y(account.budget),
        "points": [
            {
                "x": x(time),
                "y": y(step.spent),
                "day": step.at[:10],
                "released": step.released,
                "title": str(_say_step(step)),
            }
            for time, step in zip(times, steps, strict=True)
        ],
        "parts": parts,
        "part_width": min((RIGHT - LEFT) / max(len(parts), 1), MAX_PART_WIDTH),
    }


def _parts(account: Account) -> Iterator[dict[str, object]]:
    """One box for each period, as full as the period is spent."""
    if account.parts and account.budget is not None:
        for period, spent in sorted(account.in_periods.items()):
            share = 1.0 if spent is None else min(float(spent / account.budget), 1.0)
            yield {"share": share, "title": f"{period}: {_epsilon(spent)}"}


def _epsilon(value: Fraction | None) -> Statement:
    if value is None:
        return Statement("cli.no_epsilon")
    return Statement("spending.epsilon", number=say_number(value))


def _say(account: Account) -> Statement:
    values = {"dataset": account.dataset, "spent": _epsilon(account.spent)}
    if account.budget is None:
        return Statement("spending.without_limit", **values)
    return Statement("spending.with_budget", budget=say_number(account.budget), **values)


def _say_step(step: Step) -> Statement:
    of_period = Statement("spending.in_period", period=step.period or "")
    return Statement(
        "spending.release",
        day=step.at[:10],
        epsilon=_epsilon(step.price),
        period=Statement.plain("") if step.period is None else of_period,
        unit=Statement(f"noun.{step.unit}"),
        result=Statement.plain("") if step.released else Statement("spending.unreleased"),
    )


def _unit(certificate: str) -> str:
    """What a release protects by its certificate. A stranger may have written the ledger."""
    try:
        unit = json.loads(certificate)["unit"]
        if unit["person"] is None:
            return "case"
        return "person_period" if unit.get("per_period") else "person"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "unknown"


def _sum(account: Account, steps: Sequence[Step]) -> Fraction | None:
    """The most that some releases add up to for one case or person-period."""
    so_far = Account(dataset=account.dataset, budget=None)
    for step in steps:
        so_far = so_far.book(step.price, step.period, step.charged)
    return so_far.spent


def _bar(share: Fraction) -> str:
    full = min(round(BAR * share), BAR)
    return "█" * full + "░" * (BAR - full)
