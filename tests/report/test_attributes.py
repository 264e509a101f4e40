"""What a report shows of attributes: from the release and its certificate alone."""

from __future__ import annotations

import csv
from pathlib import Path

from sacofa import Certified, anonymize
from sacofa.events import open_log
from sacofa.report import make_report
from sacofa.report.attributes import describe_attributes


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
    round_ones = [f"{5 * i} – {5 * i + 5}" for i in range(20)]
    assert [bar.label for bar in amount.bars][:10] == round_ones[:10] and len(amount.bars) <= 13
    assert abs(sum(bar.share for bar in amount.bars) - 1) < 1e-9
    page = make_report(release, title="a release")
    assert 'id="attributes"' in page and "case:&lt;colour&gt;" in page and "<colour>" not in page
    plain = anonymize(open_log(path), Certified(epsilon=20, time=False), seed=1)
    assert 'id="attributes"' not in make_report(plain, title="a release")
