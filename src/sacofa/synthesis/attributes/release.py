"""Attributes of released cases, made of noisy tables and of random draws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...base.cells import OTHER, cells_of
from ...kernel.attributes import Attribute, Domain
from ...kernel.cases import CaseBatch
from ...kernel.queries.attributes import CaseAttribute, EventAttribute
from ..released import NO_VALUE, ReleasedColumn
from .ask import Asked
from .draw import Uniform, draw_values
from .fit import Fitted, fit_case_attribute, fit_event_attribute, fit_pair
from .places import ReleasedCases
from .presence import EventTable, find_presence, read_table, settle_presence

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def release_attributes(
    asked: Asked,
    tables: Sequence[Ints],
    attributes: Sequence[Attribute],
    pairs: Sequence[tuple[int, int]],
    cases: CaseBatch,
    uniform: Uniform,
) -> tuple[ReleasedColumn, ...]:
    """Give released cases and events values, so that all noisy tables hold at once."""
    released = ReleasedCases(cases)
    found: list[ReleasedColumn] = []
    firsts: list[Ints] = []
    fits = _fit_all(asked, tables, attributes, released)
    for place, (attribute, query) in enumerate(zip(attributes, asked.tables, strict=True)):
        fitted = fits[place]
        partners = []
        slots = released.slots(query)
        size = cells_of(attribute.known)
        own = _own(fitted.shares, fitted.rates, slots.row, size)
        for number, (one, other) in enumerate(pairs):
            if other == place:
                before = np.bincount(firsts[one], minlength=cells_of(attributes[one].known))
                parent = np.outer(before + 1e-6, own)
                number += len(attributes)
                table = fit_pair(
                    asked.pairs[number - len(attributes)],
                    tables[number],
                    float(1 / asked.prices[number]),
                    parent,
                    cases.cases,
                )
                partners.append((firsts[one], table))
        slots, drawn = draw_values(slots, fitted, partners, uniform)
        cells = np.full(
            cases.cases if isinstance(query, CaseAttribute) else len(cases.activity_ids),
            size - 1,
            dtype=np.int64,
        )
        cells[slots.event] = drawn
        found.append(_written(attribute, cells, uniform))
        firsts.append(_firsts(query, slots.case, drawn, cases.cases, size - 1))
    return tuple(found)


def _fit_all(
    asked: Asked, tables: Sequence[Ints], attributes: Sequence[Attribute], cases: ReleasedCases
) -> list[Fitted]:
    """Read the table of each attribute; those of events first say where they have values."""
    read: dict[int, EventTable] = {}
    for place, query in enumerate(asked.tables):
        if isinstance(query, EventAttribute):
            noise = float(1 / asked.prices[place])
            read[place] = read_table(query, attributes[place], tables[place], noise, cases)
    there = {place: find_presence(table) for place, table in read.items()}
    found = []
    for place, (attribute, query) in enumerate(zip(attributes, asked.tables, strict=True)):
        if isinstance(query, CaseAttribute):
            noise = float(1 / asked.prices[place])
            found.append(fit_case_attribute(query, attribute, tables[place], noise, cases))
        else:
            others = [rates for other, (rates, _) in there.items() if other != place]
            rates = settle_presence(read[place], there[place], others)
            found.append(fit_event_attribute(read[place], attribute, rates))
    return found


def _own(shares: Floats, rates: Floats, rows: Ints, size: int) -> Floats:
    """The shares of an attribute's own cells over all places; a little for what is missing."""
    many = np.bincount(rows, minlength=len(shares)) * rates
    own = many @ shares if many.sum() else np.ones(shares.shape[1])
    found = np.full(size, 1e-6)
    found[: len(own)] += own / own.sum()
    return found


def _firsts(
    query: CaseAttribute | EventAttribute, case: Ints, drawn: Ints, cases: int, missing: int
) -> Ints:
    """The first value of each case."""
    found = np.full(cases, missing, dtype=np.int64)
    first = np.flatnonzero(np.diff(case, prepend=-1))
    found[case[first]] = drawn[first]
    return found


def _written(attribute: Attribute, cells: Ints, uniform: Uniform) -> ReleasedColumn:
    """The values as they are released."""
    domain = attribute.known
    codes = np.where(cells < domain.values, cells, NO_VALUE)
    if domain.binned:
        codes, texts = _sampled(domain, codes, uniform(len(cells)))
    else:
        texts = [domain.label(value) for value in range(domain.values)]
        if domain.kind == "string" and (cells == domain.values).any():
            texts.append(OTHER)
            codes = np.where(cells == domain.values, domain.values, codes)
    return ReleasedColumn(
        name=attribute.name,
        of_case=attribute.of_case,
        kind=domain.kind,
        texts=tuple(texts),
        codes=codes.astype(np.int32),
    )


def _sampled(domain: Domain, bins: Ints, chances: Floats) -> tuple[Ints, list[str]]:
    """Sample a text for each bin; the codes are places among the texts, in order of appearance."""
    codes, places = bins.copy(), dict[str, int]()
    for place in np.flatnonzero(bins >= 0).tolist():
        text = domain.sample(int(bins[place]), float(chances[place]))
        codes[place] = places.setdefault(text, len(places))
    return codes, list(places)
