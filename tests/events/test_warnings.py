"""What the holder of a log is warned of before a release."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacofa.events import count_variants, inspect_variants, open_log
from sacofa.events.inspect import find_warnings
from sacofa.examples import hospital, running_example
from sacofa.kernel.variants import VariantCounts


def test_a_log_that_is_in_order() -> None:
    """There is nothing to say of the examples, nor of no log at all."""
    assert not find_warnings(running_example())
    assert not find_warnings(hospital())
    assert not find_warnings(VariantCounts.of({}))


@pytest.mark.parametrize("name", ["Invoice 47110815", "ann@clinic.example", "12", "Dr. 1234-A"])
def test_names_that_look_like_identifiers(name: str) -> None:
    """One is enough: it would be published."""
    (warning,) = map(str, find_warnings(VariantCounts.of({("Register", name): 3})))
    assert warning.startswith("1 activity looks like an identifier") and name in warning


def test_names_that_one_case_has_alone() -> None:
    """Many of them are no activities."""
    (warning,) = map(
        str, find_warnings(VariantCounts.of({(f"to {a}{b}",): 1 for a in "abcd" for b in "xyz"}))
    )
    assert warning.startswith("12 of 12 activities occur in one case only")


def test_starts_and_ends() -> None:
    """An activity that is there twice counts as two events."""
    pairs = VariantCounts.of({("Triage+START", "Triage+COMPLETE", "End"): 3, ("Start",): 2})
    (warning,) = map(str, find_warnings(pairs))
    assert warning.startswith('1 activity is there twice, as start and as end ("Triage")')
    assert not find_warnings(VariantCounts.of({("Order complete", "Check start"): 3}))


def test_times_that_contradict_the_rows(tmp_path: Path) -> None:
    """Whichever order is taken, the other one is told of."""
    path = tmp_path / "log.csv"
    path.write_text("case,activity,time\n1,a,2.1.2025\n1,b,1.1.2025\n2,a,1.1.2025\n2,b,\n")
    for order, other in (("time", "order of the file"), ("file", "order by time")):
        log = open_log(path, order=order)
        (warning,) = map(str, inspect_variants(count_variants(log), log=log).warnings)
        assert warning.startswith("in 1 case events stand") and other in warning
