"""The only door out: a secret log goes in, a release comes out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..base.batches import cases_of
from ..base.extensions import load_extensions
from ..errors import SettingError, Statement
from ..events import Notify
from ..kernel.accounting import check_noise_fits
from ..kernel.cases import MICROSECONDS, CaseBatch, Cases
from ..kernel.unit import Unit
from ..kernel.variants import VariantCounts, check_names
from ..mechanisms.protocol import Mechanism, Outcome
from ..mechanisms.released import ReleasedLog
from ..mechanisms.settings import all_settings
from ..messages.units import assumptions as unit_assumptions
from ..synthesis.released import Columns
from .bound import bound_events, drop_empty_cases
from .certificate import Certificate
from .formats.frames import to_pandas, to_polars
from .periods import PeriodStatement

if TYPE_CHECKING:
    import pandas
    import polars

DISPLAYS = "sacofa.displays"
"""The entry point group of what shows a release in a notebook; `sacofa.report` registers one."""
NAMED = 10
"""The most names that a notice lists."""


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
        return cases_of(self.variants, self.times * MICROSECONDS, began)

    @property
    def cases(self) -> Cases:
        """The released cases as logs are measured and drawn."""
        return Cases(variants=self.variants, by_case=self.by_case)

    def to_pandas(self) -> pandas.DataFrame:
        """Give the released log as a pandas frame, with pm4py's names of columns."""
        return to_pandas(self.log)

    def to_polars(self) -> polars.DataFrame:
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


def release_outcome(
    outcome: Outcome, certificate: Certificate, names: Collection[str], max_events: int
) -> Release:
    """The release of what a mechanism made: bounded, and with all that is known by now.

    Args:
        outcome: What the mechanism returned.
        certificate: What the release promises, as it was known before the mechanism asked anything.
        names: The public names of activities.
        max_events: Public bound. A larger release is scaled down.
    """
    output = outcome.output
    log, dropped = drop_empty_cases(output.log)
    log, scaled = bound_events(log, max_events)
    return Release(
        log=log,
        certificate=replace(
            certificate,
            spent=outcome.spent,
            verdict=output.verdict,
            missing_activities=tuple(sorted(set(names) - set(log.variants.used()))),
            margins=None if scaled else output.margins,
            notes=(*output.notes, *dropped, *scaled),
        ),
    )


def check_distributed(cases: Cases, mechanism: Mechanism) -> None:
    """Refuse variants on a cluster for a mechanism that must see them all."""
    if not isinstance(cases.variants, VariantCounts) and not mechanism.capabilities.distributed:
        raise SettingError("mechanism", mechanism.name, Statement("must.be.distributed"))


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

    Args:
        mechanism: The mechanism, adapted to the log.
        unit: The unit of privacy.
        activities: Public activity names. None: those of the log.
        seed: The seed of repeatable noise.
        period: The period of the log that is released.
        read: What reading the log takes to be public.

    Raises:
        SettingError: If the mechanism has settings for what is not released, or takes fewer names.
    """
    mechanism.refuse_unused_settings()
    names = Statement("assumption.activities_from_log")
    if activities is not None:
        check_number(activities, mechanism)
        names = Statement("assumption.activities_declared", number=len(activities))
    promise = mechanism.promise(unit)
    check_noise_fits(promise.accesses, unit.max_cases)
    seeded = () if seed is None else (Statement("limit.seeded"),)
    of_period = () if period is None else (period.assumption(unit),)
    return Certificate(
        mechanism=mechanism.name,
        unit=unit,
        spent=promise.accesses,
        assumptions=(*unit_assumptions(unit), *of_period, names, *read, *promise.assumptions),
        not_promised=(*seeded, *promise.not_promised),
        settings=all_settings(mechanism),
        publishable=seed is None,
        period=period,
    )


def check_activities(activities: Sequence[str] | None) -> None:
    """Refuse declared names that cannot be."""
    if activities is None:
        return
    if isinstance(activities, str | bytes) or not isinstance(activities, Collection):
        raise SettingError("activities", type(activities).__name__, Statement("must.be.name_list"))
    check_names("activities", activities)
    if not activities or len(set(activities)) != len(activities):
        raise SettingError("activities", len(activities), Statement("must.be.different_names"))


def check_number(activities: Sequence[str], mechanism: Mechanism) -> None:
    """Refuse more names than a mechanism can take, before it asks the log anything."""
    most = mechanism.capabilities.max_activities
    if most is not None and len(activities) > most:
        raise SettingError(
            "activities", len(activities), Statement("must.be.names_at_most", most=most)
        )


def compare_names(cases: Cases, declared: Sequence[str], notify: Notify) -> None:
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
        notify(Statement("notice.unused_activities", names=_listed(unused)))
    dropped = {name: n for name, n in found.items() if name not in set(declared)}
    if dropped:
        listed, number = _listed(list(dropped)), sum(dropped.values())
        notify(Statement("notice.dropped_events", names=listed, events=number))


def _listed(names: list[str]) -> Statement:
    """The first names of a list, and how many more there are."""
    shown = [f'"{name}"' for name in names[:NAMED]]
    if len(names) <= NAMED:
        return Statement("notice.names", names=shown)
    return Statement("notice.names_and_more", names=shown, more=len(names) - NAMED)
