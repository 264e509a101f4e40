"""The only door out: a secret log goes in, a release comes out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.extensions import load_extensions
from ..errors import SettingError, Statement, is_whole
from ..events import Log, Notify, count_variants, open_log, read_cases
from ..events.attributes import check_values
from ..kernel.bits import Bits, SeededBits, SystemBits
from ..kernel.cases import MICROSECONDS, CaseBatch, Cases
from ..kernel.noise import Noise
from ..kernel.released import Columns
from ..kernel.unit import Unit
from ..kernel.variants import VariantCounts, check_names
from ..mechanisms.protocol import (
    Mechanism,
    Progress,
    check_mechanism,
    perform,
)
from ..mechanisms.released import ReleasedLog
from .bound import MAX_RELEASED_EVENTS, bound_events, check_bound, drop_empty_cases
from .certificate import Certificate, certify
from .formats.frames import to_pandas, to_polars
from .periods import PeriodStatement

DISPLAYS = "sacofa.displays"
"""The entry point group of what shows a release in a notebook; `sacofa.report` registers one."""
NAMED = 10
"""So many names are listed in a message."""


@dataclass(frozen=True, kw_only=True)
class Release:
    """A private log with its certificate: this may be published."""

    log: ReleasedLog
    """The released log."""
    certificate: Certificate
    """What the release promises."""

    @property
    def variants(self) -> VariantCounts:
        """Every released variant with its noisy count."""
        return self.log.variants

    @property
    def times(self) -> NDArray[np.int64] | None:
        """When each event happened, in seconds since 1970, case by case; None: artificial times."""
        return self.log.times

    @property
    def starts(self) -> NDArray[np.int64] | None:
        """When the work on each event began, likewise; None: not requested."""
        return self.log.starts

    @property
    def columns(self) -> Columns:
        """The attributes of cases and events, in the same order."""
        return self.log.columns

    @property
    def core(self) -> NDArray[np.bool_] | None:
        """Which variants are the orderly core, for miners; statistics use all. None: not marked."""
        return self.log.core

    @property
    def core_variants(self) -> VariantCounts | None:
        """The orderly core by itself; None where none is marked."""
        return None if self.core is None else self.variants.where(self.core)

    @property
    def by_case(self) -> CaseBatch | None:
        """The cases one by one with their times; None where times are artificial."""
        if self.times is None:
            return None
        began = None if self.starts is None else self.starts * MICROSECONDS
        return CaseBatch.of_variants(self.variants, self.times * MICROSECONDS, began)

    @property
    def cases(self) -> Cases:
        """The released cases as logs are measured and drawn."""
        return Cases(variants=self.variants, by_case=self.by_case)

    def to_pandas(self) -> Any:
        """Give the released log as a pandas frame, with pm4py's names of columns."""
        return to_pandas(self.log)

    def to_polars(self) -> Any:
        """Give the released log as a polars frame, with the same columns."""
        return to_polars(self.log)

    def __repr__(self) -> str:
        """Say what it is in a line; what it holds is in its parts."""
        epsilon = self.certificate.epsilon
        price = "no finite ε" if epsilon is None else f"ε = {epsilon}"
        cases, variants = f"{self.variants.cases:,} cases", f"{len(self.variants):,} variants"
        return f"<Release of {cases} in {variants}, {price} ({self.certificate.mechanism})>"

    def _repr_html_(self) -> str | None:
        """Show a notebook the promise, the most frequent variants and a map."""
        for _, display in load_extensions(DISPLAYS):
            if callable(display):
                return str(display(self))
        return None


def anonymize(
    log: Any,
    mechanism: Mechanism,
    *,
    activities: Sequence[str] | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    notify: Notify | None = None,
    max_released_events: int = MAX_RELEASED_EVENTS,
    period: PeriodStatement | None = None,
) -> Release:
    """Anonymize a log through a mechanism.

    The log is what people have at hand: a path, a frame, a `Log` as `open_log` gives it, counted
    variants, or a mapping from variants to counts. What is protected comes with it: the person of a
    log that was opened so, else one case. Declared `activities` are public, and events of any other
    are dropped; without them, those of the log are taken and the certificate lists that as an
    assumption. A `seed` makes a run repeatable, for tests and teaching: its release must not be
    published. What only the holder of the log should know is told to `notify`. A release of more
    than `max_released_events`, a public bound, is scaled down, and its certificate says so. Which
    `period` of a log it is, a log that was opened so says itself.
    """
    check_mechanism(mechanism)
    check_activities(activities)
    check_seed(seed)
    check_bound(max_released_events)
    if period is not None and isinstance(log, Log) and period.period != log.period:
        raise SettingError(
            "period", period.period.name, "what the log was opened with, or left out"
        )
    bits: Bits = SystemBits() if seed is None else SeededBits(seed)
    cases = as_cases(log, notify, timed=mechanism.capabilities.times)
    check_distributed(cases, mechanism)
    mechanism = mechanism.for_log(timed=cases.timed, attributes=cases.attributes)
    if period is None and isinstance(log, Log) and log.period is not None:
        period = PeriodStatement(period=log.period)
    certificate = certify_request(
        mechanism,
        cases.unit,
        activities=activities,
        seed=seed,
        period=period,
        read=cases.assumptions,
    )
    if activities is not None and notify is not None:
        _compare_names(cases, activities, notify)
    # One public order, whatever the order in which the log named them.
    secret = cases.project_onto(sorted(cases.activities if activities is None else activities))
    outcome = perform(mechanism, secret, Noise(bits), progress)
    output = outcome.output
    log, dropped = drop_empty_cases(output.log)
    log, scaled = bound_events(log, max_released_events)
    return Release(
        log=log,
        certificate=replace(
            certificate,
            spent=outcome.spent,
            verdict=output.verdict,
            missing_activities=tuple(sorted(set(secret.activities) - set(log.variants.used()))),
            margins=None if scaled else output.margins,
            notes=(*output.notes, *dropped, *scaled),
        ),
    )


