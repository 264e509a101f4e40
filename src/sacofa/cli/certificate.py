"""`sacofa certificate`: a certificate for people and registries."""

from __future__ import annotations

import json
import sys
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ..base.described import field_docs
from ..base.files import check_apart, check_target
from ..errors import ReadError, SettingError, plain
from ..messages import check_language
from ..release.disclosure import Deployment, disclose, make_record, write_annex, write_record
from ..release.disclosure.registry import check_record_name
from ..release.pair import certificate_path
from ..release.verify import verify
from . import options
from .show import show_certificate

LARGEST_AUDIT = 1 << 24
DOCS = field_docs(Deployment)


def _person(name: str) -> Any:
    return typer.Option(f"--{name}", help=DOCS[name])


def certificate(
    released: Annotated[Path, typer.Argument(help="The released file.", metavar="FILE")],
    registry: Annotated[
        Path | None,
        typer.Option("--registry", help="Write a record of the OpenDP deployments registry: YAML."),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="Write everything in plain words: Markdown.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write everything in plain words: one page.")
    ] = None,
    language: Annotated[
        str, typer.Option("--language", help="Of Markdown and page: en or de.")
    ] = "en",
    audit: Annotated[
        Path | None,
        typer.Option("--audit", help="What sacofa audit --json said of the mechanism."),
    ] = None,
    name: Annotated[str | None, _person("name")] = None,
    curator: Annotated[str | None, _person("curator")] = None,
    purpose: Annotated[str | None, _person("purpose")] = None,
    region: Annotated[str | None, _person("region")] = None,
    description: Annotated[str | None, _person("description")] = None,
    published: Annotated[str | None, _person("published")] = None,
    author: Annotated[str | None, _person("author")] = None,
    sector: Annotated[str | None, _person("sector")] = None,
    force: options.Force = False,
) -> None:
    """Show a certificate, or write it for an impact assessment or a public registry.

    What only people know is asked for where it is needed and was not given.
    """
    check_language(language)
    given = {"registry": registry, "markdown": markdown, "html": html}
    outputs = {f"the output --{what}": path for what, path in given.items() if path is not None}
    if registry is not None:
        check_record_name(registry)
    for target in outputs.values():
        check_target(target, force)
    check_apart(outputs, {"the release": released, "its certificate": certificate_path(released)})
    checked = verify(released)
    if not checked.holds:
        raise ReadError(released, checked.findings[0])
    said = {
        "name": name, "curator": curator, "purpose": purpose, "region": region,
        "description": description, "published": published, "author": author, "sector": sector,
    }  # fmt: skip
    people = _people(said, needed=registry is not None)
    result = None if audit is None else _read_audit(audit)
    if registry is not None and people is not None:
        write_record(make_record(checked.certificate, people, result), registry, force=force)
    for form, path in (("markdown", markdown), ("html", html)):
        if path is not None:
            sections = disclose(checked.certificate, deployment=people, audit=result)
            write_annex(sections, path, language=language, form=form, force=force)
    if not outputs:
        show_certificate(checked.certificate, Console(highlight=False, markup=False))
    for path in outputs.values():
        typer.echo(f"written: {plain(str(path))}")


def _people(said: dict[str, str | None], *, needed: bool) -> Deployment | None:
    """What people know: as given, or asked for where it is needed."""
    given: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
    if not given and not needed:
        return None
    missing = [f.name for f in fields(Deployment) if f.name not in given and f.name != "sector"]
    if missing and not sys.stdin.isatty():
        flags = ", ".join(f"--{name}" for name in missing)
        raise SettingError(missing[0], None, f"given; only people know it (missing: {flags})")
    for name in missing:
        today = datetime.now(UTC).date().isoformat() if name == "published" else None
        given[name] = typer.prompt(DOCS[name].rstrip("."), default=today, err=True)
    return Deployment(**given)


def _read_audit(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            content = json.loads(file.read(LARGEST_AUDIT))
    except OSError as error:
        raise ReadError(path, f"cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ReadError(path, "not what sacofa audit --json says") from None
    if not isinstance(content, dict):
        raise ReadError(path, "not what sacofa audit --json says")
    return content


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(certificate)
