"""A task for a worker process: all that it has to know, in one line of JSON.

Neither the app's schema nor its libraries are needed to read it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

from ..errors import Argument
from ..events import ReadOptions
from ..events.columns_file import parse_columns
from ..release.formats import FORMATS

Content = dict[str, object]
"""A JSON object."""
CERTIFICATE = ".certificate.json"
RELEASE = "release.parquet"
"""The release as it is kept, with its times. Other formats are made of it when asked for."""
LOGS = tuple(f"log{each.suffix}" for each in FORMATS)
"""The released log in every format."""
FIGURES = ("figures.csv", "figures.json")
"""The figures of the report with their margins of error, as tables."""
ABOUT = ("report.html", *FIGURES)
"""Files about a release, whatever its format."""
FILES = (
    *LOGS,
    *(f"{name}{CERTIFICATE}" for name in LOGS),
    *ABOUT,
    *(f"{name}.zip" for name in LOGS),
)
"""All files of a release. Those that end in .zip have all others with one log."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """What a worker is to do. Fields of a request have their names in the interface."""

    kind: Literal["inspect", "anonymize", "convert"]
    memory: int = 0
    """What reading a trusted log may take, in bytes."""
    log: str = ""
    """Path of the log."""
    title: str = ""
    """The user's own name of the log."""
    columns: Content = field(default_factory=dict)
    mechanism: str = ""
    settings: Content = field(default_factory=dict)
    """The settings of the mechanism, by option."""
    seed: int | None = None
    activities: list[str] | None = None
    rules: str | None = None
    rules_file: str | None = None
    rules_log: str | None = None
    """Path of the public log whose rules are used."""
    rules_name: str = ""
    """The user's own name of that log."""
    model: Content = field(default_factory=dict)
    ledger: str | None = None
    """Path of the ledger that pays."""
    dataset: str | None = None
    released_by: str | None = None
    file: str = ""
    """The format to convert a release to, as the name of a file."""
    packed: tuple[str, str] | None = None
    """The zip file to make, and the name of the log in it."""

    @classmethod
    def from_json(cls, line: str) -> Task:
        """Read a task."""
        return cls(**json.loads(line))

    def to_json(self) -> str:
        """Write a task in one line."""
        return json.dumps(asdict(self))

    @property
    def trusted(self) -> bool:
        """Whether checks for hostile files are skipped."""
        return bool(self.columns.get("trusted"))


def as_field(argument: Argument) -> str:
    """An argument that a message names, as pages call its field."""
    name = f"“{argument.name.replace('_', ' ')}”"
    if argument.value in (None, True):
        return name
    return f"{name}: {'no' if argument.value is False else argument.value}"


def read_options(chosen: Mapping[str, object]) -> ReadOptions:
    """How a log is read, as readers take it; a person has one case if nobody says."""
    content = dict(chosen)
    if content.get("person") is not None and content.get("max_cases") is None:
        content["max_cases"] = 1
    content["columns"] = columns_content(content.get("columns"))  # type: ignore[arg-type]
    return ReadOptions(**content)  # type: ignore[arg-type]


def columns_content(given: str | Mapping[str, object] | None) -> Mapping[str, object] | None:
    """What a file of columns says, however it was sent: a text is never the name of a file."""
    return parse_columns(given) if isinstance(given, str) else given
