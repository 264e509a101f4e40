"""The programs behind the tables compare like with like."""

from __future__ import annotations

import runpy
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sacofa import anonymize
from sacofa.examples import hospital

from .pages import ROOT


@pytest.fixture
def utility(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The program that measures usefulness; its parts lie next to it."""
    folder = ROOT / "benchmarks"
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    try:
        return runpy.run_path(str(folder / "utility.py"))
    finally:
        for name in set(sys.modules) - before:
            if Path(getattr(sys.modules[name], "__file__", None) or "/").parent == folder:
                del sys.modules[name]


@pytest.mark.parametrize("epsilon", ["1", "0.1"])
def test_mechanisms_that_are_compared_at_equal_epsilon_spend_it(
    utility: dict[str, Any], epsilon: str
) -> None:
    """By the certificate of the whole release, not by the setting of a level."""
    log = hospital(400)
    mechanisms = utility["at_equal_epsilon"](log, epsilon, 8)
    spent = {
        series: anonymize(log, mechanism, seed=1).certificate.epsilon
        for series, mechanism in mechanisms.items()
    }
    assert {name.partition(",")[0] for name in spent} == {"certified", "sacofa", "laplace"}
    assert set(spent.values()) == {Fraction(epsilon)}
