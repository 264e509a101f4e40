"""Attributes of several releases, put together: those that all of them have, of one type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..kernel.cases import CaseBatch, Values
from ..kernel.released import NO_VALUE, Columns, ReleasedColumn
from .read import event_places


def shared_columns(releases: Sequence[Columns]) -> list[list[ReleasedColumn]]:
    """The attributes that all releases have, each with its column in every release."""
    named = [{(column.key, column.kind): column for column in columns} for columns in releases]
    return [
        [columns[which] for columns in named]
        for which in named[0]
        if all(which in columns for columns in named)
    ]


def all_texts(columns: Sequence[ReleasedColumn]) -> tuple[str, ...]:
    """The values of all releases, each once."""
    return tuple(dict.fromkeys(text for column in columns for text in column.texts))


def with_values(
    batch: CaseBatch, columns: Sequence[ReleasedColumn], texts: Sequence[Sequence[str]]
) -> CaseBatch:
    """The same cases with their attributes, as places among the values of all releases."""
    values = []
    for column, listed in zip(columns, texts, strict=True):
        place = {text: i for i, text in enumerate(listed)}
        # The last place is that of −1: no value.
        moved = np.array([*(place[text] for text in column.texts), NO_VALUE], dtype=np.int32)
        values.append(
            Values(
                name=column.key,
                of_case=column.of_case,
                cells=moved[column.codes],
                size=len(listed) + 1,
            )
        )
    return replace(batch, attributes=tuple(values))


def laid_out_columns(
    batch: CaseBatch,
    order: NDArray[np.int64],
    columns: Sequence[ReleasedColumn],
    texts: Sequence[tuple[str, ...]],
) -> Columns:
    """The attributes of all cases, in a given order of cases."""
    return tuple(
        replace(
            column,
            texts=listed,
            codes=values.cells[order if values.of_case else event_places(batch, order)],
        )
        for column, listed, values in zip(columns, texts, batch.attributes, strict=True)
    )
