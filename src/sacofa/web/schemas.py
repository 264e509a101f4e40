"""What goes in and out of the interface under /api."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Whole = Annotated[int, Field(ge=1, le=10**9)]
Length = Annotated[int, Field(ge=1, le=10_000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
State = Literal["waiting", "running", "done", "refused", "crashed", "cancelled"]
Kind = Literal["inspect", "anonymize"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ColumnChoice(_Model):
    """Which columns of a log hold what; those left out are found by their names."""

    case: Name | None = None
    activity: list[Name] = Field(default=[], max_length=20, description="Several are joined.")
    timestamp: Name | None = None
    order: Literal["file", "time"] = "file"
    person: Name | None = Field(
        default=None, description="Whose case it is, where people are protected."
    )
    max_cases: Whole | None = Field(default=None, description="Cases kept of each person.")
    trusted: bool = Field(default=False, description="Read files that look like bombs, too.")


class MechanismChoice(_Model):
    """A mechanism and its settings, as on the command line."""

    mechanism: str = Field(default="certified", max_length=50)
    epsilon: Annotated[str, StringConstraints(min_length=1, max_length=50)] = Field(
        description="The price: 1, 0.1 or 1/3; of one level with sacofa and laplace.",
        examples=["1"],
    )
    max_length: Length | None = None
    prune: Whole | None = None
    prune_harmless: Whole | None = None
    prune_harmful: Annotated[str, StringConstraints(max_length=20)] | None = Field(
        default=None, description="A whole number, or inf to admit none."
    )
    prune_finished: bool | None = None
    score: Literal["binary", "continuous"] | None = None
    max_violations: Whole | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = Field(
        default=None,
        description="Repeatable noise, for tests: such a release must not be published.",
    )


class PlanRequest(MechanismChoice):
    """What a release would promise; reads no log."""

    public_rules: bool = Field(default=False, description="Whether public rules will be given.")
    person: Name | None = None
    max_cases: Whole | None = None
    activities: Annotated[int, Field(ge=0, le=10_000)] | None = Field(
        default=None, description="About how many activities there are."
    )
    cases: Annotated[int, Field(ge=0, le=10**12)] | None = Field(
        default=None, description="About how many cases there are."
    )


class JobRequest(MechanismChoice):
    """A release to be made."""

    log: Name = Field(description="The id of an uploaded log.")
    columns: ColumnChoice = ColumnChoice()
    rules: Annotated[str, StringConstraints(max_length=500_000)] | None = Field(
        default=None,
        description="Public rules: the text of a file as `sacofa rules` writes, or of a model.",
    )
    rules_file: Name | None = Field(
        default=None,
        description="The name of that file; its end tells a model (.bpmn, .pnml, .decl).",
    )
    deviations: Annotated[int, Field(ge=0, le=10)] | None = Field(
        default=None,
        description="Keep the language of the model; cases may differ from it in so many events.",
    )
    rules_log: Name | None = Field(
        default=None, description="The id of an uploaded public log whose rules hold."
    )
    activities: Annotated[list[Name], Field(min_length=1, max_length=10_000)] | None = Field(
        default=None, description="Public names of activities; events of others are dropped."
    )
    dataset: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = Field(
        default=None, description="Whose budget in the ledger pays."
    )


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
    found: ColumnChoice = Field(description="The columns that were taken.")


class ReleaseAnswer(BaseModel):
    """What was released. Public, unless the noise was drawn from a seed."""

    promise: str
    epsilon: str | None = Field(description="The price of the whole release; null: none is finite.")
    publishable: bool
    cases: int
    variants: int
    dataset: str | None = Field(description="Whose budget in the ledger paid.")
    ledger: list[str] = Field(description="What the ledger has to say.")


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
    inspection: InspectionAnswer | None = None
    release: ReleaseAnswer | None = None
    files: list[str] = []


class LogAnswer(BaseModel):
    """An uploaded log."""

    id: str
    name: str
    bytes: int
    seconds_left: int = Field(description="Until it is deleted.")
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
    within: float
    buys: str


class PlanAnswer(BaseModel):
    """What a release would promise and cost."""

    promise: str
    epsilon: str | None
    factor: str | None
    strength: str | None
    beliefs: list[BeliefAnswer]
    protects: str
    assumptions: list[str]
    not_promised: list[str]
    shares: list[ShareAnswer] = []
    lines: list[str] = Field(default=[], description="From how many cases on what can be shown.")


class MechanismAnswer(BaseModel):
    """A mechanism and the settings that it has."""

    name: str
    settings: list[str]
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
