"""`sacofa evaluate`, `compare`, `reproduce` and `report`: how useful releases are, and pages."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from ..base.batches import gather
from ..base.files import check_apart, check_target, write_text
from ..errors import Argument, ReadError, SettingError, Statement, refuse_given
from ..evaluate import Evaluator, Measures
from ..evaluate.comparison import Comparison
from ..evaluate.comparison import compare as compare_mechanisms
from ..evaluate.evaluate import read_measured
from ..evaluate.experiment import Execution
from ..evaluate.measures.times import FORM, Indicator, Timed
from ..evaluate.registry import variants_of
from ..evaluate.reproduction import Reproduction, find_logs
from ..evaluate.reproduction import reproduce as reproduce_paper
from ..evaluate.runs import DONE, Row
from ..events import ReadOptions, count_variants, open_log
from ..kernel.cases import Cases
from ..release import certificate_path, read_release
from ..report import Facts, make_internal_report, read_comparison
from ..report.build import write_report
from ..report.comparison import list_measures
from ..report.figures import is_table
from ..report.page import say_duration
from .options import Fields, Force, Json, LogPath, Reading
from .show import progress_bar, say, say_written, show_table

PAIR = ("original", "release")
QUICK_LOGS, QUICK_RUNS = ("CoSeLoG", "Sepsis"), 2
OUTPUT_HELP = "The HTML report (.html), or a table of its figures (.csv, .json or .parquet)."
Folder = Annotated[
    Path,
    typer.Option("-o", "--output", help="Output folder. An interrupted command resumes there."),
]
Executing = Annotated[Execution, Fields(leave_out=("progress",))]


def evaluate(
    original: Annotated[str, typer.Argument(help="The original log.", metavar="ORIGINAL")],
    release: Annotated[str, typer.Argument(help="The released log.", metavar="RELEASE")],
    options: Reading,
    indicator: Annotated[
        list[str] | None,
        typer.Option(help=f"Indicator of times: {FORM}. Repeat for several.", metavar="TEXT"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure how useful a release is. The result is confidential: it comes from the log.

    Columns and order are those of the original log. The program finds the columns of a release
    itself. It measures times if both logs have times of their own.
    """
    wanted = [Indicator.parse(text) for text in indicator or ()]
    before, opened = _read_original(original, options), open_log(release)
    after = read_measured(opened, before.attributes)
    indicators = _indicate(wanted, before, after)
    evaluator = Evaluator(before)
    measures, limit = evaluator.measure(after), evaluator.limit()
    attributes = evaluator.attributes(after)
    if not as_json:
        _show(measures, limit, attributes, indicators)
        return
    content: dict[str, object] = {"secret": True, **measures, "limit": dict(limit)}
    if attributes:
        pairs = attributes.items()
        content["attributes"] = {n: {"release": off, "limit": best} for n, (off, best) in pairs}
    if indicators:
        # JSON has no value that is not a number.
        content["indicators"] = {
            one.text: {n: None if math.isnan(v) else v for n, v in zip(PAIR, values, strict=True)}
            for one, *values in indicators
        }
    typer.echo(json.dumps(content))


def _show(
    measures: Measures,
    limit: Measures,
    attributes: Mapping[str, tuple[float, float]],
    indicators: Sequence[tuple[Indicator, float, float]],
) -> None:
    show_table(list_measures(measures, limit), "cli.evaluate.measures", right=(1, 2))
    say()
    say(Statement("cli.evaluate.limit"))
    if attributes:
        say()
        cells = ((name, f"{off:.3f}", f"{best:.3f}") for name, (off, best) in attributes.items())
        show_table(cells, "cli.evaluate.attributes", right=(1, 2))
    if indicators:
        say()
        figures = ((one.text, _say(one, was), _say(one, now)) for one, was, now in indicators)
        show_table(figures, "cli.evaluate.indicators", right=(1, 2))
    if measures.missing is not None:
        say(Statement("report.measured_partly", missing=measures.missing))
    say(Statement("cli.confidential"))


def _read_original(path: str, options: ReadOptions) -> Cases:
    """Read a log, which has cases."""
    cases = read_measured(open_log(path, options))
    if not variants_of(cases).cases:
        raise ReadError(path, Statement("log.no_cases"))
    return cases


