"""A table of figures says what the release holds, each with its ±, in every format the same."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from sacofa import Certified, anonymize, examples
from sacofa.events.csv_injection import unescape_formula
from sacofa.kernel.accounting import Spend
from sacofa.kernel.variants import VariantCounts
from sacofa.release.anonymize import Release
from sacofa.report import ReleasedFigure, list_figures, write_figures
from sacofa.report.figures import COLUMNS
from sacofa.report.flow import variant_margin
from sacofa.report.promise import margins_of
from sacofa.synthesis.margins import Margins, ShareMargin
from sacofa.synthesis.released import ReleasedColumn

from .releases import HOSTILE, hospital, leaking, of, timed, with_parts


def with_attribute() -> Release:
    """Two cases with a value that a spreadsheet would compute."""
    column = ReleasedColumn(
        name="ward", of_case=True, kind="string", texts=("=1+1", "b"), codes=np.array([0, 1])
    )
    spend = Spend(what="attribute case:ward: how often each value", amount=Fraction(1))
    return with_parts(of(VariantCounts.of({("a",): 2}), spend), columns=(column,))


RELEASES = {
    "hospital": hospital(seed=1),
    "certified": anonymize(examples.hospital(400), Certified(epsilon=1), seed=1),
    "times": timed(),
    "attribute": with_attribute(),
    "no promise": leaking(),
    "cut and empty": of(VariantCounts.of({(): 3, HOSTILE: 2}, truncated={("a, b",): 4})),
    "nothing": of(VariantCounts.of({})),
}


def read_csv(path: Path) -> list[dict[str, Any]]:
    """Read a table back as figures are."""
    kinds = {"BIGINT": int, "DOUBLE": float, "BOOLEAN": "true".__eq__, "VARCHAR": unescape_formula}
    kinds["VARCHAR[]"] = lambda text: tuple(json.loads(text))
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {key: kinds[COLUMNS[key]](text) if text else None for key, text in row.items()}
            for row in csv.DictReader(file)
        ]


def read_parquet(path: Path) -> list[dict[str, Any]]:
    """The same of Parquet."""
    rows = duckdb.sql(f"SELECT * FROM '{path}'").fetchall()
    return [
        {key: tuple(v) if isinstance(v, list) else v for key, v in zip(COLUMNS, row, strict=True)}
        for row in rows
    ]


def read_json(path: Path) -> list[dict[str, Any]]:
    """The same of JSON, where what is missing is left out."""
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["format"] == "sacofa-figures-2"
    return [
        {
            key: tuple(one[key]) if key == "activities" and key in one else one.get(key)
            for key in COLUMNS
        }
        for one in content["figures"]
    ]


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("read", [read_csv, read_parquet, read_json])
def test_every_format_holds_the_figures(name: str, read: Any, tmp_path: Path) -> None:
    """What is written can be read back exactly, whatever characters names are of."""
    path = tmp_path / f"figures.{read.__name__.removeprefix('read_')}"
    write_figures(RELEASES[name], path)
    found = [ReleasedFigure(**row) for row in read(path)]
    assert found == list_figures(RELEASES[name])


def test_figures_are_those_of_the_release() -> None:
    """Variants, events and steps add up, and each has its own margin."""
    release = RELEASES["certified"]
    figures, margins = list_figures(release), margins_of(release)
    counts = {
        kind: [one.count for one in figures if one.kind == kind]
        for kind in ("cases", "variant", "activity", "step")
    }
    variants = release.variants
    assert sum(counts["variant"]) == counts["cases"][0] == variants.cases
    assert sum(counts["activity"]) == variants.events
    # One step more than events in each case that was not cut.
    complete = int(variants.counts[variants.complete].sum())
    assert sum(counts["step"]) == variants.events + complete
    for kind in ("variant", "activity", "step"):
        shares = [one.share for one in figures if one.kind == kind]
        assert sum(shares) == pytest.approx(1)
        assert counts[kind] == sorted(counts[kind], reverse=True)
    for figure in figures:
        assert figure.activities is None or figure.count is None or figure.count_margin
        assert figure.below_margin == (figure.count <= figure.count_margin)
        if figure.kind == "step":
            assert figure.count_margin == margins.steps[figure.activities]
        if figure.kind == "activity":
            assert figure.count_margin == margins.activities[figure.activities[0]]
        if figure.kind == "variant":
            margin = variant_margin(margins, figure.activities, figure.finished, figure.count)
            assert figure.count_margin == margin
            assert figure.share_margin == pytest.approx(min(margin / variants.cases, 1))
    assert {figure.below_margin for figure in figures if figure.kind == "variant"} == {True, False}


def test_values_of_attributes_have_theirs() -> None:
    """As the certificate states: values that stand together have the noise of all of them."""
    release = with_attribute()
    margin = ShareMargin(fixed=0.3, slope=0.5)
    stated = Margins(attributes={"case:ward": margin})
    release = replace(release, certificate=replace(release.certificate, margins=stated))
    first, second = [one for one in list_figures(release) if one.kind == "attribute"]
    assert (first.name, first.value, first.share) == ("case:ward", "=1+1", 0.5)
    assert first.share_margin == second.share_margin == margin.of(0.5) == pytest.approx(0.34**0.5)
    assert first.below_margin
    assert margin.of(0.5, values=12) == 1.0


def test_without_a_promise_nothing_is_said_about_noise() -> None:
    """Counts are there, ± are not."""
    figures = list_figures(RELEASES["no promise"])
    assert figures and all(
        one.count_margin is one.share_margin is None and not one.below_margin for one in figures
    )
