"""Sources of rules, as types: only rules from public sources do not spend ε."""

from __future__ import annotations

from dataclasses import dataclass

from ..kernel.statements import Statement


class _Source:
    """A source with a statement, which is its wording too."""

    public = True

    @property
    def statement(self) -> Statement:
        """The source, as the certificate states it."""
        raise NotImplementedError

    def __str__(self) -> str:
        return str(self.statement)


@dataclass(frozen=True)
class Stated(_Source):
    """A person declares that the rules are public."""

    text: str
    """The declared source; the certificate repeats it."""

    @property
    def statement(self) -> Statement:
        """The source, as the certificate states it."""
        return Statement("source.stated", text=self.text)

    def __str__(self) -> str:
        """The text in a rules file, with its line breaks."""
        return self.text


@dataclass(frozen=True)
class FromModel(_Source):
    """Learned from a process model that is assumed to be public."""

    name: str
    """The name of the file."""
    stated: str | None = None
    """The declared source of the model; the certificate repeats it."""
    deviations: int | None = None
    """Number of events by which cases may differ from its language; None: only rules are used."""

    @property
    def statement(self) -> Statement:
        """The source, as the certificate states it."""
        given = {"stated": self.stated, "deviations": self.deviations}
        values = {name: value for name, value in given.items() if value is not None}
        language = "" if self.deviations is None else "_language"
        said = "" if self.stated is None else "_stated"
        return Statement(f"source.{'model' + language + said}", name=self.name, **values)


@dataclass(frozen=True)
class FromPublicLog(_Source):
    """Learned from a public log."""

    name: str
    """The name of the log."""

    @property
    def statement(self) -> Statement:
        """The source, as the certificate states it."""
        return Statement("source.public_log", name=self.name)


@dataclass(frozen=True)
class FromSecretLog(_Source):
    """Learned from a confidential log without spending ε: using them is a leak."""

    name: str | None = None
    """The name of the log; None: the log that is released."""
    public = False

    @property
    def statement(self) -> Statement:
        """The source, as the certificate states it."""
        if self.name is None:
            return Statement("source.this_log")
        return Statement("source.confidential_log", name=self.name)


Provenance = Stated | FromModel | FromPublicLog | FromSecretLog
THIS_LOG = FromSecretLog()