def as_cases(log: Any, notify: Notify | None = None, *, timed: bool = False) -> Cases:
    """Take what people have at hand as cases, bound to their unit; with times if they are asked."""
    if isinstance(log, Cases):
        return log
    if isinstance(log, VariantCounts) or hasattr(log, "map_parts"):
        return Cases(variants=log)
    if isinstance(log, Mapping):
        return Cases(variants=VariantCounts.of(log))
    opened = log if isinstance(log, Log) else open_log(log)
    return read_log(opened, timed=timed, notify=notify)


def read_log(
    log: Log,
    *,
    timed: bool,
    progress: Progress | None = None,
    notify: Notify | None = None,
) -> Cases:
    """Read the cases of a log; one by one with their times where these are asked for and there."""
    if (timed and log.has_times) or log.attributes:
        cases = read_cases(log, progress=progress, notify=notify)
        check_values(log.name, cases.attributes, log.options)
        return cases
    variants = count_variants(log, progress=progress, notify=notify)
    return Cases(variants=variants, assumptions=log.assumptions)


def check_distributed(cases: Cases, mechanism: Mechanism) -> None:
    """Refuse variants on a cluster for a mechanism that must see them all."""
    if not isinstance(cases.variants, VariantCounts) and not mechanism.capabilities.distributed:
        raise SettingError("mechanism", mechanism.name, "certified, where variants lie in parts")


def certify_request(
    mechanism: Mechanism,
    unit: Unit,
    *,
    activities: Sequence[str] | None = None,
    seed: int | None = None,
    period: PeriodStatement | None = None,
    read: tuple[Statement, ...] = (),
) -> Certificate:
    """Make the certificate of a release that is still to come; no log is needed for it.

    `read` is what reading the log takes to be public.
    """
    check_activities(activities)
    check_seed(seed)
    mechanism.refuse_unused_settings()
    if activities is not None:
        check_number(activities, mechanism)
    return certify(
        mechanism,
        unit,
        (_describe_names(activities), *read),
        reproducible=seed is not None,
        period=period,
    )


def check_activities(activities: Sequence[str] | None) -> None:
    """Refuse declared names that cannot be."""
    if activities is None:
        return
    if isinstance(activities, str | bytes) or not isinstance(activities, Collection):
        raise SettingError("activities", type(activities).__name__, 'a list of names: ["a", "b"]')
    check_names("activities", activities)
    if not activities or len(set(activities)) != len(activities):
        raise SettingError("activities", f"{len(activities)} names", "one or more different names")


def check_number(activities: Sequence[str], mechanism: Mechanism) -> None:
    """Refuse more names than a mechanism can take, before it asks the log anything."""
    most = mechanism.capabilities.max_activities
    if most is not None and len(activities) > most:
        raise SettingError("activities", f"{len(activities):,} names", f"at most {most:,}")


def check_seed(seed: int | None) -> None:
    """Refuse a seed that cannot be."""
    if seed is not None and not (is_whole(seed) and seed >= 0):
        raise SettingError("seed", seed, "a whole number, 0 or more")


def _describe_names(activities: Sequence[str] | None) -> Statement:
    if activities is None:
        return Statement("assumption.activities_from_log")
    return Statement("assumption.activities_declared", number=len(activities))


def _compare_names(cases: Cases, declared: Sequence[str], notify: Notify) -> None:
    """Tell the holder of the log where declared names and those of the log differ."""
    variants = cases.variants
    if not isinstance(variants, VariantCounts):
        return
    weights = np.repeat(variants.counts, variants.lengths)
    events = np.zeros(len(variants.activities), dtype=np.int64)
    np.add.at(events, variants.activity_ids, weights)
    found = {name: n for name, n in zip(variants.activities, events.tolist(), strict=True) if n}
    unused = [name for name in declared if name not in found]
    if unused:
        notify(f"declared activities that never occur in the log: {_listed(unused)}")
    dropped = {name: n for name, n in found.items() if name not in set(declared)}
    if dropped:
        notify(
            f"{sum(dropped.values()):,} events were dropped, because their activity is not "
            f"declared: {_listed(list(dropped))}"
        )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(f'"{name}"' for name in names[:NAMED]) + more
