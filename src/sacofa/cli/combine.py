"""`sacofa combine`: put releases together, a year from twelve months."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..base.files import check_apart, check_target
from ..errors import plain
from ..release import certificate_path, write_release
from ..release.combine import combine_files
from ..release.formats import format_of
from . import options
from .show import show_certificate


def combine(
    releases: Annotated[
        list[Path],
        typer.Argument(help="Released files, with their certificates.", metavar="FILE …"),
    ],
    output: options.Output,
    force: options.Force = False,
) -> None:
    """Put releases together, with a certificate that says what all of them cost."""
    format_of(output)
    outputs = {"the output": output, "its certificate": certificate_path(output)}
    for target in outputs.values():
        check_target(target, force)
    check_apart(outputs, {f"the release {path}": path for path in releases})
    release = combine_files(releases)
    certificate = write_release(release, output, force=force)
    console = Console(highlight=False, markup=False)
    show_certificate(certificate, console)
    console.print(
        f"\nPut together {release.variants.cases:,} cases in {len(release.variants):,} variants: "
        f"{plain(str(output))}",
        soft_wrap=True,
    )


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(combine)
