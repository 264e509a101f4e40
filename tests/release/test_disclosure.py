"""Certificates for people and registries: everything is said, in both languages, as plain text."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from sacofa import Certified, Laplace, Request, Sacofa, anonymize, open_log
from sacofa.errors import OutputError, ReadError, SettingError, Statement
from sacofa.events.periods import Period
from sacofa.examples import running_example
from sacofa.kernel.unit import Unit
from sacofa.messages import render
from sacofa.messages.units import assumptions as unit_assumptions
from sacofa.release.certificate import Certificate, PeriodStatement
from sacofa.release.combine import combine
from sacofa.release.disclosure import (
    Deployment,
    Section,
    disclose,
    make_record,
    to_html,
    to_markdown,
    write_record,
)
from sacofa.synthesis.verdict import Cause, PredictedErrors, Sureness, Verdict

PEOPLE = Deployment(
    name="Emergency visits",
    curator="Example Hospital",
    purpose="Research: “length of stay”",
    region="Berlin, Germany",
    description="Visits to an emergency department.\nTwo lines, and a # sign.",
    published="2026-10-31",
    author="A. Officer",
    sector="Healthcare",
)

TEXT, NUMBER, LIST = str, (int, float), list
SCHEMA: dict[str, Any] = {
    "url_slug!": TEXT,
    "status!": {
        "Converted", "Draft", "Pending", "Changes Required", "Approved",
        "Approved (Update Requested)", "Approved (Pending)",
    },
    "tier!": {1, 2, 3},
    "deployment!": {
        "basic!": {
            "name!": TEXT, "data_curators!": LIST, "description!": TEXT, "intended_use!": TEXT,
            "data_product_type!": {
                "Summary statistics", "Machine learning model", "Dataset", "Synthetic data",
                "Interactive API", "SQL queries",
            },
            "data_product_region!": TEXT, "publication_date!": TEXT,
            "data_product_sector": {
                "Technology", "Healthcare", "Education", "Government", "Energy", "Finance",
            },
        },
        "dp_variant": {
            "variant_name": {
                "Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom",
            },
            "data_domain": TEXT, "unprotected_quantities": TEXT,
        },
        "privacy_loss": {
            "privacy_unit": TEXT, "privacy_unit_details": TEXT,
            "privacy_parameters": {"epsilon": NUMBER, "delta": NUMBER, "rho": NUMBER},
            "privacy_parameters_details": TEXT,
        },
        "deployment_model": {
            "model_name": {"Local", "Central", "Shuffle", "Federated", "Varies"},
            "model_name_details": TEXT, "actors": TEXT,
            "release_type": {"One release", "Many releases"}, "release_type_details": TEXT,
            "data_source_type": {"Static", "Dynamic"}, "data_source_type_details": TEXT,
            "access_type": {"Interactive", "Non-interactive"}, "access_type_details": TEXT,
        },
        "accounting": {"post_processing": TEXT, "composition": TEXT},
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": TEXT, "mechanisms": TEXT,
            "justification": TEXT,
        },
        "administrative": {"sources": TEXT, "notes": TEXT, "registry_authors!": LIST},
    },
}  # fmt: skip
"""What the registry takes (July 2026): fields, closed lists, and with a `!` what it requires."""

LEFT_OUT = {"delta", "rho"}
"""Fields that a record of pure differential privacy has no value for."""


def conforms(content: Any, schema: Any, where: str = "") -> None:
    """Hold a record to the fields, types and closed lists of the registry."""
    if isinstance(schema, dict):
        known = {name.rstrip("!"): inner for name, inner in schema.items()}
        assert set(content) <= set(known), f"{where}: {set(content) - set(known)}"
        needed = {name.rstrip("!") for name in schema if name.endswith("!")}
        assert needed <= set(content), f"{where}: {needed - set(content)}"
        for name, value in content.items():
            conforms(value, known[name], f"{where}.{name}")
    elif isinstance(schema, set):
        assert content in schema, f"{where}: {content}"
    elif schema is LIST:
        assert content and all(isinstance(entry, str) and entry for entry in content), where
    else:
        assert isinstance(content, schema) and not isinstance(content, bool), where
        assert content != "", where


def leaves(schema: Any) -> set[str]:
    """The names of all fields that hold a value."""
    found: set[str] = set()
    for name, inner in schema.items():
        found |= leaves(inner) if isinstance(inner, dict) else {name.rstrip("!")}
    return found


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Certificate]:
    """Certificates of every mechanism, unit and kind of period."""
    log = running_example()
    laplace = Laplace(level_epsilon="1/2", max_length=2, prune=1)
    first = anonymize(log, Certified(epsilon=1), seed=1)
    found = {
        "certified": first.certificate,
        "declared": anonymize(
            log, Certified(epsilon="1/3", max_length=5), activities=log.activities, seed=2
        ).certificate,
        "earlier": anonymize(log, Certified(epsilon=1, earlier=first.variants), seed=1).certificate,
        "laplace": anonymize(log, laplace, seed=1).certificate,
        "sacofa": anonymize(
            log, Sacofa(level_epsilon=1, max_length=2, prune=1), seed=1
        ).certificate,
        "small": anonymize(running_example(), Certified(epsilon="1/100"), seed=1).certificate,
    }
    for series in (None, "0123"):
        for unit in (
            Unit(),
            Unit(person="patient", max_cases=1),
            Unit(person="patient", max_cases=3, per_period=True),
        ):
            period = PeriodStatement(period=Period.parse("2026-10"), series=series)
            found[f"{series} {unit.kind}"] = replace(
                first.certificate,
                unit=unit,
                period=period,
                assumptions=(*unit_assumptions(unit), period.assumption(unit)),
            )
    months = [
        replace(
            first,
            certificate=replace(
                first.certificate,
                sha256=month,
                unit=Unit(person="p", per_period=True),
                period=PeriodStatement(period=Period.parse(month), series="s"),
            ),
        )
        for month in ("2026-01", "2026-02")
    ]
    found["combined"] = combine(months).certificate
    found["attributes"] = _with_attributes(tmp_path_factory.mktemp("attributes"))
    # A seed makes them quick and the same every time; what is said is that of noise without one.
    return {**{name: published(one) for name, one in found.items()}, "seeded": first.certificate}


def published(certificate: Certificate) -> Certificate:
    """The same certificate, as if its noise had been drawn without a seed."""
    said = tuple(s for s in certificate.not_promised if s.code != "limit.seeded")
    return replace(certificate, publishable=True, not_promised=said)


def _with_attributes(folder: Path) -> Certificate:
    """A certificate of a log with attributes of all types, some of which are declared."""
    head = "case,activity,time,case:channel,amount,paid,due,org:group"
    rows = [f"{i},a,2024-05-0{1 + i % 9},web,{i},true,2024-06-01,front" for i in range(40)]
    (folder / "log.csv").write_text("\n".join([head, *rows]), encoding="utf-8")
    (folder / "columns.toml").write_text(
        "[attributes.amount]\ntype = 'number'\nmin = 0\nmax = 50\nunit = 10\n"
        "[attributes.paid]\ntype = 'yes/no'\n[attributes.due]\ntype = 'date'\n"
        "[attributes.'org:group']\ntype = 'category'\nvalues = ['front', 'back']\n",
        encoding="utf-8",
    )
    log = open_log(
        folder / "log.csv",
        attribute=("case:channel", "amount", "paid", "due", "org:group"),
        pair=("channel,amount",),
        columns=folder / "columns.toml",
    )
    mechanism = Certified(epsilon=1, calendar="2024-01/2024-12")
    return (
        Request(log=log, mechanism=mechanism, seed=1, max_released_events=5).publish().certificate
    )


def texts(sections: list[Section], language: str = "en") -> list[str]:
    """Everything that sections state in a language, without tables."""
    return [render(said, language) for section in sections for said in section.statements]


def test_every_statement_has_german_words_of_its_own(
    certificates: dict[str, Certificate],
) -> None:
    """Nothing stays English, except for what a third-party package says in its own words."""
    for name, certificate in certificates.items():
        said = disclose(certificate)
        assert not set(texts(said)) & set(texts(said, "de")), name
        rows = [row for part in said if part.key == "accounting" for row in part.rows]
        assert all(render(left) != render(left, "de") for left, _ in rows), name
    codes = {note.code for note in certificates["attributes"].notes}
    assert "note.scaled_events" in codes
    odd = replace(certificates["certified"], notes=(Statement.plain("Something new."),))
    assert "Something new." in texts(disclose(odd), "de")


@pytest.mark.parametrize("sureness", Sureness)
def test_a_verdict_is_said_in_both_languages(
    certificates: dict[str, Certificate], sureness: Sureness
) -> None:
    """With the same numbers, in German notation, and the missing activities."""
    verdict = Verdict(
        sureness=sureness,
        errors=PredictedErrors(edges=0.2, activities=0.04, lengths=0.07, attributes=1.3),
        causes=tuple(Cause),
        cases_needed=4_813,
        epsilon_needed=Fraction(6, 5),
    )
    judged = replace(
        certificates["certified"], verdict=verdict, missing_activities=("Admission", "Leave")
    )
    assert Certificate.from_json(judged.to_json()).verdict == verdict
    accuracy = [section for section in disclose(judged) if section.key == "accuracy"]
    said = {language: " ".join(texts(accuracy, language)) for language in ("en", "de")}
    words = {"reliable": "Verlässlich", "rough": "Grob", "unreliable": "Unzuverlässig"}
    assert str(verdict)[1:] in said["en"] and words[sureness.value] in said["de"]
    for number in ("20 %", "4 %", "7 %", "100 %", "4.813 Fälle oder ε = 1,2"):
        assert number in said["de"]
    assert all("Admission, Leave" in text for text in said.values())


def test_settings_are_said_in_words(certificates: dict[str, Certificate]) -> None:
    """A list of attributes is one for people, not one of Python."""
    said = {section.key: section for section in disclose(certificates["attributes"])}
    rows = {str(name): str(value) for name, value in said["settings"].rows}
    assert rows["attributes"].startswith("case:channel (string), amount (")
    assert not any("{" in value or "[" in value for value in rows.values())


def test_everything_is_said(certificates: dict[str, Certificate]) -> None:
    """What NIST SP 800-226 asks for has a section of its own, and none is empty."""
    wanted = {
        "what", "unit", "neighbours", "price", "contributions", "accounting", "repeated", "trust",
        "tuning", "exactness", "channels", "security", "assumptions", "outside", "accuracy",
        "audit", "settings",
    }  # fmt: skip
    for certificate in certificates.values():
        said = {section.key: section for section in disclose(certificate)}
        assert set(said) == wanted
        assert all(section.statements or section.rows for section in said.values())
        text = " ".join(texts([said["price"]]))
        if certificate.epsilon is None:
            assert "no finite ε" in text
        elif certificate.publishable:
            assert certificate.guarantee in said["price"].statements
        for sentence in (*certificate.assumptions, *certificate.not_promised):
            assert any(sentence in section.statements for section in said.values())
    assert "must not be published" in " ".join(texts(disclose(certificates["seeded"])))


PROMISES = (
    "changes the probability",
    "improve the odds",
    "the guarantee holds against",
    "operating system",
)
PAID = ("nothing on the log, except", "noisy answers alone", "than ε allows")


def test_nothing_is_said_that_does_not_hold(certificates: dict[str, Certificate]) -> None:
    """A seed takes every promise away, and so does what was read without payment."""

    def text(name: str) -> str:
        return " ".join(texts(disclose(certificates[name])))

    for words in (*PROMISES, *PAID):
        assert words in text("certified") and words in text("laplace"), words
    for words in PROMISES:
        assert words not in text("seeded"), words
    for words in (*PROMISES[:3], *PAID):
        assert words not in text("sacofa"), words
    alone = "covers this release only"
    assert alone in text("certified") and alone not in text("combined")
    assert certificates["seeded"].to_json().count("e^") == 0


def test_a_record_says_whether_cases_come_in(certificates: dict[str, Certificate]) -> None:
    """Those of periods do, also where several were put together; and no more than is known."""
    kinds = {}
    for name in ("certified", "combined", "None case", "0123 case"):
        (found,) = (c for key, c in certificates.items() if key.startswith(name))
        model = make_record(found, PEOPLE)["deployment"]["deployment_model"]
        kinds[name] = model["data_source_type"], model["release_type"]
        assert "released once" not in model["data_source_type_details"]
    assert kinds == {
        "certified": ("Static", "One release"),
        "combined": ("Dynamic", "One release"),
        "None case": ("Dynamic", "Many releases"),
        "0123 case": ("Dynamic", "Many releases"),
    }


def test_a_record_is_what_the_registry_takes(
    certificates: dict[str, Certificate], tmp_path: Path
) -> None:
    """Fields, types and closed lists; all of tier 3; and the file reads back as it was made."""
    for name, certificate in certificates.items():
        certificate = replace(certificate, publishable=True)
        if certificate.epsilon is None:
            with pytest.raises(ReadError, match="no finite ε"):
                make_record(certificate, PEOPLE)
            continue
        record = make_record(certificate, PEOPLE)
        conforms(record, SCHEMA)
        assert leaves(SCHEMA) - LEFT_OUT == leaves(record), name
        path = tmp_path / "record.yaml"
        write_record(record, path, force=True)
        read = yaml.safe_load(path.read_text(encoding="utf-8"))
        conforms(read, SCHEMA)
        assert read["deployment"]["privacy_loss"]["privacy_parameters"]["epsilon"] == float(
            certificate.epsilon
        )
        assert _stripped(read) == _stripped(record)
        assert read["url_slug"] == "emergency-visits-example-hospital-2026"
        date.fromisoformat(read["deployment"]["basic"]["publication_date"])
        # The registry wants no folded texts: they would lose line breaks.
        assert {getattr(t, "style", None) for t in yaml.scan(path.read_text())} <= {None, '"', "|"}


def _stripped(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _stripped(value) for name, value in content.items()}
    return content.strip() if isinstance(content, str) else content


def test_the_check_of_records_finds_mistakes(certificates: dict[str, Certificate]) -> None:
    """A field too many, one too few, a word that is not in its list, a number as text."""
    good = make_record(replace(certificates["certified"], publishable=True), PEOPLE)
    for change in (
        {"surprise": 1},
        {"tier": 4},
        {"status": "Final"},
        {"deployment": {**good["deployment"], "basic": {}}},
        {"url_slug": 5},
    ):
        with pytest.raises(AssertionError):
            conforms({**good, **change}, SCHEMA)


def test_what_must_not_be_published_is_not_registered(
    certificates: dict[str, Certificate], tmp_path: Path
) -> None:
    """A seeded release; and the name of the file is one that the registry takes."""
    with pytest.raises(ReadError, match="seed"):
        make_record(certificates["seeded"], PEOPLE)
    with pytest.raises(OutputError, match="a-z"):
        write_record({}, tmp_path / "My Record.yaml")


@pytest.mark.parametrize(
    "change",
    [{"published": "31.10.2026"}, {"sector": "Health"}, {"curator": " "}, {"name": "a\x1b[2J"}],
)
def test_what_people_say_is_looked_at(change: dict[str, str]) -> None:
    """In one line."""
    with pytest.raises(SettingError):
        replace(PEOPLE, **change)


class Tags(HTMLParser):
    """Notes every tag of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        """Note a tag."""
        self.seen.add(tag)


