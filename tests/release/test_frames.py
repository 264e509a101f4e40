"""Releases as frames and in notebooks."""

from __future__ import annotations

import polars
import pytest

from sacofa.examples import running_example
from sacofa.logs import count_variants
from sacofa.mechanisms import Certified
from sacofa.release import Release, anonymize
from sacofa.variants import VariantCounts


@pytest.fixture(scope="module")
def release() -> Release:
    """A release in which some cases were truncated."""
    return anonymize(running_example(), Certified(epsilon=100, max_length=4), seed=1)


def test_frames_hold_what_was_released(release: Release) -> None:
    """Both say the same, and are read back as the release, with its unfinished cases."""
    frame = release.to_pandas()
    assert list(frame.columns)[:4] == [
        "case:concept:name", "concept:name", "time:timestamp", "case:unfinished",
    ]  # fmt: skip
    assert frame["case:unfinished"].any() and set(frame["sacofa:time"]) == {"artificial"}
    some = release.variants.where(release.variants.lengths > 0)
    assert count_variants(frame).project_onto(some.activities) == some
    other = release.to_polars()
    assert other.schema["time:timestamp"] == polars.Datetime("us", "UTC")
    assert count_variants(other).project_onto(some.activities) == some
    assert other.to_dict(as_series=False)["concept:name"] == frame["concept:name"].tolist()
    assert (frame["time:timestamp"].astype("int64") >= 0).all()


def test_a_notebook_shows_the_promise_variants_and_a_map(release: Release) -> None:
    """Names are escaped, and an empty release is shown, too."""
    page = release._repr_html_()
    assert "must not be published" in page and "Register → Triage" in page and "<svg" in page
    odd = VariantCounts.of({("<b>",): 30})
    shown = anonymize(odd, Certified(epsilon=50))._repr_html_()
    assert "&lt;b&gt;" in shown and "<b>,</b>" not in shown and "ε = 50" in shown
    nothing = anonymize(VariantCounts.of({}, ["a"]), Certified(epsilon="0.01"), seed=3)
    assert "cases" in nothing._repr_html_()
