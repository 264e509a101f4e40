"""`sacofa plan`: what a release costs and buys, before any log is read."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ..events import ReadOptions
from ..events.attributes import declared_attributes, pairs_of
from ..kernel.unit import ONE_CASE, Unit
from ..mechanisms import Plan
from ..mechanisms import plan as make_plan
from . import options
from .show import format_epsilon


def plan(
    epsilon: Annotated[
        str,
        typer.Option("--epsilon", help="The price of the whole release.", metavar="NUMBER"),
    ],
    activities: Annotated[int, typer.Option("--activities", help="How many activities there are.")],
    max_length: Annotated[
        int | None, typer.Option("--max-length", help="Longer cases are truncated here.")
    ] = None,
    cases: Annotated[
        int | None, typer.Option("--cases", help="About how many cases there are, if public.")
    ] = None,
    max_cases: Annotated[
        int | None, typer.Option("--max-cases", help="Cases kept of each person.")
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option("--attribute", help="An attribute of the file of columns; repeat it."),
    ] = None,
    pair: Annotated[
        list[str] | None, typer.Option("--pair", help="Two of them, A,B; repeat it.")
    ] = None,
    columns: Annotated[
        Path | None,
        typer.Option("--columns", help="File that says which values attributes may have."),
    ] = None,
    time: Annotated[
        bool,
        typer.Option("--time", help="The log has times, and they are released, too."),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Show how ε is divided and what each share buys. Reads no log and spends nothing."""
    unit = ONE_CASE if max_cases is None else Unit(person="person", max_cases=max_cases)
    together: Any = tuple(pair or ())
    asked = ReadOptions(attribute=tuple(attribute or ()), pair=together, columns=columns)
    attributes = declared_attributes(asked)
    made = make_plan(
        epsilon=epsilon,
        activities=activities,
        max_length=max_length,
        cases=cases,
        unit=unit,
        time=time,
        attributes=attributes,
        pairs=pairs_of(attributes, asked.pair),
    )
    if as_json:
        typer.echo(json.dumps(_content(made), ensure_ascii=False))
    else:
        _show(made, Console(highlight=False))


TIES = (
    "Events of a case with equal time stamps keep the order of their file or frame; in a database "
    "or a Spark DataFrame, which have none, the name of the activity decides."
)


def _content(made: Plan) -> dict[str, object]:
    """A plan as plain values; prices as numbers and as exact fractions."""
    return {
        "epsilon": float(made.epsilon),
        "epsilon_exact": str(made.epsilon),
        "max_length": made.max_length,
        "activities": made.activities,
        "cases": made.cases,
        "shares": [
            {
                "what": share.what,
                "epsilon": float(share.epsilon),
                "epsilon_exact": str(share.epsilon),
                "noise": float(share.noise),
                "buys": share.buys,
            }
            for share in made.shares
        ],
        "cases_margin": made.cases_margin,
        "step_from": float(made.step_from),
        "candidate_from": made.candidate_from,
        "frequent_from": made.frequent_from,
        "large_from": made.large_from,
        "large": made.large,
        "verdict": None if made.verdict is None else made.verdict.sureness.value,
        "cases_needed": None if made.verdict is None else made.verdict.cases_needed,
        "epsilon_needed": None if made.verdict is None else float(made.verdict.epsilon_needed),
    }


def _show(made: Plan, console: Console) -> None:
    console.print(f"{format_epsilon(made.epsilon)} for the whole release, divided so:\n")
    table = Table(box=None, pad_edge=False)
    for heading in ("share of ε", "for", "noise of a count (95 %)", "buys"):
        table.add_column(heading)
    for share in made.shares:
        table.add_row(
            _number(share.epsilon), share.what, f"± {_number(share.noise)} cases", share.buys
        )
    console.print(table)
    console.print("")
    for line in (TIES, *made.lines()):
        console.print(line)


def _number(value: Fraction) -> str:
    return f"{float(value):.4g}"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(plan)
