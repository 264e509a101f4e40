"""What a release would promise, worked out from settings alone."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from pathlib import Path

from ..base.domains import Categories
from ..errors import SettingError, nearest
from ..events import ReadOptions
from ..events.attributes import declared_attributes
from ..kernel.attributes import Attribute
from ..ledger import Ledger
from ..mechanisms import Certified
from ..mechanisms import plan as plan_certified
from ..mechanisms.protocol import Mechanism
from ..mechanisms.registry import make_mechanism
from ..release.anonymize import certify_request
from ..report.promise import explain_epsilon, say_number, say_promise
from ..rules import Rules, Stated
from .options import columns_content
from .reading import ColumnChoice
from .requests import MechanismChoice, PlanRequest
from .schemas import (
    AffordAnswer,
    BeliefAnswer,
    PlanAnswer,
    ShareAnswer,
)
from .words import plain_words

FEW_ACTIVITIES = 20
"""Taken where nobody said how many activities there are."""
FEW_VALUES = Categories(names=tuple(map(str, range(10))))
"""Taken where the values of an attribute are those of the log."""


def choose(request: MechanismChoice, *, public_rules: bool) -> Mechanism:
    """Make the mechanism of a request; settings that cannot be are refused here.

    Rules are not read yet: empty ones stand for those that will be.
    """
    rules = Rules.free((), Stated("as given")) if public_rules else None
    return make_mechanism(request.mechanism, {**request.settings(), "rules": rules})


def make_plan(request: PlanRequest, ledger: Path | None = None) -> PlanAnswer:
    """Say what a release would promise, and from how many cases on something can be shown."""
    unit = ColumnChoice(person=request.person, max_cases=request.max_cases).options().unit
    mechanism = choose(request, public_rules=request.public_rules).for_log(
        timed=request.timed, attributes=_attributes(request)
    )
    certificate = certify_request(mechanism, unit, seed=request.seed)
    price = certificate.epsilon
    explanation = None if price is None else explain_epsilon(price)
    answer = PlanAnswer(
        promise=say_promise(certificate),
        epsilon=explanation.epsilon if explanation else None,
        factor=explanation.factor if explanation else None,
        strength=explanation.strength if explanation else None,
        level=explanation.level if explanation else None,
        afford=_afford(request.dataset, price, ledger),
        beliefs=[BeliefAnswer(**asdict(b)) for b in explanation.beliefs] if explanation else [],
        protects=str(certificate.protects),
        assumptions=list(map(str, certificate.assumptions)),
        not_promised=list(map(str, certificate.not_promised)),
    )
    if isinstance(mechanism, Certified):
        made = plan_certified(
            epsilon=mechanism.price,
            activities=FEW_ACTIVITIES if request.activities is None else request.activities,
            max_length=mechanism.max_length,
            cases=request.cases,
            unit=unit,
            time=request.timed and mechanism.time,
            attributes=mechanism.attributes,
        )
        answer.shares = [
            ShareAnswer(
                what=share.what,
                epsilon=float(share.epsilon),
                noise=float(share.noise),
                buys=share.buys,
            )
            for share in made.shares
        ]
        answer.lines = [plain_words(line) for line in made.lines()]
    return answer


def _attributes(request: PlanRequest) -> tuple[Attribute, ...]:
    """The attributes that would be asked for; where a log would say their values, few are taken."""
    options = ReadOptions(
        attribute=tuple(entry.name for entry in request.attributes),
        columns=columns_content(request.columns),
        employees=request.employees,
        personal=request.personal,
    )
    kinds = {entry.name: entry.kind for entry in request.attributes}
    return declared_attributes(options, kinds=kinds, assumed=FEW_VALUES)


def _afford(
    dataset: str | None, price: Fraction | None, ledger: Path | None
) -> AffordAnswer | None:
    """What the release would do to a budget; computed exactly, as the ledger will."""
    if dataset is None:
        return None
    if ledger is None:
        raise SettingError("dataset", dataset, "left out: there is no ledger")
    accounts = {account.dataset: account for account in Ledger.open(ledger).accounts()}
    if dataset not in accounts:
        raise SettingError("dataset", dataset, f"one of the ledger.{nearest(dataset, accounts)}")
    left = accounts[dataset].left
    enough = left is None or (price is not None and price <= left)
    after = left - price if enough and left is not None and price is not None else None
    return AffordAnswer(
        dataset=dataset,
        left=None if left is None else say_number(left),
        after=None if after is None else say_number(after),
        enough=enough,
    )
