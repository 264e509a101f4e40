"""A certificate for people who do not work with it every day, section by section.

The sections are those that NIST SP 800-226 asks of a claim of differential privacy: the unit, the
neighbour relation and ε; bounded contributions; the trust model; pre-processing and tuning; how
exact the noise is; side channels; and what is outside the guarantee. A `Deployment` holds the facts
about a release that only its publisher knows.

They become an annex to an impact assessment (Markdown, or an HTML page that loads nothing else), or
a record of tier 3 for the OpenDP deployments registry: YAML with a closed set of fields and some
closed lists. See https://registry.opendp.org and its repository `deployments-registry-data`.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from fractions import Fraction
from html import escape
from pathlib import Path

from ..base.claims import odds_exponent
from ..base.files import check_target, write_text
from ..errors import OutputError, ReadError, SettingError, Statement, advised
from ..kernel.accounting import Leak, PureDP
from ..messages import render
from ..messages.units import neighbours
from .certificate import Certificate, JsonObject, entries_of, say_setting
from .combine import MECHANISM as COMBINED

FOLDER = Path(__file__).parent / "annex"
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#+!|$~])")
NAME = re.compile(r"[a-z0-9_]+\.yaml", re.ASCII)
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
    """The statements."""
    rows: tuple[tuple[Statement, Statement], ...] = ()
    """The rows of a table of two columns."""

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
        deployment: The facts that only the publisher knows.
        audit: The output of `sacofa audit --json`.

    Returns:
        The sections, in the order of the annex.

    Raises:
        ReadError: If the audit is of another mechanism, or confidential.
    """
    c, leaks = certificate, certificate.epsilon is None
    made = _said("mechanism", mechanism=c.mechanism, version=c.version)
    file = [] if c.sha256 is None else [_said("file", sha256=c.sha256)]
    said = {
        "what": [_said("combined", version=c.version) if c.mechanism == COMBINED else made, *file],
        "people": [],
        "unit": [_said("sentence", said=c.protects)],
        "neighbours": [neighbours(c.unit)],
        "price": _price(c),
        "contributions": _contributions(c),
        "accounting": [_composition(c)],
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


def _setting(value: object) -> Statement:
    """A setting: of a list each entry, of an attribute its name and type."""
    return value if isinstance(value, Statement) else Statement.plain(say_setting(value))


def _said(code: str, **values: object) -> Statement:
    """A statement of this annex."""
    return Statement(f"disclosure.{code}", **values)


def _price(c: Certificate) -> list[Statement]:
    seeded = [] if c.publishable else [_said("seeded")]
    if c.epsilon is None:
        return [*seeded, _said("no_price"), c.guarantee]
    if not c.publishable:
        return [*seeded, _said("unseeded", claim=c.claim), c.guarantee]
    budget = c.budget or PureDP(c.epsilon)
    factors = {
        "factor": _factor(odds_exponent(budget)),
        "course": _factor(odds_exponent(budget, 2)),
    }
    if c.rho is None:
        return [_said("price", epsilon=c.epsilon), c.guarantee, _said("odds", **factors)]
    values = {"rho": c.rho.rho, "selection": c.rho.selection, "delta": c.delta}
    odds = _said("odds_with_delta", **factors, delta=c.delta)
    return [_said("price_with_delta", epsilon=c.epsilon, **values), c.guarantee, odds]


def _people(deployment: Deployment) -> list[tuple[Statement, Statement]]:
    return [
        (Statement(f"deployment.{name}"), Statement.plain(str(value)))
        for name, value in asdict(deployment).items()
        if value is not None
    ]


def _contributions(c: Certificate) -> list[Statement]:
    if c.epsilon is None:
        return [_said("unbounded")]
    case = _said("bounded_case_with_delta" if c.delta else "bounded_case")
    if c.unit.person is None:
        return [case]
    return [case, _said("bounded_person", max_cases=c.unit.max_cases)]


def _trust(c: Certificate) -> list[Statement]:
    """Against whom the guarantee holds."""
    trusted = c.epsilon is None or not c.publishable
    return [
        _said("trust"),
        _said("trusted_recipients" if trusted else "recipients"),
        _said("generator" if c.publishable else "seed"),
    ]


def _factor(exponent: Fraction | float) -> Statement:
    """e to a power, as a number where that is short."""
    if exponent < 7:
        return Statement("factor.number", value=float(f"{math.exp(exponent):.3g}"))
    return Statement("factor.power", epsilon=exponent)


def account_rows(c: Certificate) -> list[tuple[Statement, Statement]]:
    """Every query to the log with its ε, or why it has none."""
    return [
        (each.what, each.why if isinstance(each, Leak) else _amount(c, each.amount))
        for each in c.spent
    ]


def _composition(c: Certificate) -> Statement:
    return _said("composition_in_rho" if c.delta else "composition")


def _amount(c: Certificate, amount: Fraction) -> Statement:
    return Statement("claim.amount", rho=amount) if c.delta else _said("epsilon", epsilon=amount)


def _repeated(c: Certificate) -> list[Statement]:
    if c.period is None:
        return [_said("together" if c.mechanism == COMBINED else "alone")]
    period, series = c.period.period, c.period.series
    values = {"period": period.name, "first": str(period.start), "after": str(period.end)}
    which = (
        _said("period", **values) if series is None else _said("series", **values, series=series)
    )
    return [which, c.period.composition(c.unit)]


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
            claim=_claim_of(audit["findings"]),
            highest=max(float(finding["certified"]) for finding in audit["findings"]),
        )
    except (KeyError, TypeError, ValueError):
        raise ReadError("audit", Statement("audit.unreadable")) from None


