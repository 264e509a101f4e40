"""`sacofa anonymize`: release a log through a mechanism."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ..base.files import identity, write_whole
from ..base.temporary import secret_folder
from ..errors import OutputError, SettingError, plain
from ..events import ReadOptions
from ..events.standard_input import NAME
from ..mechanisms.registry import DEFAULT, MECHANISMS, make_mechanism
from ..release import Release, certificate_path
from ..release.bound import MAX_RELEASED_EVENTS
from ..release.earlier import start_from
from ..release.formats import FORMATS, format_of, listed, only_variants
from ..release.publish import Listener, Request
from ..release.rules import public_rules
from ..rules import ModelOptions
from . import options as shared
from .grouped import OUTPUT, PROMISE, RULES, WHAT, GroupedCommand
from .show import progress_bar, show_certificate


@shared.takes_settings("rules")
@shared.takes_read_options
@shared.takes_model_options()
def anonymize(
    log: shared.LogPaths,
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help=f"The released log: {listed(FORMATS)}; - writes CSV to standard output.",
            rich_help_panel=OUTPUT,
        ),
    ],
    settings: dict[str, Any],
    options: ReadOptions,
    mechanism: Annotated[
        str, typer.Option("--mechanism", help=f"{', '.join(MECHANISMS)}.", rich_help_panel=WHAT)
    ] = DEFAULT,
    rules: Annotated[
        Path | None,
        typer.Option(
            "--rules",
            help="Public rules: a file as `sacofa rules` writes, or a model (.bpmn, .pnml, .decl).",
            rich_help_panel=RULES,
        ),
    ] = None,
    *,
    model: ModelOptions,
    rules_from: Annotated[
        str | None,
        typer.Option(
            "--rules-from",
            help="A public log whose rules hold.",
            metavar="LOG",
            rich_help_panel=RULES,
        ),
    ] = None,
    activities: Annotated[
        Path | None,
        typer.Option(
            "--activities",
            help="Public names of activities: a text file, one a line.",
            rich_help_panel=PROMISE,
        ),
    ] = None,
    earlier: Annotated[
        list[Path] | None,
        typer.Option(
            "--earlier",
            help="Earlier releases of the same process, to start from; repeat it.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    seed: shared.Seed = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            help="Also write a page about the release, .html, or a table of its figures: .csv, "
            ".json or .parquet.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            "--certificate",
            help="Where the certificate goes if the log goes to standard output.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    force: shared.Force = False,
    max_events: Annotated[
        int,
        typer.Option(
            "--max-events",
            min=1,
            help="A larger release is scaled down to so many events.",
            rich_help_panel=OUTPUT,
        ),
    ] = MAX_RELEASED_EVENTS,
    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger",
            help="Pay from this ledger; needs --dataset.",
            metavar="LEDGER",
            rich_help_panel=PROMISE,
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            help="Whose budget in the ledger pays.",
            metavar="NAME",
            rich_help_panel=PROMISE,
        ),
    ] = None,
) -> None:
    """Anonymize a log under differential privacy, with its certificate beside it."""
    streamed = str(output) == NAME
    if streamed != (certificate is not None):
        must = "given where the output is standard output" if streamed else "left out: it is beside"
        raise SettingError("certificate", certificate, must)
    names = None if activities is None else shared.read_names(activities)
    public = public_rules(
        rules,
        rules_from,
        secret=shared.one_or_all(log),
        trusted=options.trusted,
        model=model,
        activities=names,
        notify=shared.say,
    )
    chosen = start_from(make_mechanism(mechanism, {**settings, "rules": public}), earlier or [])
    if report is not None:
        # Most releases are made without one, and what makes it takes a while to load.
        from ..report.figures_file import is_table

        is_table(report)
    errors = Console(stderr=True)

    def tell(text: str) -> None:
        errors.print(plain(text), markup=False, soft_wrap=True)

    stack = ExitStack()
    if streamed:
        output = stack.enter_context(secret_folder()) / "release.csv"
    elif settings["time"] and not (stored := format_of(output)).holds_events:
        raise SettingError("time", "yes", only_variants(stored.suffix))
    request = Request(
        log=shared.one_or_all(log),
        mechanism=chosen,
        output=output,
        options=options,
        activities=names,
        seed=seed,
        force=force,
        ledger=ledger,
        dataset=dataset,
        max_released_events=max_events,
        keeps_file=not streamed,
        other_outputs=_named({"the report": report, "the certificate": certificate}),
        other_inputs=_named(
            {
                "the rules": rules,
                "the names": activities,
                "the public log": rules_from,
                **{f"the earlier release {path}": path for path in earlier or []},
            }
        ),
    )
    before = identity(output)
    with stack, saying_what_is_written(output, before), progress_bar(errors) as stage:
        release = request.publish(
            Listener(
                stage=stage,
                ledger=lambda text: tell(f"ledger: {text}"),
                holder=lambda text: tell(f"for your eyes only: {text}"),
            )
        )
        if certificate is not None:
            with write_whole(certificate, force) as part:
                part.write_bytes(certificate_path(output).read_bytes())
                # A certificate gets its name only if the whole log got out.
                _stream(output)
            output = Path("standard output")
    with saying_what_is_written(output, before):
        _show(release, output, certificate, report, force)


def _named(paths: Mapping[str, str | Path | None]) -> dict[str, str | Path]:
    """The files that were given."""
    return {what: path for what, path in paths.items() if path is not None}


def _stream(released: Path) -> None:
    """Write a released log to standard output."""
    try:
        with released.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        what = "was closed before the whole log was written: there is no certificate"
        raise OutputError("standard output", what) from None
    except OSError as error:
        raise OutputError("standard output", f"cannot be written: {error.strerror}") from None


def _show(
    release: Release, output: Path, certificate: Path | None, report: Path | None, force: bool
) -> None:
    """Say what was released, and write the page about it; not where the log itself goes."""
    console = Console(highlight=False, markup=False, stderr=certificate is not None)
    show_certificate(release.certificate, console)
    released = release.variants
    console.print(
        f"\nReleased {released.cases:,} cases in {len(released):,} variants: {plain(str(output))}\n"
        f"Certificate: {plain(str(certificate or certificate_path(output)))}",
        soft_wrap=True,
    )
    if report is not None:
        from ..report import make_report, write_figures
        from ..report.figures_file import is_table

        with write_whole(report, force) as part:
            if is_table(report):
                write_figures(release, part)
            else:
                part.write_text(make_report(release, title=output.name), encoding="utf-8")
        console.print(f"Report: {plain(str(report))}", soft_wrap=True)


@contextmanager
def saying_what_is_written(output: Path, before: set[object]) -> Iterator[None]:
    """Let an interrupt, or a terminal that takes no more, say that the release is there."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (KeyboardInterrupt, OSError) as error:
        if not output.exists() or identity(output) == before:
            raise
        written = f"the release was written before: {plain(str(output))}"
        if isinstance(error, OSError):
            raise OutputError("standard output", f"{error.strerror}; {written}") from None
        error.args = (written,)
        raise


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=GroupedCommand)(anonymize)
