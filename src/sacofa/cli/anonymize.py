"""`sacofa anonymize`: release a log through a mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ..files import check_target, write_whole
from ..logs import ReadOptions
from ..mechanisms.registry import DEFAULT, MECHANISMS, make_mechanism
from ..release import certificate_path, publish
from ..release.rules import public_rules
from ..report import make_report
from ..semantics import ModelOptions
from . import options as shared
from .ledger import open_ledger
from .show import progress_bar, show_certificate


@shared.takes_settings("rules")
@shared.takes_read_options
@shared.takes_model_options()
def anonymize(
    log: shared.LogPath,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="The released log: .xes, .xes.gz, .csv, .parquet or .json."
        ),
    ],
    settings: dict[str, Any],
    options: ReadOptions,
    mechanism: Annotated[
        str, typer.Option("--mechanism", help=f"{', '.join(MECHANISMS)}.")
    ] = DEFAULT,
    rules: Annotated[
        Path | None,
        typer.Option(
            "--rules",
            help="Public rules: a file as `sacofa rules` writes, or a model (.bpmn, .pnml, .decl).",
        ),
    ] = None,
    *,
    model: ModelOptions,
    rules_from: Annotated[
        str | None,
        typer.Option("--rules-from", help="A public log whose rules hold.", metavar="LOG"),
    ] = None,
    activities: Annotated[
        Path | None,
        typer.Option("--activities", help="Public names of activities: a text file, one a line."),
    ] = None,
    seed: shared.Seed = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Also write a page about the release: an HTML file."),
    ] = None,
    force: shared.Force = False,
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", help="Pay from this ledger; needs --dataset.", metavar="LEDGER"),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", help="Whose budget in the ledger pays.", metavar="NAME"),
    ] = None,
) -> None:
    """Release a log under differential privacy, with its certificate beside it."""
    names = None if activities is None else shared.read_names(activities)
    public = public_rules(
        rules,
        rules_from,
        secret=log,
        trusted=options.trusted,
        model=model,
        activities=names,
        notify=shared.say,
    )
    chosen = make_mechanism(mechanism, {**settings, "rules": public})
    if report is not None:
        check_target(report, force)
    errors = Console(stderr=True)

    def tell(text: str) -> None:
        errors.print(text, markup=False, soft_wrap=True)

    with progress_bar(errors) as stage:
        release = publish(
            log,
            chosen,
            output,
            options=options,
            activities=names,
            seed=seed,
            force=force,
            stage=stage,
            ledger=open_ledger(ledger, dataset),
            dataset=dataset,
            tell=lambda text: tell(f"ledger: {text}"),
            notify=lambda text: tell(f"for your eyes only: {text}"),
        )
    console = Console(highlight=False, markup=False)
    show_certificate(release.certificate, console)
    released = release.variants
    console.print(
        f"\nReleased {released.cases:,} cases in {len(released):,} variants: {output}\n"
        f"Certificate: {certificate_path(output)}",
        soft_wrap=True,
    )
    if report is not None:
        with write_whole(report, force) as part:
            part.write_text(make_report(release, title=output.name), encoding="utf-8")
        console.print(f"Report: {report}", soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(anonymize)
