"""Everything that has to be stated about a release, section by section.

The sections are those that NIST SP 800-226 asks of a claim of differential privacy: the unit, the
neighbour relation and ε; bounded contributions; the trust model; pre-processing and tuning; how
exact the noise is; side channels; and what is outside the guarantee.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from fractions import Fraction

from ...errors import ReadError, Statement
from ...kernel.accounting import Access, Leak
from ...messages.units import neighbours
from ..certificate import Certificate, JsonObject, guarantee, say_setting
from ..combine import MECHANISM as COMBINED
from .people import Deployment


@dataclass(frozen=True, kw_only=True)
class Section:
    """Something that has to be stated."""

    key: str
    """Which section it is."""
    statements: tuple[Statement, ...] = ()
    """What it states."""
    rows: tuple[tuple[Statement, Statement], ...] = ()
    """What it states as a table of two columns."""

    @property
    def heading(self) -> Statement:
        """The heading of the section."""
        return Statement(f"heading.{self.key}")


def disclose(
    certificate: Certificate,
    *,
    deployment: Deployment | None = None,
    audit: JsonObject | None = None,
) -> list[Section]:
    """State everything about a release.

    Args:
        certificate: The certificate of the release.
        deployment: What only people know about the publication.
        audit: The output of `sacofa audit --json`.

    Returns:
        The sections, in the order of the annex.

    Raises:
        ReadError: If the audit is of another mechanism, or confidential.
    """
    return _Discloser(certificate).sections(deployment, audit)


def _said(code: str, **values: object) -> Statement:
    """A statement of this annex."""
    return Statement(f"disclosure.{code}", **values)


class _Discloser:
    """States things about one certificate."""

    def __init__(self, certificate: Certificate) -> None:
        self._certificate = certificate

    def sections(self, deployment: Deployment | None, audit: JsonObject | None) -> list[Section]:
        c = self._certificate
        found = {
            "what": self._what(),
            "unit": [_said("sentence", said=c.protects)],
            "neighbours": [neighbours(c.unit)],
            "price": self._price(),
            "contributions": self._contributions(),
            "accounting": [_said("composition")],
            "repeated": self._repeated(),
            "trust": self._trust(),
            "tuning": [_said("order"), self._tuned(), _said("chosen")],
            "exactness": [_said("exactness")],
            "channels": [self._origin(), _said("channels")],
            "security": [_said("security")],
            "assumptions": c.assumptions,
            "outside": [*c.not_promised, _said("employees"), _said("claims")],
            "accuracy": [self._verdict(), *self._missing(), *self._margins(), *c.notes],
            "audit": [self._audit(audit)],
            "settings": [],
        }
        rows = {
            "accounting": tuple(map(_account_row, c.spent)),
            "settings": tuple((Statement.plain(n), _setting(v)) for n, v in c.settings.items()),
        }
        sections = [
            Section(key=key, statements=tuple(said), rows=rows.get(key, ()))
            for key, said in found.items()
        ]
        if deployment is not None:
            sections.insert(1, _people(deployment))
        return sections

    def _verdict(self) -> Statement:
        """What the release is good for."""
        verdict = self._certificate.verdict
        if verdict is None:
            return _said("no_verdict")
        return _said("sentence", said=verdict.statement)

    def _missing(self) -> list[Statement]:
        """Which activities no released case has."""
        names = self._certificate.missing_activities
        return [_said("missing", names=names)] if names else []

    def _margins(self) -> list[Statement]:
        margins = self._certificate.margins
        if margins is None:
            return []
        known = margins.statement
        return [_said("no_margins") if known is None else _said("margins", margins=known)]

    def _what(self) -> list[Statement]:
        c = self._certificate
        if c.mechanism == COMBINED:
            made = _said("combined", version=c.version)
        else:
            made = _said("mechanism", mechanism=c.mechanism, version=c.version)
        return [made] if c.sha256 is None else [made, _said("file", sha256=c.sha256)]

    def _price(self) -> list[Statement]:
        c = self._certificate
        seeded = [] if c.publishable else [_said("seeded")]
        if c.epsilon is None:
            return [*seeded, _said("no_price"), guarantee(None, c.unit)]
        if not c.publishable:
            return [*seeded, _said("unseeded", epsilon=c.epsilon), c.guarantee]
        odds = _said("odds", factor=_factor(c.epsilon), course=_factor(2 * c.epsilon))
        return [_said("price", epsilon=c.epsilon), c.guarantee, odds]

    @property
    def _leaks(self) -> bool:
        """Whether something was read from the log without spending privacy budget."""
        return self._certificate.epsilon is None

    def _trust(self) -> list[Statement]:
        """Against whom the guarantee holds."""
        seeded = not self._certificate.publishable
        return [
            _said("trust"),
            _said("trusted_recipients" if seeded or self._leaks else "recipients"),
            _said("seed" if seeded else "generator"),
        ]

    def _tuned(self) -> Statement:
        return _said("tuned_unpaid" if self._leaks else "tuned")

    def _origin(self) -> Statement:
        return _said("not_by_noise" if self._leaks else "by_noise")

    def _contributions(self) -> list[Statement]:
        unit = self._certificate.unit
        if self._leaks:
            return [_said("unbounded")]
        if unit.person is None:
            return [_said("bounded_case")]
        return [_said("bounded_case"), _said("bounded_person", max_cases=unit.max_cases)]

    def _repeated(self) -> list[Statement]:
        c = self._certificate
        if c.period is None:
            return [_said("together" if c.mechanism == COMBINED else "alone")]
        period = c.period.period
        values = {
            "period": period.name,
            "first": str(period.start),
            "after": str(period.end),
        }
        if c.period.series is None:
            which = _said("period", **values)
        else:
            which = _said("series", **values, series=c.period.series)
        return [which, c.period.composition(c.unit)]

    def _audit(self, audit: JsonObject | None) -> Statement:
        if audit is None:
            return _said("unaudited")
        released = self._certificate.mechanism
        try:
            if (audited := str(audit["mechanism"])) != released:
                other = Statement("audit.other_mechanism", audited=audited, released=released)
                raise ReadError("audit", other)
            if audit["secret"]:
                raise ReadError("audit", Statement("audit.confidential"))
            if audit["refuted"]:
                return _said("refuted")
            return _said(
                "audited",
                runs=int(audit["runs"]),
                claimed=max(float(finding["claimed"]) for finding in audit["findings"]),
                highest=max(float(finding["certified"]) for finding in audit["findings"]),
            )
        except (KeyError, TypeError, ValueError):
            raise ReadError("audit", Statement("audit.unreadable")) from None


def _account_row(access: Access) -> tuple[Statement, Statement]:
    if isinstance(access, Leak):
        return access.what, access.why
    return access.what, _said("epsilon", epsilon=access.epsilon)


def _people(deployment: Deployment) -> Section:
    given = {field.name: getattr(deployment, field.name) for field in fields(deployment)}
    return Section(
        key="people",
        rows=tuple(
            (Statement(f"deployment.{name}"), Statement.plain(str(value)))
            for name, value in given.items()
            if value is not None
        ),
    )


def _factor(epsilon: Fraction) -> Statement:
    """e to the power of ε, as a number where that is short."""
    if epsilon < 7:
        return Statement("factor.number", value=float(f"{math.exp(epsilon):.3g}"))
    return Statement("factor.power", epsilon=epsilon)


def _setting(value: object) -> Statement:
    """A setting: of a list each entry, of an attribute its name and type."""
    return value if isinstance(value, Statement) else Statement.plain(say_setting(value))
