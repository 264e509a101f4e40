"""The sections as files for others: an annex to an impact assessment, and a registry record.

The annex is Markdown, or an HTML page that loads nothing else; texts of the certificate and of
people are escaped. The OpenDP deployments registry takes YAML with a closed set of fields and some
closed lists; a record of tier 3 says everything. See https://registry.opendp.org and its repository
`deployments-registry-data`. The fields are in registry.toml next to this file.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path

from ...base.files import check_target, write_text
from ...errors import OutputError, ReadError, Statement
from ...messages import render
from ..certificate import Certificate, JsonObject
from .sections import Deployment, Section, account_rows, disclose

FOLDER = Path(__file__).parent
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#+!|$~])")
NAME = re.compile(r"[a-z0-9_]+\.yaml", re.ASCII)


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
    """Fill a template; of each text, what would be markup is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["say"] = lambda said: escaped(render(said, language))
    title = Statement("heading.title")
    return environment.get_template(template).render(
        title=title, sections=sections, language=language
    )


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
    parts = [deployment.name, deployment.curator, deployment.published.split("-")[0]]
    facts = {
        **asdict(deployment),
        **{section.key: " ".join(map(str, section.statements)) for section in sections},
        # By the rule of the registry, this is the stable name of a record.
        "slug": "_".join(re.sub(r"\W+", "_", part.lower()) for part in parts).replace("_", "-"),
        "level": f"{unit.kind.replace('_', '-').capitalize()}-level",
        "epsilon": epsilon,
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
    number = int(epsilon) if epsilon.denominator == 1 else float(epsilon)
    record["deployment"]["privacy_loss"]["privacy_parameters"]["epsilon"] = number
    return _filled(record, facts)


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
    parts = certificate.settings.get("releases", ())
    listed = parts if isinstance(parts, list | tuple) else ()
    return certificate.period is not None or any(
        isinstance(part, Mapping) and part.get("period") is not None for part in listed
    )


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
    return json.dumps(value.strip() if isinstance(value, str) else value, ensure_ascii=False)
