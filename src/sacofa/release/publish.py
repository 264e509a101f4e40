"""One whole release, from a confidential log to what may be published.

A `Request` says which release is to be made. It is checked once, before a case is read, and all
that is wrong with it is reported together. The command line, the web app, `anonymize` and `publish`
make one, and nothing else reads a log for a release.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, is_dataclass, replace
from functools import partial
from pathlib import Path

from ..base.domains import labels_of
from ..base.files import check_apart, check_target
from ..errors import OutputError, Problems, PromiseError, SettingError, Statement, check_whole
from ..events import (
    Log,
    Notify,
    ReadOptions,
    count_variants,
    distribute_variants,
    is_distributed,
    read_cases,
)
from ..events import open_log as open_source
from ..events.attributes import check_values
from ..kernel.attributes import Attribute
from ..kernel.bits import Bits, SeededBits, SystemBits
from ..kernel.cases import Cases
from ..kernel.noise import Noise
from ..kernel.variants import DistributedVariants, VariantCounts
from ..ledger import Ledger
from ..ledger.case_key import key_path
from ..mechanisms.protocol import Mechanism, Progress, check_mechanism, perform
from ..mechanisms.settings import settings_of
from ..messages.units import noun
from .anonymize import (
    Release,
    certify_request,
    check_activities,
    check_distributed,
    check_number,
    compare_names,
    release_outcome,
)
from .bound import MAX_RELEASED_EVENTS
from .certificate import Certificate
from .formats import check_texts, format_of, only_variants
from .pair import certificate_path
from .periods import PeriodStatement, take_turn
from .reservation import Tell, check_payer, reserve_budget
from .write import write_release

Stage = Callable[[str, float], None]
"""Receives the name of the present stage and the share of it that is done (0 to 1)."""

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
        output: The released file. Its suffix names the format. None: nothing is written, and no
            ledger pays.
        options: How to read the log, unless it was opened or counted before.
        activities: Public activity names. Events of other activities are dropped.
        seed: Repeatable noise, for tests. Such a release must not be published.
        force: Overwrite files that exist.
        ledger: Ledger that pays for the release before a case is read.
        dataset: Dataset whose budget in the ledger pays.
        max_released_events: Public bound on the number of events. A larger release is scaled down.
        max_gathered: More variants than this stay on the cluster that counted them, if the
            mechanism can run there.
        keeps_file: Whether the file stays where it is written. If not, the ledger records no
            name.
        other_outputs: Further files that will be written, by what they are.
        other_inputs: Further files that are read, by what they are. No output overwrites them.
    """

    log: object
    mechanism: Mechanism
    output: str | Path | None = None
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
        problems.check(check_mechanism, self.mechanism)
        problems.check(check_activities, self.activities)
        problems.check(check_whole, "seed", 0 if self.seed is None else self.seed, 0)
        problems.check(check_whole, "max_released_events", self.max_released_events, 1)
        problems.check(self._check_output)
        for target in self.other_outputs.values():
            problems.check(check_target, target, self.force)
        problems.check(check_payer, self.ledger, self.dataset)
        problems.refuse()
        opened = _open(self.log, self.options)
        problems.check(self._check_apart, opened)
        problems.check(self._check_texts, self.activities or (), opened.attributes)
        problems.check(self._adapted, opened)
        problems.refuse()
        ledger = self.ledger
        if isinstance(ledger, str | Path):
            # Only now: a ledger that an output would overwrite must not even be opened.
            ledger = Ledger.open(ledger)
        mechanism = self._adapted(opened)
        return Checked(request=self, log=opened, mechanism=mechanism, ledger=ledger)

    def _check_output(self) -> None:
        """Refuse a file that cannot be written, and a ledger that would pay for no file."""
        if self.output is None:
            if self.ledger is not None:
                raise SettingError("output", None, Statement("must.be.given_with_ledger"))
            return
        check_target(self.output, self.force)
        check_target(certificate_path(self.output), self.force)
        if format_of(self.output) != format_of(os.path.realpath(self.output)):
            raise OutputError(self.output, Statement("format.other_link"))

    def _adapted(self, opened: Log | Cases) -> Mechanism:
        """The mechanism as it runs on the log, for what the output can hold."""
        timed = opened.has_times if isinstance(opened, Log) else opened.timed
        stored = None if self.output is None else format_of(self.output)
        if stored is not None and not stored.holds_events:
            # Variants and their counts hold no times: no budget is spent on them.
            _refuse_more_than_variants(self.mechanism, opened.attributes, stored.suffix)
            timed = False
        return self.mechanism.for_log(timed=timed, attributes=opened.attributes)

    def _check_apart(self, log: Log | Cases) -> None:
        """Refuse an output that is the log, the ledger or another output, by whatever links."""
        outputs: dict[Statement | str, str | Path] = dict(self.other_outputs.items())
        inputs: dict[Statement | str, str | Path] = dict(self.other_inputs.items())
        if self.output is not None:
            outputs[Statement("role.output")] = self.output
            outputs[Statement("role.certificate")] = certificate_path(self.output)
        if self.ledger is not None:
            path = self.ledger.path if isinstance(self.ledger, Ledger) else Path(self.ledger)
            inputs[Statement("role.ledger")] = path
            inputs[Statement("role.journal")] = f"{path}-journal"
            inputs[Statement("role.key")] = key_path(path)
        if isinstance(log, Log) and isinstance(log.source.content, tuple):
            files = [path for path in log.source.content if isinstance(path, Path)]
            inputs |= {Statement("role.log", path=str(path)): path for path in files}
        check_apart(outputs, inputs)

    def _check_texts(self, activities: Sequence[str], attributes: Sequence[Attribute]) -> None:
        """Refuse public names and values that the format of the output cannot hold."""
        if self.output is None:
            return
        check_texts(activities, self.output)
        for attribute in attributes:
            check_texts((attribute.name,), self.output, "attribute")
            if attribute.domain is not None:
                check_texts(labels_of(attribute.domain), self.output, "value")

    def publish(self, listener: Listener | None = None) -> Release:
        """Read the log, release it through the mechanism, and write the log and its certificate.

        With a ledger, the release is paid for before a case is read. If the log was opened for a
        period, no case is taken that was released before.

        Args:
            listener: Receives the progress and what the holder of the log should know.

        Returns:
            The release, as it was written.

        Raises:
            SacofaError: If the request is refused, the ledger does not pay, or the log cannot be
                read. Nothing is written then.
        """
        return self.check().publish(listener or Listener())


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A request that was checked, with the log opened and the mechanism adapted to it.

    Raises:
        SettingError: If the mechanism cannot make a promise with its settings.
    """

    request: Request
    log: Log | Cases
    mechanism: Mechanism
    ledger: Ledger | None
    promised: Certificate = field(init=False)
    """What is promised before the log is read, but for the series of releases of periods."""

    def __post_init__(self) -> None:
        # No ledger keeps this period apart from others, as far as is known here.
        period = self.log.period if isinstance(self.log, Log) else None
        statement = None if period is None else PeriodStatement(period=period)
        promised = self._certify(self.log, self.mechanism, statement)
        object.__setattr__(self, "promised", promised)

    def _certify(
        self, read: Log | Cases, mechanism: Mechanism, period: PeriodStatement | None
    ) -> Certificate:
        return certify_request(
            mechanism,
            read.unit,
            activities=self.request.activities,
            seed=self.request.seed,
            period=period,
            read=read.assumptions,
        )

    def publish(self, listener: Listener) -> Release:
        """Pay, read, release and write."""
        request = self.request
        with ExitStack() as stack:
            turn = stack.enter_context(take_turn(self.log, self.ledger, request.dataset))
            promised, log = self.promised, self.log
            if turn is not None and isinstance(log, Log):
                promised = self._certify(log, self.mechanism, turn.statement)
                log = turn.limit(log)
            reservation = stack.enter_context(
                reserve_budget(self.ledger, request.dataset, promised, listener.ledger)
            )
            cases = stack.enter_context(self._read(log, listener))
            self._check_names(cases)
            if turn is not None:
                reservation.claim(turn)
            reservation.data_accessed = True
            release = self._release(cases, promised, listener)
            if request.output is None:
                return release
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

    def _release(self, cases: Cases, promised: Certificate, listener: Listener) -> Release:
        """Release cases; what is made of them must be what was promised."""
        request = self.request
        # What reading found out may belong to the promise, such as the values of an attribute.
        mechanism = self.mechanism.for_log(timed=cases.timed, attributes=cases.attributes)
        certificate = self._certify(cases, mechanism, promised.period)
        names = cases.activities
        if request.activities is not None:
            names = tuple(request.activities)
            if listener.holder is not None:
                compare_names(cases, names, listener.holder)
        bits: Bits = SystemBits() if request.seed is None else SeededBits(request.seed)
        # One public order, whatever the order in which the log named them.
        outcome = perform(
            mechanism,
            cases.project_onto(sorted(names)),
            Noise(bits),
            partial(listener.at, "anonymizing"),
        )
        release = release_outcome(outcome, certificate, names, request.max_released_events)
        _check_paid(promised, release.certificate)
        return release

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

        able = self.mechanism.capabilities
        if able.times or log.attributes or not (is_distributed(log) and able.distributed):
            yield _read_whole(log, able.times, listener)
            return
        with distribute_variants(
            log, progress=partial(listener.at, "reading"), notify=listener.holder
        ) as variants:
            few = len(variants) <= self.request.max_gathered
            yield Cases(
                variants=variants.gather() if few else variants, assumptions=log.assumptions
            )


def anonymize(
    log: object,
    mechanism: Mechanism,
    *,
    activities: Sequence[str] | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    notify: Notify | None = None,
) -> Release:
    """Release a log through a mechanism, without writing anything.

    What is protected comes with the log: the person of a log that was opened so, else one case. A
    `Request` has all further settings.

    Args:
        log: A path, a data frame, a log that was opened, counted variants or a mapping from
            variants to counts.
        mechanism: The mechanism with its settings.
        activities: Public activity names. Events of other activities are dropped. If omitted, the
            names are taken from the log, and the certificate says so.
        seed: Repeatable noise, for tests and teaching. Such a release must not be published.
        progress: Receives the share that is done, from 0 to 1.
        notify: Receives what only the holder of the log should know.

    Returns:
        The release. `write_release` writes it.
    """
    request = Request(log=log, mechanism=mechanism, activities=activities, seed=seed)
    stage = None if progress is None else _only_anonymizing(progress)
    return request.publish(Listener(stage=stage, holder=notify))


def _only_anonymizing(progress: Progress) -> Stage:
    def stage(name: str, done: float) -> None:
        if name == "anonymizing":
            progress(done)

    return stage


def publish(
    log: object,
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
    must = only_variants(suffix)
    if attributes:
        raise SettingError("attribute", attributes[0].key, must)
    if not is_dataclass(mechanism):
        return
    usual = mechanism.for_log(timed=False)
    for setting in settings_of(type(mechanism)):
        value = getattr(mechanism, setting.name)
        if setting.kind != "flag" and value != getattr(usual, setting.name):
            raise SettingError(setting.option, value, must)


def _check_paid(promised: Certificate, made: Certificate) -> None:
    """Refuse a release that costs another price, or protects another unit, than was paid for.

    A mechanism says its price when it is asked, and one from outside may say another every time.
    """
    if (promised.epsilon, promised.unit) != (made.epsilon, made.unit):
        values = {"mechanism": made.mechanism, "made": _cost(made), "promised": _cost(promised)}
        raise PromiseError(Statement("promise.other_price", **values))


def _cost(certificate: Certificate) -> Statement:
    unit = noun(certificate.unit)
    if certificate.epsilon is None:
        return Statement("promise.no_price", unit=unit)
    return Statement("promise.price", epsilon=certificate.epsilon, unit=unit)


def _open(log: object, options: ReadOptions | None) -> Log | Cases:
    """Open what has to be opened; what was counted already is taken as it is."""
    opened: Log | Cases | None = log if isinstance(log, Log | Cases) else None
    if isinstance(log, VariantCounts | DistributedVariants):
        opened = Cases(variants=log)
    elif isinstance(log, Mapping):
        opened = Cases(variants=VariantCounts.of(log))
    if opened is None:
        return open_source(log, options)
    if options is not None:
        must = Statement(
            "must.be.left_out_opened" if isinstance(log, Log) else "must.be.left_out_counted"
        )
        raise SettingError("options", type(options).__name__, must)
    return opened


def _read_whole(log: Log, timed: bool, listener: Listener) -> Cases:
    """Read the cases of a log; one by one with their times where these are asked for and there."""
    progress = partial(listener.at, "reading")
    if (timed and log.has_times) or log.attributes:
        cases = read_cases(log, progress=progress, notify=listener.holder)
        check_values(log.name, cases.attributes, log.options)
        return cases
    variants = count_variants(log, progress=progress, notify=listener.holder)
    return Cases(variants=variants, assumptions=log.assumptions)
