"""All readers agree on the paper's logs, and refuse what is no log."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sacofa.errors import ColumnsError, MissingExtraError, ReadError, SettingError
from sacofa.events import count_variants, open_log
from sacofa.kernel.variants import VariantCounts

SIZES = {
    "receipt": (8_577, 27, 1_434, 116),
    "sepsis": (15_214, 16, 1_050, 846),
    "traffic_fines": (561_470, 11, 150_370, 231),
}


@pytest.mark.parametrize("name", SIZES)
def test_the_papers_logs_from_xes_and_parquet_alike(
    name: str, logs: Path, from_xes: Callable[[str], VariantCounts]
) -> None:
    """Both files of a log give the same variants, and the numbers that the paper gives."""
    xes = from_xes(name)
    assert (xes.events, len(xes.activities), xes.cases, len(xes)) == SIZES[name]
    assert count_variants(str(logs / f"{name}.parquet")) == xes


@pytest.mark.parametrize("name", ["log", "log.doc", "log.xess", "log.gz", "log.parquet.zip"])
def test_unknown_suffixes(name: str, tmp_path: Path) -> None:
    """A file of an unknown kind is refused before it is opened; one that is not there, as such."""
    with pytest.raises(ReadError, match="there is no such file"):
        open_log(tmp_path / name)
    (tmp_path / name).touch()
    with pytest.raises(ReadError, match="unknown suffix"):
        open_log(tmp_path / name)


@pytest.mark.parametrize("suffix", ["xes", "xes.gz", "csv", "tsv.gz", "parquet", "json"])
def test_missing_and_empty_files(suffix: str, tmp_path: Path) -> None:
    """A file that is not there and one with nothing in it are reported as such."""
    path = tmp_path / f"log.{suffix}"
    with pytest.raises(ReadError, match="no such file"):
        open_log(path)
    path.touch()
    with pytest.raises(ReadError, match=r"empty|too small"):
        count_variants(path)


def test_settings_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    """A wrong setting is found even though the file is missing."""
    for wrong in (
        {"order": "size"}, {"max_cases": 0, "person": "p"}, {"max_cases": 2}, {"person": "p"},
        {"format": "xml"}, {"activity": ["a", "a"]},
    ):  # fmt: skip
        with pytest.raises(SettingError):
            open_log(tmp_path / "missing.csv", **wrong)


def test_the_suffix_can_be_overruled(tmp_path: Path) -> None:
    """A file with another name is read as what it is said to be."""
    path = tmp_path / "export.txt"
    path.write_text("case,activity\n1,a\n")
    assert count_variants(open_log(path, format="csv")).cases == 1


def test_missing_columns_are_listed(logs: Path) -> None:
    """The message says what is there and what to do, for tables and for XES."""
    with pytest.raises(ColumnsError, match=r'"cas_id".*Did you mean "case_id"'):
        open_log(logs / "receipt.parquet", case="cas_id")
    with pytest.raises(ColumnsError, match="lifecycle:transition"):
        open_log(logs / "receipt.xes.gz", activity="transition")


def test_a_namespace_with_braces_is_refused(tmp_path: Path) -> None:
    """A namespace that is no address is one clear line."""
    path = tmp_path / "log.xes"
    path.write_text(
        '<log xmlns="http://a}{b/"><trace><event>'
        '<string key="concept:name" value="a"/></event></trace></log>'
    )
    with pytest.raises(ReadError, match="not a valid URI"):
        count_variants(open_log(path))


@pytest.mark.parametrize(
    ("module", "extra", "source", "settings"),
    [
        ("pyspark.sql", "spark", "log.csv", {"engine": "spark"}),
        ("psycopg", "postgres", "postgresql://localhost/x", {"query": "select 1 order by 1"}),
    ],
)
def test_an_engine_that_is_not_installed_says_how(
    module: str,
    extra: str,
    source: str,
    settings: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A missing engine names the extra that brings it, and exits as a wrong call."""
    for name in [name for name in sys.modules if name.startswith("sacofa.events.spark")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / "log.csv").write_text("case,activity\n1,a\n")
    with pytest.raises(MissingExtraError, match=rf"sacofa\[{extra}\]") as caught:
        open_log(source if "://" in source else tmp_path / source, **settings)  # type: ignore[arg-type]
    assert caught.value.exit_status == 2
