"""One whole release, from a log to the files that may be published."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..files import check_target
from ..logs import Log, count_variants, read_log, scatter_variants, scatters
from ..logs.write import check_names, output_of
from ..mechanisms.protocol import Mechanism
from ..privacy.ledger import Ledger
from ..variants import Scattered, VariantCounts
from .anonymize import Release, anonymize, certify_request, works_in_parts
from .booking import Say, booked
from .write import certificate_path, write_log

Stage = Callable[[str, float], None]
"""Told the name of what is being done, and how much of it is done (0 to 1)."""

MOST_GATHERED = 1_000_000
"""So many different variants fit into the memory of any machine."""


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
    most_gathered: int = MOST_GATHERED,
) -> Release:
    """Read a log, release it through a mechanism, and write the log and its certificate.

    What can be refused is refused before the log is read. With a `ledger`, the price is paid from
    the budget of the `dataset` first; `say` is told about it. So that nothing of the log is read
    before, `log` may be a function that opens it. More different variants than `most_gathered`
    are left on the cluster that counted them, if the mechanism can look at them there.
    """
    output_of(output)
    check_target(output, force)
    check_target(certificate_path(output), force)
    tell = stage or (lambda name, done: None)
    certificate = certify_request(mechanism, activities=activities, seed=seed)
    with (
        booked(ledger, dataset, certificate, say) as booking,
        _counted(log, mechanism, tell, most_gathered) as variants,
    ):
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


@contextmanager
def _counted(
    source: Any, mechanism: Mechanism, tell: Stage, most_gathered: int
) -> Iterator[VariantCounts | Scattered]:
    """Count the variants; they come here unless they are too many."""
    source = source() if callable(source) else source
    log = source if isinstance(source, Log) else read_log(source)
    if not (scatters(log) and works_in_parts(mechanism)):
        yield count_variants(log, progress=lambda done: tell("reading", done))
        return
    with scatter_variants(log, progress=lambda done: tell("reading", done)) as variants:
        yield variants if len(variants) > most_gathered else variants.gather()
