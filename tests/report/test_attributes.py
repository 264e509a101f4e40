"""What a report shows of attributes: from the release and its certificate alone."""

from __future__ import annotations

import csv
from pathlib import Path

from sacofa import Certified, anonymize
from sacofa.events import open_log
from sacofa.report import make_report
from sacofa.report.attributes import describe_attributes
from sacofa.report.times import Bar


def test_a_report_shows_values_and_how_sure_they_are(tmp_path: Path) -> None:
    """Distributions with ±, and for events the most frequent values of each activity."""
    path = tmp_path / "log.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["case", "activity", "case:<colour>", "amount"])
        for i in range(300):
            rows.writerow([i, "a", ("red", "blue", "blue")[i % 3], i % 50])
            rows.writerow([i, "b", "", ""])
    columns = {"attributes": {"amount": {"type": "number", "min": 0, "max": 99, "unit": 1}}}
    log = open_log(path, attribute=("<colour>", "amount"), columns=columns)
    release = anonymize(log, Certified(epsilon=20, time=False), seed=1)
    colour, amount = describe_attributes(release)
    assert colour.of_case and not colour.by_activity
    assert {bar.label: round(bar.share, 1) for bar in colour.bars} == {"blue": 0.7, "red": 0.3}
    assert all(bar.margin is not None and 0 < bar.margin < 0.1 for bar in colour.bars)
    assert not any(bar.below_margin for bar in colour.bars)
    assert [row.activity for row in amount.by_activity] == ["a"]
    width = int(amount.bars[0].label.split(" – ")[1])
    round_ones = [f"{width * i} – {width * (i + 1)}" for i in range(len(amount.bars))]
    assert [bar.label for bar in amount.bars][:5] == round_ones[:5]
    assert width in (5, 10) and len(amount.bars) <= 13
    assert abs(sum(bar.share for bar in amount.bars) - 1) < 1e-9
    page = make_report(release, title="a release")
    assert 'id="attributes"' in page and "case:&lt;colour&gt;" in page and "<colour>" not in page
    plain = anonymize(open_log(path), Certified(epsilon=20, time=False), seed=1)
    assert 'id="attributes"' not in make_report(plain, title="a release")


def bars_of(tmp_path: Path, values: list[object], **declared: object) -> tuple[Bar, ...]:
    """The bars of a report of cases with one number each, in declared bins."""
    path = tmp_path / "log.csv"
    rows = "".join(f"{i},a,{value}\n" for i, value in enumerate(values))
    path.write_text(f"case,activity,case:amount\n{rows}", encoding="utf-8")
    columns = {"attributes": {"amount": {"type": "number", **declared}}}
    log = open_log(path, attribute=("amount",), columns=columns)
    release = anonymize(log, Certified(epsilon=20, time=False), seed=1)
    return describe_attributes(release)[0].bars


def limits(bars: tuple[Bar, ...]) -> list[float]:
    """All numbers that the labels of bars name."""
    return [float(limit) for bar in bars for limit in bar.label.split(" – ")]


def test_all_limits_of_bars_are_declared_edges(tmp_path: Path) -> None:
    """More than 12 declared bins are merged with their neighbours, never cut."""
    edges = [3 + 7 * i for i in range(31)]
    bars = bars_of(tmp_path, [3 + 7 * (i % 30) for i in range(600)], edges=edges)
    assert 2 <= len(bars) <= 12
    assert set(limits(bars)) <= set(edges)
    assert abs(sum(bar.share for bar in bars) - 1) < 1e-9


def test_the_margin_of_a_merged_bar_counts_the_noise_of_each_declared_bin(tmp_path: Path) -> None:
    """A bar of several bins has the noise of all of them."""
    edges = [3 + 7 * i for i in range(31)]
    bars = bars_of(tmp_path, [3 + 7 * (i % 30) for i in range(600)], edges=edges)
    for bar in bars:
        low, high = (edges.index(int(limit)) for limit in bar.label.split(" – "))
        assert bar.values == high - low


def test_few_different_numbers_are_shown_by_their_declared_bins(tmp_path: Path) -> None:
    """A release says no more of a number than its bin, however few numbers it has."""
    edges = [0, 12.5, 1_000_000, 123_456_789]
    bars = bars_of(tmp_path, [1, 20, 20, 2_000_000] * 50, edges=edges)
    assert set(limits(bars)) <= set(edges)
    assert {bar.label for bar in bars} >= {"0 – 12.5", "12.5 – 1000000"}


def test_bins_of_one_whole_number_are_shown_as_that_number(tmp_path: Path) -> None:
    """No range where there is nothing between its limits."""
    bars = bars_of(tmp_path, [1, 2, 2, 4] * 50, min=0, max=5, unit=1)
    assert [bar.label for bar in bars if bar.share > 0.05] == ["1", "2", "4"]
