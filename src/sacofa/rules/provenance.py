"""Where rules come from, as a type: only what is public may be used without payment."""

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
    """A person says where the rules come from: they are public."""

    text: str
    """What the person says; the certificate repeats it."""

    @property
    def statement(self) -> Statement:
        """The source, as the certificate states it."""
        return Statement("source.stated", text=self.text)

    def __str__(self) -> str:
        """The text as it stands in a rules file, with its line breaks."""
        return self.text


@dataclass(frozen=True)
class FromModel(_Source):
    """Read off a model of the process that is public, as far as anybody says."""

    name: str
    """What the file is called."""
    stated: str | None = None
    """Where a person says that the model comes from; the certificate repeats it."""
    deviations: int | None = None
    """How far cases may differ from its language; None where its rules are kept instead."""

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
    """Read off a log that is public."""

    name: str
    """What the log is called."""

    @property
    def statement(self) -> Statement:
        """The source, as the certificate states it."""
        return Statement("source.public_log", name=self.name)


@dataclass(frozen=True)
class FromSecretLog(_Source):
    """Read off a secret log without payment: using them is a leak."""

    name: str | None = None
    """What the log is called; None where it is the very log that is to be released."""
    public = False

    @property
    def statement(self) -> Statement:
        """The source, as the certificate states it."""
        if self.name is None:
            return Statement("source.this_log")
        return Statement("source.confidential_log", name=self.name)


Provenance = Stated | FromModel | FromPublicLog | FromSecretLog
THIS_LOG = FromSecretLog()