def _claim_of(findings: Sequence[JsonObject]) -> Statement:
    """The largest claim that an audit tried to refute."""
    epsilon = max(float(finding["claimed"]) for finding in findings)
    if delta := max(float(finding.get("delta", 0)) for finding in findings):
        return Statement("claim.approximate", epsilon=epsilon, delta=delta)
    return Statement("claim.pure", epsilon=epsilon)


def write_annex(
    sections: Sequence[Section], path: str | Path, *, language: str, form: str, force: bool
) -> None:
    """Write sections to a file, as `markdown` or `html`."""
    make = {"markdown": to_markdown, "html": to_html}[form]
    write_text(path, make(sections, language), force)


def to_markdown(sections: Sequence[Section], language: str) -> str:
    """The sections as Markdown; each text in one line."""

    def escaped(text: str) -> str:
        return SPECIAL.sub(r"\\\1", " ".join(text.split()))

    return _fill("annex.md.j2", sections, language, escaped).removesuffix("\n")


def to_html(sections: Sequence[Section], language: str) -> str:
    """The sections as one page."""
    return _fill("annex.html.j2", sections, language, escape)


def _fill(
    template: str, sections: Sequence[Section], language: str, escaped: Callable[[str], str]
) -> str:
    """Fill a template; markup in the values is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["say"] = lambda said: escaped(render(said, language))
    values = {"title": Statement("heading.title"), "sections": sections, "language": language}
    return environment.get_template(template).render(values)


def make_record(
    certificate: Certificate, deployment: Deployment, audit: JsonObject | None = None
) -> dict[str, object]:
    """Make a record; a release that must not be published, or without a finite ε, has none."""
    epsilon, unit = certificate.epsilon, certificate.unit
    if not certificate.publishable:
        raise ReadError("certificate", Statement("registry.seeded"))
    if epsilon is None:
        raise ReadError("certificate", Statement("registry.no_epsilon"))
    sections = disclose(certificate, audit=audit)
    source, details = "Static", "The log as it was when it was released."
    if _grows(certificate):
        source = "Dynamic"
        details = "New cases come in over time; each release is of those that ended in a period."
    names = [deployment.name, deployment.curator, deployment.published.split("-")[0]]
    facts = {
        **asdict(deployment),
        **{section.key: " ".join(map(str, section.statements)) for section in sections},
        # By the rule of the registry, this is the stable name of a record.
        "slug": "_".join(re.sub(r"\W+", "_", part.lower()) for part in names).replace("_", "-"),
        "level": f"{unit.kind.replace('_', '-').capitalize()}-level",
        "epsilon": epsilon,
        "delta": Statement("claim.delta", delta=certificate.delta),
        "variant": "Approximate DP" if certificate.delta else "Pure DP",
        "releases": "Many releases" if certificate.period else "One release",
        "source": source,
        "source_details": details,
        "accounts": "\n".join(f"* {left}: {right}" for left, right in account_rows(certificate)),
        "mechanism": certificate.mechanism,
        "version": certificate.version,
        "sha256": certificate.sha256,
    }
    record = tomllib.loads((FOLDER / "registry.toml").read_text(encoding="utf-8"))
    if deployment.sector is None:
        del record["deployment"]["basic"]["data_product_sector"]
    record["deployment"]["privacy_loss"]["privacy_parameters"] = _parameters(
        epsilon, certificate.delta
    )
    return _filled(record, facts)


def _parameters(epsilon: Fraction, delta: Fraction) -> dict[str, object]:
    number = int(epsilon) if epsilon.denominator == 1 else float(epsilon)
    return {"epsilon": number, **({"delta": float(delta)} if delta else {})}


def _filled(content: JsonObject, facts: Mapping[str, object]) -> dict[str, object]:
    """Fill the braces of all texts."""
    filled: dict[str, object] = {}
    for key, value in content.items():
        if isinstance(value, Mapping):
            filled[key] = _filled(value, facts)
        elif isinstance(value, list):
            filled[key] = [str(entry).format_map(facts) for entry in value]
        else:
            filled[key] = value.format_map(facts) if isinstance(value, str) else value
    return filled


def write_record(record: JsonObject, path: str | Path, *, force: bool = False) -> None:
    """Write a record as YAML, as the registry wants it."""
    check_record_name(path)
    check_target(path, force)
    write_text(path, "\n".join(_yaml(record, 0)) + "\n", force)


def check_record_name(path: str | Path) -> None:
    """Refuse a name that the registry does not take."""
    if not NAME.fullmatch(Path(path).name):
        raise OutputError(path, Statement("registry.file_name"))


def _grows(certificate: Certificate) -> bool:
    """Whether cases come in over time: a period was released, or several were put together."""
    parts = entries_of(certificate.settings, "releases")
    return certificate.period is not None or any(part.get("period") for part in parts)


def _yaml(content: JsonObject, depth: int) -> list[str]:
    """Write nested fields; texts are quoted as JSON does, long ones stand in a block."""
    lines, indent = [], "  " * depth
    for key, value in content.items():
        if isinstance(value, Mapping):
            lines += [f"{indent}{key}:", *_yaml(value, depth + 1)]
        elif isinstance(value, list):
            lines += [f"{indent}{key}:", *(f"{indent}  - {_scalar(entry)}" for entry in value)]
        elif isinstance(value, str) and "\n" in value.strip():
            block = [line.rstrip() for line in value.strip().split("\n")]
            lines += [f"{indent}{key}: |", *(f"{indent}  {line}".rstrip() for line in block)]
        else:
            lines.append(f"{indent}{key}: {_scalar(value)}")
    return lines


def _scalar(value: object) -> str:
    text = json.dumps(value.strip() if isinstance(value, str) else value, ensure_ascii=False)
    # YAML takes 1e-06 for a text, and 1.0e-06 for a number.
    return re.sub(r"^(\d+)e", r"\1.0e", text) if isinstance(value, float) else text
