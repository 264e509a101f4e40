"""`sacofa demo`: anonymize the embedded example, with a report."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..base.files import write_whole
from ..errors import OutputError
from ..events import open_log
from ..examples import hospital_csv, hospital_model
from ..mechanisms import Certified
from ..release import certificate_path, publish
from ..report import make_report
from . import options
from .show import show_certificate


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write to.")],
    force: options.Force = False,
) -> None:
    """Create a fictional hospital log of 4,000 cases and anonymize it."""
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(output, f"cannot be made: {error.strerror}") from None
    original, released = output / "hospital.csv", output / "hospital.anonymized.xes"
    model = output / "hospital.bpmn"
    for path, content in ((original, hospital_csv()), (model, hospital_model())):
        with write_whole(path, force) as part:
            part.write_bytes(content)
    release = publish(open_log(original), Certified(epsilon=Fraction(1)), released, force=force)
    page = output / "report.html"
    with write_whole(page, force) as part:
        part.write_text(make_report(release, title=released.name), encoding="utf-8")
    console = Console(highlight=False)
    show_certificate(release.certificate, console)
    console.print(
        f"\nThe log as it was recorded: {original}\nThe anonymized log: {released}\n"
        f"Its certificate: {certificate_path(released)}\nA page about it: {page}\n"
        f"The process as a model, to take rules from: {model}",
        soft_wrap=True,
    )


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(demo)
