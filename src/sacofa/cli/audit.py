"""`sacofa audit`: try to refute what a mechanism claims."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ..audit import (
    Finding,
    Pair,
    attribute_pairs,
    attribute_persons_pair,
    audit,
    built_in_pairs,
    make_minimal,
    pairs_around,
    persons_around,
    persons_pair,
    threshold_of,
    timed_pairs,
    timed_persons_pair,
)
from ..base.epsilon import parse_epsilon
from ..errors import SettingError
from ..events import ReadOptions, count_variants, open_log
from ..kernel.accounting import total_epsilon
from ..kernel.unit import MAX_CASES_BOUND, ONE_CASE, Unit
from ..kernel.variants import VariantCounts
from ..mechanisms.protocol import Mechanism
from ..mechanisms.registry import DEFAULT, MECHANISMS, make_mechanism
from ..release.publish import Stage
from ..release.rules import public_rules
from . import options as shared
from .show import progress_bar

FORMAT = "sacofa-audit-1"
REFUTED = 3
RUNS = 4_000
"""Runs on each log of the built-in pairs, which take a few milliseconds."""
RUNS_AROUND = 1_000
"""Runs on each neighbour of a log, which take as long as a release."""
RARE = 0.01
"""What shows in so few runs is told by itself."""
CAPTION = "At least: a lower bound at 95 % confidence. Not refuted is no proof: see docs/audit.md."


@shared.takes_settings()
@shared.takes_read_options
def audit_claim(
    mechanism: Annotated[
        str, typer.Option("--mechanism", help=f"{', '.join(MECHANISMS)}.")
    ] = DEFAULT,
    log: Annotated[
        str | None,
        typer.Option("--log", help="Build the pairs around this log; else small built-in ones."),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs",
            help="Runs on each log of a pair.",
            show_default=f"{RUNS:,}; with --log {RUNS_AROUND:,}",
        ),
    ] = None,
    person_cases: Annotated[
        int,
        typer.Option("--person-cases", help="How many cases a person has, where persons differ."),
    ] = 3,
    *,
    settings: dict[str, Any],
    options: ReadOptions,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Repeatable noise: the same audit again.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", help="Processes.", show_default="all cores")
    ] = None,
    attributes: Annotated[
        bool,
        typer.Option("--attributes", help="Also try pairs with a rare value and a rare pair."),
    ] = False,
    as_json: shared.Json = False,
) -> None:
    """Try to refute what a mechanism claims: run it on pairs of neighbouring logs, many times.

    Ends with status 3 if a claim is refuted. With --log the answer is as secret as the log.
    """
    if settings["rules"] is not None:
        settings["rules"] = public_rules(settings["rules"], notify=shared.say)
    if workers is not None and workers < 1:
        raise SettingError("workers", workers, "1 or more")
    if not 1 <= person_cases <= MAX_CASES_BOUND:
        raise SettingError("person_cases", person_cases, f"1 to {MAX_CASES_BOUND:,}")
    make = make_minimal if log is None else make_mechanism
    audited = make(mechanism, settings)
    if attributes and (log is not None or not audited.capabilities.attributes):
        raise SettingError("attributes", True, "left out: there is nothing to try")
    if not attributes:
        audited.refuse_unused_settings()
    _check_read(log, options)
    if log is None:
        pairs = small_pairs(audited, person_cases, attributes=attributes)
    else:
        original = _read(log, options)
        pairs = pairs_around(original, threshold_of(audited, ONE_CASE))
        if person_cases > 1:
            pairs = (*pairs, persons_around(original, person_cases))
    findings: list[Finding] = []
    if runs is None:
        runs = RUNS if log is None else RUNS_AROUND
    with progress_bar(Console(stderr=True)) as stage:
        overall = _Overall(len(pairs), stage)
        for pair in pairs:
            findings += audit(
                audited,
                [pair],
                claimed=_claim(audited, pair.unit, settings["epsilon"]),
                runs=runs,
                seed=seed,
                workers=workers or os.cpu_count() or 1,
                stage=overall,
            )
    if as_json:
        typer.echo(json.dumps(_plain(mechanism, findings, runs, secret=log is not None), indent=2))
    else:
        _show(findings, runs, Console(highlight=False), secret=log is not None)
    if any(finding.refuted for finding in findings):
        raise typer.Exit(REFUTED)


def small_pairs(
    mechanism: Mechanism, person_cases: int, *, attributes: bool = False
) -> tuple[Pair, ...]:
    """The built-in pairs that a mechanism is tried on: with times only where it asks for them."""
    kinds = [(built_in_pairs(threshold_of(mechanism, ONE_CASE)), persons_pair)]
    if mechanism.capabilities.times:
        kinds.append((timed_pairs(), timed_persons_pair))
    if attributes:
        kinds.append((attribute_pairs(), attribute_persons_pair))
    found: list[Pair] = []
    for pairs, person in kinds:
        found += pairs
        found += [person(person_cases)] * (person_cases > 1)
    return tuple(found)


class _Overall:
    """Makes one progress of that of all pairs, so that the time that remains is that of all."""

    def __init__(self, pairs: int, stage: Stage | None) -> None:
        self._pairs, self._stage = pairs, stage
        self._finished = 0

    def __call__(self, name: str, done: float) -> None:
        if self._stage is not None:
            self._stage("Auditing", (self._finished + done) / self._pairs)
        self._finished += done >= 1


def _claim(mechanism: Mechanism, unit: Unit, epsilon: str) -> Fraction:
    """The price that is promised; where none is finite, the ε that people quote."""
    price = total_epsilon(mechanism.promise(unit).accesses)
    return parse_epsilon("epsilon", epsilon) * unit.max_cases if price is None else price


def _check_read(log: str | None, options: ReadOptions) -> None:
    """Refuse what is said about reading a log where none is read, or not so."""
    if log is None:
        shared.refuse_read_options(options, "left out unless a log is given with --log")
    if options.attribute:
        raise SettingError("attribute", options.attribute[0], "left out: only the flow is tried")


def _read(log: str, options: ReadOptions) -> VariantCounts:
    variants = count_variants(open_log(log, options))
    return variants.project_onto(sorted(variants.activities))


def _plain(
    mechanism: str, findings: Sequence[Finding], runs: int, *, secret: bool
) -> dict[str, object]:
    return {
        "format": FORMAT,
        "mechanism": mechanism,
        "runs": runs,
        "confidence": 0.95,
        "secret": secret,
        "refuted": any(finding.refuted for finding in findings),
        "findings": [
            {
                "pair": finding.pair,
                "what": finding.what,
                "view": finding.view,
                "claimed": float(finding.claimed),
                "claimed_exact": str(finding.claimed),
                "certified": finding.certified,
                "highest": finding.highest,
                "refuted_from": _finite(finding.refuted_from()),
                "refuted": finding.refuted,
                "verdict": finding.verdict,
                "evidence": finding.evidence,
                "right": finding.right,
                "guesses": finding.guesses,
            }
            for finding in findings
        ],
    }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _say_power(finding: Finding, runs: int) -> str:
    """What so many runs can find, and what they cannot."""
    claim = f"{float(finding.claimed):g}"
    least, rare = finding.refuted_from(), finding.refuted_from(RARE)
    if math.isinf(least):
        return (
            f"{runs:,} runs on each log cannot refute a claim of {claim} beyond doubt: the highest "
            f"bound that they can give is {finding.highest:.1f}."
        )
    seldom = "is not seen" if math.isinf(rare) else f"only from {rare:.2g} on"
    return (
        f"{runs:,} runs on each log refute a claim of {claim} where {least:.3g} or more shows in "
        f"every run; what shows in one run of {1 / RARE:.0f} {seldom}."
    )


def _show(findings: Sequence[Finding], runs: int, console: Console, *, secret: bool) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("The logs differ by", "seen", "claimed ε", "at least", "verdict"):
        right = heading in ("claimed ε", "at least")
        table.add_column(heading, justify="right" if right else "left")
    for finding in findings:
        table.add_row(
            finding.what,
            finding.view,
            f"{float(finding.claimed):g}",
            f"{finding.certified:.3f}",
            finding.verdict,
        )
    console.print(table)
    console.print(f"\n{CAPTION}")
    for sentence in dict.fromkeys(_say_power(finding, runs) for finding in findings):
        console.print(sentence)
    if secret:
        console.print("Secret: these figures come from the original log without noise.")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit")(audit_claim)
