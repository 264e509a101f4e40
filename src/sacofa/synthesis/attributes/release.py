"""Values for all places of a release, so that every noisy table comes out right at once.

Values of a row are apportioned, not drawn one by one: so a release adds no noise of its own. Where
attributes are declared as a pair, the values of the later one are spread so that both its own table
and that of the pair hold (iterative proportional fitting over the groups of places that are alike).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...base.cells import OTHER, cells_of
from ...kernel.attributes import Attribute
from ...kernel.cases import CaseBatch
from ...kernel.queries.attributes import CaseAttribute, EventAttribute
from ...kernel.queries.flow import VOTE_UNITS
from ..numerics import LITTLE, NEGLIGIBLE, Floats, Ints, Uniform
from ..released import NO_VALUE, ReleasedColumn
from ..rows import Prior, estimate
from .ask import Asked
from .tables import (
    EventTable,
    ReleasedCases,
    Slots,
    find_presence,
    fit_cases,
    fit_events,
    read_events,
    settle_presence,
)
from .tuning import TUNING


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
    noises = [float(1 / law.epsilon) for law in asked.laws]
    fits = _fit_all(asked, tables, noises, attributes, released)
    found: list[ReleasedColumn] = []
    firsts: list[Ints] = []
    for place, (attribute, query, fit) in enumerate(
        zip(attributes, asked.tables, fits, strict=True)
    ):
        shares, rates = fit
        slots, size = released.slots(query), cells_of(attribute.known)
        own = np.full(size, NEGLIGIBLE)
        # The shares of the attribute's own cells over all places.
        many = np.bincount(slots.row, minlength=len(shares)) * rates
        by_cell = many @ shares if many.sum() else np.ones(shares.shape[1])
        own[: shares.shape[1]] += by_cell / by_cell.sum()
        partners = []
        for number, (one, other) in enumerate(pairs, start=len(attributes)):
            if other == place:
                # Pairs of few cases go together as by chance.
                before = np.bincount(firsts[one], minlength=cells_of(attributes[one].known))
                parent = np.outer(before + NEGLIGIBLE, own)
                prior = Prior(parent=parent.ravel() / parent.sum())
                seen = tables[number] / VOTE_UNITS
                together, _ = estimate(seen, float(cases.cases), noises[number], prior)
                partners.append((firsts[one], together.reshape(parent.shape)))
        slots, drawn = draw_values(slots, shares, rates, partners, uniform)
        places = cases.cases if isinstance(query, CaseAttribute) else len(cases.activity_ids)
        cells = np.full(places, size - 1, dtype=np.int64)
        cells[slots.event] = drawn
        found.append(_written(attribute, cells, uniform))
        # The first value of each case is what a pair speaks of.
        values = np.full(cases.cases, size - 1, dtype=np.int64)
        first = np.flatnonzero(np.diff(slots.case, prepend=-1))
        values[slots.case[first]] = drawn[first]
        firsts.append(values)
    return tuple(found)


def _fit_all(
    asked: Asked,
    tables: Sequence[Ints],
    noises: Sequence[float],
    attributes: Sequence[Attribute],
    cases: ReleasedCases,
) -> list[tuple[Floats, Floats]]:
    """Of each attribute: of each row the share of each cell, and how often it has a value at all.

    Tables of events first say where they have values.
    """
    read: dict[int, EventTable] = {}
    for place, query in enumerate(asked.tables):
        if isinstance(query, EventAttribute):
            read[place] = read_events(query, attributes[place], tables[place], noises[place], cases)
    there = {place: find_presence(table) for place, table in read.items()}
    found = []
    for place, (attribute, query) in enumerate(zip(attributes, asked.tables, strict=True)):
        if isinstance(query, CaseAttribute):
            shares = fit_cases(query, attribute, tables[place], noises[place], cases)
            found.append((shares, np.ones(query.rows)))
        else:
            others = [rates for other, (rates, _) in there.items() if other != place]
            rates = settle_presence(read[place], there[place], others)
            shares = fit_events(read[place], attribute, rates)
            found.append((shares, np.repeat(rates, read[place].families)))
    return found


def draw_values(
    slots: Slots,
    shares: Floats,
    rates: Floats,
    partners: Sequence[tuple[Ints, Floats]],
    uniform: Uniform,
) -> tuple[Slots, Ints]:
    """Give the places that have a value, and the cell of each.

    `partners` are attributes drawn before: the cell of each case, and the shares of both together.
    """
    if not (rates[slots.row] >= 1).all():
        # Of each row, the share that its rate says keeps a place for a value.
        both = np.stack([1 - rates, rates], axis=1)
        many = np.bincount(slots.row, minlength=len(rates)).astype(np.float64)
        kept = _apportion(many[:, None] * both, slots.row, uniform) == 1
        slots = Slots(case=slots.case[kept], event=slots.event[kept], row=slots.row[kept])
    if not len(slots.row):
        return slots, np.zeros(0, dtype=np.int64)
    keys = [slots.row]
    first = np.diff(slots.case, prepend=-1) != 0
    for cells, together in partners:
        # Only the first value of a case is what a pair speaks of.
        keys.append(np.where(first, cells[slots.case], len(together)))
    groups, inside = np.unique(np.stack(keys), axis=1, return_inverse=True)
    inside = inside.ravel()
    many = np.bincount(inside, minlength=groups.shape[1]).astype(np.float64)
    wanted = many[:, None] * shares[groups[0]]
    if partners:
        wanted = _rake(wanted, many, groups, [together for _, together in partners])
    return slots, _apportion(wanted, inside, uniform)


def _rake(wanted: Floats, many: Floats, groups: Ints, pairs: Sequence[Floats]) -> Floats:
    """Scale groups of places until rows and pairs have the shares that their tables say."""
    cells = wanted.shape[1]
    own = np.zeros((int(groups[0].max()) + 1, cells))
    np.add.at(own, groups[0], wanted)
    targets: list[tuple[Ints, Floats]] = []
    for group, together in zip(groups[1:], pairs, strict=True):
        asked = group < len(together)
        size: Floats = np.bincount(group[asked], many[asked], len(together)).astype(float)
        # Given the other's cell: what is missing of this one takes no place, so it is left out.
        given = (
            together[:, :cells] / np.maximum(together[:, :cells].sum(axis=1), NEGLIGIBLE)[:, None]
        )
        # Both tables are noisy: the pair's is brought to the values that the own table says.
        table, columns = np.maximum(size[:, None] * given, NEGLIGIBLE), wanted[asked].sum(axis=0)
        for _ in range(TUNING.fitting_rounds):
            table = table * (columns / np.maximum(table.sum(axis=0), NEGLIGIBLE))
            table = table * (size / np.maximum(table.sum(axis=1), NEGLIGIBLE))[:, None]
        targets.append((group, np.concatenate([table, [wanted[~asked].sum(axis=0)]])))
    targets.append((groups[0], own))
    fitted = np.maximum(wanted, NEGLIGIBLE * many[:, None])
    for _ in range(TUNING.fitting_rounds):
        for group, target in targets:
            now = np.zeros_like(target)
            np.add.at(now, group, fitted)
            fitted = fitted * (target / np.maximum(now, NEGLIGIBLE))[group]
        fitted *= (many / np.maximum(fitted.sum(axis=1), NEGLIGIBLE))[:, None]
    return fitted


def _apportion(wanted: Floats, group: Ints, uniform: Uniform) -> Ints:
    """Give each place a cell, so that the cells of a group are as many as wanted, but for a rest.

    The rests of all groups are spread by one running sum over all groups, cell by cell, so that
    they add up to what is wanted of all groups together.
    """
    cells = wanted.shape[1]
    many = np.bincount(group, minlength=len(wanted))
    whole = wanted / np.maximum(wanted.sum(axis=1), LITTLE)[:, None] * many[:, None]
    least = np.floor(whole + NEGLIGIBLE).astype(np.int64)
    left = many - least.sum(axis=1)
    rest = np.maximum(whole - least, 0.0)
    # What is owed to a cell so far, over all groups: those that are owed most get the rest.
    owed = np.zeros(cells)
    for row in np.flatnonzero((left > 0) | (rest.sum(axis=1) > NEGLIGIBLE)).tolist():
        owed += rest[row]
        for _ in range(int(left[row])):
            best = int(np.argmax(np.where(rest[row] > NEGLIGIBLE, owed, -np.inf)))
            least[row, best] += 1
            owed[best] -= 1
    # Shuffle inside groups: sort places by group and chance, and deal out the cells in order.
    order = np.lexsort((uniform(len(group)), group))
    found = np.empty(len(group), dtype=np.int64)
    found[order] = np.repeat(np.tile(np.arange(cells), len(wanted)), least.ravel())
    return found


def _written(attribute: Attribute, cells: Ints, uniform: Uniform) -> ReleasedColumn:
    """The values as they are released."""
    domain = attribute.known
    codes = np.where(cells < domain.values, cells, NO_VALUE)
    if domain.binned:
        # A text is sampled for each bin; codes are places among the texts, as they appear.
        chances, places = uniform(len(cells)), dict[str, int]()
        for place in np.flatnonzero(codes >= 0).tolist():
            text = domain.sample(int(codes[place]), float(chances[place]))
            codes[place] = places.setdefault(text, len(places))
        texts = list(places)
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
