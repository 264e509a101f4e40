"""Everything that has to be said about a release, section by section.

The sections are those that NIST SP 800-226 asks of a claim of differential privacy: the unit, the
neighbour relation and the price; bounded contributions; the trust model; pre-processing and tuning;
how exact the noise is; side channels; and what is outside the promise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from ...errors import ReadError
from ...kernel.accounting import Leak
from ...messages.units import neighbours
from ...synthesis.margins import Margins
from ..certificate import Certificate, guarantee, say_setting
from ..combine import MECHANISM as COMBINED
from .german import to_german
from .people import Deployment
from .words import (
    HEADINGS,
    LABELS,
    SENTENCES,
    VERDICT_IN_GERMAN,
    Language,
    german_number,
)


@dataclass(frozen=True, kw_only=True)
class Section:
    """Something that has to be said."""

    key: str
    """Which one it is."""
    heading: str
    """What it is called."""
    sentences: tuple[str, ...] = ()
    """What is said."""
    rows: tuple[tuple[str, str], ...] = ()
    """What is said as a table of two columns."""


def disclose(
    certificate: Certificate,
    *,
    language: Language = "en",
    deployment: Deployment | None = None,
    audit: Mapping[str, Any] | None = None,
) -> list[Section]:
    """Say everything about a release, in a language; `audit` is what `sacofa audit --json` says."""
    return _Speaker(certificate, language).sections(deployment, audit)


class _Speaker:
    """Says things about one certificate in one language."""

    def __init__(self, certificate: Certificate, language: Language) -> None:
        self._certificate = certificate
        self._language = language

    def sections(
        self, deployment: Deployment | None, audit: Mapping[str, Any] | None
    ) -> list[Section]:
        c = self._certificate
        made = [self._section("what", *self._what())]
        if deployment is not None:
            made.append(self._people(deployment))
        made += [
            self._section("unit", _sentence(self._told(c.protects))),
            self._section("neighbours", self._told(str(neighbours(c.unit)))),
            self._section("price", *self._price()),
            self._section("contributions", *self._contributions()),
            self._accounting(),
            self._section("repeated", *self._repeated()),
            self._section("trust", *map(self._say, self._trust())),
            self._section("tuning", *map(self._say, ("order", self._tuned(), "chosen"))),
            self._section("exactness", self._say("exactness")),
            self._section("channels", *map(self._say, (self._made_of(), "channels"))),
            self._section("security", self._say("security")),
            self._section("assumptions", *map(self._told, c.assumptions)),
            self._section(
                "outside",
                *map(self._told, c.not_promised),
                self._say("employees"),
                self._say("claims"),
            ),
            self._section(
                "accuracy",
                self._verdict(),
                *self._missing(),
                *(() if c.margins is None else (self._margins(c.margins),)),
                *map(self._told, c.notes),
            ),
            self._section("audit", self._audit(audit)),
            self._settings(),
        ]
        return made

    def _verdict(self) -> str:
        """What the release is good for."""
        c = self._certificate
        if c.verdict is None:
            return self._say("no verdict")
        if c.judgement is None or self._language == "en":
            return _sentence(self._told(c.verdict))
        return _sentence(c.judgement.sentence(VERDICT_IN_GERMAN.__getitem__, german_number))

    def _missing(self) -> list[str]:
        """Which activities no released case has."""
        names = self._certificate.missing_activities
        return [self._say("missing", names=", ".join(names))] if names else []

    def _margins(self, margins: Margins) -> str:
        ranges = margins.ranges()
        known = [
            self._say(f"margin of {kind}", low=f"{low}", high=f"{high}")
            for kind, (low, high) in ranges.items()
        ]
        return self._say("margins", known=", ".join(known)) if known else self._say("no margins")

    def _what(self) -> list[str]:
        c = self._certificate
        kind = "combined" if c.mechanism == COMBINED else "mechanism"
        said = [self._say(kind, mechanism=c.mechanism, version=c.version)]
        if c.sha256 is not None:
            said.append(self._say("file", sha256=c.sha256))
        return said

    def _people(self, deployment: Deployment) -> Section:
        rows = tuple(
            (LABELS[field.name].say(self._language), str(getattr(deployment, field.name)))
            for field in fields(deployment)
            if getattr(deployment, field.name) is not None
        )
        return Section(key="people", heading=self._heading("people"), rows=rows)

    def _price(self) -> list[str]:
        c = self._certificate
        said = [] if c.publishable else [self._say("seeded")]
        if c.epsilon is None:
            return [*said, self._say("no price"), self._told(guarantee(None, c.unit))]
        price = self._number(c.epsilon)
        if not c.publishable:
            none = self._told(guarantee(c.epsilon, c.unit, publishable=False))
            return [*said, self._say("unseeded", epsilon=price), none]
        factor, course = (self._factor(times * c.epsilon) for times in (1, 2))
        return [
            *said,
            self._say("price", epsilon=price),
            self._told(guarantee(c.epsilon, c.unit)),
            self._say("odds", factor=factor, course=course),
        ]

    @property
    def _leaks(self) -> bool:
        """Whether something was read off the log without payment."""
        return self._certificate.epsilon is None

    def _trust(self) -> tuple[str, str, str]:
        """What holds against whom: the keys of sentences."""
        seeded = not self._certificate.publishable
        recipients = "trusted recipients" if seeded or self._leaks else "recipients"
        return "trust", recipients, "seed" if seeded else "generator"

    def _tuned(self) -> str:
        return "tuned unpaid" if self._leaks else "tuned"

    def _made_of(self) -> str:
        return "not by noise" if self._leaks else "by noise"

    def _contributions(self) -> list[str]:
        unit = self._certificate.unit
        if self._leaks:
            return [self._say("unbounded")]
        said = [self._say("bounded case")]
        if unit.person is not None:
            said.append(self._say("bounded person", max_cases=unit.max_cases))
        return said

    def _accounting(self) -> Section:
        rows = tuple(
            (self._told(access.what), self._told(access.why))
            if isinstance(access, Leak)
            else (self._told(access.what), f"ε = {self._number(access.epsilon)}")
            for access in self._certificate.spent
        )
        return Section(
            key="accounting",
            heading=self._heading("accounting"),
            sentences=(self._say("composition"),),
            rows=rows,
        )

    def _repeated(self) -> list[str]:
        c = self._certificate
        if c.period is None:
            return [self._say("together" if c.mechanism == COMBINED else "alone")]
        period = c.period.period
        said = self._say(
            "period" if c.period.series is None else "series",
            series=c.period.series,
            name=period.name,
            first=period.start,
            after=period.end,
        )
        return [said, self._told(c.period.composition(c.unit))]

    def _audit(self, audit: Mapping[str, Any] | None) -> str:
        if audit is None:
            return self._say("unaudited")
        mechanism = self._certificate.mechanism
        try:
            if audit["mechanism"] != mechanism:
                raise ReadError("audit", f"is of {audit['mechanism']}, not of {mechanism}")
            if audit["secret"]:
                raise ReadError("audit", "was made on the secret log: it must not be published")
            if audit["refuted"]:
                return self._say("refuted")
            highest = max(float(finding["certified"]) for finding in audit["findings"])
            claimed = max(float(finding["claimed"]) for finding in audit["findings"])
            return self._say(
                "audited",
                runs=f"{int(audit['runs']):,}",
                claimed=f"{claimed:g}",
                highest=f"{highest:.3f}",
            )
        except (KeyError, TypeError, ValueError):
            raise ReadError("audit", "not what sacofa audit --json says") from None

    def _settings(self) -> Section:
        rows = tuple(
            (name, say_setting(value)) for name, value in self._certificate.settings.items()
        )
        return Section(key="settings", heading=self._heading("settings"), rows=rows)

    def _section(self, key: str, *sentences: str) -> Section:
        return Section(key=key, heading=self._heading(key), sentences=sentences)

    def _heading(self, key: str) -> str:
        return HEADINGS[key].say(self._language)

    def _say(self, key: str, **values: object) -> str:
        return SENTENCES[key].say(self._language, **values)

    def _told(self, sentence: str) -> str:
        """A sentence of the certificate."""
        return sentence if self._language == "en" else to_german(sentence)

    def _number(self, value: Fraction) -> str:
        short = f"{float(value):.6g}"
        text = short if Fraction(short) == value else str(value)
        return text if self._language == "en" else text.replace(".", ",")

    def _factor(self, epsilon: Fraction) -> str:
        text = f"{math.exp(epsilon):.3g}" if epsilon < 7 else f"e^{epsilon}"
        return text if self._language == "en" else text.replace(".", ",")


def _sentence(text: str) -> str:
    """The same text as a sentence."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
