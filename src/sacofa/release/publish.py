"""One whole release, from a log to the files that may be published."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..cases import Cases
from ..files import check_target
from ..logs import Log, Notify, ReadOptions, count_variants, distribute_variants, is_distributed
from ..logs import open_log as open_source
from ..logs.write import check_names, output_of
from ..mechanisms.protocol import Mechanism
from ..privacy.ledger import Ledger
from .anonymize import Release, anonymize, as_cases, certify_request
from .reservation import Tell, reserve_budget
from .write import certificate_path, write_release

Stage = Callable[[str, float], None]
"""Told the name of what is being done, and how much of it is done (0 to 1)."""

MAX_GATHERED = 1_000_000
"""So many different variants fit into the memory of any machine."""


def publish(
    log: Any,
    mechanism: Mechanism,
    output: str | Path,
    *,
    options: ReadOptions | None = None,
    activities: Sequence[str] | None = None,
    seed: int | None = None,
    force: bool = False,
    stage: Stage | None = None,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    tell: Tell | None = None,
    notify: Notify | None = None,
    max_gathered: int = MAX_GATHERED,
) -> Release:
    """Read a log, release it through a mechanism, and write the log and its certificate.

    The log is what `anonymize` takes; how it is read is said with `options`. What can be refused is
    refused before anything is paid. With a `ledger`, the price is paid from the budget of the
    `dataset` before a case is read; `tell` hears about it. More different variants than
    `max_gathered` are left on the cluster that counted them, if the mechanism can be run there.
    """
    output_of(output)
    check_target(output, force)
    check_target(certificate_path(output), force)
    on_stage = stage or (lambda name, done: None)
    opened = _open(log, options)
    certificate = certify_request(mechanism, opened.unit, activities=activities, seed=seed)
    with (
        reserve_budget(ledger, dataset, certificate, tell) as reservation,
        _counted(opened, mechanism, on_stage, notify, max_gathered) as cases,
    ):
        # Names that the format cannot hold are refused before anything is asked through noise.
        check_names(activities or cases.activities, output)
        reservation.data_accessed = True
        release = anonymize(
            cases,
            mechanism,
            activities=activities,
            seed=seed,
            progress=lambda done: on_stage("anonymizing", done),
            notify=notify,
        )
        on_stage("writing", 0.0)
        certificate = write_release(
            release, output, force=force, before=lambda final: reservation.link(output, final)
        )
    on_stage("writing", 1.0)
    return replace(release, certificate=certificate)


def _open(log: Any, options: ReadOptions | None) -> Log | Cases:
    """Open what has to be opened; what was counted already is taken as it is."""
    if isinstance(log, Log):
        return log
    if options is None and not isinstance(log, (str, Path)) and not hasattr(log, "columns"):
        return as_cases(log)
    return open_source(log, options)


@contextmanager
def _counted(
    log: Log | Cases,
    mechanism: Mechanism,
    on_stage: Stage,
    notify: Notify | None,
    max_gathered: int,
) -> Iterator[Cases]:
    """Count the variants; they come here unless they are too many."""
    if isinstance(log, Cases):
        yield log
        return

    def progress(done: float) -> None:
        on_stage("reading", done)

    if not (is_distributed(log) and mechanism.supports_distributed):
        yield Cases(variants=count_variants(log, progress=progress, notify=notify))
        return
    with distribute_variants(log, progress=progress, notify=notify) as variants:
        gathered = variants.gather() if len(variants) <= max_gathered else variants
        yield Cases(variants=gathered)
