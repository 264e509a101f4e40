"""What a release would promise, worked out from settings alone."""

from __future__ import annotations

from dataclasses import asdict

from ..mechanisms import Certified, Plan
from ..mechanisms import plan as plan_certified
from ..mechanisms.protocol import Mechanism
from ..mechanisms.registry import make_mechanism
from ..release.anonymize import certify_request
from ..report.promise import explain_epsilon, say_promise
from ..semantics import Rules, Stated
from .schemas import (
    BeliefAnswer,
    ColumnChoice,
    MechanismChoice,
    PlanAnswer,
    PlanRequest,
    ShareAnswer,
)

FEW_ACTIVITIES = 20
"""Taken where nobody said how many activities there are."""


def choose(request: MechanismChoice, *, public_rules: bool) -> Mechanism:
    """Make the mechanism of a request; settings that cannot be are refused here.

    Rules are not read yet: empty ones stand for those that will be.
    """
    rules = Rules.free((), Stated("as given")) if public_rules else None
    return make_mechanism(request.mechanism, {**request.settings(), "rules": rules})


def make_plan(request: PlanRequest) -> PlanAnswer:
    """Say what a release would promise, and from how many cases on something can be shown."""
    unit = ColumnChoice(person=request.person, max_cases=request.max_cases).options().unit
    mechanism = choose(request, public_rules=request.public_rules)
    certificate = certify_request(mechanism, unit, seed=request.seed)
    price = certificate.epsilon
    explanation = None if price is None else explain_epsilon(price)
    answer = PlanAnswer(
        promise=say_promise(certificate),
        epsilon=explanation.epsilon if explanation else None,
        factor=explanation.factor if explanation else None,
        strength=explanation.strength if explanation else None,
        beliefs=[BeliefAnswer(**asdict(b)) for b in explanation.beliefs] if explanation else [],
        protects=certificate.protects,
        assumptions=list(certificate.assumptions),
        not_promised=list(certificate.not_promised),
    )
    if isinstance(mechanism, Certified):
        made = plan_certified(
            epsilon=mechanism.price,
            activities=FEW_ACTIVITIES if request.activities is None else request.activities,
            max_length=mechanism.max_length,
            cases=request.cases,
            unit=unit,
        )
        answer.shares = [
            ShareAnswer(
                what=share.what,
                epsilon=float(share.epsilon),
                within=float(share.within),
                buys=share.buys,
            )
            for share in made.shares
        ]
        answer.lines = list(_say_plan(made))
    return answer


def _say_plan(made: Plan) -> list[str]:
    size = made.shares[0].within
    lines = [
        f"The number of cases comes out right to within about {float(size):,.0f}, "
        "in 95 of 100 runs.",
        f"A way through the process is released from about {made.candidate_from:,} cases on that "
        "are closer to it than to any other.",
    ]
    if made.frequent_from is not None:
        lines.append(
            f"A variant is shown, whatever it is, from {made.frequent_from:,} cases on, in "
            f"logs of at least {made.large_from:,} cases."
        )
    if made.cases is not None and made.cases < made.candidate_from:
        lines.append(
            f"This log has {made.cases:,} cases: at this price hardly anything can be shown."
        )
    return lines
