"""`sacofa certificate`: a certificate for people and registries."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..base.described import field_docs
from ..base.files import check_apart, check_target
from ..errors import Argument, ReadError, SettingError, Statement
from ..messages import check_language, languages
from ..release import certificate_path
from ..release.certificate import Certificate
from ..release.disclosure import (
    Deployment,
    check_record_name,
    disclose,
    make_record,
    write_annex,
    write_record,
)
from ..release.verify import verify
from .options import Fields
from .show import say_written, show_certificate

LARGEST_AUDIT = 1 << 24
"""The largest result of an audit that is read, in bytes."""


@dataclass(frozen=True, kw_only=True)
class Written:
    """What is written.

    Attributes:
        registry: Write a record for the OpenDP deployments registry (.yaml).
        markdown: Write the privacy statement as Markdown.
        html: Write the privacy statement as an HTML page.
        language: Language of the privacy statement.
        audit: Output of `sacofa audit --json` for the mechanism.
        force: Overwrite files that exist.
    """

    registry: Path | None = None
    markdown: Path | None = None
    html: Path | None = None
    language: str = languages()[0]
    audit: Path | None = None
    force: bool = False

    def files(self) -> dict[str, Path]:
        """The files to be written, by form."""
        given = {"registry": self.registry, "markdown": self.markdown, "html": self.html}
        return {form: path for form, path in given.items() if path is not None}

    def check(self, released: Path) -> None:
        """Refuse files that cannot be written."""
        check_language(self.language)
        if self.registry is not None:
            check_record_name(self.registry)
        for target in self.files().values():
            check_target(target, self.force)
        outputs = {f"the output --{form}": path for form, path in self.files().items()}
        read = {"the release": released, "its certificate": certificate_path(released)}
        check_apart(outputs, read)


def certificate(
    released: Annotated[Path, typer.Argument(help="The released file.", metavar="FILE")],
    written: Annotated[Written, Fields()],
    facts: Annotated[dict[str, str], Fields(of=Deployment)],
) -> None:
    """Show a certificate, or write it for an impact assessment or a public registry.

    A registry needs facts that only people know. On a terminal, the program asks for those that
    were not given.
    """
    written.check(released)
    checked = verify(released)
    if not checked.holds:
        raise ReadError(released, checked.findings[0])
    files = written.files()
    if not files:
        show_certificate(checked.certificate, Console(highlight=False, markup=False))
        return
    people = _deployment(facts) if facts or "registry" in files else None
    _write(checked.certificate, written, people)
    for form, path in files.items():
        say_written(form, path)


def _write(released: Certificate, written: Written, people: Deployment | None) -> None:
    """Write each file that was asked for."""
    result = None if written.audit is None else _read_audit(written.audit)
    for form, path in written.files().items():
        if form == "registry":
            assert people is not None
            write_record(make_record(released, people, result), path, force=written.force)
        else:
            sections = disclose(released, deployment=people, audit=result)
            write_annex(sections, path, language=written.language, form=form, force=written.force)


def _deployment(facts: dict[str, str]) -> Deployment:
    """What people know: as given, or asked for."""
    required = [entry.name for entry in fields(Deployment) if entry.default is MISSING]
    missing = [name for name in required if name not in facts]
    if missing and not sys.stdin.isatty():
        known = Statement("must.known_by_people", missing=tuple(map(Argument, missing)))
        raise SettingError(missing[0], None, known)
    return Deployment(**facts, **{name: _ask(name) for name in missing})


def _ask(name: str) -> str:
    """Ask for one fact."""
    today = datetime.now(UTC).date().isoformat() if name == "published" else None
    return str(typer.prompt(field_docs(Deployment)[name].rstrip("."), default=today, err=True))


def _read_audit(path: Path) -> Mapping[str, object]:
    unreadable = ReadError(path, Statement("audit.unreadable"))
    try:
        with path.open("rb") as file:
            content = json.loads(file.read(LARGEST_AUDIT))
    except OSError as error:
        raise ReadError(path, Statement("file.unreadable", why=error.strerror or "")) from None
    except (ValueError, RecursionError):
        raise unreadable from None
    if not isinstance(content, dict):
        raise unreadable
    return content
