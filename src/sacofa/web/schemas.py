"""What the interface under /api answers."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from .reading import ColumnChoice

State = Literal["waiting", "running", "done", "refused", "crashed", "cancelled"]
Kind = Literal["inspect", "anonymize"]


class Problem(BaseModel):
    """Why something was not done."""

    detail: str


class MissingColumns(BaseModel):
    """Columns that were not recognised."""

    missing: list[str]
    present: list[str]


class FrequentVariant(BaseModel):
    """A variant of the log. Secret."""

    activities: list[str]
    count: int


class PreviewColumn(BaseModel):
    """A column of the log, and what is in it."""

    name: str
    type: str


class PreviewAnswer(BaseModel):
    """The first events of the log. Secret."""

    columns: list[PreviewColumn]
    rows: list[list[str | None]]
    left_out: int = Field(description="How many more columns there are.")


class OfferedAttribute(BaseModel):
    """A column of the log that may be released as an attribute."""

    name: str
    type: str = Field(description="What its values look like: text, number, date, time, yes or no.")
    constant: bool | None = Field(description="Whether each case has one value at most.")
    advice: str | None = Field(description="Why it should not be released as it is.")
    personal: str | None = Field(description="The personal data that it looks like, if any.")


class InspectionAnswer(BaseModel):
    """What a log contains. Secret: it comes from the log without noise."""

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
    attributes: list[OfferedAttribute] = Field(
        description="The columns that may be released as attributes."
    )
    found: ColumnChoice = Field(description="The columns that were taken.")
    notices: list[str] = Field(description="What the holder of the log should know of it.")
    disordered: int | None = Field(
        description="Cases whose times contradict the order of the file; null: not counted."
    )


class ReleaseAnswer(BaseModel):
    """What was released. Public, unless the noise was drawn from a seed."""

    promise: str
    strength: str | None = Field(description="How strong that is, in a word.")
    level: int | None = Field(description="The same as a number: 0, very strong, to 4, none.")
    verdict: str | None = Field(description="How sure the figures are.")
    cases_margin: int | None = Field(
        description="In 95 of 100 runs the number of cases is off by no more; null: not known."
    )
    epsilon: str | None = Field(description="The price of the whole release; null: none is finite.")
    publishable: bool
    cases: int
    variants: int
    dataset: str | None = Field(description="Whose budget in the ledger paid.")
    ledger: list[str] = Field(description="What the ledger has to say.")
    notices: list[str] = Field(
        default=[], description="What was passed over in the model of the rules, or assumed of it."
    )


class JobAnswer(BaseModel):
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
    trustable: bool = Field(
        default=False,
        description="Whether the log looks like a bomb, and can be trusted all the same.",
    )
    preview: PreviewAnswer | None = None
    inspection: InspectionAnswer | None = None
    release: ReleaseAnswer | None = None
    secret_notices: list[str] = Field(
        default=[],
        description="What the holder of the log should know of the release; gone with the log.",
    )
    files: list[str] = []


class LogAnswer(BaseModel):
    """An uploaded log."""

    id: str
    name: str
    bytes: int
    seconds_left: int = Field(description="Until it is deleted.")
    reading: ColumnChoice = Field(description="How it was last asked to be read.")
    draft: dict[str, str] = Field(description="What was chosen for its release so far.")
    inspection: JobAnswer | None = None


class BeliefAnswer(BaseModel):
    """How sure somebody can be of a guess, before and after."""

    before: float
    least: float
    most: float


class ShareAnswer(BaseModel):
    """One part of ε and what it buys."""

    what: str
    epsilon: float
    noise: float
    buys: str


class AffordAnswer(BaseModel):
    """What a release would do to the budget of a dataset."""

    dataset: str
    left: str | None = Field(description="Now; null: no limit is set.")
    after: str | None = Field(description="After this release; null: no limit, or not enough.")
    enough: bool


class PlanAnswer(BaseModel):
    """What a release would promise and cost."""

    promise: str
    epsilon: str | None
    factor: str | None
    strength: str | None
    level: int | None = Field(description="The same as a number: 0, very strong, to 4, none.")
    beliefs: list[BeliefAnswer]
    protects: str
    assumptions: list[str]
    not_promised: list[str]
    shares: list[ShareAnswer] = []
    afford: AffordAnswer | None = None
    lines: list[str] = Field(default=[], description="From how many cases on what can be shown.")


class MechanismAnswer(BaseModel):
    """A mechanism and the settings that it has."""

    name: str
    settings: list[str]
    price: str = Field(description="What its ε is the price of.")
    default: bool


class AccountAnswer(BaseModel):
    """How a dataset stands in the ledger."""

    dataset: str
    budget: str | None
    spent: str | None
    left: str | None


class EntryAnswer(BaseModel):
    """One release in the ledger."""

    id: int
    at: str
    mechanism: str
    price: str | None
    state: str
    repeats: int | None


class LedgerAnswer(BaseModel):
    """All datasets of the ledger; null where the app has none."""

    datasets: list[AccountAnswer] | None
