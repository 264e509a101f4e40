"""Everything that has to be stated about a release, section by section.

The sections are those that NIST SP 800-226 asks of a claim of differential privacy: the unit, the
neighbour relation and ε; bounded contributions; the trust model; pre-processing and tuning; how
exact the noise is; side channels; and what is outside the guarantee. What only people know about a
release is a `Deployment`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from datetime import date
from fractions import Fraction

from ...errors import ReadError, SettingError, Statement, advised
from ...kernel.accounting import Leak
from ...messages.units import neighbours
from ..certificate import Certificate, JsonObject, guarantee, say_setting
from ..combine import MECHANISM as COMBINED

SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
"""The closed list of the OpenDP deployments registry."""
LONGEST = 5_000


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """Facts about a publication that the certificate cannot know.

    Attributes:
        name: Name of the published data.
        curator: Publisher.
        purpose: Intended use.
        region: Region that the data describes, or whose law applies.
        description: Description in one or two sentences.
        published: Date of publication, such as 2026-10-31.
        author: Author of this record.
        sector: Sector: Technology, Healthcare, Education, Government, Energy or Finance.
    """

    name: str
    curator: str
    purpose: str
    region: str
    description: str
    published: str
    author: str
    sector: str | None = None

    def __post_init__(self) -> None:
        for name in ("name", "curator", "purpose", "region", "description", "author"):
            value = str(getattr(self, name))
            if not value.strip() or len(value) > LONGEST:
                must = Statement("must.be.text_up_to", most=LONGEST)
                raise SettingError(name, repr(value[:50]), must)
            if not value.replace("\n", "").isprintable():
                raise SettingError(name, repr(value[:50]), Statement("must.be.printable"))
        try:
            if date.fromisoformat(self.published).isoformat() != self.published:
                raise ValueError(self.published)
        except ValueError:
            raise SettingError("published", self.published, Statement("must.be.day")) from None
        if self.sector is not None and self.sector not in SECTORS:
            must = Statement("must.one_of", choices=SECTORS)
            raise SettingError("sector", self.sector, advised(must, self.sector, SECTORS))


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
    c, leaks = certificate, certificate.epsilon is None
    said = {
        "what": _what(c),
        "people": [],
        "unit": [_said("sentence", said=c.protects)],
        "neighbours": [neighbours(c.unit)],
        "price": _price(c),
        "contributions": _contributions(c),
        "accounting": [_said("composition")],
        "repeated": _repeated(c),
        "trust": _trust(c),
        "tuning": [_said("order"), _said("tuned_unpaid" if leaks else "tuned"), _said("chosen")],
        "exactness": [_said("exactness")],
        "channels": [_said("not_by_noise" if leaks else "by_noise"), _said("channels")],
        "security": [_said("security")],
        "assumptions": c.assumptions,
        "outside": [*c.not_promised, _said("employees"), _said("claims")],
        "accuracy": _accuracy(c),
        "audit": [_audited(c.mechanism, audit)],
        "settings": [],
    }
    rows = {
        "people": [] if deployment is None else _people(deployment),
        "accounting": account_rows(c),
        "settings": [(Statement.plain(name), _setting(v)) for name, v in c.settings.items()],
    }
    return [
        Section(key=key, statements=tuple(statements), rows=tuple(rows.get(key, ())))
        for key, statements in said.items()
        if key != "people" or deployment is not None
    ]


def _said(code: str, **values: object) -> Statement:
    """A statement of this annex."""
    return Statement(f"disclosure.{code}", **values)


def _what(c: Certificate) -> list[Statement]:
    made = _said("mechanism", mechanism=c.mechanism, version=c.version)
    if c.mechanism == COMBINED:
        made = _said("combined", version=c.version)
    return [made] if c.sha256 is None else [made, _said("file", sha256=c.sha256)]


def _people(deployment: Deployment) -> list[tuple[Statement, Statement]]:
    given = [(field.name, getattr(deployment, field.name)) for field in fields(deployment)]
    return [
        (Statement(f"deployment.{name}"), Statement.plain(str(value)))
        for name, value in given
        if value is not None
    ]


def _price(c: Certificate) -> list[Statement]:
    seeded = [] if c.publishable else [_said("seeded")]
    if c.epsilon is None:
        return [*seeded, _said("no_price"), guarantee(None, c.unit)]
    if not c.publishable:
        return [*seeded, _said("unseeded", epsilon=c.epsilon), c.guarantee]
    odds = _said("odds", factor=_factor(c.epsilon), course=_factor(2 * c.epsilon))
    return [_said("price", epsilon=c.epsilon), c.guarantee, odds]


def _factor(epsilon: Fraction) -> Statement:
    """e to the power of ε, as a number where that is short."""
    if epsilon < 7:
        return Statement("factor.number", value=float(f"{math.exp(epsilon):.3g}"))
    return Statement("factor.power", epsilon=epsilon)


def _contributions(c: Certificate) -> list[Statement]:
    if c.epsilon is None:
        return [_said("unbounded")]
    if c.unit.person is None:
        return [_said("bounded_case")]
    return [_said("bounded_case"), _said("bounded_person", max_cases=c.unit.max_cases)]


def account_rows(c: Certificate) -> list[tuple[Statement, Statement]]:
    """Every query to the log with its ε, or why it has none."""
    return [
        (each.what, each.why if isinstance(each, Leak) else _said("epsilon", epsilon=each.amount))
        for each in c.spent
    ]


def _repeated(c: Certificate) -> list[Statement]:
    if c.period is None:
        return [_said("together" if c.mechanism == COMBINED else "alone")]
    period, series = c.period.period, c.period.series
    values = {"period": period.name, "first": str(period.start), "after": str(period.end)}
    which = (
        _said("period", **values) if series is None else _said("series", **values, series=series)
    )
    return [which, c.period.composition(c.unit)]


def _trust(c: Certificate) -> list[Statement]:
    """Against whom the guarantee holds."""
    trusted = c.epsilon is None or not c.publishable
    return [
        _said("trust"),
        _said("trusted_recipients" if trusted else "recipients"),
        _said("generator" if c.publishable else "seed"),
    ]


def _accuracy(c: Certificate) -> list[Statement]:
    found = [_said("no_verdict")]
    if c.verdict is not None:
        found = [_said("sentence", said=c.verdict.statement)]
    if c.missing_activities:
        found.append(_said("missing", names=c.missing_activities))
    if c.margins is not None:
        known = c.margins.statement
        found.append(_said("no_margins") if known is None else _said("margins", margins=known))
    return [*found, *c.notes]


def _audited(released: str, audit: JsonObject | None) -> Statement:
    if audit is None:
        return _said("unaudited")
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


def _setting(value: object) -> Statement:
    """A setting: of a list each entry, of an attribute its name and type."""
    return value if isinstance(value, Statement) else Statement.plain(say_setting(value))
