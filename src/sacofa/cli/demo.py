"""`sacofa demo`: anonymize the embedded example, with a report."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..base.files import write_text, write_whole
from ..errors import OutputError, Statement
from ..events import open_log
from ..examples import hospital_csv, hospital_model
from ..mechanisms import Certified
from ..release import certificate_path, publish
from ..report import make_report
from .options import Force
from .show import say, say_written, show_certificate


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write to.")],
    force: Force = False,
) -> None:
    """Create a fictional hospital log of 4,000 cases and anonymize it."""
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(output, Statement("file.unmakable", why=error.strerror or "")) from None
    names = {"original": "hospital.csv", "model": "hospital.bpmn"}
    paths = {what: output / name for what, name in names.items()}
    for path, content in zip(paths.values(), (hospital_csv(), hospital_model()), strict=True):
        with write_whole(path, force) as part:
            part.write_bytes(content)
    released, page = output / "hospital.anonymized.xes", output / "report.html"
    original = open_log(paths["original"])
    release = publish(original, Certified(epsilon=Fraction(1)), released, force=force)
    write_text(page, make_report(release, title=released.name), force)
    show_certificate(release.certificate, Console(highlight=False))
    say("")
    paths |= {"released": released, "certificate": certificate_path(released), "report": page}
    for what, path in paths.items():
        say_written(what, path)
