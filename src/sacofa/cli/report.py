"""`sacofa report`: a page that people can read, or a table of its figures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..base.files import check_apart, check_target, write_text, write_whole
from ..errors import Argument, SettingError, Statement
from ..evaluate.evaluate import read_measured
from ..events import ReadOptions, open_log
from ..release import certificate_path, read_release
from ..report import Facts, make_internal_report, make_report, read_comparison, write_figures
from ..report.figures_file import is_table
from .options import Fields, Force, Reading, refuse_given
from .show import say, say_written


@dataclass(frozen=True, kw_only=True)
class Page:
    """What an HTML report shows.

    Attributes:
        original: Original log to compare the release with. The report is then confidential.
        comparison: Folder that `sacofa compare` wrote, for a report with --original.
        title: Title of the report. Default: the name of the released file.
    """

    original: str | None = None
    comparison: Path | None = None
    title: str | None = None


def report(
    release: Annotated[
        Path, typer.Argument(help="The released log. Its certificate is next to it.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="The HTML report (.html), or a table of its figures (.csv, .json or .parquet).",
        ),
    ],
    page: Annotated[Page, Fields()],
    facts: Annotated[Facts, Fields()],
    options: Reading,
    force: Force = False,
) -> None:
    """Create an HTML report for a release, or a table of its figures.

    With --original, the report compares the release with the original log, and is confidential. A
    table has every released count and share with its margin of error (95 %). Options about columns
    are for the original log.
    """
    check_target(output, force)
    read: dict[str, str | Path] = {"the release": release}
    read["its certificate"] = certificate_path(release)
    if page.original is not None:
        read["the original"] = page.original
    check_apart({"the report": output}, read)
    if is_table(output):
        for given in (page, facts, options):
            refuse_given(given, Statement("must.not_for_figures"))
        found = read_release(release)
        with write_whole(output, force) as part:
            write_figures(found, part)
        say_written("figures", output)
        return
    write_text(output, _make(release, page, facts, options), force)
    say_written("report", output)
    if page.original is not None:
        say(Statement("cli.confidential_report"))


def _make(path: Path, page: Page, facts: Facts, options: ReadOptions) -> str:
    """The HTML of a report."""
    title = page.title or path.name
    if page.original is None:
        must = Statement("must.left_out_without", argument=Argument("original"))
        if page.comparison is not None:
            raise SettingError("comparison", page.comparison, must)
        refuse_given(options, must)
        return make_report(read_release(path), title=title, facts=facts)
    log = open_log(page.original, options)
    return make_internal_report(
        read_release(path),
        read_measured(log),
        title=title,
        facts=facts,
        comparison=None if page.comparison is None else read_comparison(page.comparison),
    )
