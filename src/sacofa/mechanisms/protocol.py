"""The base class of mechanisms: a promise before any log is read, and a run that keeps it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from ..errors import SettingError
from ..kernel.accounting import Access, Budget, total_epsilon
from ..kernel.attributes import Attribute
from ..kernel.cases import Cases
from ..kernel.noise import Noise
from ..kernel.queries.protocol import Answer
from ..kernel.session import Session
from ..kernel.statements import Statement
from ..kernel.unit import Unit
from ..synthesis.margins import Margins
from ..synthesis.verdict import Verdict
from .released import ReleasedLog

if TYPE_CHECKING:
    from .certified import Plan

Progress = Callable[[float], None]

TRUNCATION = Statement("limit.truncation")
"""What is lost by a bound on the length of cases."""


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What a mechanism promises, and at what price: known before any log is read."""

    accesses: tuple[Access, ...]
    """Every line that the run may charge queries to, with its price; and every leak."""
    assumptions: tuple[Statement, ...] = ()
    """What is taken to be public or true."""
    not_promised: tuple[Statement, ...] = ()
    """What a reader might expect and must not."""
    budget: Budget | None = None
    """The currency of all amounts, and the claim; None: pure ε, the sum of the amounts."""

    @property
    def epsilon(self) -> Fraction | None:
        """The claimed ε; None if a leak makes it infinite."""
        return total_epsilon(self.accesses, self.budget)

    @property
    def delta(self) -> Fraction:
        """The δ that is claimed; 0 for pure differential privacy."""
        return self.budget.delta if self.budget else Fraction(0)


@dataclass(frozen=True, kw_only=True)
class Output:
    """What a mechanism makes of the answers to its queries.

    Example:
        `Output(log=ReleasedLog(variants=variants))`
    """

    log: ReleasedLog
    """What may be released."""
    verdict: Verdict | None = None
    """What the release is good for; from noise and noisy values alone. None: not known."""
    margins: Margins | None = None
    """How far its figures may be off; from noise and noisy values alone. None: not known."""
    notes: tuple[Statement, ...] = ()
    """What the certificate should say about this run; made of noisy values only."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run returns: the output of the mechanism, with all answers and charges."""

    output: Output
    """What the mechanism returned."""
    transcript: Mapping[str, object] = field(default_factory=dict)
    """Every noisy value that was seen on the way: what the proof protects and the audit tests."""
    answers: tuple[Answer, ...] = ()
    """The same, with the queries."""
    spent: tuple[Access, ...] = ()
    """What was charged: in sum what was promised."""

    @property
    def log(self) -> ReleasedLog:
        """What may be released."""
        return self.output.log


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a mechanism can release, and on which logs it can run."""

    times: bool = False
    """Whether it spends a part of ε on times, if the log has them."""
    attributes: bool = False
    """Whether it can release attributes of cases and events."""
    distributed: bool = False
    """Whether all its queries can be answered in parts on a cluster."""
    earlier: bool = False
    """Whether it has a field `earlier` for the variants of earlier releases."""
    max_activities: int | None = None
    """The largest number of activity names. None: no limit."""


class Mechanism(ABC):
    """Turns the cases of a confidential log into a private release, through a session.

    A mechanism of your own derives from this class and defines `name`, `promise` and `run`; all
    other members have defaults. Registered under the entry point `sacofa.mechanisms`, it is
    available on the command line, in the web app and in the audit under its name.
    """

    name: str
    """The name that the certificate repeats."""
    minimal: ClassVar[Mapping[str, object]] = {}
    """Settings of the smallest run that keeps the promise, which an audit repeats many times."""

    @property
    def capabilities(self) -> Capabilities:
        """What the mechanism can release with its present settings."""
        return Capabilities()

    def settings(self) -> Mapping[str, object]:
        """The settings that the certificate repeats, whether or not they differ from defaults.

        Fields of a dataclass that differ from their defaults are added if they are not among them.
        """
        return {}

    @abstractmethod
    def promise(self, unit: Unit) -> Promise:
        """What the mechanism promises for a unit of privacy, and the ε of each line."""

    @abstractmethod
    def run(self, session: Session, progress: Progress | None = None) -> Output:
        """Query the log through a session, and make a release of the answers."""

    def for_log(self, *, timed: bool, attributes: tuple[Attribute, ...] = ()) -> Mechanism:
        """The mechanism as it runs on a log with these attributes, with or without times."""
        if attributes:
            raise SettingError(
                "attribute",
                attributes[0].key,
                Statement("must.be.left_out_for", mechanism=self.name),
            )
        return self

    def refuse_unused_settings(self) -> None:  # noqa: B027 (most mechanisms have none)
        """Refuse settings about something that will not be released, such as attributes."""

    def plan_for(self, unit: Unit, activities: int, cases: int | None = None) -> Plan | None:
        """What a release buys, by public facts about a log. None: the mechanism cannot tell."""
        return None

    def shown_from(self, unit: Unit, activities: int) -> int | None:
        """The number of cases from which a variant is released in any large log. None: unknown."""
        return None


def check_mechanism(mechanism: object) -> None:
    """Refuse anything but an instance of a mechanism, such as its name or its class."""
    if not isinstance(mechanism, Mechanism):
        given = mechanism if isinstance(mechanism, str | type) else type(mechanism)
        name = given if isinstance(given, str) else given.__name__
        raise SettingError("mechanism", name, Statement("must.be.mechanism"))


def perform(
    mechanism: Mechanism, cases: Cases, noise: Noise, progress: Progress | None = None
) -> Outcome:
    """Run a mechanism on cases; the unit is theirs, and what is spent is what was promised."""
    mechanism = mechanism.for_log(timed=cases.timed, attributes=cases.attributes)
    promise = mechanism.promise(cases.unit)
    session = Session(cases, promise.accesses, noise, promise.budget)
    output = mechanism.run(session, progress)
    return Outcome(
        output=output,
        transcript=session.transcript,
        answers=tuple(session.answers),
        spent=session.close(),
    )
