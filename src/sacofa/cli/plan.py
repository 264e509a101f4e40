"""`sacofa plan`: how ε is divided and what it buys, before any log is read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated

import typer

from ..errors import Statement
from ..events import ReadOptions
from ..events.attributes import declared_attributes, pairs_of
from ..kernel.unit import ONE_CASE, Unit
from ..mechanisms import Plan
from ..mechanisms import plan as make_plan
from .options import Fields, Json
from .show import format_epsilon, say, show_table

COPIED = (
    "max_length", "activities", "cases", "cases_margin", "candidate_from", "frequent_from",
    "large_from", "large",
)  # fmt: skip
"""The fields of a plan that the JSON object has as they are."""


@dataclass(frozen=True, kw_only=True)
class Planned:
    """The release to plan.

    Attributes:
        epsilon: Privacy budget of the whole release.
        activities: Number of different activities.
        max_length: Maximum length of a case. Longer cases are truncated.
        cases: Approximate number of cases, if it is public.
        max_cases: Maximum number of cases per person.
        time: The log has times, and they are released as well.
    """

    epsilon: str
    activities: int
    max_length: int | None = None
    cases: int | None = None
    max_cases: int | None = None
    time: bool = False


def plan(
    planned: Annotated[Planned, Fields()],
    options: Annotated[ReadOptions, Fields(only=("attribute", "pair", "columns"))],
    as_json: Json = False,
) -> None:
    """Show how ε is divided and what each share buys. Reads no log and spends nothing."""
    attributes, persons = declared_attributes(options), planned.max_cases
    made = make_plan(
        epsilon=planned.epsilon,
        activities=planned.activities,
        max_length=planned.max_length,
        cases=planned.cases,
        unit=ONE_CASE if persons is None else Unit(person="person", max_cases=persons),
        time=planned.time,
        attributes=attributes,
        pairs=pairs_of(attributes, options.pair),
    )
    if as_json:
        typer.echo(json.dumps(_content(made), ensure_ascii=False))
        return
    say(Statement("cli.plan.whole", epsilon=format_epsilon(made.epsilon)))
    say()
    shares = ((float(one.epsilon), float(one.noise), one.what, one.buys) for one in made.shares)
    rows = ((f"{e:.4g}", str(what), f"±{noise:.4g}", str(buys)) for e, noise, what, buys in shares)
    show_table(rows, "cli.plan.columns")
    say()
    say(Statement("cli.plan.ties"))
    for line in made.lines():
        say(line)


def _content(made: Plan) -> dict[str, object]:
    """A plan as plain values; ε as numbers and as exact fractions."""
    verdict = made.verdict
    return {
        "epsilon": float(made.epsilon),
        "epsilon_exact": str(made.epsilon),
        **{name: getattr(made, name) for name in COPIED},
        "step_from": float(made.step_from),
        "shares": [
            {
                "what": str(share.what),
                "epsilon": float(share.epsilon),
                "epsilon_exact": str(share.epsilon),
                "noise": float(share.noise),
                "buys": str(share.buys),
            }
            for share in made.shares
        ],
        "verdict": None if verdict is None else verdict.sureness.value,
        "cases_needed": None if verdict is None else verdict.cases_needed,
        "epsilon_needed": None if verdict is None else float(verdict.epsilon_needed),
    }
