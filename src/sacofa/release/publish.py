"""One whole release, from a confidential log to what may be published.

A `Request` says which release is to be made. It is checked once, before a case is read, and all
that is wrong with it is reported together. The command line, the web app, `anonymize` and `publish`
make one, and nothing else reads a log for a release.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

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
from ..kernel.variants import DistributedVariants, VariantCounts, check_names
from ..ledger import Ledger
from ..ledger.case_key import key_path
from ..mechanisms.protocol import Mechanism, Progress, check_mechanism, perform
from ..mechanisms.settings import Setting, settings_of
from ..messages.units import noun
from .anonymize import (
    MAX_RELEASED_EVENTS,
    Release,
    certify_request,
    check_number,
    release_outcome,
)
from .certificate import Certificate, PeriodStatement
from .formats import check_texts, format_of, only_variants
from .reservation import Tell, check_payer, reserve_budget, take_turn
from .write import certificate_path, write_release

Stage = Callable[[str, float], None]
"""Receives the name of the present stage and the share of it that is done (0 to 1)."""

NAMED = 10
"""The most names that a notice lists."""
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
        log = _open(self.log, self.options)
        problems.check(self._check_apart, log)
        problems.check(self._check_texts, self.activities or (), log.attributes)
        problems.check(self._adapted, log)
        problems.refuse()
        mechanism, ledger = self._adapted(log), self.ledger
        if isinstance(ledger, str | Path):
            # Only now: a ledger that an output would overwrite must not even be opened.
            ledger = Ledger.open(ledger)
        # No ledger keeps a period apart from others, as far as is known here.
        period = log.period if isinstance(log, Log) else None
        statement = None if period is None else PeriodStatement(period=period)
        return Checked(log, mechanism, ledger, self._certify(log, mechanism, statement))

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
        listener = listener or Listener()
        checked, mechanism, ledger, promised = self.check()
        with ExitStack() as stack:
            log, period, turn = stack.enter_context(take_turn(checked, ledger, self.dataset))
            if turn is not None:
                promised = self._certify(log, mechanism, period)
            reservation = stack.enter_context(
                reserve_budget(ledger, self.dataset, promised, listener.ledger)
            )
            cases = self._read(stack, log, mechanism, listener)
            names = self.activities or cases.activities
            # Names taken from the log are public, as the certificate states.
            self._check_texts(names, cases.attributes)
            check_number(names, mechanism)
            if turn is not None:
                reservation.claim(turn)
            reservation.data_accessed = True
            # Reading can add to the guarantee, such as the values of an attribute.
            mechanism = mechanism.for_log(timed=cases.timed, attributes=cases.attributes)
            certificate = self._certify(cases, mechanism, period)
            if self.activities is not None and listener.holder is not None:
                compare_names(cases, names, listener.holder)
            bits: Bits = SystemBits() if self.seed is None else SeededBits(self.seed)
            # A public order that does not depend on the log.
            outcome = perform(
                mechanism,
                cases.project_onto(sorted(names)),
                Noise(bits),
                partial(listener.at, "anonymizing"),
            )
            release = release_outcome(outcome, certificate, names, self.max_released_events)
            _check_paid(promised, release.certificate)
            if self.output is None:
                return release
            listener.at("writing", 0.0)
            file = self.output if self.keeps_file else None
            certificate = write_release(
                release,
                self.output,
                force=self.force,
                before=lambda final, size: reservation.link(file, size, final),
            )
        listener.at("writing", 1.0)
        return replace(release, certificate=certificate)

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

    def _adapted(self, log: Log | Cases) -> Mechanism:
        """Return the mechanism, limited to what the output format can store."""
        stored, asked = None if self.output is None else format_of(self.output), self.mechanism
        if stored is None or stored.holds_events:
            timed = log.has_times if isinstance(log, Log) else log.timed
            return asked.for_log(timed=timed, attributes=log.attributes)
        # Variants and their counts hold no times and attributes: no budget is spent on them.
        must = only_variants(stored.suffix)
        if log.attributes:
            raise SettingError("attribute", log.attributes[0].key, must)
        usual = asked.for_log(timed=False)
        settings: Sequence[Setting] = settings_of(type(asked)) if is_dataclass(asked) else ()
        for setting in settings:
            value = getattr(asked, setting.name)
            if setting.kind != "flag" and value != getattr(usual, setting.name):
                raise SettingError(setting.option, value, must)
        return usual

    def _certify(
        self, read: Log | Cases, mechanism: Mechanism, period: PeriodStatement | None
    ) -> Certificate:
        return certify_request(
            mechanism,
            read.unit,
            activities=self.activities,
            seed=self.seed,
            period=period,
            read=read.assumptions,
        )

    def _read(
        self, stack: ExitStack, log: Log | Cases, mechanism: Mechanism, listener: Listener
    ) -> Cases:
        """Read the cases, or leave their variants on the cluster if they are too many.

        They are read one by one only if times or attributes are asked for and there.
        """
        able = mechanism.capabilities
        if isinstance(log, Cases):
            check_distributed(log, mechanism)
            return log
        progress, notify = partial(listener.at, "reading"), listener.holder
        if (able.times and log.has_times) or log.attributes:
            cases = read_cases(log, progress=progress, notify=notify)
            check_values(log.name, cases.attributes, log.options)
            return cases
        variants: VariantCounts | DistributedVariants
        if not able.distributed or able.times or not is_distributed(log):
            variants = count_variants(log, progress=progress, notify=notify)
        else:
            left = stack.enter_context(distribute_variants(log, progress=progress, notify=notify))
            variants = left.gather() if len(left) <= self.max_gathered else left
        return Cases(variants=variants, assumptions=log.assumptions)


class Checked(NamedTuple):
    """A request that was checked, with the log opened and the mechanism adapted to it."""

    log: Log | Cases
    mechanism: Mechanism
    ledger: Ledger | None
    promised: Certificate
    """The guarantee before the log is read; only the series of releases of periods is missing."""


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

    def stage(name: str, done: float) -> None:
        if progress is not None and name == "anonymizing":
            progress(done)

    request = Request(log=log, mechanism=mechanism, activities=activities, seed=seed)
    return request.publish(Listener(stage=stage, holder=notify))


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


def check_activities(activities: Sequence[str] | None) -> None:
    """Refuse declared names that cannot be."""
    if activities is None:
        return
    if isinstance(activities, str | bytes) or not isinstance(activities, Collection):
        raise SettingError("activities", type(activities).__name__, Statement("must.be.name_list"))
    check_names("activities", activities)
    if not activities or len(set(activities)) != len(activities):
        raise SettingError("activities", len(activities), Statement("must.be.different_names"))


def check_distributed(cases: Cases, mechanism: Mechanism) -> None:
    """Refuse variants on a cluster for a mechanism that must see them all."""
    if not (mechanism.capabilities.distributed or isinstance(cases.variants, VariantCounts)):
        raise SettingError("mechanism", mechanism.name, Statement("must.be.distributed"))


def compare_names(cases: Cases, declared: Sequence[str], notify: Notify) -> None:
    """Report names that are declared or in the log, but not both, to the holder of the log."""
    variants = cases.variants
    if not isinstance(variants, VariantCounts):
        return
    weights = np.repeat(variants.counts, variants.lengths)
    events = np.zeros(len(variants.activities), dtype=np.int64)
    np.add.at(events, variants.activity_ids, weights)
    found = {name: n for name, n in zip(variants.activities, events.tolist(), strict=True) if n}
    unused = [name for name in declared if name not in found]
    dropped = {name: n for name, n in found.items() if name not in set(declared)}
    if unused:
        notify(Statement("notice.unused_activities", names=_listed(unused)))
    if dropped:
        listed, number = _listed(list(dropped)), sum(dropped.values())
        notify(Statement("notice.dropped_events", names=listed, events=number))


def _listed(names: list[str]) -> Statement:
    """Return the first names of a list, and the number of the others."""
    shown = [f'"{name}"' for name in names[:NAMED]]
    if len(names) <= NAMED:
        return Statement("notice.names", names=shown)
    return Statement("notice.names_and_more", names=shown, more=len(names) - NAMED)


def _check_paid(promised: Certificate, made: Certificate) -> None:
    """Refuse a release whose ε or unit differs from the reservation.

    A mechanism of another package could report a different ε each time.
    """
    names = ("epsilon", "delta", "unit", *(("rho",) if made.delta else ()))
    if any(getattr(promised, name) != getattr(made, name) for name in names):
        costs = (
            Statement("promise.price", claim=c.claim, unit=noun(c.unit)) for c in (promised, made)
        )
        values = dict(zip(("promised", "made"), costs, strict=True))
        raise PromiseError(Statement("promise.other_price", mechanism=made.mechanism, **values))


def _open(log: object, options: ReadOptions | None) -> Log | Cases:
    """Open a log that is not open or counted yet."""
    if isinstance(log, Mapping):
        log = VariantCounts.of(log)
    opened = Cases(variants=log) if isinstance(log, VariantCounts | DistributedVariants) else log
    if not isinstance(opened, Log | Cases):
        return open_source(log, options)
    if options is not None:
        code = "left_out_opened" if isinstance(log, Log) else "left_out_counted"
        raise SettingError("options", type(options).__name__, Statement(f"must.be.{code}"))
    return opened
