"""The embedded examples: always the same, and worth looking at."""

from __future__ import annotations

from sacofa.examples import hospital, running_example


def test_the_running_example_is_the_paper_s_table() -> None:
    """49 cases in 6 variants; every case begins with Register and Triage and ends with Release."""
    example = running_example()
    assert (example.cases, len(example)) == (49, 6)
    for variant, _ in example:
        assert variant[:2] == ("Register", "Triage") and variant[-1] == "Release"


def test_the_hospital_is_always_the_same() -> None:
    """The same log on every call, with frequent variants, loops and a long tail."""
    log = hospital()
    assert log == hospital()
    assert log.cases == 4000
    assert log.counts.max() > 200
    assert (log.counts == 1).sum() > 100
    assert any(variant.count("Blood test") > 2 for variant, _ in log)
