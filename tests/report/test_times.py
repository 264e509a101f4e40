"""Times in a report: known values, from the release alone or beside the original."""

from __future__ import annotations

from dataclasses import replace

import lxml.html
import numpy as np
import pytest

from sacofa.base.batches import gather
from sacofa.kernel.variants import VariantCounts
from sacofa.report import make_internal_report, make_report
from sacofa.report.page import say_duration
from sacofa.report.times import describe_times, median_waits
from sacofa.synthesis.margins import Margins

from .releases import HOSTILE, hospital, of, slow, timed, with_parts


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (0.4, "0.4 s"),
        (59, "59 s"),
        (60, "1 min"),
        (5_400, "1.5 h"),
        (86_400, "1 d"),
        (129_600, "36 h"),
        (172_800, "2 d"),
        (31_536_000, "1 y"),
        (1e12, "31,710 y"),
    ],
)
def test_durations_are_said_in_one_unit(seconds: float, said: str) -> None:
    """As people do."""
    assert say_duration(seconds) == said


def test_a_release_alone() -> None:
    """Shares of bins, quartiles, steps and months; nothing of an original."""
    times = describe_times(timed())
    assert times is not None
    assert {bar.label: bar.share for bar in times.cycle if bar.share} == {"1 h – 4 h": 1}
    assert [(bar.label, bar.share) for bar in times.arrivals] == [
        ("1970-01", 0.5),
        ("1970-02", 0.5),
    ]
    assert [one.after for one in times.quartiles] == [3_600] * 3
    ((step, wait),) = times.waits.items()
    assert step == (HOSTILE[0], HOSTILE[1])
    assert (wait.times, wait.total, wait.median) == (4, 14_400, 3_600)
    assert not any(bar.before is not None for bar in (*times.cycle, *times.arrivals))
    assert wait.before is None


def test_beside_the_original() -> None:
    """Each figure has that of the original; the calendar is the release's."""
    original = slow().by_case
    assert original is not None
    times = describe_times(timed(), gather(original))
    assert times is not None
    assert [bar.before for bar in times.arrivals] == [1, 0]
    assert [one.before for one in times.quartiles] == [7_200] * 3
    assert [wait.before for wait in times.waits.values()] == [7_200]


def test_work_is_shown_where_it_was_released() -> None:
    """Median work and waiting of each activity, beside the original in an internal page."""
    release = timed()
    assert release.times is not None
    release = with_parts(release, starts=release.times - np.tile([60, 600], 4))
    times = describe_times(release)
    assert times is not None
    assert [(w.activity, w.times, w.took, w.waited) for w in times.work] == [
        (HOSTILE[1], 4, 600, 3_000),
        (HOSTILE[0], 4, 60, None),
    ]
    assert "Work and waiting" in make_report(release, title="x")
    assert "Work and waiting" not in make_report(timed(), title="x")
    internal = make_internal_report(release, slow(), title="x")
    assert "waiting before" in internal


def test_medians_have_margins_where_they_are_known() -> None:
    """At 0.25 the second to the third quarter of waits; at 0.5, or not stated, nothing is known."""
    log = VariantCounts.of({("a", "b"): 5})
    release = with_parts(of(log), times=np.array([0, 10, 0, 20, 0, 30, 0, 40, 0, 50]))
    known, unknown = (
        replace(
            release,
            certificate=replace(release.certificate, margins=Margins(waits={("a", "b"): off})),
        )
        for off in (0.25, 0.5)
    )
    wait = median_waits(known)["a", "b"]
    assert (wait.low, wait.median, wait.high) == (20, 30, 40)
    for rough in (unknown, release):
        assert median_waits(rough)["a", "b"].low is median_waits(rough)["a", "b"].high is None
    pages = [make_report(each, title="x") for each in (known, unknown)]
    assert ["20 s – 40 s" in page for page in pages] == [True, False]
    assert ['<span class="tag">rough</span>' in page for page in pages] == [False, True]


def test_many_years_are_shown_by_year() -> None:
    """A page has no room for a hundred years of months."""
    release = of(VariantCounts.of({("a",): 2}))
    times = describe_times(with_parts(release, times=np.array([0, 40 * 31_557_600])))
    assert times is not None
    assert (times.spans, len(times.arrivals)) == ("year", 41)
    assert sum(bar.share for bar in times.arrivals) == 1


def test_nothing_is_shown_where_there_are_no_times() -> None:
    """Made-up times are said to be so, and an empty release has none."""
    assert describe_times(hospital()) is None
    made_up = make_report(hospital(), title="x")
    assert "Times are artificial" in made_up
    empty = with_parts(of(VariantCounts.of({(): 3})), times=np.zeros(0, dtype=np.int64))
    assert describe_times(empty) is None
    assert "no events, and so no times" in make_report(empty, title="x")


def test_the_page_shows_them() -> None:
    """Numbers stand beside every bar, and only the internal page has two of each."""
    published = lxml.html.document_fromstring(make_report(timed(), title="x"))
    internal = lxml.html.document_fromstring(make_internal_report(timed(), slow(), title="x"))
    for tree, bars in ((published, 1), (internal, 2)):
        (section,) = tree.xpath("//section[@id='times']")
        rows = section.xpath(".//table[@class='bars']//tbody/tr")
        assert len(rows) == 14 + 2
        assert {len(row.xpath(".//rect")) for row in rows} == {bars}
        assert {len(row.xpath("./td[contains(@class, 'n')]")) for row in rows} == {bars}
        assert "sampled from noisy answers" in section.text_content()
    assert "before" not in published.xpath("//section[@id='times']")[0].text_content()
    measured = internal.xpath("//section[@id='measures']//tbody/tr/th/text()")
    assert "Cycle time" in measured
