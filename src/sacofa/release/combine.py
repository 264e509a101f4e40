"""One release from several: a year from twelve months, with its price and unit worked out.

This is post-processing: no query is asked. Cases are put together, so noise adds up, but much less
than cases do: the noise of twelve months is √12 times that of one. The ε of the combination follows
from the certificates. Releases of one series add up as the account of a ledger does; everything
else adds up in full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from ..base.batches import concatenate, join_variants
from ..base.claims import least_epsilon
from ..errors import ReadError, SettingError, Statement
from ..kernel.accounting import ZCDP, Access, Budget, Leak, Spend
from ..kernel.unit import Unit
from ..ledger import Account
from ..ledger.records import Sum
from ..mechanisms.released import ReleasedLog, with_texts
from ..synthesis.margins import Margins, Step, Variant, VariantMargins, root_of_squares
from ..synthesis.released import Columns
from .anonymize import Release
from .certificate import Certificate
from .read import read_release
from .reservation import charged_for

MECHANISM = "combined"


def combine(releases: Sequence[Release], names: Sequence[str] | None = None) -> Release:
    """Combine releases with the same unit of privacy. `names` identifies them in messages."""
    if len(releases) < 2:
        raise SettingError("releases", len(releases), Statement("must.be.two_or_more"))
    certificates = [release.certificate for release in releases]
    hashes = [c.sha256 for c in certificates if c.sha256 is not None]
    if len(set(hashes)) < len(hashes):
        raise SettingError("releases", len(releases), Statement("must.be.different_releases"))
    unit = _unit(certificates)
    log, (spent, budget) = _put_together(releases, unit), _price(certificates)
    return Release(
        log=log,
        certificate=Certificate(
            mechanism=MECHANISM,
            unit=unit,
            spent=spent,
            budget=budget,
            assumptions=_assumptions(certificates),
            not_promised=tuple(
                dict.fromkeys(said for c in certificates for said in c.not_promised)
            ),
            settings=_settings(certificates, log.columns, names),
            publishable=all(c.publishable for c in certificates),
            margins=_margins(releases),
            notes=_notes(releases, unit, log.columns),
        ),
    )


def _settings(
    certificates: Sequence[Certificate], columns: Columns, names: Sequence[str] | None
) -> dict[str, object]:
    """The attributes of the combination, and the releases that it is made of."""
    attributes = [{"name": column.key, "type": column.kind} for column in columns]
    called = names or [f"release {number}" for number in range(1, len(certificates) + 1)]
    listed = [
        {
            "name": name,
            "sha256": c.sha256,
            "mechanism": c.mechanism,
            "epsilon": None if c.epsilon is None else str(c.epsilon),
            **({"delta": str(c.delta)} if c.delta else {}),
            "period": None if c.period is None else c.period.period.name,
            "series": None if c.period is None else c.period.series,
        }
        for c, name in zip(certificates, called, strict=True)
    ]
    return {**({"attributes": attributes} if attributes else {}), "releases": listed}


def combine_files(paths: Sequence[str | Path]) -> Release:
    """Read releases with their certificates, and put them together."""
    releases = []
    for path in paths:
        release = read_release(path)
        if release.certificate.mechanism == MECHANISM:
            raise ReadError(path, Statement("combine.combined"))
        releases.append(release)
    return combine(releases, [Path(path).name for path in paths])


def _unit(certificates: Sequence[Certificate]) -> Unit:
    """Return the common unit of privacy; person-periods of all releases are taken together."""
    units = [certificate.unit for certificate in certificates]
    first = units[0]
    if any((u.person, u.per_period) != (first.person, first.per_period) for u in units):
        raise SettingError("releases", len(units), Statement("must.be.one_unit"))
    if first.person is None or first.per_period:
        return replace(first, max_cases=max(unit.max_cases for unit in units))
    return replace(first, max_cases=sum(unit.max_cases for unit in units))


def _put_together(releases: Sequence[Release], unit: Unit) -> ReleasedLog:
    """All cases, with their times and attributes where every release has them."""
    logs = [release.log for release in releases]
    batches = [batch for release in releases if (batch := release.by_case) is not None]
    if len(batches) < len(logs):
        return ReleasedLog(variants=join_variants([log.variants for log in logs], unit))
    names = sorted({name for log in logs for name in log.variants.activities})
    whole = concatenate([replace(batch.project_onto(names), unit=unit) for batch in batches])
    return ReleasedLog.of_cases(whole, columns=_shared_columns([log.columns for log in logs]))


def _shared_columns(releases: Sequence[Columns]) -> Columns:
    """The attributes that all releases have, of one type, with the values of all their cases."""
    named = [{(column.key, column.kind): column for column in columns} for columns in releases]
    shared = []
    for key, first in named[0].items():
        parts = [columns[key] for columns in named if key in columns]
        if len(parts) == len(named):
            texts = tuple(dict.fromkeys(text for part in parts for text in part.texts))
            codes = np.concatenate([with_texts(part, texts).codes for part in parts])
            shared.append(replace(first, texts=texts, codes=codes))
    return tuple(shared)


def _series(certificates: Sequence[Certificate]) -> dict[str | None, list[Certificate]]:
    """The releases of each series; under None those that add up with all others.

    A series is of releases of periods from one ledger and dataset, which protect cases or
    person-periods.
    """
    found: dict[str | None, list[Certificate]] = {None: []}
    for certificate in certificates:
        series = None if certificate.period is None else certificate.period.series
        if charged_for(certificate.unit) == "dataset":
            series = None
        found.setdefault(series, []).append(certificate)
    return found


def _assumptions(certificates: Sequence[Certificate]) -> tuple[Statement, ...]:
    """Return the common assumptions, and that the releases of each series come from one ledger."""
    # Which period was read is stated for each release and does not apply to all of them.
    stated = [
        said
        for c in certificates
        for said in c.assumptions
        if c.period is None or said != c.period.assumption(c.unit)
    ]
    # Certificates do not reveal whether a ledger was copied.
    together = [
        Statement(
            "assumption.one_ledger_with_delta" if "delta" in sums else "assumption.one_ledger",
            releases=len(some),
            **sums,
        )
        for series, some in _series(certificates).items()
        if series is not None and len(some) > 1
        for sums in (_sums(some),)
    ]
    return tuple(dict.fromkeys([*stated, *together]))


def _price(certificates: Sequence[Certificate]) -> tuple[tuple[Access, ...], Budget | None]:
    """The amounts of all of them together, in ε or, if one has a δ, in ρ; and what they imply."""
    if any(certificate.epsilon is None for certificate in certificates):
        return (Leak(what=Statement("leak.release"), why=Statement("leak.release_why")),), None
    series = _series(certificates)
    groups = [*([c] for c in series.pop(None)), *series.values()]
    in_rho = max(certificate.delta for certificate in certificates)
    sums = [_most(group, in_rho) for group in groups]
    spent = tuple(
        Spend(what=_description(group), amount=most.finite)
        for group, most in zip(groups, sums, strict=True)
    )
    return spent, _implied(groups, sums) if in_rho else None


def _implied(groups: Sequence[Sequence[Certificate]], sums: Sequence[Sum]) -> ZCDP:
    """What releases claim together that add up to these sums.

    The parts of δ for selection add up, and so does what each group leaves for the conversion.
    """
    selection = sum((most.selection for most in sums), Fraction(0))
    left = (max(c.delta - (c.rho.selection if c.rho else 0) for c in group) for group in groups)
    conversion = sum(left, Fraction(0))
    epsilon = least_epsilon(sum((most.finite for most in sums), Fraction(0)), conversion)
    return ZCDP(epsilon, conversion + selection, selection)


def _most(group: Sequence[Certificate], delta: Fraction) -> Sum:
    """The most that releases add up to for one case or person-period; in ρ with a δ."""
    account = Account(dataset="", budget=None, delta=delta)
    for certificate in group:
        cost = certificate.rho or certificate.epsilon
        period = None if certificate.period is None else certificate.period.period.name
        if len(group) == 1:
            return account.amounts(cost)
        account = account.book(cost, period, charged_for(certificate.unit))
    return account.total


def _description(releases: Sequence[Certificate]) -> Statement:
    """Describe a release or a series of releases."""
    periods = {c.period.period for c in releases if c.period is not None}
    if not periods:
        return Statement("combined.release")
    first, last = min(periods).name, max(periods).name
    if len(releases) == 1:
        return Statement("combined.release_of_period", period=first)
    if len(periods) == 1:
        return Statement("combined.releases_of_period", releases=len(releases), period=first)
    names = {period.name for period in periods}
    nested = any(not names.isdisjoint(period.longer) for period in periods)
    overlapping = nested and charged_for(releases[0].unit) == "overlapping"
    code = "largest_sum_of_periods" if overlapping else "largest_of_periods"
    return Statement(f"combined.{code}", periods=len(periods), first=first, last=last)


def _notes(releases: Sequence[Release], unit: Unit, columns: Columns) -> tuple[Statement, ...]:
    certificates = [release.certificate for release in releases]
    margin = cases_margin(certificates)
    notes = [Statement("note.combined", releases=len(releases))]
    if margin is not None:
        cases = sum(release.variants.cases for release in releases)
        notes.append(Statement("note.combined_cases", cases=cases, margin=margin))
    if unit.per_period and _sums(certificates)["epsilon"]:
        notes.append(_per_person_period(_sums(certificates)))
    if len({release.times is None for release in releases}) == 2:
        notes.append(Statement("note.combined_artificial_times"))
    if lost := _keys(*(release.columns for release in releases)) - _keys(columns):
        notes.append(Statement("note.attributes_left_out", attributes=sorted(lost)))
    return tuple(notes)


def _per_person_period(sums: Mapping[str, Fraction]) -> Statement:
    code = "note.per_person_period_with_delta" if "delta" in sums else "note.per_person_period"
    return Statement(code, **sums)


def _keys(*lists: Columns) -> set[str]:
    return {column.key for columns in lists for column in columns}


def _sums(certificates: Sequence[Certificate]) -> dict[str, Fraction]:
    """The sum of all finite ε, and of δ if there is any (basic composition)."""
    delta = sum((c.delta for c in certificates), Fraction(0))
    epsilon = sum((c.epsilon or Fraction(0) for c in certificates), Fraction(0))
    return {"epsilon": epsilon, **({"delta": delta} if delta else {})}


def cases_margin(certificates: Sequence[Certificate]) -> int | None:
    """The margin of the number of cases; None where that of a part is not known.

    A sum of noises exceeds the root of their squared margins less often than one exceeds its own.
    """
    known = [None if c.margins is None else c.margins.cases for c in certificates]
    found = [size for size in known if size is not None]
    return root_of_squares(found) if len(found) == len(known) else None


def _margins(releases: Sequence[Release]) -> Margins | None:
    """The margins of counts; shares of several releases have other cases each."""
    certificates = [release.certificate for release in releases]
    known = [c.margins for c in certificates if c.margins is not None]
    if len(known) < len(releases):
        return None
    # The model may be wrong in the same way every time, so margins of sums add up.
    activities, steps, listed = Counter[str](), Counter[Step](), Counter[Variant]()
    for release, margins in zip(releases, known, strict=True):
        activities.update(margins.activities)
        steps.update(margins.steps)
        variants, of_variants = release.variants, margins.variants or VariantMargins()
        # Where a release has none of a variant, nothing is added.
        for (names, count), finished in zip(variants, variants.complete.tolist(), strict=True):
            listed[names, finished] += of_variants.of((names, finished), count)
    all_known = all(margins.variants is not None for margins in known)
    return Margins(
        cases=cases_margin(certificates),
        activities=dict(activities),
        steps=dict(steps),
        variants=VariantMargins(listed=dict(listed)) if all_known else None,
    )
