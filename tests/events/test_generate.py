"""Made-up logs look like real ones and are the same for the same seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sacofa.errors import OutputError, SettingError
from sacofa.events import count_variants, inspect_variants, open_log
from sacofa.events.generate import event_blocks, write_sample


def test_a_made_up_log_is_like_a_real_one(tmp_path: Path) -> None:
    """Few variants have most cases, many have one, and ties and interleaved cases are common."""
    write_sample(tmp_path / "log.parquet", cases=20_000)
    variants = count_variants(tmp_path / "log.parquet")
    inspection = inspect_variants(variants)
    assert variants.cases == 20_000 and inspection.activities == 24
    assert np.sort(variants.counts)[-100:].sum() > 0.5 * variants.cases
    assert 0.05 < inspection.unique < 0.3
    ((_, block),) = event_blocks(20_000, 24, 0)
    assert (np.diff(block["t"]) >= 0).all()
    assert (np.diff(block["c"]) != 0).mean() > 0.5
    order = np.lexsort((np.arange(len(block["c"])), block["c"]))
    case, time = block["c"][order], block["t"][order]
    same = case[1:] == case[:-1]
    assert 0.2 < (time[1:][same] == time[:-1][same]).mean() < 0.5
    # The file is in the order of time, so both orders are one.
    assert count_variants(open_log(tmp_path / "log.parquet", order="time")) == variants


def test_the_same_seed_gives_the_same_cases(tmp_path: Path) -> None:
    """A seed fixes the log in every format; another one gives another log."""
    write_sample(tmp_path / "a.parquet", cases=3_000, seed=7)
    write_sample(tmp_path / "b.csv", cases=3_000, seed=7)
    write_sample(tmp_path / "c.parquet", cases=3_000, seed=8)
    found = [count_variants(tmp_path / name) for name in ("a.parquet", "b.csv", "c.parquet")]
    assert found[0] == found[1] != found[2]


def test_a_larger_log_begins_with_the_same_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is made at once, case 17 is case 17."""

    def case(cases: int) -> list[tuple[int, int]]:
        return [
            (int(i), int(t))
            for _, block in event_blocks(cases, 24, 3)
            for c, i, t in zip(block["c"], block["i"], block["t"], strict=True)
            if c == 17
        ]

    assert case(20) == case(900)


@pytest.mark.parametrize(
    "wrong", [{"cases": 0}, {"activities": 2}, {"activities": 10**6}, {"seed": -1}]
)
def test_settings_are_refused(wrong: dict[str, Any], tmp_path: Path) -> None:
    """What cannot be is refused, and nothing is written."""
    with pytest.raises(SettingError):
        write_sample(tmp_path / "log.parquet", **{"cases": 10, **wrong})
    with pytest.raises(OutputError):
        write_sample(tmp_path / "log.xes", cases=10)
    assert not list(tmp_path.iterdir())
