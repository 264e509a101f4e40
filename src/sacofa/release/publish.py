"""One whole release, from a log to the files that may be published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..files import check_target
from ..logs import count_variants
from ..logs.write import check_names, output_of
from ..mechanisms.protocol import Mechanism
from ..privacy.ledger import Ledger
from .anonymize import Release, anonymize, certify_request
from .booking import Say, booked
from .write import certificate_path, write_log

Stage = Callable[[str, float], None]
"""Told the name of what is being done, and how much of it is done (0 to 1)."""


def publish(
    log: Any,
    mechanism: Mechanism,
    output: str | Path,
    *,
    activities: Sequence[str] | None = None,
    seed: int | None = None,
    force: bool = False,
    stage: Stage | None = None,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    say: Say | None = None,
) -> Release:
    """Read a log, release it through a mechanism, and write the log and its certificate.

    What can be refused is refused before the log is read. With a `ledger`, the price is paid from
    the budget of the `dataset` first; `say` is told about it. So that nothing of the log is read
    before, `log` may be a function that opens it.
    """
    output_of(output)
    check_target(output, force)
    check_target(certificate_path(output), force)
    tell = stage or (lambda name, done: None)
    certificate = certify_request(mechanism, activities=activities, seed=seed)
    with booked(ledger, dataset, certificate, say) as booking:
        source = log() if callable(log) else log
        variants = count_variants(source, progress=lambda done: tell("reading", done))
        # Names that the format cannot hold are refused before anything is looked at through noise.
        check_names(activities or variants.activities, output)
        booking.looked = True
        release = anonymize(
            variants,
            mechanism,
            activities=activities,
            seed=seed,
            progress=lambda done: tell("anonymizing", done),
        )
        tell("writing", 0.0)
        certificate = write_log(
            release, output, force=force, before=lambda final: booking.link(output, final)
        )
    tell("writing", 1.0)
    return Release(variants=release.variants, certificate=certificate)
