"""Mechanisms are compared on a log, over processes, into a folder."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sacofa.errors import SettingError
from sacofa.evaluate.comparison import FIGURES, Comparison, compare, default_prune
from sacofa.evaluate.evaluate import read_measured
from sacofa.evaluate.experiment import Execution, Performer, Progress, carry_out
from sacofa.evaluate.runs import RunTable, Summary, digest_of
from sacofa.events import open_log
from sacofa.kernel.cases import Cases
from sacofa.kernel.variants import VariantCounts
from tests.synthesis.times.releases import office

LOG = VariantCounts.of(
    {
        ("Register", "Triage", "Surgery", "Release"): 200,
        ("Register", "Triage", "Surgery", "Antibiotics", "Release"): 120,
        ("Register", "Triage", "Antibiotics", "Release"): 60,
        ("Register",) * 9: 1,
    }
)
SMALL = Comparison(mechanisms=["sacofa", "laplace"], epsilons=["1"], repeat=2)


def noting(steps: list[tuple[int, int]], workers: int) -> Execution:
    """Keep the progress in a list."""
    progress: Progress = lambda done, total: steps.append((done, total))  # noqa: E731
    return Execution(workers=workers, progress=progress)


def test_a_comparison_is_written_and_taken_up_again(tmp_path: Path) -> None:
    """Rows, figures and README; a second time, only what is missing is run."""
    steps: list[tuple[int, int]] = []
    rows = compare(LOG, SMALL, tmp_path, execution=noting(steps, workers=2))
    assert len(rows) == 2 + 2 * 2
    assert steps[0] == (0, 6)
    assert steps[-1] == (6, 6)
    assert {row.status for row in rows} == {"done"}
    assert len({row.seed for row in rows}) == 6
    names = {path.name for path in tmp_path.iterdir()}
    figures = {f"{m}.{kind}" for m in FIGURES
               for kind in ("svg", "png")}  # fmt: skip
    assert names == {"runs.csv", "README.md", *figures}
    text = (tmp_path / "README.md").read_text()
    assert "**Confidential.**" in text

    path = tmp_path / "runs.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-2]))
    steps.clear()
    again = compare(LOG, SMALL, tmp_path, execution=noting(steps, workers=1))
    assert steps == [(4, 6), (5, 6), (6, 6)]
    untimed = ("release_seconds", "measure_seconds")
    assert _without(again, *untimed) == _without(rows, *untimed)
    assert (tmp_path / "README.md").read_text() == text


def test_the_price_is_the_certificate_s() -> None:
    """laplace spends ε a level, certified once; with rules read off the log no ε holds."""
    comparison = Comparison(
        mechanisms=["laplace", "sacofa", "certified"], epsilons=["0.1"], repeat=1, max_length=5
    )
    perform = Performer({"log": LOG})
    spent = {run.series: perform(run).spent for run in comparison.runs("log", LOG)}
    assert spent.pop("sampling limit") is None
    assert spent == {"original": None, "laplace": 0.5, "sacofa": float("inf"), "certified": 0.1}


def test_a_release_that_would_explode_is_told() -> None:
    """The mechanism refuses, and the row says why."""
    log = VariantCounts.of({tuple(f"{i:03}" for i in range(200)): 1000})
    huge = Comparison(mechanisms=["laplace"], epsilons=["0.001"], repeat=1, max_length=4, prune=1)
    row = Performer({"log": log})(huge.runs("log", log)[2])
    assert row.status == "refused"
    assert "prefixes" in row.note
    assert not row.measures


def test_a_run_that_is_too_slow_is_told(tmp_path: Path) -> None:
    """A timeout is a row, and is not tried again."""
    runs = Comparison(mechanisms=["laplace"], epsilons=["1"], repeat=1).runs("log", LOG)
    table = RunTable(tmp_path / "runs.csv")
    rows = carry_out(runs, {"log": LOG}, table, Execution(workers=1, time_limit=0.001))
    assert [row.status for row in rows] == ["timeout"] * 3
    assert carry_out(runs, {"log": LOG}, table, Execution(workers=1)) == rows


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mechanisms": ["sacova"]}, "Did you mean"),
        ({"mechanisms": []}, "mechanisms"),
        ({"epsilons": ["0"]}, "epsilon"),
        ({"epsilons": ["1", "1"]}, "epsilons"),
        ({"epsilons": ["one"]}, "epsilon"),
        ({"repeat": 0}, "repeat"),
        ({"max_length": -1}, "max_length"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], message: str) -> None:
    """Refused before any log is read."""
    with pytest.raises(SettingError, match=message):
        Comparison(**{"mechanisms": ["sacofa"], "epsilons": ["1"], **settings})


def test_defaults_follow_the_log_and_the_price() -> None:
    """Lengths that 95 % of the cases do not exceed; thresholds 2.5 times the noise's scale."""
    run = SMALL.runs("log", LOG)[2]
    assert json.loads(run.settings)["max_length"] == 5
    assert [default_prune(Fraction(e)) for e in ("1", "0.1", "0.01", "10")] == [3, 25, 250, 2]


