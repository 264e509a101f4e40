"""The mechanism `certified`: semantics-aware, and ε-differentially private as a whole.

The log is asked up to nine queries, each through noise that its share of ε pays for. In between,
only answers are read:

1. how many cases there are, and where to truncate them if nobody said;
2. votes for activities: which stand out, and which a case does only once;
3. votes for directly-follows steps; those that pass are the semantics, and a chain over them draws
   sequences;
4. if the log is large enough, the variants that can be shown as they are;
5. a list of candidates; each case votes for the nearest one; the best are kept and varied;
6. if hardly two cases seem alike and there are enough of them, votes for 3-grams;
7. a final vote over the new list; then all answers are fitted at once (`synthesis.flow.fit`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from ...base.domains import RESOURCES, kind_of, plain_name
from ...base.epsilon import Epsilon
from ...errors import SettingError
from ...kernel.accounting import Spend
from ...kernel.attributes import Attribute
from ...kernel.session import Session
from ...kernel.statements import Statement
from ...kernel.unit import ONE_CASE, Unit
from ...synthesis.flow.answers import known_length
from ..protocol import TRUNCATION, Capabilities, Mechanism, Output, Progress, Promise
from .plan import Plan, plan_of
from .run import MAX_ACTIVITIES, CertifiedRun
from .settings import FLOW, OF_TIMES, CertifiedSettings


def is_resource(attribute: Attribute) -> bool:
    """Whether an attribute tells who works in the process."""
    plain = plain_name(attribute.name)
    return plain in RESOURCES or plain.startswith("org:") or "group" in plain or "role" in plain


def _describe(attribute: Attribute) -> Statement:
    """What is assumed to be public about an attribute."""
    if attribute.recognized:
        facts = (kind_of(attribute.known).fact,)
        return Statement(
            "assumption.attribute_facts_from_log", attribute=attribute.key, facts=facts
        )
    if attribute.domain is None or attribute.taken:
        return Statement("assumption.attribute_values_from_log", attribute=attribute.key)
    domain = attribute.domain.describe()
    return Statement("assumption.attribute_values", attribute=attribute.key, domain=domain)


@dataclass(frozen=True, kw_only=True)
class Certified(CertifiedSettings, Mechanism):
    """A release that costs exactly ε, needs no tuning and does not fail whatever the log is."""

    name = "certified"
    minimal: ClassVar = {"max_length_bound": 2, "min_candidates": 2, "max_candidates": 2}

    @property
    def capabilities(self) -> Capabilities:
        """Everything, with times unless they are switched off."""
        return Capabilities(
            times=self.time,
            attributes=True,
            distributed=True,
            earlier=True,
            max_activities=MAX_ACTIVITIES,
        )

    def for_log(self, *, timed: bool, attributes: tuple[Attribute, ...] = ()) -> Certified:
        """Without times, all of ε is spent on the flow and on attributes."""
        adapted = replace(self, attributes=attributes) if attributes else self
        if timed or not self.time:
            return adapted
        usual = {name: getattr(CertifiedSettings, name) for name in OF_TIMES}
        return replace(adapted, time=False, **usual)

    def plan_for(self, unit: Unit, activities: int, cases: int | None = None) -> Plan:
        """How ε is divided, and what each share buys."""
        return plan_of(self, unit, activities, cases)

    def refuse_unused_settings(self) -> None:
        """Refuse a share for attributes if none will be released."""
        if not self.attributes and self.attribute_share != CertifiedSettings.attribute_share:
            must = "left out unless attributes are asked for"
            raise SettingError("attribute_share", self.attribute_share, must)

    def settings(self) -> Mapping[str, object]:
        """The settings that the certificate repeats."""
        artificial = Statement("setting_value.artificial_times")
        listed = [
            {"name": each.key, "type": "string" if each.domain is None else each.domain.kind}
            for each in self.attributes
        ]
        attributes = {"attribute_share": self.attribute_share, "attributes": listed}
        return {
            "epsilon": self.epsilon,
            "time_share": self.time_share if self.time else 0,
            "granularity": self.granularity if self.time else artificial,
            **({"calendar": self.calendar} if self.time and self.calendar else {}),
            **(attributes if listed else {}),
            "max_length": self.max_length or Statement("setting_value.chosen"),
            "order_penalty": self.order_penalty,
            "rules": Statement("setting_value.no_rules")
            if self.rules is None
            else self.rules.source.statement,
        }

    def promise(self, unit: Unit) -> Promise:
        """What is promised, and at what price: the same for every unit, whose noise differs."""
        split = self.split()
        flow = "budget_line.flow_with_lengths" if split.length else "budget_line.flow"
        size, rest = split.size * self.flow_price, (1 - split.size) * self.flow_price
        spends = [
            Spend(what=Statement("budget_line.size"), amount=size, line="size"),
            Spend(what=Statement(flow), amount=rest, line=FLOW),
        ]
        if self.time:
            what = Statement("budget_line.time")
            spends.append(Spend(what=what, amount=self.time_price, line="time"))
        if self.attributes:
            names = tuple(attribute.key for attribute in self.attributes)
            what = Statement("budget_line.attributes", attributes=names)
            spends.append(Spend(what=what, amount=self.attribute_price, line="attributes"))
        return Promise(
            accesses=tuple(spends),
            assumptions=self._assumptions(),
            not_promised=self._limits(),
            budget=self.budget if self.delta else None,
        )

    def _assumptions(self) -> tuple[Statement, ...]:
        """What is assumed to be public."""
        if self.max_length is None:
            found = [Statement("assumption.max_length_bound", value=self.max_length_bound)]
        else:
            found = [Statement("assumption.max_length", value=self.max_length)]
        if self.rules is not None:
            found.append(Statement("assumption.rules", source=self.rules.source.statement))
        if self.earlier is not None:
            found.append(Statement("assumption.earlier", variants=len(self.earlier)))
        if self.time and self.calendar is None:
            found.append(Statement("assumption.bins"))
        elif self.time:
            found.append(Statement("assumption.bins_and_calendar", calendar=self.calendar))
        return (*found, *map(_describe, self.attributes))

    def _limits(self) -> tuple[Statement, ...]:
        """What a reader might expect of the release, and must not."""
        times = "limit.independent_times" if self.time else "limit.artificial_times"
        found = [Statement("limit.representative"), TRUNCATION, Statement(times)]
        if self.attributes:
            found.append(Statement("limit.attributes_chance"))
        if any(is_resource(attribute) for attribute in self.attributes):
            found.append(Statement("limit.employees"))
        for attribute in self.attributes:
            if attribute.personal is not None:
                kind = Statement(f"personal.{attribute.personal.replace(' ', '_')}")
                found.append(Statement("limit.personal", attribute=attribute.key, kind=kind))
        return tuple(found)

    def shown_from(self, unit: Unit, activities: int) -> int | None:
        """From how many cases on any variant is shown, in a log that is large enough."""
        length = self.max_length or known_length(self.max_length_bound)
        return self.published_from(self.split(activities), unit, activities, length)

    def run(self, session: Session, progress: Progress | None = None) -> Output:
        """Ask the log, and make a release of the answers."""
        return CertifiedRun(self, session).release(progress)


def plan(
    *,
    epsilon: Epsilon,
    activities: int,
    max_length: int | None = None,
    cases: int | None = None,
    unit: Unit = ONE_CASE,
    time: bool = False,
    attributes: tuple[Attribute, ...] = (),
    pairs: tuple[tuple[int, int], ...] = (),
    delta: Epsilon = 0,
    length: int | None = None,
) -> Plan:
    """Work out what `certified` would do; reads no log. `length` is a guess of the usual one."""
    mechanism = Certified(
        epsilon=epsilon,
        delta=delta,  # type: ignore[arg-type]
        max_length=max_length,
        time=time,
        attributes=attributes,
    )
    return plan_of(mechanism, unit, activities, cases, pairs, length)
