"""What a release would promise, worked out from settings alone."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from pathlib import Path

from ..base.domains import Categories
from ..errors import SettingError, Statement, advise_nearest
from ..events.attributes import declared_attributes
from ..ledger import Ledger
from ..mechanisms.protocol import Mechanism
from ..mechanisms.registry import make_mechanism
from ..messages import render
from ..release.anonymize import certify_request
from ..report.promise import explain_epsilon, say_promise
from ..rules import Rules, Stated
from .requests import MechanismChoice, PlanRequest
from .schemas import AffordAnswer, PlanAnswer, ShareAnswer
from .worker import as_field, read_options

ASSUMED_ACTIVITIES = 20
"""Taken where nobody said how many activities there are."""
ASSUMED_VALUES = Categories(names=tuple(map(str, range(10))))
"""Taken where the values of an attribute are those of the log."""


def choose(request: MechanismChoice, *, public_rules: bool) -> Mechanism:
    """Make the mechanism of a request; settings that cannot be are refused here.

    Rules are not read yet: empty ones stand for those that will be.
    """
    rules = Rules.free((), Stated("as given")) if public_rules else None
    return make_mechanism(request.mechanism, {**request.settings(), "rules": rules})


def make_plan(request: PlanRequest, ledger: Path | None = None) -> PlanAnswer:
    """Say what a release would promise, and what it would buy."""
    kinds = {entry.name: entry.kind for entry in request.attributes}
    same = {"person", "max_cases", "columns", "employees", "personal"}
    names = tuple(entry.name for entry in request.attributes)
    options = read_options({**request.model_dump(include=same), "attribute": names})
    attributes = declared_attributes(options, kinds=kinds, assumed=ASSUMED_VALUES)
    mechanism = choose(request, public_rules=request.public_rules).for_log(
        timed=request.timed, attributes=attributes
    )
    certificate = certify_request(mechanism, options.unit, seed=request.seed)
    epsilon = certificate.epsilon
    explained = {} if epsilon is None else asdict(explain_epsilon(epsilon))
    activities = ASSUMED_ACTIVITIES if request.activities is None else request.activities
    plan = mechanism.plan_for(options.unit, activities, request.cases)
    lines = [] if plan is None else plan.lines()
    return PlanAnswer(
        promise=say_promise(certificate),
        **{name: explained[name] for name in PlanAnswer.model_fields if name in explained},
        afford=_afford(request.dataset, epsilon, ledger),
        protects=str(certificate.protects),
        assumptions=list(map(str, certificate.assumptions)),
        not_promised=list(map(str, certificate.not_promised)),
        shares=[] if plan is None else list(map(ShareAnswer.model_validate, plan.shares)),
        lines=[render(line, wording=as_field) for line in lines],
    )


def _afford(
    dataset: str | None, epsilon: Fraction | None, ledger: Path | None
) -> AffordAnswer | None:
    """What the release would do to a budget; computed exactly, as the ledger will."""
    if dataset is None:
        return None
    if ledger is None:
        raise SettingError("dataset", dataset, Statement("must.no_ledger"))
    accounts = {account.dataset: account for account in Ledger.open(ledger).accounts()}
    if dataset not in accounts:
        advice = advise_nearest(dataset, accounts)
        raise SettingError("dataset", dataset, Statement("must.in_ledger", advice=advice))
    left = accounts[dataset].left
    after = None if left is None or epsilon is None or epsilon > left else left - epsilon
    enough = left is None or after is not None
    content = {"dataset": dataset, "left": left, "after": after, "enough": enough}
    return AffordAnswer.model_validate(content)