def _indicate(
    wanted: Sequence[Indicator], before: Cases, after: Cases
) -> list[tuple[Indicator, float, float]]:
    """Compute each indicator for the original and for the release."""
    if not wanted:
        return []
    if before.by_case is None or after.by_case is None:
        raise SettingError("indicator", wanted[0].text, Statement("must.no_indicator"))
    logs = Timed.both(gather(before.by_case), gather(after.by_case))
    for one in wanted:
        one.check(logs[0].activities)
    return [(one, one.of(logs[0]), one.of(logs[1])) for one in wanted]


def _say(one: Indicator, value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.3f}" if one.limit is not None else say_duration(value)


def compare(
    log: LogPath,
    output: Folder,
    comparison: Annotated[
        Comparison, Fields(flags={"mechanisms": ("--mechanism",), "epsilons": ("--epsilon",)})
    ],
    execution: Executing,
    options: Reading,
) -> None:
    """Compare mechanisms on a log. The result is confidential: it comes from the log itself."""
    cases = _read_original(log, options)
    name = Path(log).name.partition(".")[0]
    with _watched(execution) as watched:
        rows = compare_mechanisms(cases, comparison, output, name=name, execution=watched)
    _show_outcome(rows, output)


@dataclass(frozen=True, kw_only=True)
class Experiments:
    """The part of the experiments that is repeated.

    Attributes:
        quick: 2 repetitions, without Traffic fines.
        repeat: Number of repetitions. Default: 10, or 2 with --quick.
        prune_finished: Prune finished prefixes like the text of the paper. Default: keep them like
            its program.
    """

    quick: bool = False
    repeat: int | None = None
    prune_finished: bool = False


def reproduce(
    logs: Annotated[
        Path,
        typer.Option(
            help="The folder with receipt, sepsis and traffic_fines (XES, Parquet or CSV)."
        ),
    ],
    output: Folder,
    experiments: Annotated[
        Experiments, Fields(flags={"prune_finished": ("--prune-finished/--keep-finished",)})
    ],
    execution: Executing,
) -> None:
    """Repeat the experiments of the SaCoFa paper and report which of its claims hold.

    Needs the extras evaluate and map.
    """
    wanted = Reproduction(prune_finished=experiments.prune_finished)
    if experiments.quick:
        wanted = replace(wanted, logs=QUICK_LOGS, repeat=QUICK_RUNS)
    if experiments.repeat is not None:
        wanted = replace(wanted, repeat=experiments.repeat)
    paths = find_logs(logs, wanted.settings)
    for setting in wanted.settings:
        if setting.log not in paths:
            raise ReadError(logs, Statement("file.no_log", name=setting.file))
    originals = {name: count_variants(open_log(path, order="file")) for name, path in paths.items()}
    with _watched(execution) as watched:
        rows = reproduce_paper(originals, wanted, output, watched)
    _show_outcome(rows, output)


@contextmanager
def _watched(execution: Execution) -> Iterator[Execution]:
    """Show how many runs are done, and report that an interrupt lost nothing."""
    with progress_bar() as stage:

        def show(done: int, total: int) -> None:
            if stage is not None:
                stage(f"{total} runs", done / total)

        try:
            yield replace(execution, progress=show)
        except KeyboardInterrupt as error:
            error.args = (str(Statement("cli.runs_kept")),)
            raise


def _show_outcome(rows: Sequence[Row], folder: Path) -> None:
    """Report where the results are, and which runs have none."""
    lost = [row for row in rows if row.status != DONE]
    readme = str(folder / "README.md")
    say(Statement("cli.runs", runs=len(rows) - len(lost), path=readme))
    for row in lost:
        names = ("status", "log", "series", "repetition", "note")
        values = {name: getattr(row, name) for name in names}
        say(Statement("cli.lost_run", epsilon=row.epsilon or "–", **values))
    say(Statement("cli.confidential"))


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
    read = {"the release": release, "its certificate": certificate_path(release)}
    original = {} if page.original is None else {"the original": page.original}
    check_apart({"the report": output}, {**read, **original})
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
