"""Cases are told apart by their ids, also where what they are sorted by does not tell them."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from sacofa.base.batches import gather
from sacofa.events import open_log, read_cases
from sacofa.events.duckdb import counting, partitions

ROWS = [
    (f"case {case}", f"{letter}{case % 2}", 3 * place + case)
    for place, letter in enumerate("abc")
    for case in range(4)
]
"""Four cases that take place at the same time; none has more than three events."""


def read(path: Path) -> list[tuple[tuple[str, ...], tuple[int, ...], str]]:
    """The activities, the seconds and the ward of each case."""
    log = open_log(path, attribute="case:ward", person="who", max_cases=1)
    by_case = read_cases(log).by_case
    assert by_case is not None
    batch = gather(by_case)
    assert batch.times is not None
    ends = batch.offsets.tolist()
    seconds = (batch.times // 10**6 - 1_577_836_800).tolist()
    return sorted(
        (tuple(batch.activities[i] for i in ids), tuple(seconds[start:end]), str(cell))
        for ids, start, end, cell in zip(
            batch.sequences(), ends, ends[1:], batch.attributes[0].cells.tolist(), strict=False
        )
    )


def test_cases_whose_hashes_are_alike_stay_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some share what they are sorted by, or all do: the same cases, and of a person the first."""
    path = tmp_path / "log.csv"
    lines = [
        f"{case},{name},2020-01-01 00:00:{second:02},{case.replace('0', '1')},{case[-1]}"
        for case, name, second in ROWS
    ]
    path.write_text("\n".join(["case,activity,time,who,case:ward", *lines]))
    meant = read(path)
    assert [case[:2] for case in meant] == [
        (("a0", "b0", "c0"), (0, 3, 6)),
        (("a0", "b0", "c0"), (2, 5, 8)),
        (("a1", "b1", "c1"), (3, 6, 9)),
    ]
    for apart, rows in product(
        ("0 * hash(case_id)", "length(case_id)", "hash(case_id) % 2"), (6, 10**9)
    ):
        monkeypatch.setattr(counting, "HASHED_CASE", apart)
        monkeypatch.setattr(partitions, "PARTITION_ROWS", rows)
        assert read(path) == meant
