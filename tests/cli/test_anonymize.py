"""`sacofa anonymize`: what it releases, says and refuses."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

SACOFA = ["--mechanism", "sacofa", "--epsilon", "1", "--max-length", "6"]
LAPLACE = ["--mechanism", "laplace", "--epsilon", "1", "--max-length", "6", "--prune", "3"]


@pytest.mark.parametrize(
    "settings",
    [
        [*SACOFA, "--prune", "3"],
        [*SACOFA, "--prune-harmful", "20", "--prune-harmless", "2"],
        [*SACOFA, "--prune-harmful", "inf", "--prune-harmless", "1"],
        [*SACOFA, "--prune", "3", "--max-violations", "3"],
        [*SACOFA, "--prune", "3", "--keep-finished"],
        LAPLACE,
    ],
    ids=" ".join,
)
def test_every_way_to_ask_gives_a_release(
    run: Run, hospital: Path, tmp_path: Path, settings: list[str]
) -> None:
    """The log and its certificate are written, and the certificate is told in words."""
    ran = run("anonymize", hospital, "-o", tmp_path / "out.xes", *settings)
    assert ran.status == 0, ran.err
    assert "Released" in ran.out and "Protects" in ran.out and "Limits" in ran.out
    certificate = json.loads((tmp_path / "out.xes.certificate.json").read_text())
    assert certificate["mechanism"] == settings[1]
    assert {
        "epsilon",
        "protects",
        "spent",
        "assumptions",
        "not_promised",
        "settings",
        "version",
    } <= (set(certificate))
    assert certificate["epsilon"] == (None if settings[1] == "sacofa" else 6)


def test_rules_from_a_file_are_public(run: Run, hospital: Path, tmp_path: Path) -> None:
    """Rules of a public log: the price is finite and says where they come from."""
    assert run("rules", hospital, "-o", tmp_path / "rules.toml", "--public").status == 0
    ran = run(
        "anonymize", hospital, "-o", tmp_path / "out.csv", *SACOFA, "--prune", "3",
        "--rules", tmp_path / "rules.toml",
    )  # fmt: skip
    assert ran.status == 0, ran.err
    certificate = json.loads((tmp_path / "out.csv.certificate.json").read_text())
    assert certificate["epsilon"] == 6
    assert "mined from the public log hospital.csv" in str(certificate["assumptions"])


def test_rules_of_the_secret_log_promise_nothing(run: Run, hospital: Path, tmp_path: Path) -> None:
    """Written, read and given back: `certified` refuses them, `sacofa` names the leak."""
    rules = tmp_path / "rules.toml"
    assert run("rules", hospital, "-o", rules).status == 0
    asked = ["anonymize", hospital, "-o", tmp_path / "out.csv", "--rules", rules]
    ran = run(*asked, "--epsilon", "1")
    assert ran.status == 2 and ran.err.count("\n") == 1 and "must be public" in ran.err
    ran = run(*asked, *SACOFA, "--prune", "3")
    assert ran.status == 0 and "no finite ε" in ran.out and "Not protected" in ran.out


def test_rules_from_another_log_are_public(run: Run, hospital: Path, tmp_path: Path) -> None:
    """Rules learnt from a public log: the price is finite."""
    public = tmp_path / "public.csv"
    public.write_bytes(hospital.read_bytes())
    asked = ["anonymize", hospital, "-o", tmp_path / "out.csv", *SACOFA, "--prune", "3"]
    ran = run(*asked, "--rules-from", hospital)
    assert ran.status == 2 and "another log, one that is public" in ran.err
    ran = run(*asked, "--rules-from", public)
    assert ran.status == 0, ran.err
    assert "ε = 6" in ran.out


def test_a_seed_repeats_the_file_to_the_byte(run: Run, hospital: Path, tmp_path: Path) -> None:
    """The same seed gives the same bytes, in every format."""
    for suffix in (".xes", ".xes.gz", ".csv", ".parquet", ".json"):
        for name in ("a", "b"):
            target = tmp_path / (name + suffix)
            assert run("anonymize", hospital, "-o", target, *LAPLACE, "--seed", 7).status == 0
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        ([*LAPLACE[:2], "--max-length", "6", "--prune", "3"], 2, "--epsilon"),
        ([*SACOFA], 2, "prune"),
        (["--mechanism", "lapace", *LAPLACE[2:]], 2, 'Did you mean "laplace"?'),
        ([*LAPLACE, "--epsilon", "0"], 2, "epsilon"),
        ([*LAPLACE, "--epsilon", "-1"], 2, "epsilon"),
        ([*LAPLACE, "--epsilon", "a lot"], 2, "epsilon"),
        ([*LAPLACE, "--epsilon", "nan"], 2, "epsilon"),
        ([*LAPLACE, "--prune", "0"], 2, "prune"),
        ([*LAPLACE, "--max-length", "0"], 2, "--max-length"),
        ([*LAPLACE, "--max-length", "ten"], 2, "--max-length"),
        ([*LAPLACE, "--prune-harmful", "3"], 2, "laplace has no such setting"),
        ([*SACOFA, "--prune-harmless", "5", "--prune-harmful", "3"], 2, "--prune-harmless"),
        ([*SACOFA, "--prune", "3", "--prune-harmful", "3"], 2, "left out"),
        ([*SACOFA, "--prune", "3", "--max-violations", "0"], 2, "--max-violations"),
        ([*LAPLACE, "--case", "patient"], 1, "patient"),
        ([*LAPLACE, "--person", "doctor", "--max-cases", "2"], 1, "doctor"),
        ([*LAPLACE, "--max-cases", "2"], 2, "person"),
        ([*LAPLACE, "--nonsense"], 2, "nonsense"),
        (["--epsilon", "1", "--no-time", "--calendar", "2019-01/2023-12"], 2, "--calendar"),
        (["--epsilon", "1", "--no-time", "--granularity", "day"], 2, "--granularity"),
        (["--epsilon", "1", "--no-time", "--time-share", "1/3"], 2, "--time-share"),
        (["--epsilon", "1", "--attribute-share", "1/3"], 2, "--attribute-share"),
        (["--epsilon", "1", "--employees"], 2, "--employees"),
        (["--epsilon", "1", "--pair", "a,b"], 2, "--pair"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else None,
)
def test_a_wrong_call_is_one_line_and_writes_nothing(
    run: Run, hospital: Path, tmp_path: Path, arguments: list[str], status: int, says: str
) -> None:
    """One line on stderr, nothing on stdout, no file."""
    ran = run("anonymize", hospital, "-o", tmp_path / "out.csv", *arguments)
    assert (ran.status, ran.out) == (status, "")
    assert says in ran.err
    assert ran.err.count("\n") == 1 and "Traceback" not in ran.err
    assert [p.name for p in tmp_path.iterdir()] == ["hospital.csv"]


@pytest.mark.parametrize(
    ("name", "content", "status"),
    [
        ("missing.xes", None, 1),
        ("empty.xes", b"", 1),
        ("empty.csv", b"", 1),
        ("empty.parquet", b"", 1),
        ("not.xes", b"hello", 1),
        ("html.xes", b"<html><body/></html>", 1),
        ("broken.xes", b"<log><trace><event>", 1),
        ("truncated.xes.gz", gzip.compress(b"<log><trace/></log>" * 999)[:-20], 1),
        ("entity.xes", b'<!DOCTYPE log [<!ENTITY a "b">]><log><trace/></log>', 1),
        ("columns.csv", b"who,what\n1,a\n", 1),
        ("unknown.docx", b"x", 1),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_data_is_one_line_and_writes_nothing(
    run: Run, tmp_path: Path, name: str, content: bytes | None, status: int
) -> None:
    """What is wrong and where, on one line; exit status 1; no file."""
    log = tmp_path / name
    if content is not None:
        log.write_bytes(content)
    ran = run("anonymize", log, "-o", tmp_path / "out.csv", *LAPLACE)
    assert ran.status == status, ran.err
    assert name in ran.err
    assert ran.err.count("\n") == 1 and "Traceback" not in ran.err
    assert not (tmp_path / "out.csv").exists()
    assert len(list(tmp_path.iterdir())) == (0 if content is None else 1)


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("out.docx", "suffix"),
        ("no/where/out.csv", "folder"),
        (".", "folder"),
        ("hospital.csv", "--force"),
    ],
)
def test_a_target_that_cannot_be_is_refused(
    run: Run, hospital: Path, tmp_path: Path, target: str, says: str
) -> None:
    """Before the log is read, with exit status 2."""
    before = hospital.read_bytes()
    ran = run("anonymize", hospital, "-o", tmp_path / target, *LAPLACE)
    assert ran.status == 2, ran.err
    assert says in ran.err and ran.err.count("\n") == 1
    assert hospital.read_bytes() == before


def test_an_explosion_is_told_before_it_happens(run: Run, hospital: Path, tmp_path: Path) -> None:
    """The message says how large it would be and which threshold keeps it below the limit."""
    ran = run(
        "anonymize", hospital, "-o", tmp_path / "o.csv", "--mechanism", "laplace",
        "--epsilon", "0.001", "--max-length", "40", "--prune", "2", "--seed", "1",
    )  # fmt: skip
    assert ran.status == 1
    assert "limit" in ran.err and "threshold of" in ran.err


def test_the_demo_leaves_a_log_and_its_certificate(run: Run, tmp_path: Path) -> None:
    """The first command of the README: everything is there, and its place is said."""
    ran = run("demo", "-o", tmp_path / "demo")
    assert ran.status == 0, ran.err
    for file in (tmp_path / "demo").iterdir():
        assert file.stat().st_size and file.name in ran.out


@pytest.mark.parametrize("name", ["--accept-other", "--yes"])
def test_an_attribute_of_too_many_values_needs_consent(run: Run, tmp_path: Path, name: str) -> None:
    """Refused before anything is written, and released as "other" with either name."""
    log, out = tmp_path / "log.csv", tmp_path / "out.csv"
    rows = "".join(f"{i},a,x{i:x}\n" for i in range(300))
    log.write_text(f"case,activity,what\n{rows}", encoding="utf-8")
    asked = ["anonymize", log, "-o", out, "--epsilon", "1", "--attribute", "what"]
    ran = run(*asked)
    assert ran.status == 1 and ran.err.count("\n") == 1 and "--accept-other" in ran.err
    assert not out.exists()
    ran = run(*asked, name)
    assert ran.status == 0, ran.err
    with out.open(encoding="utf-8", newline="") as file:
        assert {row["what"] for row in csv.DictReader(file)} == {"other"}
