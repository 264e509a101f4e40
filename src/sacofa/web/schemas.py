"""The responses of the API under /api."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ..events.profile import ColumnProfile, Preview
from ..kernel.statements import Statement
from ..ledger import Account
from ..report.promise import Belief, say_number
from .requests import ColumnChoice

State = Literal["waiting", "running", "done", "refused", "crashed", "cancelled"]
Kind = Literal["inspect", "anonymize"]
Epsilon = Annotated[
    str | None,
    BeforeValidator(lambda value: say_number(value) if isinstance(value, Fraction) else value),
]
"""An exact number as text; null if it does not exist."""
Words = Annotated[str, BeforeValidator(str)]
"""A statement with its wording."""


def _say_delta(delta: Fraction) -> str | None:
    return str(Statement("claim.delta", delta=delta)) if delta else None


class Answer(BaseModel):
    """A response with the attributes of a value."""

    model_config = ConfigDict(from_attributes=True, use_attribute_docstrings=True)


class Problem(Answer):
    """The reason for a refusal or failure."""

    detail: str


class MissingColumns(Answer):
    """Columns that were not detected."""

    missing: list[str]
    present: list[str]


class FrequentVariant(Answer):
    """A variant of the log. Confidential."""

    activities: list[str]
    count: int


class InspectionAnswer(Answer):
    """The content of a log. Confidential, because no noise is added."""

    events: int
    activities: int
    cases: int
    variants: int
    unfinished: int
    mean_length: float
    lengths: dict[str, int]
    unique: float
    frequent: list[FrequentVariant]
    names: list[str] = Field(description="The activities.")
    columns: list[str] = Field(description="All columns of the log.")
    attributes: list[ColumnProfile]
    """The columns that may be released as attributes."""
    found: ColumnChoice = Field(description="The columns that were taken.")
    notices: list[str] = Field(description="Notices for the holder of the log.")
    disordered: int | None
    """Cases whose times contradict the order of the file; null if not counted."""


class ReleaseAnswer(Answer):
    """A finished release. Public, unless the noise was drawn from a seed."""

    promise: str
    strength: str | None = Field(description="How strong that is, in a word.")
    level: int | None = Field(description="The same as a number: 0, very strong, to 4, none.")
    verdict: str | None = Field(description="How accurate the figures are.")
    cases_margin: int | None
    """Margin of error (95 %) of the number of cases; null if unknown."""
    epsilon: str | None = Field(description="The ε of the whole release; null: none is finite.")
    delta: str | None = Field(description="Its δ, such as δ = 10⁻⁶; null: pure ε.")
    publishable: bool
    cases: int
    variants: int
    dataset: str | None = Field(description="Dataset whose budget in the ledger paid.")
    ledger: list[str] = Field(description="What the ledger reports.")
    notices: list[str] = []
    """Elements of the model that were ignored or assumed when its rules were learned."""


class JobAnswer(Answer):
    """The state of a job."""

    id: str
    kind: Kind
    log: str
    name: str = Field(description="What the log was called.")
    state: State
    stage: str
    progress: float
    problem: str | None = None
    columns: MissingColumns | None = None
    trustable: bool = False
    """Whether the log looks like a decompression bomb and can be trusted."""
    preview: Preview | None = None
    """The first events of the log. Confidential."""
    inspection: InspectionAnswer | None = None
    release: ReleaseAnswer | None = None
    secret_notices: list[str] = []
    """Notices for the holder of the log. They are deleted with the log."""
    files: list[str] = []


class LogAnswer(Answer):
    """An uploaded log."""

    id: str
    name: str
    bytes: int
    seconds_left: int = Field(description="Until it is deleted.")
    reading: ColumnChoice = Field(description="How it was read last.")
    draft: dict[str, str] = Field(description="The draft of the settings of its release.")
    inspection: JobAnswer | None = None


class ShareAnswer(Answer):
    """One part of ε and the queries that spend it."""

    what: Words
    epsilon: float
    noise: float
    buys: Words


class AffordAnswer(Answer):
    """The effect of a release on the budget of a dataset."""

    dataset: str
    left: Epsilon = Field(description="Now; null: no limit is set.")
    after: Epsilon = Field(description="After this release; null: no limit, or not enough.")
    enough: bool


class PlanAnswer(Answer):
    """The guarantee and the ε of a planned release."""

    promise: str
    epsilon: str | None = None
    delta: str | None = None
    """Such as δ = 10⁻⁶; null: pure ε."""
    factor: str | None = None
    strength: str | None = None
    level: int | None = None
    """The strength as a number from 0, very strong, to 4, none."""
    beliefs: list[Belief] = []
    protects: str
    assumptions: list[str]
    not_promised: list[str]
    shares: list[ShareAnswer] = []
    afford: AffordAnswer | None = None
    lines: list[str] = []
    """The expected usefulness of a release of this many cases."""


class MechanismAnswer(Answer):
    """A mechanism and its settings."""

    name: str
    settings: list[str]
    price: str = Field(description="What its ε applies to.")
    default: bool


class AccountAnswer(Answer):
    """The account of a dataset in the ledger."""

    dataset: str
    budget: Epsilon
    spent: Epsilon
    left: Epsilon
    delta: str | None
    """The δ that all these ε are for, such as δ = 10⁻⁶, if the budget is in ρ; null: pure ε."""

    @classmethod
    def of(cls, account: Account) -> AccountAnswer:
        """An account, with amounts in ρ as the ε that they imply."""
        budget, spent, left = (
            None if amount is None else account.epsilon(amount, fits=fits)
            for amount, fits in (
                (account.budget, True), (account.spent, False), (account.left, True),
            )
        )  # fmt: skip
        delta = _say_delta(account.delta)
        return cls(dataset=account.dataset, budget=budget, spent=spent, left=left, delta=delta)  # type: ignore[arg-type]


class EntryAnswer(Answer):
    """One release in the ledger."""

    id: int
    at: str
    mechanism: str
    price: Epsilon
    delta: Annotated[str | None, BeforeValidator(lambda delta: _say_delta(delta))]
    """The δ of the release, such as δ = 10⁻⁶; null: pure ε."""
    state: str
    repeats: int | None


class LedgerAnswer(Answer):
    """All datasets of the ledger; null if the app has no ledger."""

    datasets: list[AccountAnswer] | None


class SignerAnswer(Answer):
    """The signing key of the app."""

    name: str | None = Field(description="The name of the key; none: nothing is signed here.")
    id: str | None = Field(description="The SHA-256 of the public key.")
