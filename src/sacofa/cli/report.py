"""`sacofa report`: a page that people can read, or a table of its figures."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from ..base.files import check_apart, check_target, write_whole
from ..errors import SettingError, plain
from ..evaluate.evaluate import read_measured
from ..events import ReadOptions, open_log
from ..release import certificate_path, read_release
from ..report import Facts, make_internal_report, make_report, read_comparison, write_figures
from ..report.figures_file import is_table
from .options import Force, refuse_read_options, takes_read_options


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report")(report)


@takes_read_options
def report(
    release: Annotated[
        Path, typer.Argument(help="The released log; its certificate lies beside it.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="The page: .html; or a table of its figures: .csv, .json or .parquet.",
        ),
    ],
    original: Annotated[
        str | None,
        typer.Option("--original", help="The original log: makes a secret page.", metavar="LOG"),
    ] = None,
    comparison: Annotated[
        Path | None,
        typer.Option("--comparison", help="The folder of `sacofa compare`, with --original."),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", help="The title of the page; else the file's name.")
    ] = None,
    date: Annotated[
        datetime | None,
        typer.Option("--date", help="The day of the release.", formats=["%Y-%m-%d"]),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="The dataset that was released.", metavar="NAME")
    ] = None,
    released_by: Annotated[
        str | None, typer.Option("--released-by", help="Who released it.", metavar="NAME")
    ] = None,
    *,
    options: ReadOptions,
    force: Force = False,
) -> None:
    """Make a page of a release that may be published with it, or with --original a secret one.

    A table holds every released count and share, and how far noise moves each (95 %). The columns
    are those of the original log.
    """
    check_target(output, force)
    read: dict[str, str | Path] = {"the release": release}
    read["its certificate"] = certificate_path(release)
    if original is not None:
        read["the original"] = original
    check_apart({"the report": output}, read)
    if is_table(output):
        _refuse_words(
            original=original,
            comparison=comparison,
            title=title,
            date=date,
            dataset=dataset,
            released_by=released_by,
        )
        refuse_read_options(options, "left out for a table of figures")
        found = read_release(release)
        with write_whole(output, force) as part:
            write_figures(found, part)
        typer.echo(f"Figures: {plain(str(output))}")
        return
    facts = Facts(
        date=None if date is None else date.date(), dataset=dataset, released_by=released_by
    )
    if original is None:
        if comparison is not None:
            raise SettingError("comparison", comparison, "left out without --original")
        refuse_read_options(options, "left out without --original")
        page = make_report(read_release(release), title=title or release.name, facts=facts)
    else:
        log = open_log(original, options)
        page = make_internal_report(
            read_release(release),
            read_measured(log),
            title=title or release.name,
            facts=facts,
            comparison=None if comparison is None else read_comparison(comparison),
        )
    with write_whole(output, force) as part:
        part.write_text(page, encoding="utf-8")
    typer.echo(f"Report: {plain(str(output))}")
    if original is not None:
        typer.echo("It is secret: it comes from the original log without noise.")


def _refuse_words(**given: object) -> None:
    """Refuse what only a page has."""
    for name, value in given.items():
        if value is not None:
            raise SettingError(name, value, "left out for a table of figures")
