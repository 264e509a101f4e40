"""On the paper's logs: what a model mined from a public half gives, as docs/rules.md claims it."""

from __future__ import annotations

import importlib.util
import math
import warnings
from pathlib import Path
from typing import Any

import pytest

from sacofa import Certified
from sacofa.logs import count_variants, open_log

pytest.importorskip("pm4py", reason="pip install 'sacofa[evaluate]'")
pytest.importorskip("sacofa.evaluation.measures.similarity")

RUNS = 8
MORE_RUNS = 16
"""Where two kinds of rules are close to each other."""
HALVES = (1, 2, 3)
"""Without the first, at which the settings of the miner and the model were chosen."""
SURE = 2.0
"""A difference of so many standard errors counts."""
NONE, LEARNT, MODEL = "no rules", "learnt from that half", "rules of the model"
LANGUAGE = "language, closed, 0 deviations"


def benchmark() -> Any:
    """The program that measures it at length."""
    path = Path(__file__).parents[3] / "benchmarks" / "models.py"
    spec = importlib.util.spec_from_file_location("benchmark_models", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sepsis", "receipt"])
def test_the_closed_language_of_a_mined_model_gains_what_learnt_rules_do(
    name: str, logs: Path, tmp_path: Path
) -> None:
    """Both from the same half, for releases of the other half at ε = 0.1.

    By more than the spread of the runs explains. Without rules the same comparison fails, and so
    do, on Receipt, the rules of the model unless it is closed.
    """
    measured = benchmark()
    runs = {NONE: RUNS, LEARNT: RUNS, LANGUAGE: RUNS}
    if name == "receipt":
        runs |= {LEARNT: MORE_RUNS, MODEL: MORE_RUNS}
    found: dict[str, list[list[float]]] = {kind: [] for kind in runs}
    log = count_variants(open_log(logs / f"{name}.xes.gz"))
    for half in HALVES:
        public, secret = measured.halve(log, half)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kinds = dict(measured.kinds(public, tmp_path))
        for kind, halves in found.items():
            mechanism = Certified(
                epsilon=measured.EPSILON, max_length=measured.LOGS[name], rules=kinds[kind]
            )
            halves.append(measured.similarities(mechanism, secret, range(runs[kind])))

    def is_better(one: str, other: str, sure: float = SURE) -> bool:
        mean, error = measured.mean_and_error(found[one])
        reference, spread = measured.mean_and_error(found[other])
        return bool(mean - reference > sure * math.hypot(error, spread))

    assert is_better(LANGUAGE, NONE)
    assert is_better(LEARNT, NONE)
    # The difference that would count with twice as many runs.
    assert not is_better(LEARNT, LANGUAGE, SURE / math.sqrt(2))
    if name == "receipt":
        assert is_better(LEARNT, MODEL)
