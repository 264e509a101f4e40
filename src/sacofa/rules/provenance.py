"""Where rules come from, as a type: only what is public may be used without payment."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stated:
    """A person says where the rules come from: they are public."""

    text: str
    """What the person says; the certificate repeats it."""
    public = True

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class FromModel:
    """Read off a model of the process that is public, as far as anybody says."""

    name: str
    """What the file is called."""
    stated: str | None = None
    """Where a person says that the model comes from; the certificate repeats it."""
    deviations: int | None = None
    """How far cases may differ from its language; None where its rules are kept instead."""
    public = True

    def __str__(self) -> str:
        kept = (
            "" if self.deviations is None else f", its language with {self.deviations} deviations"
        )
        said = self.stated or "assumed to be public, and not mined from the log"
        return f"the process model {self.name}{kept} ({said})"


@dataclass(frozen=True)
class FromPublicLog:
    """Read off a log that is public."""

    name: str
    """What the log is called."""
    public = True

    def __str__(self) -> str:
        return f"learnt from the public log {self.name}"


@dataclass(frozen=True)
class FromSecretLog:
    """Read off a secret log without payment: using them is a leak."""

    name: str | None = None
    """What the log is called; None where it is the very log that is to be released."""
    public = False

    def __str__(self) -> str:
        which = "this log" if self.name is None else f"the log {self.name}"
        return f"read off {which} without payment"


Provenance = Stated | FromModel | FromPublicLog | FromSecretLog
THIS_LOG = FromSecretLog()
