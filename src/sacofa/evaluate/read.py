"""Reads a log to be measured: with its times, where they are its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..events import Log, count_variants, read_cases
from ..events.released import ARTIFICIAL, time_mark
from ..kernel.attributes import Attribute, cell_of, cells_of
from ..kernel.cases import CaseBatch, Cases, Values, gather
from ..release.anonymize import Release


def read_measured(log: Log, attributes: tuple[Attribute, ...] = ()) -> Cases:
    """Read variants, and in memory the cases with their times, unless those are made up.

    `attributes` are those of the original: a release is held against the same domains.
    """
    if attributes and log.columns is not None:
        log = replace(log, columns=replace(log.columns, attributes=attributes))
    timed = log.has_times and time_mark(log) != ARTIFICIAL
    if not timed and not log.attributes:
        return Cases(variants=count_variants(log))
    cases = read_cases(log)
    assert cases.by_case is not None
    by_case = gather(cases.by_case)
    return replace(
        cases, by_case=by_case if timed else replace(by_case, times=None), has_times=timed
    )


def measured_release(release: Release, attributes: tuple[Attribute, ...]) -> Cases:
    """A release as it is measured: its attributes, if it has any, take the cells of the original.

    `attributes` are those of the original, with their domains.
    """
    columns = {column.key: column for column in release.columns}
    if not attributes or any(attribute.key not in columns for attribute in attributes):
        return release.cases
    values = []
    for attribute in attributes:
        column, domain = columns[attribute.key], attribute.known
        # The last place is that of −1: no value.
        cells = [*(cell_of(domain, text) for text in column.texts), cell_of(domain, None)]
        values.append(
            Values(
                name=attribute.key,
                of_case=attribute.of_case,
                cells=np.array(cells, dtype=np.int32)[column.codes],
                size=cells_of(domain),
            )
        )
    batch = release.by_case
    if batch is None:
        made_up = np.zeros(release.variants.events, dtype=np.int64)
        batch = replace(CaseBatch.of_variants(release.variants, made_up), times=None)
    return Cases(
        variants=release.variants,
        by_case=replace(batch, attributes=tuple(values)),
        has_times=release.times is not None,
        attributes=attributes,
    )
