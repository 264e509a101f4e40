"""What every mechanism offers: its promise before any log is read, and its run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ..errors import SettingError
from ..kernel.accounting import Access
from ..kernel.attributes import Attribute
from ..kernel.cases import Cases
from ..kernel.noise import Noise
from ..kernel.queries.protocol import Answer
from ..kernel.session import Session
from ..kernel.unit import Unit
from ..synthesis.margins import Margins
from ..synthesis.verdict import Verdict
from .released import ReleasedLog

Progress = Callable[[float], None]

TRUNCATION = (
    "Cases longer than max_length are truncated there and marked as unfinished, and so are those "
    "of just that length."
)
"""What is lost by a bound on the length of cases."""


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What a mechanism promises, and at what price: known before any log is read."""

    accesses: tuple[Access, ...]
    """Every line that the run may charge queries to, with its price; and every leak."""
    assumptions: tuple[str, ...] = ()
    """What is taken to be public or true."""
    not_promised: tuple[str, ...] = ()
    """What a reader might expect and must not."""


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
    notes: tuple[str, ...] = ()
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


class Mechanism(Protocol):
    """Turns the cases of a secret log into a private release, through a session.

    Any object with these members can be given to `anonymize`, from outside the package too. One
    that asks for times says so (`asks_times = True`), and gives with `without_times()` the same
    mechanism for logs that have none. One that can release attributes says with
    `with_attributes(…)` which mechanism it is then. One whose settings may turn out to be about
    nothing that is asked for refuses them with `check_asked()`.
    """

    @property
    def name(self) -> str:
        """The name that the certificate gives."""

    @property
    def supports_distributed(self) -> bool:
        """Whether it asks only queries that can be answered in parts on a cluster."""

    def settings(self) -> Mapping[str, object]:
        """The settings that the certificate repeats, whether or not they differ from defaults.

        Fields of a dataclass that differ from their defaults are added if they are not among them.
        """

    def promise(self, unit: Unit) -> Promise:
        """What is promised for a unit, and at what price."""

    def run(self, session: Session, progress: Progress | None = None) -> Output:
        """Ask the log through a session, and make a release of the answers."""


def check_mechanism(mechanism: Mechanism) -> None:
    """Refuse what is no mechanism: its name, its class, or anything else."""
    members = ("name", "supports_distributed", "settings", "promise", "run")
    if isinstance(mechanism, type) or not all(hasattr(mechanism, member) for member in members):
        given = mechanism if isinstance(mechanism, str | type) else type(mechanism)
        name = given if isinstance(given, str) else given.__name__
        raise SettingError("mechanism", name, "made with its settings: Certified(epsilon=1)")


def asks_times(mechanism: Mechanism) -> bool:
    """Whether a mechanism asks for times."""
    return bool(getattr(mechanism, "asks_times", False))


def check_asked(mechanism: Mechanism) -> None:
    """Refuse settings about what is not asked for, once a mechanism knows what is."""
    check = getattr(mechanism, "check_asked", None)
    if check is not None:
        check()


def for_log(
    mechanism: Mechanism, *, timed: bool, attributes: tuple[Attribute, ...] = ()
) -> Mechanism:
    """The mechanism as it is run on a log: one without times is not asked for them.

    Where a log was opened with attributes, it is asked for these.
    """
    if attributes:
        if not hasattr(mechanism, "with_attributes"):
            raise SettingError("attribute", attributes[0].key, f"left out for {mechanism.name}")
        mechanism = mechanism.with_attributes(attributes)
    if timed or not asks_times(mechanism):
        return mechanism
    made: Mechanism = mechanism.without_times()  # type: ignore[attr-defined]
    return made


def perform(
    mechanism: Mechanism, cases: Cases, noise: Noise, progress: Progress | None = None
) -> Outcome:
    """Run a mechanism on cases; the unit is theirs, and what is spent is what was promised."""
    mechanism = for_log(mechanism, timed=cases.timed, attributes=cases.attributes)
    session = Session(cases, mechanism.promise(cases.unit).accesses, noise)
    output = mechanism.run(session, progress)
    return Outcome(
        output=output,
        transcript=session.transcript,
        answers=tuple(session.answers),
        spent=session.close(),
    )
