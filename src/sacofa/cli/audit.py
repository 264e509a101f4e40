"""`sacofa audit`: try to refute what a mechanism claims."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..audit import (
    Finding,
    Pair,
    attribute_pairs,
    attribute_persons_pair,
    built_in_pairs,
    make_minimal,
    pairs_around,
    persons_around,
    persons_pair,
    threshold_of,
    timed_pairs,
    timed_persons_pair,
)
from ..audit import (
    audit as audit_pairs,
)
from ..base.epsilon import parse_epsilon
from ..errors import Argument, SettingError, Statement
from ..events import ReadOptions, count_variants, open_log
from ..kernel.accounting import total_epsilon
from ..kernel.unit import MAX_CASES_BOUND, ONE_CASE, Unit
from ..kernel.variants import VariantCounts
from ..mechanisms.protocol import Mechanism
from ..release.publish import Stage
from ..release.rules import public_rules
from .options import Chosen, Fields, Json, Reading, Settings, refuse_given
from .show import notify, progress_bar, say, say_confidential, show_table

FORMAT = "sacofa-audit-1"
REFUTED = 3
RUNS = 4_000
"""Runs on each log of the built-in pairs, which take a few milliseconds."""
RUNS_AROUND = 1_000
"""Runs on each neighbour of a log, which take as long as a release."""
RARE = 0.01
"""The share of runs of evidence for which the power of an audit is stated as well."""
FIGURES = [
    "pair",
    "what",
    "view",
    "claimed",
    "certified",
    "highest",
    "refuted",
    "verdict",
    "evidence",
    "right",
    "guesses",
]
"""The attributes of a finding that the JSON object has."""


@dataclass(frozen=True, kw_only=True)
class Attack:
    """How mechanisms are attacked.

    Attributes:
        log: Build the pairs of logs around this log. Default: small built-in logs.
        runs: Runs on each log of a pair. Default: 4,000; with --log 1,000.
        person_cases: Number of cases of a person, in pairs that differ by a person.
        seed: Repeatable noise: the same audit again.
        workers: Number of processes. Default: one for each core.
        attributes: Also try pairs that differ by a rare value and a rare pair of values.
    """

    log: str | None = None
    runs: int | None = None
    person_cases: int = 3
    seed: int | None = None
    workers: int | None = None
    attributes: bool = False

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise SettingError("workers", self.workers, Statement("must.at_least", least=1))
        if not 1 <= self.person_cases <= MAX_CASES_BOUND:
            bounds = Statement("must.whole_between", low=1, high=MAX_CASES_BOUND)
            raise SettingError("person_cases", self.person_cases, bounds)

    @property
    def runs_of_pair(self) -> int:
        """The number of runs on each log of a pair."""
        if self.runs is not None:
            return self.runs
        return RUNS if self.log is None else RUNS_AROUND


def audit(
    chosen: Annotated[Chosen, Settings()],
    attack: Annotated[Attack, Fields()],
    options: Reading,
    as_json: Json = False,
) -> None:
    """Try to refute what a mechanism claims: run it on pairs of neighbouring logs, many times.

    Ends with status 3 if a claim is refuted. With --log the result is as confidential as the log.
    """
    audited = _mechanism(chosen, attack)
    _check_read(attack.log, options)
    pairs = _pairs(audited, attack, options)
    findings = _audit(audited, pairs, attack, str(chosen.settings["epsilon"]))
    if as_json:
        typer.echo(json.dumps(_content(chosen.mechanism, findings, attack), indent=2))
    else:
        _show(findings, attack)
    if any(finding.refuted for finding in findings):
        raise typer.Exit(REFUTED)


def _mechanism(chosen: Chosen, attack: Attack) -> Mechanism:
    """The mechanism, with small settings where no log is given."""
    rules = chosen.settings["rules"]
    public = None if rules is None else public_rules(Path(str(rules)), notify=notify)
    settings = {**chosen.settings, "rules": public}
    if attack.log is None:
        audited = make_minimal(chosen.mechanism, settings)
    else:
        audited = chosen.make(rules=public)
    if not attack.attributes:
        audited.refuse_unused_settings()
    elif attack.log is not None or not audited.capabilities.attributes:
        raise SettingError("attributes", True, Statement("must.no_pairs_with_attributes"))
    return audited


def _pairs(audited: Mechanism, attack: Attack, options: ReadOptions) -> tuple[Pair, ...]:
    """The pairs of logs to distinguish."""
    if attack.log is None:
        return small_pairs(audited, attack.person_cases, attributes=attack.attributes)
    original = _read(attack.log, options)
    pairs = pairs_around(original, threshold_of(audited, ONE_CASE))
    return (
        (*pairs, persons_around(original, attack.person_cases))
        if attack.person_cases > 1
        else pairs
    )


def _audit(
    audited: Mechanism, pairs: Sequence[Pair], attack: Attack, epsilon: str
) -> list[Finding]:
    """Audit each pair."""
    findings: list[Finding] = []
    with progress_bar() as stage:
        overall = _Overall(len(pairs), stage)
        for pair in pairs:
            findings += audit_pairs(
                audited,
                [pair],
                claimed=_claim(audited, pair.unit, epsilon),
                runs=attack.runs_of_pair,
                seed=attack.seed,
                workers=attack.workers or os.cpu_count() or 1,
                stage=overall,
            )
    return findings


def small_pairs(
    mechanism: Mechanism, person_cases: int, *, attributes: bool = False
) -> tuple[Pair, ...]:
    """The built-in pairs for a mechanism: with times only if it releases them."""
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
    """The ε that is promised; without a finite one, the ε that was asked for."""
    total = total_epsilon(mechanism.promise(unit).accesses)
    return parse_epsilon("epsilon", epsilon) * unit.max_cases if total is None else total


def _check_read(log: str | None, options: ReadOptions) -> None:
    """Refuse options about reading a log if none is read, and attributes in any."""
    if log is None:
        refuse_given(options, Statement("must.left_out_without", argument=Argument("log")))
    if options.attribute:
        raise SettingError("attribute", options.attribute[0], Statement("must.only_flow"))


def _read(log: str, options: ReadOptions) -> VariantCounts:
    variants = count_variants(open_log(log, options))
    return variants.project_onto(sorted(variants.activities))


def _content(mechanism: str, findings: Sequence[Finding], attack: Attack) -> dict[str, object]:
    """The findings as JSON."""
    return {
        "format": FORMAT,
        "mechanism": mechanism,
        "runs": attack.runs_of_pair,
        "confidence": 0.95,
        "secret": attack.log is not None,
        "refuted": any(finding.refuted for finding in findings),
        "findings": [
            {
                **{name: getattr(finding, name) for name in FIGURES},
                "claimed": float(finding.claimed),
                "claimed_exact": str(finding.claimed),
                "refuted_from": _finite(finding.refuted_from()),
            }
            for finding in findings
        ],
    }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _say_power(finding: Finding, runs: int) -> Statement:
    """What this number of runs can find, and what it cannot."""
    values = {"runs": runs, "claim": float(finding.claimed)}
    least, rare = finding.refuted_from(), finding.refuted_from(RARE)
    if math.isinf(least):
        return Statement("cli.audit.no_power", highest=finding.highest, **values)
    seldom = (
        Statement("cli.audit.rare_unseen")
        if math.isinf(rare)
        else Statement("cli.audit.rare_from", least=rare)
    )
    return Statement("cli.audit.power", least=least, one_in=round(1 / RARE), rare=seldom, **values)


def _show(findings: Sequence[Finding], attack: Attack) -> None:
    rows = (
        (
            finding.what,
            finding.view,
            f"{float(finding.claimed):g}",
            f"{finding.certified:.3f}",
            finding.verdict,
        )
        for finding in findings
    )
    show_table(Console(highlight=False), rows, "cli.audit.columns", right=(2, 3))
    say("")
    say(Statement("cli.audit.caption"))
    powers = (_say_power(finding, attack.runs_of_pair) for finding in findings)
    for statement in dict.fromkeys(powers):
        say(statement)
    if attack.log is not None:
        say_confidential()
