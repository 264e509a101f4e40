"""Values for all places of a release, so that every table comes out right at once.

Values of a row are apportioned, not drawn one by one: so a release adds no noise of its own. Where
attributes are declared as a pair, the values of the later one are spread so that both its own table
and that of the pair hold (iterative proportional fitting over the groups of places that are alike).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from .fit import Fitted
from .places import Slots
from .tuning import TUNING

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Uniform = Callable[[int], Floats]
"""So many numbers from 0 to below 1."""


def draw_values(
    slots: Slots,
    fitted: Fitted,
    partners: Sequence[tuple[Ints, Floats]],
    uniform: Uniform,
) -> tuple[Slots, Ints]:
    """Give the places that have a value, and the cell of each.

    `partners` are attributes drawn before: the cell of each case, and the shares of both together.
    """
    slots = _present(slots, fitted.rates, uniform)
    if not len(slots.row):
        return slots, np.zeros(0, dtype=np.int64)
    keys = [slots.row]
    first = np.zeros(len(slots.case), dtype=np.bool_)
    first[np.flatnonzero(np.diff(slots.case, prepend=-1))] = True
    for cells, together in partners:
        # Only the first value of a case is what a pair speaks of.
        keys.append(np.where(first, cells[slots.case], len(together)))
    groups, inside = np.unique(np.stack(keys), axis=1, return_inverse=True)
    inside = inside.ravel()
    many = np.bincount(inside, minlength=groups.shape[1]).astype(np.float64)
    wanted = many[:, None] * fitted.shares[groups[0]]
    if partners:
        pairs = [together for _, together in partners]
        wanted = _rake(wanted, many, groups, pairs)
    return slots, _apportion(wanted, inside, uniform)


def _present(slots: Slots, rates: Floats, uniform: Uniform) -> Slots:
    """Keep the places that have a value: of each row, the share that its rate says."""
    rate = rates[slots.row]
    if (rate >= 1).all():
        return slots
    never = np.stack([1 - rates, rates], axis=1)
    many = np.bincount(slots.row, minlength=len(rates)).astype(np.float64)
    kept = _apportion(many[:, None] * never, slots.row, uniform) == 1
    return Slots(case=slots.case[kept], event=slots.event[kept], row=slots.row[kept])


def _rake(wanted: Floats, many: Floats, groups: Ints, pairs: Sequence[Floats]) -> Floats:
    """Scale groups of places until rows and pairs have the shares that their tables say."""
    rows = int(groups[0].max()) + 1
    cells = wanted.shape[1]
    own = np.zeros((rows, cells))
    np.add.at(own, groups[0], wanted)
    targets: list[tuple[Ints, Floats]] = [(groups[0], own)]
    for place, together in enumerate(pairs, start=1):
        asked = groups[place] < len(together)
        size: Floats = np.bincount(groups[place][asked], many[asked], len(together)).astype(float)
        # Given the other's cell: what is missing of this one takes no place, so it is left out.
        given = together[:, :cells] / np.maximum(together[:, :cells].sum(axis=1), 1e-12)[:, None]
        target = np.zeros((len(together) + 1, cells))
        target[:-1] = size[:, None] * given
        target[-1] = wanted[~asked].sum(axis=0)
        # Both tables are noisy: the pair's is brought to the values that the own table says.
        target[:-1] = _margins(target[:-1], size, wanted[asked].sum(axis=0))
        targets.append((groups[place], target))
    fitted = np.maximum(wanted, 1e-9 * many[:, None])
    for _ in range(TUNING.fitting_rounds):
        for group, target in [*targets[1:], targets[0]]:
            now = np.zeros_like(target)
            np.add.at(now, group, fitted)
            fitted = fitted * (target / np.maximum(now, 1e-12))[group]
        fitted *= (many / np.maximum(fitted.sum(axis=1), 1e-12))[:, None]
    return fitted


def _margins(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """Scale a table until its rows and columns have given sums."""
    table = np.maximum(table, 1e-9)
    for _ in range(TUNING.fitting_rounds):
        table = table * (columns / np.maximum(table.sum(axis=0), 1e-12))
        table = table * (rows / np.maximum(table.sum(axis=1), 1e-12))[:, None]
    return table


def _apportion(wanted: Floats, group: Ints, uniform: Uniform) -> Ints:
    """Give each place a cell, so that the cells of a group are as many as wanted, but for a rest.

    The rests of all groups are spread by one running sum over all groups, cell by cell, so that
    they add up to what is wanted of all groups together.
    """
    cells = wanted.shape[1]
    many = np.bincount(group, minlength=len(wanted))
    whole = wanted / np.maximum(wanted.sum(axis=1), 1e-300)[:, None] * many[:, None]
    least = np.floor(whole + 1e-9).astype(np.int64)
    left = many - least.sum(axis=1)
    rest = np.maximum(whole - least, 0.0)
    # What is owed to a cell so far, over all groups: those that are owed most get the rest.
    owed = np.zeros(cells)
    for row in np.flatnonzero((left > 0) | (rest.sum(axis=1) > 1e-6)).tolist():
        owed += rest[row]
        if left[row] > 0:
            able = np.where(rest[row] > 1e-9, owed, -np.inf)
            for _ in range(int(left[row])):
                best = int(np.argmax(able))
                least[row, best] += 1
                owed[best] -= 1
                able[best] = owed[best] if not np.isinf(able[best]) else able[best]
    # Shuffle inside groups: sort places by group and chance, and deal out the cells in order.
    order = np.lexsort((uniform(len(group)), group))
    found = np.empty(len(group), dtype=np.int64)
    dealt = np.repeat(np.tile(np.arange(cells), len(wanted)), least.ravel())
    found[order] = dealt
    return found
