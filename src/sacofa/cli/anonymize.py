"""`sacofa anonymize`: release a log through a mechanism."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from ..errors import SettingError
from ..files import check_target, write_whole
from ..logs import count_variants, read_log
from ..mechanisms.choose import DEFAULT, Choice, make_mechanism
from ..privacy.unit import ONE_CASE, Unit
from ..release import certificate_path, publish
from ..report import make_report
from ..semantics import Rules, learn_rules, open_rules
from ..semantics.models import read_names_map
from . import options
from .ledger import open_ledger
from .show import show_certificate, watched


def anonymize(
    log: options.LogPath,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="The released log: .xes, .xes.gz, .csv, .parquet or .json."
        ),
    ],
    epsilon: Annotated[
        str,
        typer.Option(
            "--epsilon",
            help="The price of the whole release, or of one level with sacofa and laplace: "
            "1, 0.1 or 1/3.",
            metavar="NUMBER",
        ),
    ],
    mechanism: Annotated[
        str, typer.Option("--mechanism", help="certified, sacofa or laplace.")
    ] = DEFAULT,
    max_length: Annotated[
        int | None, typer.Option("--max-length", help="Longer cases are cut here (the paper's k).")
    ] = None,
    prune: Annotated[
        int | None,
        typer.Option("--prune", help="Drop prefixes with a lower noisy count (the paper's p)."),
    ] = None,
    prune_harmless: Annotated[
        int | None, typer.Option("--prune-harmless", help="The threshold of harmless prefixes.")
    ] = None,
    prune_harmful: Annotated[
        str | None,
        typer.Option(
            "--prune-harmful",
            help="The threshold of harmful prefixes; inf admits none.",
            metavar="INTEGER|inf",
        ),
    ] = None,
    prune_finished: Annotated[
        bool | None,
        typer.Option(
            "--prune-finished/--keep-finished",
            help="Whether thresholds hold for finished prefixes and full length too.",
            show_default="prune",
        ),
    ] = None,
    score: Annotated[
        Literal["binary", "continuous"] | None,
        typer.Option(
            "--score", help="Whether violations of rules are counted.", show_default="binary"
        ),
    ] = None,
    max_violations: Annotated[
        int | None,
        typer.Option("--max-violations", help="Where the continuous score cuts their number."),
    ] = None,
    rules: Annotated[
        Path | None,
        typer.Option(
            "--rules",
            help="Public rules: a file as `sacofa rules` writes, or a model (.bpmn, .pnml, .decl).",
        ),
    ] = None,
    names: options.Names = None,
    deviations: Annotated[
        int | None,
        typer.Option(
            "--deviations",
            help="Keep the whole language of the model; cases may differ in so many events.",
            metavar="INTEGER",
        ),
    ] = None,
    closed: options.Closed = False,
    rules_from: Annotated[
        str | None,
        typer.Option("--rules-from", help="A public log whose rules hold.", metavar="LOG"),
    ] = None,
    activities: Annotated[
        Path | None,
        typer.Option("--activities", help="Public names of activities: a text file, one a line."),
    ] = None,
    case: options.Case = None,
    activity: options.Activity = None,
    timestamp: options.Timestamp = None,
    order: options.Order = "file",
    person: options.Person = None,
    max_cases: options.MaxCases = None,
    query: options.Query = None,
    engine: options.Engine = None,
    trusted: options.Trusted = False,
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="Repeatable noise, for tests; such a release is not private."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Also write a page about the release: an HTML file."),
    ] = None,
    force: options.Force = False,
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
    unit = ONE_CASE
    if person is not None:
        unit = Unit(person=person, max_cases=max_cases or 1)
    declared = None if activities is None else options.read_names(activities)
    errors = Console(stderr=True)
    public = _public_rules(
        rules,
        rules_from,
        trusted,
        names=None if names is None else read_names_map(names),
        activities=declared,
        deviations=deviations,
        closed=closed,
        say=lambda text: errors.print(text, markup=False, highlight=False, soft_wrap=True),
    )
    if mechanism == "certified":
        _refuse_own_rules(log, public, rules_from)
    chosen = make_mechanism(
        mechanism,
        Choice(
            epsilon=epsilon,
            max_length=max_length,
            prune=prune,
            prune_harmless=prune_harmless,
            prune_harmful=prune_harmful,
            prune_finished=prune_finished,
            score=score,
            max_violations=max_violations,
            rules=public,
            unit=unit,
        ),
    )
    source = partial(
        read_log,
        log,
        case=case,
        activity=activity or None,
        timestamp=timestamp,
        order=order,
        person=person,
        max_cases=max_cases,
        query=query,
        engine=engine,
        trusted=trusted,
    )
    if report is not None:
        check_target(report, force)
    with watched(errors) as stage:
        release = publish(
            source,
            chosen,
            output,
            activities=declared,
            seed=seed,
            force=force,
            stage=stage,
            ledger=open_ledger(ledger, dataset),
            dataset=dataset,
            say=lambda text: errors.print(f"ledger: {text}", markup=False, soft_wrap=True),
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


def _public_rules(file: Path | None, log: str | None, trusted: bool, **model: Any) -> Rules | None:
    """Rules from a file, a model or a public log; None where nothing is given."""
    if file is not None and log is not None:
        raise SettingError("rules_from", log, "left out where a rules file is given")
    if file is not None:
        return open_rules(file, **model)
    for name in ("names", "deviations", "closed"):
        if model[name] is not None and model[name] is not False:
            raise SettingError(name, model[name], "left out: it is for models (--rules)")
    if log is not None:
        name = Path(log).name
        opened = read_log(log, trusted=trusted)
        return learn_rules(count_variants(opened), source=f"learnt from the public log {name}")
    return None


def _refuse_own_rules(log: str, rules: Rules | None, rules_from: str | None) -> None:
    """Refuse rules that were read off the very log that is to be protected, as far as one sees."""
    own = Path(log)
    if rules_from is not None and own.exists() and own.samefile(rules_from):
        raise SettingError("rules_from", rules_from, "another log, one that is public")
    if rules is not None and rules.source.startswith(f"read off the log {own.name} "):
        raise SettingError(
            "rules",
            rules.source,
            "public: with certified, nothing is read off the log without payment (if a person "
            "made these rules their own, say so as the source in the file)",
        )


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(anonymize)
