"""A release: its certificate, and the post-processing after the noise."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..base.batches import cases_of
from ..base.extensions import load_extensions
from ..errors import PromiseError, SettingError, Statement
from ..kernel.accounting import check_noise_fits
from ..kernel.cases import MICROSECONDS, CaseBatch, Cases
from ..kernel.unit import Unit
from ..kernel.variants import VariantCounts
from ..mechanisms.protocol import Mechanism, Outcome
from ..mechanisms.released import ReleasedLog
from ..mechanisms.settings import all_settings
from ..messages.units import assumptions as unit_assumptions
from ..synthesis.released import Columns
from .certificate import Certificate, PeriodStatement
from .formats.blocks import to_pandas, to_polars

if TYPE_CHECKING:
    import pandas
    import polars

DISPLAYS = "sacofa.displays"
"""Entry point group for displaying a release in a notebook; `sacofa.report` registers one."""
MAX_RELEASED_EVENTS = 100_000_000
"""About 14 GB as XES. With very little ε the noise alone can be a million times as much."""


@dataclass(frozen=True, kw_only=True)
class Release:
    """A private log with its certificate: this may be published."""

    log: ReleasedLog
    """The released log."""
    certificate: Certificate
    """The certificate."""

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
        """The orderly core as a log of its own; None if no case is marked."""
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
        """Describe the release in one line."""
        price = self.certificate.claim
        cases, variants = f"{self.variants.cases:,} cases", f"{len(self.variants):,} variants"
        return f"<Release of {cases} in {variants}, {price} ({self.certificate.mechanism})>"

    def _repr_html_(self) -> str | None:
        """Show a notebook the promise, the most frequent variants and a map."""
        displays = (display for _, display in load_extensions(DISPLAYS) if callable(display))
        return next((str(display(self)) for display in displays), None)


def certify_request(
    mechanism: Mechanism,
    unit: Unit,
    *,
    activities: Sequence[str] | None = None,
    seed: int | None = None,
    period: PeriodStatement | None = None,
    read: tuple[Statement, ...] = (),
) -> Certificate:
    """Make the certificate of a release before it is run, without a log.

    `activities` are public names, or None for those of the log. `read` is what reading the log
    takes to be public. Settings for what is not released, and more names than the mechanism takes,
    are refused.
    """
    mechanism.refuse_unused_settings()
    names = Statement("assumption.activities_from_log")
    if activities is not None:
        check_number(activities, mechanism)
        names = Statement("assumption.activities_declared", number=len(activities))
    promise = mechanism.promise(unit)
    check_noise_fits(promise.accesses, unit.max_cases, promise.budget)
    if promise.budget is not None and promise.epsilon is None:
        raise PromiseError(Statement("promise.leak_with_delta", mechanism=mechanism.name))
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
        budget=promise.budget,
    )


def check_number(activities: Sequence[str], mechanism: Mechanism) -> None:
    """Refuse more names than a mechanism can take, before it asks the log anything."""
    most = mechanism.capabilities.max_activities
    if most is not None and len(activities) > most:
        must = Statement("must.be.names_at_most", most=most)
        raise SettingError("activities", len(activities), must)


def release_outcome(
    outcome: Outcome, certificate: Certificate, names: Collection[str], max_events: int
) -> Release:
    """Bound the output of a mechanism and complete its certificate.

    Dropping cases without events, which most programs cannot read, and events above the public
    bound `max_events` is post-processing: it spends no privacy budget.
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


def drop_empty_cases(log: ReleasedLog) -> tuple[ReleasedLog, tuple[Statement, ...]]:
    """Drop released cases without events, and note how many there were."""
    variants = log.variants
    empty = variants.lengths == 0
    if not empty.any():
        return log, ()
    note = Statement("note.empty_cases", cases=int(variants.counts[empty].sum()))
    return log.with_counts(np.where(empty, 0, variants.counts)), (note,)


def bound_events(log: ReleasedLog, most: int) -> tuple[ReleasedLog, tuple[Statement, ...]]:
    """Scale released counts down if they hold more events than `most`, and note that.

    Only noisy counts and a public bound decide. Of each variant the first cases stay. The orderly
    core is no longer marked: the smaller counts would have another one.
    """
    # In Python's own numbers: a product of two large ones would not fit into 64 bits.
    counts, lengths = log.variants.counts.tolist(), log.variants.lengths.tolist()
    total = sum(count * length for count, length in zip(counts, lengths, strict=True))
    if total <= most:
        return log, ()
    scaled = np.array([count * most // total for count in counts], dtype=np.int64)
    note = Statement("note.scaled_events", events=total, bound=most)
    return replace(log.with_counts(scaled), core=None), (note,)
