"""Read a release back: the released file with the certificate that lies beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..base.domains import AsWritten
from ..errors import ReadError
from ..events import Log, count_variants, open_log, read_cases
from ..events.released import PRIVATE
from ..events.time_mark import time_mark
from ..kernel.attributes import Attribute, Kind
from ..kernel.cases import MICROSECONDS, NO_TIME, CaseBatch, gather
from ..kernel.released import NO_VALUE, Columns, ReleasedColumn
from ..kernel.variants import VariantCounts
from ..mechanisms.certified import Certified
from .anonymize import Release
from .certificate import Certificate
from .verify import verify


def read_release(path: str | Path) -> Release:
    """Read a released log and its certificate; a file that is not the certified one is refused."""
    # Events were written in the order of their case: times are only read where that is asked.
    listed = Path(path).name.lower().endswith(".json")
    log = open_log(path) if listed else open_log(path, order="file")
    verification = verify(path)
    if not verification.holds:
        raise ReadError(path, verification.findings[0])
    certificate = verification.certificate
    names = () if listed else _attributes(certificate)
    if names:
        log = with_texts(log, names)
    timed = time_mark(log) == PRIVATE
    times: NDArray[np.int64] | None = None
    starts: NDArray[np.int64] | None = None
    columns: Columns = ()
    if timed or names:
        cases = read_cases(log)
        assert cases.by_case is not None and isinstance(cases.variants, VariantCounts)
        counted, batch = cases.variants, gather(cases.by_case)
        order = order_of(counted, batch)
        times = seconds_of(batch, batch.times, order) if timed else None
        if timed and has_starts(batch):
            starts = seconds_of(batch, batch.starts, order)
        columns = read_columns(cases.attributes, batch, order)
    else:
        counted = count_variants(log)
    variants = replace(counted, unit=certificate.unit)
    core = _core(variants, certificate)
    return Release(
        variants=variants,
        certificate=certificate,
        core=core,
        times=times,
        starts=starts,
        columns=columns,
    )


def _attributes(certificate: Certificate) -> list[Mapping[str, object]]:
    """The attributes that a certificate names."""
    listed = certificate.settings.get("attributes", ())
    if not isinstance(listed, list | tuple):
        return []
    return [entry for entry in listed if isinstance(entry, Mapping)]


def with_texts(log: Log, entries: Sequence[Mapping[str, object]]) -> Log:
    """The same log, of which the values of attributes are read as they stand there."""
    assert log.columns is not None
    attributes = tuple(
        Attribute(
            name=str(entry["name"]).removeprefix("case:"),
            of_case=str(entry["name"]).startswith("case:"),
            domain=AsWritten(kind=cast(Kind, entry["type"])),
        )
        for entry in entries
    )
    return replace(log, columns=replace(log.columns, attributes=attributes))


def read_columns(
    attributes: Sequence[Attribute], batch: CaseBatch, order: NDArray[np.int64]
) -> Columns:
    """The released attributes, in the order of the cases."""
    found = []
    for attribute in attributes:
        domain = attribute.known
        assert isinstance(domain, AsWritten)
        cells = batch.values(attribute.key).cells
        codes = cells[order if attribute.of_case else event_places(batch, order)]
        missing = codes == domain.values + 1
        found.append(
            ReleasedColumn(
                name=attribute.name,
                of_case=attribute.of_case,
                kind=domain.kind,
                texts=tuple(domain.texts),
                codes=np.where(missing, NO_VALUE, codes).astype(np.int32),
            )
        )
    return tuple(found)


def order_of(variants: VariantCounts, cases: CaseBatch) -> NDArray[np.int64]:
    """The places of all cases, in the order of the variants.

    Cases of one variant go by their times, then by their attributes: readers do not all keep the
    order of cases, and the same file must give the same release.
    """
    assert cases.times is not None
    place = {
        (ids, flag): i
        for i, (ids, flag) in enumerate(
            zip(variants.sequences(), variants.complete.tolist(), strict=True)
        )
    }
    seconds = cases.times // MICROSECONDS
    listed, ends = seconds.tolist(), cases.offsets.tolist()
    values = [(each.of_case, each.cells.tolist()) for each in cases.attributes]
    if cases.starts is not None:
        values.append((False, cases.starts.tolist()))
    keys = [
        (
            place[ids, flag],
            listed[start:end],
            [[cells[number]] if of_case else cells[start:end] for of_case, cells in values],
            number,
        )
        for number, (ids, flag, (start, end)) in enumerate(
            zip(cases.sequences(), cases.complete.tolist(), pairwise(ends), strict=True)
        )
    ]
    return np.array([key[-1] for key in sorted(keys)], dtype=np.int64)


def event_places(cases: CaseBatch, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of all events, where cases are in a given order."""
    lengths = cases.lengths[order]
    before = np.cumsum(lengths) - lengths
    at: NDArray[np.int64] = np.arange(lengths.sum()) + np.repeat(
        cases.offsets[:-1][order] - before, lengths
    )
    return at


def has_starts(cases: CaseBatch) -> bool:
    """Whether released cases say when work began: then all their events do."""
    return cases.starts is not None and bool((cases.starts != NO_TIME).any())


def seconds_of(
    cases: CaseBatch, times: NDArray[np.int64] | None, order: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Times of all events in seconds since 1970, where cases are in a given order."""
    assert times is not None
    laid: NDArray[np.int64] = (times // MICROSECONDS)[event_places(cases, order)]
    return laid


def _core(variants: VariantCounts, certificate: Certificate) -> NDArray[np.bool_] | None:
    """Mark the orderly core: it follows from what was released, and is worked out again."""
    if certificate.mechanism != Certified.name or certificate.epsilon is None:
        return None
    return _as_released(certificate, certificate.epsilon).mark_core(variants)


def _as_released(certificate: Certificate, epsilon: Fraction) -> Certified:
    """The mechanism, with ε divided as the certificate says: what the flow got marks the core."""
    said = certificate.settings
    shares = {name: str(said[name]) for name in ("time_share", "attribute_share") if name in said}
    timed = shares.get("time_share") != "0"
    if not timed:
        del shares["time_share"]
    names = [Attribute(name=str(entry.get("name"))) for entry in _attributes(certificate)]
    return Certified(epsilon=epsilon, time=timed, attributes=tuple(names), **shares)  # type: ignore[arg-type]
