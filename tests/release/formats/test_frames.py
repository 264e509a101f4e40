"""Releases as frames and in notebooks."""

from __future__ import annotations

import polars
import pytest

from sacofa.events import count_variants, open_log
from sacofa.examples import running_example
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms import Certified
from sacofa.release import Release, anonymize


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
    assert "must not be published" in page and "Register → Triage" in page
    odd = VariantCounts.of({("<b>",): 30})
    shown = anonymize(odd, Certified(epsilon=50))._repr_html_()
    assert "&lt;b&gt;" in shown and "<b>,</b>" not in shown and "ε = 50" in shown
    nothing = anonymize(VariantCounts.of({}, ["a"]), Certified(epsilon="0.01"), seed=3)
    assert "cases" in nothing._repr_html_()
    assert 'sandbox="allow-scripts"' in page and "Process map" in page


def test_frames_hold_attributes() -> None:
    """Each at its type, of cases and of events, in both kinds of frames."""
    rows = [
        (str(i), activity, ("red", "blue")[i % 2], 5 * (i % 4) if activity == "a" else None)
        for i in range(200)
        for activity in "ab"
    ]
    names = ["case", "activity", "case:colour", "amount"]
    log = polars.DataFrame(rows, schema=names, orient="row")
    columns = {"attributes": {"amount": {"type": "number", "min": 0, "max": 19, "unit": 5}}}
    opened = open_log(log, attribute=("colour", "amount"), columns=columns)
    released = anonymize(opened, Certified(epsilon=50), seed=1)
    frame, other = released.to_pandas(), released.to_polars()
    assert set(frame["case:colour"]) == {"red", "blue"}
    assert frame.groupby("case:concept:name")["case:colour"].nunique().max() == 1
    amounts = frame[frame["concept:name"] == "a"]["amount"].dropna()
    assert len(amounts) and set(amounts) <= {0, 5, 10, 15}
    assert other["case:colour"].to_list() == frame["case:colour"].tolist()
