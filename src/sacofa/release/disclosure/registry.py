"""A record of the OpenDP deployments registry, made of a certificate and what people know.

The registry takes YAML with a closed set of fields and some closed lists; a record of tier 3 says
everything. See https://registry.opendp.org and its repository `deployments-registry-data`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from ...base.files import check_target, write_whole
from ...errors import OutputError, ReadError, Statement
from ..certificate import Certificate, JsonObject
from .sections import Deployment, Section, disclose

NAME = re.compile(r"[a-z0-9_]+\.yaml", re.ASCII)
MODEL = "Central"
VARIANT = "Pure DP"
DOMAIN = (
    "Event logs: any number of cases, each a sequence of any number of events with an activity and "
    "a time."
)
ACTORS = (
    "The curator holds the original log and runs the program. Recipients, and everyone they share "
    "the release with, see the release alone and are not trusted."
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
    said = {section.key: section for section in disclose(certificate, audit=audit)}
    data_source, details = "Static", "The log as it was when it was released."
    if _grows(certificate):
        data_source = "Dynamic"
        details = "New cases come in over time; each release is of those that ended in a period."
    person_level = "Person-period-level" if unit.per_period else "Person-level"
    parts = [deployment.name, deployment.curator, deployment.published.split("-")[0]]
    # By the rule of the registry, this is the stable name of a record.
    slug = "_".join(re.sub(r"\W+", "_", part.lower()) for part in parts).replace("_", "-")
    sector = {} if deployment.sector is None else {"data_product_sector": deployment.sector}
    return {
        "url_slug": slug,
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": deployment.name,
                "data_curators": [deployment.curator],
                "intended_use": deployment.purpose,
                "data_product_type": "Synthetic data",
                "data_product_region": deployment.region,
                "description": deployment.description,
                "publication_date": deployment.published,
                **sector,
            },
            "dp_variant": {
                "variant_name": VARIANT,
                "data_domain": DOMAIN,
                "unprotected_quantities": _text(said["assumptions"]),
            },
            "privacy_loss": {
                "privacy_unit": "Case-level" if unit.person is None else person_level,
                "privacy_unit_details": _text(said["unit"], said["neighbours"])
                + "\n"
                + _text(said["contributions"]),
                "privacy_parameters": {
                    "epsilon": int(epsilon) if epsilon.denominator == 1 else float(epsilon)
                },
                "privacy_parameters_details": f"Exactly {epsilon}; delta is 0. "
                + _text(said["price"]),
            },
            "deployment_model": {
                "model_name": MODEL,
                "model_name_details": _text(said["trust"]),
                "actors": f"{ACTORS} {_text(said['security'])}",
                "release_type": "Many releases" if certificate.period else "One release",
                "release_type_details": _text(said["repeated"]),
                "data_source_type": data_source,
                "data_source_type_details": details,
                "access_type": "Non-interactive",
                "access_type_details": "A file is published; nobody can ask the original anything.",
            },
            "accounting": {
                "post_processing": "Candidate sequences, counts, times and the choice among them "
                "are made of noisy answers and public settings alone.",
                "composition": _text(said["accounting"])
                + "\n"
                + "\n".join(f"* {left}: {right}" for left, right in said["accounting"].rows),
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": _text(said["tuning"]),
                "mechanisms": f"{certificate.mechanism} of the Python package sacofa "
                f"{certificate.version}. " + _text(said["exactness"], said["channels"]),
                "justification": _text(said["accuracy"], said["audit"]),
            },
            "administrative": {
                "sources": f"The released file has SHA-256 {certificate.sha256}.",
                "notes": _text(said["outside"]),
                "registry_authors": [deployment.author],
            },
        },
    }


def write_record(record: JsonObject, path: str | Path, *, force: bool = False) -> None:
    """Write a record as YAML, as the registry wants it."""
    check_record_name(path)
    check_target(path, force)
    with write_whole(path, force) as part:
        part.write_text("\n".join(_yaml(record, 0)) + "\n", encoding="utf-8")


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


def _text(*sections: Section) -> str:
    return " ".join(str(said) for section in sections for said in section.statements)


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
