"""One whole release, from a log to the files that may be published."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any

from ..base.files import check_apart, check_target
from ..errors import OutputError, PromiseError, SettingError
from ..events import Log, Notify, ReadOptions, distribute_variants, is_distributed
from ..events import open_log as open_source
from ..kernel.attributes import Attribute, labels_of
from ..kernel.cases import Cases
from ..kernel.variants import VariantCounts
from ..ledger import Ledger
from ..ledger.case_key import key_path
from ..mechanisms.protocol import Mechanism, check_mechanism
from ..mechanisms.settings import settings_of
from .anonymize import (
    Release,
    anonymize,
    as_cases,
    certify_request,
    check_distributed,
    check_number,
    read_log,
)
from .bound import MAX_RELEASED_EVENTS, check_bound
from .certificate import Certificate
from .formats import FORMATS, check_texts, format_of, listed
from .pair import certificate_path
from .periods import PeriodStatement, take_turn
from .reservation import Tell, reserve_budget
from .write import write_release

Stage = Callable[[str, float], None]
"""Told the name of what is being done, and how much of it is done (0 to 1)."""

ONLY_VARIANTS = (
    "left out for {suffix}, which holds variants and their counts only: write "
    + listed(each for each in FORMATS if each.holds_events)
)
"""What must be done with settings that ask for more than a format holds."""

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
    max_released_events: int = MAX_RELEASED_EVENTS,
    stays: bool = True,
) -> Release:
    """Read a log, release it through a mechanism, and write the log and its certificate.

    The log is what `anonymize` takes; how it is read is said with `options`, unless it was opened
    or counted before. A `.json` output holds variants and their counts only, so nothing is spent
    on times, and attributes are refused. What can be refused is refused before anything is paid.
    With a `ledger`, the price is paid from the budget of the `dataset` before a case is read;
    `tell` hears about it.
    Where a period of the log is released from a ledger, no case is taken that was released before.
    With `stays` false the file is passed on and does not stay where it is written: it has no name
    in the ledger then.
    More different variants than `max_gathered` are left on the cluster that counted them, if the
    mechanism can be run there.
    """
    check_mechanism(mechanism)
    stored = format_of(output)
    check_target(output, force)
    check_target(certificate_path(output), force)
    check_bound(max_released_events)
    if stored != format_of(os.path.realpath(output)):
        raise OutputError(output, "is a link to a file of another format: name that file")
    on_stage = stage or (lambda name, done: None)
    opened = _open(log, options)
    _check_apart(opened, output, ledger)
    timed = opened.has_times if isinstance(opened, Log) else opened.timed
    if not stored.holds_events:
        # Variants and their counts hold no times: no budget is spent on them.
        _refuse_more_than_variants(mechanism, opened.attributes, stored.suffix)
        timed = False
    mechanism = mechanism.for_log(timed=timed, attributes=opened.attributes)
    # A first time before anything waits: settings that cannot be are refused at once.
    certify_request(mechanism, opened.unit, activities=activities, seed=seed)
    _check_texts(output, activities or (), opened.attributes)
    with ExitStack() as stack:
        turn = stack.enter_context(take_turn(opened, ledger, dataset))
        period = _period(opened) if turn is None else turn.statement
        certificate = certify_request(
            mechanism,
            opened.unit,
            activities=activities,
            seed=seed,
            period=period,
            read=opened.assumptions,
        )
        reservation = stack.enter_context(reserve_budget(ledger, dataset, certificate, tell))
        limited = opened if turn is None or isinstance(opened, Cases) else turn.limit(opened)
        cases = stack.enter_context(_counted(limited, mechanism, on_stage, notify, max_gathered))
        # What was taken from the log is public, as the certificate says: to refuse some of it tells
        # nothing else. Once something is asked through noise, it would be too late.
        _check_texts(output, activities or cases.activities, cases.attributes)
        check_number(activities or cases.activities, mechanism)
        check_distributed(cases, mechanism)
        if turn is not None:
            reservation.claim(turn)
        reservation.data_accessed = True
        release = anonymize(
            cases,
            mechanism,
            activities=activities,
            seed=seed,
            progress=lambda done: on_stage("anonymizing", done),
            notify=notify,
            max_released_events=max_released_events,
            period=period,
        )
        _check_paid(certificate, release.certificate)
        on_stage("writing", 0.0)
        certificate = write_release(
            release,
            output,
            force=force,
            before=lambda final, size: reservation.link(output if stays else None, size, final),
        )
    on_stage("writing", 1.0)
    return replace(release, certificate=certificate)


def _refuse_more_than_variants(
    mechanism: Mechanism, attributes: Sequence[Attribute], suffix: str
) -> None:
    """Refuse attributes and settings of times, which a file of variants cannot hold."""
    if attributes:
        raise SettingError("attribute", attributes[0].key, ONLY_VARIANTS.format(suffix=suffix))
    if not is_dataclass(mechanism):
        return
    usual = mechanism.for_log(timed=False)
    for setting in settings_of(type(mechanism)):
        value = getattr(mechanism, setting.name)
        if setting.kind != "flag" and value != getattr(usual, setting.name):
            raise SettingError(setting.option, value, ONLY_VARIANTS.format(suffix=suffix))


def _period(log: Log | Cases) -> PeriodStatement | None:
    """What is said of the period of a release that no ledger keeps apart from others."""
    if isinstance(log, Cases) or log.period is None:
        return None
    return PeriodStatement(period=log.period)


def _check_paid(promised: Certificate, made: Certificate) -> None:
    """Refuse a release that costs another price, or protects another unit, than was paid for.

    A mechanism says its price when it is asked, and one from outside may say another every time.
    """
    if (promised.epsilon, promised.unit) != (made.epsilon, made.unit):
        raise PromiseError(
            f"{made.mechanism} costs {_cost(made)}, and {_cost(promised)} was promised before the "
            "log was read: nothing is released"
        )


def _cost(certificate: Certificate) -> str:
    price = "no finite ε" if certificate.epsilon is None else f"ε = {certificate.epsilon}"
    return f"{price} for a {certificate.unit.noun}"


def _check_apart(log: Log | Cases, output: str | Path, ledger: Ledger | None) -> None:
    """Refuse an output that is the log or the ledger, by whatever names and links."""
    outputs = {"the output": output, "its certificate": certificate_path(output)}
    inputs: dict[str, str | Path] = {}
    if ledger is not None:
        inputs |= {"the ledger": ledger.path, "the ledger's journal": f"{ledger.path}-journal"}
        inputs |= {"the ledger's key": key_path(ledger.path)}
    if isinstance(log, Log) and isinstance(log.source.content, tuple):
        files = [path for path in log.source.content if isinstance(path, Path)]
        inputs |= {f"the log {path}": path for path in files}
    check_apart(outputs, inputs)


def _check_texts(
    output: str | Path, activities: Sequence[str], attributes: Sequence[Attribute]
) -> None:
    """Refuse public names and values that the format of the output cannot hold, once known."""
    check_texts(activities, output)
    for attribute in attributes:
        check_texts((attribute.name,), output, "attribute")
        if attribute.domain is not None:
            check_texts(labels_of(attribute.domain), output, "value")


def _open(log: Any, options: ReadOptions | None) -> Log | Cases:
    """Open what has to be opened; what was counted already is taken as it is."""
    read = isinstance(log, (Log, Cases, VariantCounts, Mapping)) or hasattr(log, "map_parts")
    if not read:
        return open_source(log, options)
    if options is not None:
        what = "a log that is opened" if isinstance(log, Log) else "cases that are counted"
        raise SettingError("options", type(options).__name__, f"left out for {what} already")
    return log if isinstance(log, Log) else as_cases(log)


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

    timed = mechanism.capabilities.times
    if timed or log.attributes or not (is_distributed(log) and mechanism.capabilities.distributed):
        yield read_log(log, timed=timed, progress=progress, notify=notify)
        return
    with distribute_variants(log, progress=progress, notify=notify) as variants:
        gathered = variants.gather() if len(variants) <= max_gathered else variants
        yield Cases(variants=gathered, assumptions=log.assumptions)
