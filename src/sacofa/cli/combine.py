"""`sacofa combine`: combine releases, for example a year from twelve months."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..base.files import check_apart, check_target
from ..errors import Statement
from ..release import certificate_path, write_release
from ..release.combine import combine_files
from ..release.formats import format_of
from .options import Force, Output
from .show import say, say_written, show_certificate


def combine(
    releases: Annotated[
        list[Path],
        typer.Argument(help="Released files, with their certificates.", metavar="FILE …"),
    ],
    output: Output,
    force: Force = False,
) -> None:
    """Combine releases into one, with a certificate that states the ε of all of them."""
    format_of(output)
    outputs = {"the output": output, "its certificate": certificate_path(output)}
    for target in outputs.values():
        check_target(target, force)
    check_apart(outputs, {f"the release {path}": path for path in releases})
    release = combine_files(releases)
    certificate = write_release(release, output, force=force)
    show_certificate(certificate, Console(highlight=False, markup=False))
    say("")
    counts = {"cases": release.variants.cases, "variants": len(release.variants)}
    say(Statement("cli.combined", path=str(output), **counts))
    say_written("certificate", certificate_path(output))
