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
7. a final vote over the new list; then all answers are fitted at once (module `fit`, or `smooth`
   where hardly two cases are alike).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from ...base.domains import ALL_DATES, RESOURCES, plain_name
from ...errors import SettingError
from ...kernel.accounting import Spend
from ...kernel.attributes import Attribute
from ...kernel.session import Session
from ...kernel.unit import Unit
from ...synthesis.flow.frequent import all_threshold
from ...synthesis.flow.lengths import known_length
from ..protocol import TRUNCATION, Capabilities, Mechanism, Output, Progress, Promise
from .run import MAX_ACTIVITIES, CertifiedRun
from .settings import FLOW, OF_TIMES, CertifiedSettings

INDEPENDENT = (
    "Times of different cases are drawn independently: queues, work in progress and who waited for "
    "whom are not kept."
)
ARTIFICIAL_TIMES = (
    "Times are artificial: they say nothing about when or how fast anything happened."
)
ALONE = (
    "Attributes go together with the flow, and with each other, only as far as tables of them were "
    "asked for; all else about how they go together is chance."
)
EMPLOYEES = (
    "People who work in the process are not protected: a unit of cases hides whose case it is, not "
    "who worked on it. Attributes that name them, or their groups, may tell about them."
)
PERSONAL = (
    "The attribute {key} looks like {personal}. Whoever released it insisted, and its values may "
    "name people."
)
INVENTED = (
    "A released variant stands for the cases nearest to it; it need not have occurred itself."
)


def is_resource(attribute: Attribute) -> bool:
    """Whether an attribute tells who works in the process."""
    plain = plain_name(attribute.name)
    return plain in RESOURCES or plain.startswith("org:") or "group" in plain or "role" in plain


def _describe(attribute: Attribute) -> str:
    """What is taken to be public about an attribute."""
    if attribute.recognized:
        kind = "a date" if attribute.domain == ALL_DATES else "a number"
        return f"That {attribute.key} is {kind} is public; it was taken from the log."
    if attribute.domain is None or attribute.taken:
        return f"The values of {attribute.key} are public; they were taken from the log."
    return f"The values of {attribute.key} are public: {attribute.domain.describe()}."


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

    def refuse_unused_settings(self) -> None:
        """Refuse a share for attributes if none will be released."""
        if not self.attributes and self.attribute_share != CertifiedSettings.attribute_share:
            must = "left out unless attributes are asked for"
            raise SettingError("attribute_share", self.attribute_share, must)

    def settings(self) -> Mapping[str, object]:
        """The settings that the certificate repeats."""
        return {
            "epsilon": self.price,
            "time_share": self.time_share if self.time else 0,
            "granularity": self.granularity if self.time else "none: times are artificial",
            **({"calendar": self.calendar} if self.time and self.calendar else {}),
            **self._attribute_settings(),
            "max_length": self.max_length or "chosen under a share of ε",
            "order_penalty": self.order_penalty,
            "rules": "none" if self.rules is None else str(self.rules.source),
        }

    def promise(self, unit: Unit) -> Promise:
        """What is promised, and at what price: the same for every unit, whose noise differs."""
        split = self.split()
        asked = "votes for activities, for directly-follows steps and for the nearest candidate"
        lengths = ", lengths of cases" if split.length else ""
        others = "frequent variants or 3-grams"
        lines = (
            ("size", "size: the number of cases", split.size),
            (FLOW, f"flow: {asked}{lengths}, {others}", 1 - split.size),
        )
        assumptions = [
            f"max_length is public: {self.max_length}."
            if self.max_length is not None
            else f"The upper bound on max_length ({self.max_length_bound:,}) is public."
        ]
        if self.rules is not None:
            assumptions.append(f"The rules are public: {self.rules.source}.")
        if self.earlier is not None:
            assumptions.append(
                f"Earlier releases are public: {len(self.earlier):,} variants of them are "
                "candidates here."
            )
        spends = [
            Spend(what=what, epsilon=share * self.flow_price, line=line)
            for line, what, share in lines
        ]
        if self.time:
            what = "times: how long cases and steps take, and when they happen"
            spends.append(Spend(what=what, epsilon=self.time_price, line="time"))
            years = "of the years 1970 to 2069" if self.calendar is None else self.calendar
            assumptions.append(f"Bins of durations and a calendar {years} are public.")
        not_promised = [INVENTED, TRUNCATION, INDEPENDENT if self.time else ARTIFICIAL_TIMES]
        if self.attributes:
            names = ", ".join(attribute.key for attribute in self.attributes)
            what = f"attributes: the values of {names}"
            spends.append(Spend(what=what, epsilon=self.attribute_price, line="attributes"))
            assumptions += [_describe(attribute) for attribute in self.attributes]
            not_promised.append(ALONE)
            if any(is_resource(attribute) for attribute in self.attributes):
                not_promised.append(EMPLOYEES)
            not_promised += [
                PERSONAL.format(key=attribute.key, personal=attribute.personal)
                for attribute in self.attributes
                if attribute.personal is not None
            ]
        return Promise(
            accesses=tuple(spends),
            assumptions=tuple(assumptions),
            not_promised=tuple(not_promised),
        )

    def _attribute_settings(self) -> dict[str, object]:
        if not self.attributes:
            return {}
        return {
            "attribute_share": self.attribute_share,
            "attributes": [
                {
                    "name": attribute.key,
                    "type": "string" if attribute.domain is None else attribute.domain.kind,
                }
                for attribute in self.attributes
            ],
        }

    def shown_from(self, unit: Unit, activities: int) -> int | None:
        """From how many cases on any variant is shown, in a log that is large enough."""
        length = self.max_length or known_length(self.max_length_bound)
        if length is None:
            return None
        per_cell = self.split(activities).frequent * self.flow_price / unit.max_cases
        return all_threshold(per_cell, activities, length)

    def run(self, session: Session, progress: Progress | None = None) -> Output:
        """Ask the log, and make a release of the answers."""
        return CertifiedRun(self, session).release(progress)