def test_another_log_of_the_same_name_is_not_taken_for_it(tmp_path: Path) -> None:
    """Rows of the old log stay in the table and out of the result."""
    once = Comparison(mechanisms=["laplace"], epsilons=["1"], repeat=1, max_length=3)
    table = RunTable(tmp_path / "runs.csv")
    other = VariantCounts.of({("a", "b"): 50})
    for log in (LOG, other):
        rows = carry_out(
            once.runs("log", log), {"log": log}, table, Execution(workers=1, time_limit=0.001)
        )
        assert {row.digest for row in rows} == {digest_of(log)}
    assert len(table.rows()) == 6


def test_an_empty_log_is_refused(tmp_path: Path) -> None:
    """There is nothing to measure with."""
    with pytest.raises(SettingError, match="at least one case"):
        compare(VariantCounts.of({}), SMALL, tmp_path)


def _without(rows: list[Any], *names: str) -> list[dict[str, Any]]:
    left = [{k: v for k, v in vars(row).items() if k not in names} for row in rows]
    return sorted(left, key=lambda row: row["seed"])


def test_times_are_compared_where_a_mechanism_releases_them() -> None:
    """Their limit stands beside them; mechanisms without times have no such figures."""
    log = office(300)
    timed = Cases(variants=log.variants(), by_case=log)
    once = Comparison(mechanisms=["certified", "laplace"], epsilons=["1"], repeat=1)
    perform = Performer({"log": timed})
    rows = {run.series: perform(run) for run in once.runs("log", log.variants())}
    for series in ("original", "sampling limit", "certified"):
        assert {"waits", "cycle_time", "bottlenecks"} <= set(rows[series].measures)
    assert "waits" not in rows["laplace"].measures
    assert rows["original"].measures["cycle_time"] == 0
    assert rows["original"].digest != digest_of(log.variants())
    shown = next(Summary(list(rows.values())).table())
    assert "Bottlenecks" in shown


def test_attributes_are_compared_where_a_mechanism_releases_them(tmp_path: Path) -> None:
    """With times or without; mechanisms that release none are run without, and have no figures."""
    path = tmp_path / "log.csv"
    rows = [f"{i},{step},{'xxy'[i % 3]},{i % 2}" for i in range(200) for step in "ab"]
    path.write_text("\n".join(["case,activity,case:kind,paid", *rows]))
    cases = read_measured(open_log(path, attribute=("case:kind", "paid"), pair=("kind,paid",)))
    once = Comparison(mechanisms=["certified", "laplace"], epsilons=["20"], repeat=1)
    perform = Performer({"log": cases})
    log = cases.variants
    assert isinstance(log, VariantCounts)
    measured = {run.series: perform(run).measures for run in once.runs("log", log)}
    names = {"values", "values_by_activity", "value_pairs"}
    for series in ("original", "certified"):
        assert names <= set(measured[series])
    assert measured["original"]["values"] == 0 and measured["certified"]["values"] < 0.05
    assert not names & set(measured["laplace"])
    assert digest_of(cases) != digest_of(log)
