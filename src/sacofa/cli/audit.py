"""`sacofa audit`: try to refute what a mechanism claims; `sacofa plan`: what ε will buy."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

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
from ..audit import audit as audit_pairs
from ..base.epsilon import parse_epsilon
from ..errors import Argument, SettingError, Statement, refuse_given
from ..events import ReadOptions, count_variants, open_log
from ..events.attributes import declared_attributes, pairs_of
from ..kernel.unit import MAX_CASES_BOUND, ONE_CASE, Unit
from ..mechanisms import Plan
from ..mechanisms import plan as make_plan
from ..mechanisms.protocol import Mechanism
from ..mechanisms.registry import make_mechanism
from ..release.publish import Stage
from ..release.rules import public_rules
from .options import Chosen, Fields, Json, Reading, Settings
from .show import format_epsilon, notify, progress_bar, say, show_table

REFUTED = 3
"""The exit status if a claim is refuted."""
RUNS, RUNS_AROUND = 4_000, 1_000
"""Runs on each log of the built-in pairs, which take a few milliseconds, and on each neighbour of a
log, which take as long as a release."""
RARE = 0.01
"""The share of runs of evidence for which the power of an audit is stated as well."""
FIGURES = (
    "pair", "what", "view", "claimed", "certified", "highest", "refuted", "verdict", "evidence",
    "right", "guesses",
)  # fmt: skip
"""The attributes of a finding that the JSON object has."""
COPIED = (
    "max_length", "activities", "cases", "cases_margin", "candidate_from", "frequent_from",
    "large_from", "large",
)  # fmt: skip
"""The fields of a plan that the JSON object has as they are."""


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
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    attributes: bool = False

    def __post_init__(self) -> None:
        if self.workers < 1:
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
    if attack.log is None:
        refuse_given(options, Statement("must.left_out_without", argument=Argument("log")))
    if options.attribute:
        raise SettingError("attribute", options.attribute[0], Statement("must.only_flow"))
    pairs = find_pairs(audited, attack, options)
    findings: list[Finding] = []
    with progress_bar() as stage:
        for number, pair in enumerate(pairs):
            claimed = None
            if audited.promise(pair.unit).epsilon is None:
                # Without a finite ε that is promised, the ε that was asked for is claimed.
                epsilon = parse_epsilon("epsilon", str(chosen.settings["epsilon"]))
                claimed = epsilon * pair.unit.max_cases
            findings += audit_pairs(
                audited,
                [pair],
                claimed=claimed,
                runs=attack.runs_of_pair,
                seed=attack.seed,
                workers=attack.workers,
                stage=None if stage is None else overall(stage, number, len(pairs)),
            )
    refuted = any(finding.refuted for finding in findings)
    if as_json:
        content = {
            "format": "sacofa-audit-1",
            "mechanism": chosen.mechanism,
            "runs": attack.runs_of_pair,
            "confidence": 0.95,
            "secret": attack.log is not None,
            "refuted": refuted,
            "findings": list(map(_content, findings)),
        }
        typer.echo(json.dumps(content, indent=2))
    else:
        _show(findings, attack)
    if refuted:
        raise typer.Exit(REFUTED)


def _mechanism(chosen: Chosen, attack: Attack) -> Mechanism:
    """The mechanism, with small settings where no log is given."""
    rules = chosen.settings["rules"]
    public = None if rules is None else public_rules(Path(str(rules)), notify=notify)
    make = make_minimal if attack.log is None else make_mechanism
    audited = make(chosen.mechanism, {**chosen.settings, "rules": public})
    if not attack.attributes:
        audited.refuse_unused_settings()
    elif attack.log is not None or not audited.capabilities.attributes:
        raise SettingError("attributes", True, Statement("must.no_pairs_with_attributes"))
    return audited


def find_pairs(
    mechanism: Mechanism, attack: Attack, options: ReadOptions | None = None
) -> tuple[Pair, ...]:
    """The pairs of logs to distinguish: around a log, or built-in ones.

    Built-in pairs have times only if the mechanism releases them.
    """
    threshold = threshold_of(mechanism, ONE_CASE)
    if attack.log is not None:
        variants = count_variants(open_log(attack.log, options))
        original = variants.project_onto(sorted(variants.activities))
        kinds: list[tuple[Sequence[Pair], Callable[[int], Pair]]]
        kinds = [(pairs_around(original, threshold), partial(persons_around, original))]
    else:
        kinds = [(built_in_pairs(threshold), persons_pair)]
        if mechanism.capabilities.times:
            kinds.append((timed_pairs(), timed_persons_pair))
        if attack.attributes:
            kinds.append((attribute_pairs(), attribute_persons_pair))
    found: list[Pair] = []
    for pairs, person in kinds:
        found += pairs
        found += [person(attack.person_cases)] * (attack.person_cases > 1)
    return tuple(found)


def overall(stage: Stage, finished: int, pairs: int) -> Stage:
    """One progress for all pairs, so that the time that remains is that of all."""
    return lambda _, done: stage("Auditing", (finished + done) / pairs)


def _content(finding: Finding) -> dict[str, object]:
    """A finding as JSON has it."""
    least = finding.refuted_from()
    return {
        **{name: getattr(finding, name) for name in FIGURES},
        "claimed": float(finding.claimed),
        "claimed_exact": str(finding.claimed),
        "delta": float(finding.delta),
        "delta_exact": str(finding.delta),
        "refuted_from": least if math.isfinite(least) else None,
    }


def _show(findings: Sequence[Finding], attack: Attack) -> None:
    rows = (
        (one.what, one.view, f"{float(one.claimed):g}", f"{one.certified:.3f}", one.verdict)
        for one in findings
    )
    show_table(rows, "cli.audit.columns", right=(2, 3))
    say()
    say(Statement("cli.audit.caption"))
    for statement in dict.fromkeys(_power(finding, attack.runs_of_pair) for finding in findings):
        say(statement)
    if attack.log is not None:
        say(Statement("cli.confidential"))


def _power(finding: Finding, runs: int) -> Statement:
    """Return the violations that this number of runs can and cannot detect."""
    values = {"runs": runs, "claim": float(finding.claimed)}
    least, rare = finding.refuted_from(), finding.refuted_from(RARE)
    if math.isinf(least):
        return Statement("cli.audit.no_power", highest=finding.highest, **values)
    unseen = Statement("cli.audit.rare_unseen")
    seldom = unseen if math.isinf(rare) else Statement("cli.audit.rare_from", least=rare)
    return Statement("cli.audit.power", least=least, one_in=round(1 / RARE), rare=seldom, **values)


@dataclass(frozen=True, kw_only=True)
class Planned:
    """The release to plan.

    Attributes:
        epsilon: Privacy budget of the whole release.
        delta: Probability with which the limit that ε sets may fail, such as 1e-6.
            Default: 0, pure ε.
        activities: Number of different activities.
        max_length: Maximum length of a case. Longer cases are truncated.
        cases: Approximate number of cases, if it is public.
        length: Approximate number of events in a case, if it is public. The recommendation of a δ
            depends on it.
        max_cases: Maximum number of cases per person.
        time: The log has times, and they are released as well.
    """

    epsilon: str
    delta: str = "0"
    activities: int
    max_length: int | None = None
    cases: int | None = None
    length: int | None = None
    max_cases: int | None = None
    time: bool = False


def plan(
    planned: Annotated[Planned, Fields()],
    options: Annotated[ReadOptions, Fields(only=("attribute", "pair", "columns"))],
    as_json: Json = False,
) -> None:
    """Show how ε is divided and what each share buys. Reads no log and spends nothing."""
    attributes, given = declared_attributes(options), dict(vars(planned))
    persons = given.pop("max_cases")
    unit = ONE_CASE if persons is None else Unit(person="person", max_cases=persons)
    pairs = pairs_of(attributes, options.pair)
    made = make_plan(**given, unit=unit, attributes=attributes, pairs=pairs)
    if as_json:
        typer.echo(json.dumps(_planned(made), ensure_ascii=False))
        return
    say(Statement("cli.plan.whole", epsilon=format_epsilon(made.epsilon, made.delta)))
    say()
    shares = ((float(one.epsilon), float(one.noise), one.what, one.buys) for one in made.shares)
    rows = ((f"{e:.4g}", str(what), f"±{noise:.4g}", str(buys)) for e, noise, what, buys in shares)
    show_table(rows, "cli.plan.columns_with_delta" if made.delta else "cli.plan.columns")
    say()
    say(Statement("cli.plan.ties"))
    for line in made.lines():
        say(line)


def _planned(made: Plan) -> dict[str, object]:
    """A plan as plain values; ε as numbers and as exact fractions."""
    verdict, currency = made.verdict, "rho" if made.delta else "epsilon"
    return {
        "epsilon": float(made.epsilon),
        "epsilon_exact": str(made.epsilon),
        "delta": float(made.delta),
        "recommended_delta": float(made.budgets.delta) if made.budgets.recommended else 0.0,
        **{name: getattr(made, name) for name in COPIED},
        "step_from": float(made.step_from),
        "shares": [
            {
                "what": str(share.what),
                currency: float(share.epsilon),
                f"{currency}_exact": str(share.epsilon),
                "noise": float(share.noise),
                "buys": str(share.buys),
            }
            for share in made.shares
        ],
        "verdict": None if verdict is None else verdict.sureness.value,
        "cases_needed": None if verdict is None else verdict.cases_needed,
        "epsilon_needed": None if verdict is None else float(verdict.epsilon_needed),
    }
