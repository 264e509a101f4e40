"""What the interface under /api answers."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ..events.profile import ColumnProfile, Preview
from ..report.promise import Belief, say_number
from .requests import ColumnChoice

State = Literal["waiting", "running", "done", "refused", "crashed", "cancelled"]
Kind = Literal["inspect", "anonymize"]
Epsilon = Annotated[
    str | None,
    BeforeValidator(lambda value: say_number(value) if isinstance(value, Fraction) else value),
]
"""An exact number as text; null if there is none."""
Words = Annotated[str, BeforeValidator(str)]
"""A statement in words."""


class Answer(BaseModel):
    """An answer, made of the attributes of a value."""

    model_config = ConfigDict(from_attributes=True, use_attribute_docstrings=True)


class Problem(Answer):
    """Why something was not done."""

    detail: str


class MissingColumns(Answer):
    """Columns that were not recognised."""

    missing: list[str]
    present: list[str]


class FrequentVariant(Answer):
    """A variant of the log. Confidential."""

    activities: list[str]
    count: int


class InspectionAnswer(Answer):
    """What a log contains. Confidential: it comes from the log without noise."""

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
    """Cases whose times contradict the order of the file; null: not counted."""


class ReleaseAnswer(Answer):
    """What was released. Public, unless the noise was drawn from a seed."""

    promise: str
    strength: str | None = Field(description="How strong that is, in a word.")
    level: int | None = Field(description="The same as a number: 0, very strong, to 4, none.")
    verdict: str | None = Field(description="How accurate the figures are.")
    cases_margin: int | None
    """Margin of error (95 %) of the number of cases; null: not known."""
    epsilon: str | None = Field(description="The ε of the whole release; null: none is finite.")
    publishable: bool
    cases: int
    variants: int
    dataset: str | None = Field(description="Dataset whose budget in the ledger paid.")
    ledger: list[str] = Field(description="What the ledger reports.")
    notices: list[str] = []
    """What was ignored in the model of the rules, or assumed about it."""


class JobAnswer(Answer):
    """How a job stands."""

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
    """One part of ε and what it buys."""

    what: Words
    epsilon: float
    noise: float
    buys: Words


class AffordAnswer(Answer):
    """What a release would do to the budget of a dataset."""

    dataset: str
    left: Epsilon = Field(description="Now; null: no limit is set.")
    after: Epsilon = Field(description="After this release; null: no limit, or not enough.")
    enough: bool


class PlanAnswer(Answer):
    """What a release would promise and spend."""

    promise: str
    epsilon: str | None = None
    factor: str | None = None
    strength: str | None = None
    level: int | None = None
    """The same as a number: 0, very strong, to 4, none."""
    beliefs: list[Belief] = []
    protects: str
    assumptions: list[str]
    not_promised: list[str]
    shares: list[ShareAnswer] = []
    afford: AffordAnswer | None = None
    lines: list[str] = []
    """What a release of this many cases would show."""


class MechanismAnswer(Answer):
    """A mechanism and the settings that it has."""

    name: str
    settings: list[str]
    price: str = Field(description="What its ε applies to.")
    default: bool


class AccountAnswer(Answer):
    """How a dataset stands in the ledger."""

    dataset: str
    budget: Epsilon
    spent: Epsilon
    left: Epsilon


class EntryAnswer(Answer):
    """One release in the ledger."""

    id: int
    at: str
    mechanism: str
    price: Epsilon
    state: str
    repeats: int | None


class LedgerAnswer(Answer):
    """All datasets of the ledger; null where the app has none."""

    datasets: list[AccountAnswer] | None


class SignerAnswer(Answer):
    """Whose key signs here."""

    name: str | None = Field(description="The name of the key; none: nothing is signed here.")
    id: str | None = Field(description="The SHA-256 of the public key.")