def test_hostile_texts_stay_texts(certificates: dict[str, Certificate]) -> None:
    """Whatever a certificate or a person says, it is no markup."""
    evil = "<script>alert(1)</script> [x](javascript:1) `a` | b \"q\" & 'p'"
    certificate = replace(
        certificates["certified"], notes=(Statement.plain(evil),), settings={evil: evil}
    )
    sections = disclose(certificate, deployment=replace(PEOPLE, purpose=evil))
    page = Tags()
    page.feed(to_html(sections, "en"))
    assert "script" not in page.seen and "a" not in page.seen
    markdown = to_markdown(sections, "en")
    assert "<script>" not in markdown and "[x]" not in markdown
    assert r"\<script\>" in markdown


def test_an_audit_is_repeated_or_refused(certificates: dict[str, Certificate]) -> None:
    """One of another mechanism, or made on the secret log, is no evidence that may be shown."""
    audit = {
        "mechanism": "certified", "runs": 1000, "secret": False, "refuted": False,
        "findings": [{"certified": 0.25, "claimed": 2.0}, {"certified": 0.5, "claimed": 2.0}],
    }  # fmt: skip
    certificate = certificates["certified"]
    said = {s.key: s for s in disclose(certificate, audit=audit)}
    (found,) = texts([said["audit"]])
    assert "1,000 times" in found and "0.500" in found
    # The audit may have tried another ε than that of the release.
    assert "ε = 2 there" in found
    said = {s.key: s for s in disclose(certificate, audit={**audit, "refuted": True})}
    assert "refuted" in str(said["audit"].statements[0])
    for wrong in ({"mechanism": "laplace"}, {"secret": True}, {"findings": None}):
        with pytest.raises(ReadError):
            disclose(certificate, audit={**audit, **wrong})
