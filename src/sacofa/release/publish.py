"""One whole release, from a log to the files that may be published.

A `Request` says which release is to be made. It is checked once, before a case is read, and all
that is wrong with it is reported together. The command line, the web app and `publish` make one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, is_dataclass, replace
from pathlib import Path
from typing import Any

from ..base.files import check_apart, check_target
from ..errors import OutputError, Problems, PromiseError, SettingError
from ..events import Log, Notify, ReadOptions, distribute_variants, is_distributed
from ..events import open_log as open_source
from ..kernel.attributes import Attribute, labels_of
from ..kernel.cases import Cases
from ..kernel.unit import Unit
from ..kernel.variants import VariantCounts
from ..ledger import Ledger
from ..ledger.case_key import key_path
from ..mechanisms.protocol import Mechanism, check_mechanism
from ..mechanisms.settings import settings_of
from ..messages.units import noun
from .anonymize import (
    Release,
    anonymize,
    as_cases,
    certify_request,
    check_activities,
    check_distributed,
    check_number,
    check_seed,
    read_log,
)
from .bound import MAX_RELEASED_EVENTS, check_bound
from .certificate import Certificate
from .formats import FORMATS, check_texts, format_of, listed
from .pair import certificate_path
from .periods import PeriodStatement, take_turn
from .reservation import Tell, check_payer, reserve_budget
from .write import write_release

Stage = Callable[[str, float], None]
"""Receives the name of the present stage and the share of it that is done (0 to 1)."""

ONLY_VARIANTS = (
    "left out for {suffix}, which holds variants and their counts only: write "
    + listed(each for each in FORMATS if each.holds_events)
)
"""The remedy for settings that ask for more than a format holds."""

MAX_GATHERED = 1_000_000
"""Upper bound on the variants that are brought from a cluster; they fit into any memory."""


@dataclass(frozen=True, kw_only=True)
class Listener:
    """Receives what happens during a release.

    Attributes:
        stage: The progress.
        ledger: What the ledger says about the payment.
        holder: Confidential notices for the holder of the log only.
    """

    stage: Stage | None = None
    ledger: Tell | None = None
    holder: Notify | None = None

    def at(self, stage: str, done: float) -> None:
        """Report progress."""
        if self.stage is not None:
            self.stage(stage, done)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A release to be made.

    Attributes:
        log: A path, a data frame, a log that was opened, counted variants or a mapping from
            variants to counts.
        mechanism: The mechanism with its settings.
        output: The released file. Its suffix names the format.
        options: How to read the log, unless it was opened or counted before.
        activities: Public activity names. Events of other activities are dropped.
        seed: Repeatable noise, for tests. Such a release must not be published.
        force: Overwrite files that exist.
        ledger: Ledger, or its path, that pays for the release before a case is read.
        dataset: Dataset whose budget in the ledger pays.
        max_released_events: Public bound. A larger release is scaled down.
        max_gathered: More variants than this stay on the cluster that counted them, if the
            mechanism can run there.
        keeps_file: Whether the file stays where it is written. If not, the ledger records no
            name.
        other_outputs: Further files that will be written, by what they are.
        other_inputs: Further files that are read, by what they are. No output overwrites them.
    """

    log: Any
    mechanism: Mechanism
    output: str | Path
    options: ReadOptions | None = None
    activities: Sequence[str] | None = None
    seed: int | None = None
    force: bool = False
    ledger: Ledger | str | Path | None = None
    dataset: str | None = None
    max_released_events: int = MAX_RELEASED_EVENTS
    max_gathered: int = MAX_GATHERED
    keeps_file: bool = True
    other_outputs: Mapping[str, str | Path] = field(default_factory=dict)
    other_inputs: Mapping[str, str | Path] = field(default_factory=dict)

    def check(self) -> Checked:
        """Refuse everything that can be refused before a case is read, all at once."""
        problems = Problems()
        with problems.collected():
            check_mechanism(self.mechanism)
        with problems.collected():
            check_activities(self.activities)
        with problems.collected():
            check_seed(self.seed)
        with problems.collected():
            check_bound(self.max_released_events)
        with problems.collected():
            check_target(self.output, self.force)
            check_target(certificate_path(self.output), self.force)
            if format_of(self.output) != format_of(os.path.realpath(self.output)):
                what = "is a link to a file of another format: name that file"
                raise OutputError(self.output, what)
        for target in self.other_outputs.values():
            with problems.collected():
                check_target(target, self.force)
        with problems.collected():
            check_payer(self.ledger, self.dataset)
        problems.refuse()
        opened = _open(self.log, self.options)
        with problems.collected():
            self._check_apart(opened)
        with problems.collected():
            self._check_texts(self.activities or (), opened.attributes)
        with problems.collected():
            mechanism = self._adapted(opened)
        problems.refuse()
        ledger = self.ledger
        if isinstance(ledger, str | Path):
            # Only now: a ledger that an output would overwrite must not even be opened.
            ledger = Ledger.open(ledger)
        checked = Checked(request=self, log=opened, mechanism=mechanism, ledger=ledger)
        checked.certify(None)
        return checked

    def _adapted(self, opened: Log | Cases) -> Mechanism:
        """The mechanism as it runs on the log, for what the output can hold."""
        timed = opened.has_times if isinstance(opened, Log) else opened.timed
        stored = format_of(self.output)
        if not stored.holds_events:
            # Variants and their counts hold no times: no budget is spent on them.
            _refuse_more_than_variants(self.mechanism, opened.attributes, stored.suffix)
            timed = False
        return self.mechanism.for_log(timed=timed, attributes=opened.attributes)

    def _check_apart(self, log: Log | Cases) -> None:
        """Refuse an output that is the log, the ledger or another output, by whatever links."""
        outputs = {
            "the output": self.output,
            "its certificate": certificate_path(self.output),
            **self.other_outputs,
        }
        inputs = dict(self.other_inputs)
        if self.ledger is not None:
            path = self.ledger.path if isinstance(self.ledger, Ledger) else Path(self.ledger)
            inputs |= {"the ledger": path, "the ledger's journal": f"{path}-journal"}
            inputs |= {"the ledger's key": key_path(path)}
        if isinstance(log, Log) and isinstance(log.source.content, tuple):
            files = [path for path in log.source.content if isinstance(path, Path)]
            inputs |= {f"the log {path}": path for path in files}
        check_apart(outputs, inputs)

    def _check_texts(self, activities: Sequence[str], attributes: Sequence[Attribute]) -> None:
        """Refuse public names and values that the format of the output cannot hold."""
        check_texts(activities, self.output)
        for attribute in attributes:
            check_texts((attribute.name,), self.output, "attribute")
            if attribute.domain is not None:
                check_texts(labels_of(attribute.domain), self.output, "value")

    def publish(self, listener: Listener | None = None) -> Release:
        """Read the log, release it through the mechanism, and write the log and its certificate.

        With a ledger, the release is paid for before a case is read. If the log was opened for a
        period, no case is taken that was released before.
        """
        return self.check().publish(listener or Listener())


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A request that was checked, with the log opened and the mechanism adapted to it."""

    request: Request
    log: Log | Cases
    mechanism: Mechanism
    ledger: Ledger | None

    @property
    def unit(self) -> Unit:
        """The unit of privacy."""
        return self.log.unit

    def certify(self, period: PeriodStatement | None) -> Certificate:
        """The certificate as it is known before the log is read."""
        return certify_request(
            self.mechanism,
            self.unit,
            activities=self.request.activities,
            seed=self.request.seed,
            period=period,
            read=self.log.assumptions,
        )

    def publish(self, listener: Listener) -> Release:
        """Pay, read, release and write."""
        request = self.request
        with ExitStack() as stack:
            turn = stack.enter_context(take_turn(self.log, self.ledger, request.dataset))
            period = _period(self.log) if turn is None else turn.statement
            promised = self.certify(period)
            reservation = stack.enter_context(
                reserve_budget(self.ledger, request.dataset, promised, listener.ledger)
            )
            log = self.log if turn is None or isinstance(self.log, Cases) else turn.limit(self.log)
            cases = stack.enter_context(self._read(log, listener))
            self._check_names(cases)
            if turn is not None:
                reservation.claim(turn)
            reservation.data_accessed = True
            release = anonymize(
                cases,
                self.mechanism,
                activities=request.activities,
                seed=request.seed,
                progress=lambda done: listener.at("anonymizing", done),
                notify=listener.holder,
                max_released_events=request.max_released_events,
                period=period,
            )
            _check_paid(promised, release.certificate)
            listener.at("writing", 0.0)
            file = request.output if request.keeps_file else None
            certificate = write_release(
                release,
                request.output,
                force=request.force,
                before=lambda final, size: reservation.link(file, size, final),
            )
        listener.at("writing", 1.0)
        return replace(release, certificate=certificate)

    def _check_names(self, cases: Cases) -> None:
        """Refuse names that were taken from the log, before anything is asked through noise.

        They are public, as the certificate says, so that refusing them reveals nothing else.
        """
        names = self.request.activities or cases.activities
        self.request._check_texts(names, cases.attributes)
        check_number(names, self.mechanism)
        check_distributed(cases, self.mechanism)

    @contextmanager
    def _read(self, log: Log | Cases, listener: Listener) -> Iterator[Cases]:
        """Read the cases, or leave their variants on the cluster if they are too many."""
        if isinstance(log, Cases):
            yield log
            return

        def progress(done: float) -> None:
            listener.at("reading", done)

        able = self.mechanism.capabilities
        if able.times or log.attributes or not (is_distributed(log) and able.distributed):
            yield read_log(log, timed=able.times, progress=progress, notify=listener.holder)
            return
        with distribute_variants(log, progress=progress, notify=listener.holder) as variants:
            few = len(variants) <= self.request.max_gathered
            yield Cases(
                variants=variants.gather() if few else variants, assumptions=log.assumptions
            )


def publish(
    log: Any,
    mechanism: Mechanism,
    output: str | Path,
    *,
    options: ReadOptions | None = None,
    ledger: Ledger | str | Path | None = None,
    dataset: str | None = None,
    force: bool = False,
) -> Release:
    """Read a log, release it through a mechanism, and write the log and its certificate.

    A `Request` has all further settings, such as public activity names or a seed.

    Args:
        log: A path, a data frame, a log that was opened, counted variants or a mapping from
            variants to counts.
        mechanism: The mechanism with its settings.
        output: The released file. Its suffix names the format.
        options: How to read the log, unless it was opened or counted before.
        ledger: Ledger, or its path, that pays for the release before a case is read.
        dataset: Dataset whose budget in the ledger pays.
        force: Overwrite files that exist.

    Returns:
        The release, as it was written.
    """
    return Request(
        log=log,
        mechanism=mechanism,
        output=output,
        options=options,
        ledger=ledger,
        dataset=dataset,
        force=force,
    ).publish()


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
    return f"{price} for a {noun(certificate.unit)}"


def _open(log: Any, options: ReadOptions | None) -> Log | Cases:
    """Open what has to be opened; what was counted already is taken as it is."""
    read = isinstance(log, (Log, Cases, VariantCounts, Mapping)) or hasattr(log, "map_parts")
    if not read:
        return open_source(log, options)
    if options is not None:
        what = "a log that is opened" if isinstance(log, Log) else "cases that are counted"
        raise SettingError("options", type(options).__name__, f"left out for {what} already")
    return log if isinstance(log, Log) else as_cases(log)
