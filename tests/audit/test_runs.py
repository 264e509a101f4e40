"""Running a mechanism many times, and putting together what was seen."""

from __future__ import annotations

import numpy as np

from sacofa.audit import built_in_pairs, make_minimal
from sacofa.audit.audit import Batch, observe
from sacofa.audit.views import VIEWS, Feature, view_transcript
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.protocol import Outcome, Output
from sacofa.mechanisms.released import ReleasedLog


def test_every_value_of_every_run_is_kept() -> None:
    """Columns hold the same as writing down run after run what each view shows."""
    for pair in built_in_pairs(2):
        batch = Batch(
            mechanism=make_minimal("sacofa", {"epsilon": 1}),
            pair=pair,
            views={**VIEWS, "nothing": lambda _: {}},
            runs=30,
            seed=1,
        )
        samples = observe(batch)
        played = list(batch.play())
        assert not samples["nothing"].columns
        for name, sample in samples.items():
            expected: dict[Feature, list[tuple[int, int]]] = {}
            for run, (_, shown) in enumerate(played):
                for feature, value in shown[name].items():
                    expected.setdefault(feature, []).append((run, value))
            assert sample.sides.tolist() == [side for side, _ in played]
            found = {
                feature: list(zip(runs.tolist(), values.tolist(), strict=True))
                for feature, (runs, values) in sample.columns.items()
            }
            assert found == expected


def test_a_transcript_may_hold_anything() -> None:
    """Numbers are named by where they stand, everything else by what it is."""
    outcome = Outcome(
        output=Output(log=ReleasedLog(variants=VariantCounts.of({}))),
        transcript={
            "array": np.array([[1, 2], [3, 4]]),
            "number": 5,
            "truth": True,
            "parts": {"deep": {"er": np.int64(6)}, "list": [7, "word"]},
            "text": "seen",
        },
    )
    assert view_transcript(outcome) == {
        ("array", 0): 1,
        ("array", 1): 2,
        ("array", 2): 3,
        ("array", 3): 4,
        ("number",): 5,
        ("truth",): True,
        ("parts", "deep", "er"): 6,
        ("parts", "list", 0): 7,
        ("parts", "list", 1, "word"): 1,
        ("text", "seen"): 1,
    }
