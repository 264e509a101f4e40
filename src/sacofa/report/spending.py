"""What was spent on which dataset over time: as numbers, as bars of text, and as a picture.

Only prices, dates and what is protected are shown; how many cases a release took is secret.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from html import escape

from ..errors import plain
from ..ledger import Account, Ledger
from ..ledger.records import Charged
from .promise import say_number

BAR = 30
"""How many signs wide a bar is."""
WIDTH, BLOCK, LEFT, RIGHT = 720, 190, 60, 20
STYLE = """
text{font:13px system-ui,sans-serif;fill:#5a5f6b}.name{font-weight:600;fill:#1c1e24}
.spent{fill:#1f5fbf33;stroke:#1f5fbf;stroke-width:1.5}.budget{stroke:#a3341f;stroke-dasharray:5 4}
.dot{fill:#1f5fbf}.lost{fill:none;stroke:#a3341f}.axis{stroke:#8a909c}.part{fill:#1f5fbf}
@media (prefers-color-scheme:dark){text{fill:#a3a8b4}.name{fill:#e8e9ed}
.spent{fill:#8ab8ff33;stroke:#8ab8ff}.dot,.part{fill:#8ab8ff}.budget,.lost{stroke:#ff9d8a}}
"""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One release that counts as spent."""

    at: str
    """When it was asked for, in UTC."""
    price: Fraction | None
    """What it cost."""
    unit: str
    """What it protects: case, person or person-period."""
    period: str | None
    """The period that is charged for it; None: the whole dataset is."""
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
    found = []
    for account in ledger.accounts():
        so_far = Account(dataset=account.dataset, budget=account.budget)
        steps = []
        for entry in entries:
            if entry.dataset != account.dataset:
                continue
            claim = claims.get(entry.id)
            charged: Charged = "dataset" if claim is None else claim.charged
            period = None if claim is None or charged == "dataset" else claim.period
            so_far = so_far.book(entry.price, period, charged)
            steps.append(
                Step(
                    at=entry.at,
                    price=entry.price,
                    unit=_unit(entry.certificate),
                    period=period,
                    charged=charged,
                    released=entry.state == "released",
                    spent=so_far.spent,
                )
            )
        found.append(Spending(account=account, steps=tuple(steps)))
    return found


def bars(spending: Spending) -> list[str]:
    """Bars of text: what is spent of the budget, then month by month, then period by period."""
    account, steps = spending.account, spending.steps
    lines = []
    if account.budget is not None:
        share = Fraction(1) if account.spent is None else account.spent / account.budget
        lines.append(f"  {_bar(share)} {float(share):.0%} of the budget")
    months: dict[tuple[str, str], list[Step]] = {}
    for step in steps:
        months.setdefault((step.at[:7], step.unit), []).append(step)
    costs = {month: _cost(account, some) for month, some in months.items()}
    most = max((cost for cost in costs.values() if cost), default=Fraction(1))
    for (month, unit), some in sorted(months.items()):
        total = costs[month, unit]
        share = Fraction(1) if total is None else total / most
        what = "no finite ε" if total is None else f"ε = {say_number(total)}"
        number = f"{len(some)} release{'' if len(some) == 1 else 's'}"
        lines.append(f"  {month}  {_bar(share)} {what} in {number}, protecting a {unit}")
    for period, spent in sorted(account.in_periods.items()):
        if spent is None or account.budget is None:
            continue
        share = (spent + account.finite) / account.budget
        lines.append(
            f"  period {plain(period):<10}  {_bar(share)} ε = {say_number(spent)} of "
            f"{say_number(account.budget)}"
        )
    return lines


def draw_spending(spendings: Sequence[Spending]) -> str:
    """Draw what was spent over time, one block for each dataset, as SVG."""
    height = BLOCK * max(len(spendings), 1)
    blocks = "".join(_block(one, BLOCK * number) for number, one in enumerate(spendings))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
        f"<title>What was spent on each dataset</title><style>{STYLE}</style>{blocks}</svg>\n"
    )


def spending_page(spendings: Sequence[Spending], name: str) -> str:
    """The picture as one page, with what it shows in words."""
    words = "".join(f"<li>{escape(plain(_say(one)))}</li>" for one in spendings)
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(name)}</title><style>:root{{color-scheme:light dark}}body{{"
        "font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}"
        f"</style></head><body><main><h1>{escape(name)}</h1>{draw_spending(spendings)}"
        f"<ul>{words}</ul></main></body></html>\n"
    )


def _block(spending: Spending, top: int) -> str:
    account, steps = spending.account, spending.steps
    floor, ceiling = top + 130, top + 45
    finite = [step.spent for step in steps if step.spent is not None]
    highest = max([*finite, account.budget or Fraction(0), Fraction(1, 10**9)])
    times = [datetime.fromisoformat(step.at).timestamp() for step in steps]
    first, last = min(times, default=0.0), max(times, default=1.0)

    def x(time: float) -> float:
        return round(LEFT + (time - first) / max(last - first, 1.0) * (WIDTH - LEFT - RIGHT), 1)

    def y(value: Fraction | None) -> float:
        share = 1.0 if value is None else float(value / highest)
        return round(floor - share * (floor - ceiling), 1)

    drawn = [f'<text class="name" x="{LEFT}" y="{top + 25}">{escape(plain(_say(spending)))}</text>']
    drawn.append(f'<path class="axis" d="M{LEFT} {floor}H{WIDTH - RIGHT}"/>')
    path = f"M{x(first)} {floor}"
    for time, step in zip(times, steps, strict=True):
        path += f"H{x(time)}V{y(step.spent)}"
    if steps:
        drawn.append(f'<path class="spent" d="{path}H{WIDTH - RIGHT}V{floor}Z"/>')
    if account.budget is not None:
        level = y(account.budget)
        drawn.append(f'<path class="budget" d="M{LEFT} {level}H{WIDTH - RIGHT}"/>')
        drawn.append(f'<text x="4" y="{level + 4}">{escape(say_number(account.budget))}</text>')
    for time, step in zip(times, steps, strict=True):
        kind = "dot" if step.released else "lost"
        drawn.append(
            f'<circle class="{kind}" cx="{x(time)}" cy="{y(step.spent)}" r="4">'
            f"<title>{escape(plain(_say_step(step)))}</title></circle>"
        )
    if steps:
        drawn.append(f'<text x="{LEFT}" y="{floor + 16}">{escape(steps[0].at[:10])}</text>')
        drawn.append(
            f'<text x="{WIDTH - RIGHT}" y="{floor + 16}" text-anchor="end">'
            f"{escape(steps[-1].at[:10])}</text>"
        )
    return "".join(drawn) + _parts(account, floor + 26)


def _parts(account: Account, top: int) -> str:
    """A row of boxes, one for each period, as full as the period is spent."""
    if not account.parts or account.budget is None:
        return ""
    periods = sorted(account.in_periods.items())
    each = min((WIDTH - LEFT - RIGHT) / len(periods), 60.0)
    drawn = []
    for number, (period, spent) in enumerate(periods):
        share = 1.0 if spent is None else min(float(spent / account.budget), 1.0)
        left, tall = LEFT + number * each, round(20 * share, 1)
        drawn.append(
            f'<rect class="part" x="{left:.1f}" y="{top + 20 - tall}" width="{each * 0.8:.1f}" '
            f'height="{tall}"><title>{escape(plain(period))}: '
            f"{'no finite ε' if spent is None else f'ε = {say_number(spent)}'}"
            "</title></rect>"
        )
    return f'<text x="4" y="{top + 14}">periods</text>' + "".join(drawn)


def _say(spending: Spending) -> str:
    account = spending.account
    spent = "more than any ε" if account.spent is None else f"ε = {say_number(account.spent)}"
    of = "no limit" if account.budget is None else f"a budget of {say_number(account.budget)}"
    return f"{account.dataset}: {spent} spent, {of}"


def _say_step(step: Step) -> str:
    price = "no finite ε" if step.price is None else f"ε = {say_number(step.price)}"
    period = "" if step.period is None else f", period {step.period}"
    what = "" if step.released else ", nothing released"
    return f"{step.at[:10]}: {price}{period}, protecting a {step.unit}{what}"


def _unit(certificate: str) -> str:
    """What a release protects, by its certificate; a ledger that a stranger made may hold any."""
    try:
        unit = json.loads(certificate)["unit"]
        if unit["person"] is None:
            return "case"
        return "person-period" if unit.get("per_period") else "person"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "unit that is not known"


def _cost(account: Account, steps: Sequence[Step]) -> Fraction | None:
    """The most that some releases add up to for one case or person-period."""
    so_far = Account(dataset=account.dataset, budget=None)
    for step in steps:
        so_far = so_far.book(step.price, step.period, step.charged)
    return so_far.spent


def _bar(share: Fraction) -> str:
    full = min(round(BAR * share), BAR)
    return "█" * full + "░" * (BAR - full)
