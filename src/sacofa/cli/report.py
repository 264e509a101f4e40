"""`sacofa report`: a page that people can read, or a table of its figures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..base.files import check_apart, check_target, write_text
from ..errors import Argument, SettingError, Statement
from ..evaluate.evaluate import read_measured
from ..events import open_log
from ..release import certificate_path, read_release
from ..report import Facts, make_internal_report, read_comparison
from ..report.build import write_report
from ..report.figures import is_table
from .options import Fields, Force, Reading, refuse_given
from .show import say, say_written

OUTPUT_HELP = "The HTML report (.html), or a table of its figures (.csv, .json or .parquet)."


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
    output: Annotated[Path, typer.Option("-o", "--output", help=OUTPUT_HELP)],
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
    title, table = page.title or release.name, is_table(output)
    if table:
        for given in (page, facts, options):
            refuse_given(given, Statement("must.not_for_figures"))
    if page.original is None:
        must = Statement("must.left_out_without", argument=Argument("original"))
        if page.comparison is not None:
            raise SettingError("comparison", page.comparison, must)
        refuse_given(options, must)
        write_report(read_release(release), output, title=title, facts=facts, force=force)
    else:
        log = open_log(page.original, options)
        made = make_internal_report(
            read_release(release),
            read_measured(log),
            title=title,
            facts=facts,
            comparison=None if page.comparison is None else read_comparison(page.comparison),
        )
        write_text(output, made, force)
    say_written({"figures" if table else "report": output})
    if page.original is not None:
        say(Statement("cli.confidential_report"))
