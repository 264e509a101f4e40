"""The recipes of CONTRIBUTING work: done as they stand there, in a copy of the package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .pages import ROOT, blocks

PAGE = ROOT / "CONTRIBUTING.md"
CHECK_LAW = """
import numpy as np
from sacofa import VariantCounts
from sacofa_starts.query import Starts
names = ["a", "b"]
log = {("a", "b"): 3, (): 2, ("b",): 1}
before = Starts(2).table(VariantCounts.of(log, names))
assert before.tolist() == [3, 1]
for case in ((), ("a",), ("b", "a"), ("a", "b")):
    after = Starts(2).table(VariantCounts.of({**log, case: log.get(case, 0) + 1}, names))
    assert np.abs(after - before).sum() <= Starts(2).sensitivity
"""

CHECK_RULE = """
from itertools import product

import numpy as np
from sacofa import Rules, Sacofa, anonymize
from sacofa.examples import hospital_model, running_example
from sacofa.rules import (
    ModelOptions, learn_rules, read_model, read_rules, scorer_of, show_rules, write_rules,
)
log = running_example()
learned = learn_rules(log, "public")
assert [a for a, end in zip(log.activities, learned.ends) if end] == ["Release"]
write_rules(learned, "ends.toml", force=True)
assert read_rules("ends.toml") == learned
assert "A case ends with Release." in show_rules(learned)
assert learned.project_onto(["Lunch", "Release"]).ends.tolist() == [True, True]
from pathlib import Path
Path("ward.bpmn").write_bytes(hospital_model())
model = read_model("ward.bpmn").rules(ModelOptions(source="public"))
assert 0 < model.ends.sum() < len(model.ends)
scorer = scorer_of(learned)
names = range(len(log.activities))
for length in range(4):
    for prefix in product(names, repeat=length):
        state, fine = np.array([scorer.start()]), True
        for step in prefix:
            fine = fine and scorer.harmless(state)[0, step]
            state = scorer.step(state, np.array([step]))
        assert fine == (not scorer.violations(prefix, False)), prefix
        ends = fine and scorer.harmless(state)[0, -1]
        assert ends == (not scorer.violations(prefix, True)), prefix
assert all(not scorer.violations(variant, True) for variant in log.sequences())
for wanted in ("Release", "Surgery"):
    mechanism = Sacofa(
        level_epsilon=2, max_length=6, prune_harmless=2, prune_harmful=1000, prune_finished=True,
        rules=Rules(
            activities=log.activities, ends=np.isin(log.activities, [wanted]), source="public"
        ),
    )
    released = anonymize(log, mechanism, seed=1).variants
    ended = {v[-1] for (v, _), done in zip(released, released.complete, strict=True) if done}
    assert ended <= {wanted}, ended
    assert ended or wanted == "Surgery"
"""


def recipe(start: str) -> str:
    """The file of a recipe, by its first words."""
    texts = [block.text for block in blocks(PAGE.read_text(encoding="utf-8"))]
    (found,) = [text for text in texts if text.startswith((start, f'"""{start}'))]
    return found


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with a new kind of rule, and beside it another package, installed."""
    source = tmp_path_factory.mktemp("copy")
    package = source / "sacofa"
    shutil.copytree(ROOT / "src" / "sacofa", package, ignore=shutil.ignore_patterns("__pycache__"))
    other = source / "sacofa_starts"
    other.mkdir()
    (other / "__init__.py").touch()
    (other / "query.py").write_text(recipe("How many"), encoding="utf-8")
    (other / "mechanism.py").write_text(recipe("The mechanism"), encoding="utf-8")
    (other / "hour.py").write_text(recipe("Times of day"), encoding="utf-8")
    (other / "json_lines.py").write_text(recipe("Released events as JSON"), encoding="utf-8")
    (other / "pipes.py").write_text(recipe("Reads logs of machines"), encoding="utf-8")
    # What an installer makes of the package: its metadata, beside its modules.
    installed = source / "sacofa_starts-1.0.dist-info"
    installed.mkdir()
    metadata = "Metadata-Version: 2.1\nName: sacofa-starts\nVersion: 1.0\n"
    (installed / "METADATA").write_text(metadata, encoding="utf-8")
    # As an installer writes it, but for the quotation marks.
    groups = ("mechanisms", "readers", "exports", "attributes")
    entries = "".join(recipe(f'[project.entry-points."sacofa.{group}') for group in groups)
    entries = entries.replace("project.entry-points.", "").replace('"', "")
    (installed / "entry_points.txt").write_text(entries, encoding="utf-8")
    ends = recipe("The activities that may end")
    (package / "rules" / "ends.py").write_text(ends, encoding="utf-8")
    add_rule(package / "rules" / "rules.py")
    return source


def add_rule(path: Path) -> None:
    """Add the field of the recipe."""
    text = path.read_text(encoding="utf-8")
    for before, after in (
        ("from .kinds import", "from .ends import ENDS\nfrom .kinds import"),
        ("    empty: bool = True\n", "    ends: Bools = rule(ENDS)\n    empty: bool = True\n"),
    ):
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")


def run(copy: Path, *command: object) -> str:
    """Run Python on the copy; what it printed."""
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy), "COLUMNS": "200"},
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_query_keeps_its_law(copy: Path) -> None:
    """One case more changes the table by at most its sensitivity."""
    run(copy, "-c", CHECK_LAW)


def test_the_rule_judges_steps_as_it_counts_violations(copy: Path) -> None:
    """And a mechanism releases nothing finished that breaks it."""
    run(copy, "-c", CHECK_RULE)


def test_the_mechanism_releases_and_certifies(copy: Path) -> None:
    """Its release has a certificate that adds up, and what the program shows is built from it."""
    rows = [f"{i},{'ab'[i % 3 == 0]},2020-01-01" for i in range(300)]
    (copy / "log.csv").write_text("case,activity,time\n" + "\n".join(rows), encoding="utf-8")
    settings = ("--mechanism", "starts", "--epsilon", "1/2", "--least", "20")
    run(copy, "-m", "sacofa", "anonymize", "log.csv", "-o", "out.json", *settings)
    run(copy, "-m", "sacofa", "verify", "out.json")
    certificate = json.loads((copy / "out.json.certificate.json").read_text(encoding="utf-8"))
    assert certificate["mechanism"] == "starts"
    assert certificate["epsilon_exact"] == "1/2"
    assert certificate["settings"] == {"epsilon": "1/2", "least": 20}
    released = json.loads((copy / "out.json").read_text(encoding="utf-8"))
    assert {tuple(entry["activities"]) for entry in released["variants"]} == {("a",), ("b",)}


def test_help_tells_of_the_mechanism(copy: Path) -> None:
    """Its name and its settings, with their docstrings, are options."""
    shown = run(copy, "-m", "sacofa", "anonymize", "--help")
    assert "certified, sacofa, laplace, starts" in shown
    assert "--least" in shown
    assert "Activities that fewer cases begin with" in shown


def test_the_audit_knows_the_mechanism(copy: Path) -> None:
    """Attacked through its query, by one who knows both logs: not refuted, and much is seen."""
    arguments = ("--mechanism", "starts", "--epsilon", "1", "--runs", "2000", "--workers", "1")
    shown = run(copy, "-m", "sacofa", "audit", *arguments, "--seed", "1", "--json")
    found = json.loads(shown)
    assert not found["refuted"]
    seen = [entry["certified"] for entry in found["findings"] if entry["view"] == "transcript"]
    assert max(seen) > 0.5


CHECK_KIND = """
from sacofa import read_release
from sacofa.base.domains import attribute_kinds
from sacofa.report.attributes import describe_attributes
(hour,) = [kind for kind in attribute_kinds() if kind.name == "hour"]
domain = hour.public
for value in range(domain.values):
    assert all(domain.cell(domain.sample(value, step / 10)) == value for step in range(11))
for name in ("found.csv", "declared.csv"):
    release = read_release(name)
    (column,) = release.columns
    hours = [int(text[:2]) for text in column.texts for _ in range((column.codes >= 0).sum())]
    assert {text[3:] for text in column.texts} <= {"00", "15", "30", "45"}
    assert column.texts and all(domain.cell(text) in range(24) for text in column.texts)
    (view,) = describe_attributes(release)
    assert view.bars[0].share > 0
"""


def test_the_kind_of_attribute_is_declared_recognized_and_released(copy: Path) -> None:
    """From a columns file and from the texts of a log, with words in the certificate."""
    rows = [f"{i},a,2020-01-01,{8 + i % 3:02}:{i % 60:02}" for i in range(600)]
    text = "case,activity,time,case:begin\n" + "\n".join(rows)
    (copy / "clocks.csv").write_text(text, encoding="utf-8")
    (copy / "columns.toml").write_text('[attributes."case:begin"]\ntype = "hour"\n')
    ask = ("clocks.csv", "--attribute", "case:begin", "--epsilon=4", "--seed=1")
    shown = run(copy, "-m", "sacofa", "anonymize", *ask, "-o", "found.csv")
    declared = ("-o", "declared.csv", "--columns", "columns.toml")
    shown += run(copy, "-m", "sacofa", "anonymize", *ask, *declared)
    certificates = [
        (copy / f"{name}.csv.certificate.json").read_text(encoding="utf-8")
        for name in ("found", "declared")
    ]
    assert "That case:begin is a time of day is public" in certificates[0]
    assert "The values of case:begin are public: the hours of a day" in certificates[1]
    run(copy, "-c", CHECK_KIND)
    (copy / "wrong.toml").write_text('[attributes.begin]\ntype = "hours"\n')
    check = "from sacofa.events.columns_file import read_columns as r; r('wrong.toml')"
    wrong = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, cwd=copy, check=False,
        env={**os.environ, "PYTHONPATH": str(copy)},
    )  # fmt: skip
    assert 'Did you mean "hour"' in wrong.stderr


CHECK_FORMAT = """
from sacofa import read_release
from sacofa.release import publish
from sacofa.release.formats import FORMATS
from sacofa.web.worker import FILES
from sacofa.web.app import TEMPLATES
assert read_release("flow.jsonl").log == read_release("flow.parquet").log
assert "log.jsonl" in FILES and "log.jsonl.zip" in FILES
page = TEMPLATES.get_template("job.html.j2").render(written=FORMATS, csrf="", loopback=True)
assert '<option value=".jsonl">JSON lines</option>' in page
"""


def test_the_format_is_written_verified_read_and_offered(copy: Path) -> None:
    """By the command line, in its help and errors, from Python, and in the web app."""
    rows = [f"{i},{'ab'[i % 3 == 0]},2020-01-{1 + i % 28:02}" for i in range(300)]
    (copy / "log.csv").write_text("case,activity,time\n" + "\n".join(rows), encoding="utf-8")
    for name in ("flow.jsonl", "flow.parquet"):
        run(copy, "-m", "sacofa", "anonymize", "log.csv", "-o", name, "--epsilon=1", "--seed=1")
    run(copy, "-m", "sacofa", "verify", "flow.jsonl")
    first = json.loads((copy / "flow.jsonl").read_text(encoding="utf-8").partition("\n")[0])
    assert first["case:concept:name"] == "1" and first["sacofa:time"] == "private"
    assert ".json or .jsonl" in run(copy, "-m", "sacofa", "anonymize", "--help")
    pytest.importorskip("fastapi", reason="pip install 'sacofa[web]'")
    run(copy, "-c", CHECK_FORMAT)


def test_the_format_keeps_the_law_of_formats(copy: Path) -> None:
    """The tests of all formats try it because it is in the list."""
    tests = ROOT / "tests" / "release" / "formats" / "test_formats.py"
    law = "test_a_log_that_is_read_back_is_the_one_that_was_written"
    assert "1 passed" in run(
        copy, "-m", "pytest", "-p", "no:cacheprovider", f"{tests}::{law}[.jsonl]"
    )


CHECK_READER = """
import gzip
from pathlib import Path
from sacofa import count_variants
from sacofa.errors import ReadError
from sacofa.events import open_log
lines = ["1|b|2020-01-02", "2|a|2020-01-01", "1|a|2020-01-01", "", "3|c|soon"]
Path("log.pipes").write_text("\\n".join(lines), encoding="utf-8")
counted = count_variants("log.pipes")
assert dict(counted) == {("a",): 1, ("a", "b"): 1, ("c",): 1}, dict(counted)
Path("packed.pipes.gz").write_bytes(gzip.compress(Path("log.pipes").read_bytes()))
assert count_variants("packed.pipes.gz") == counted
assert count_variants(open_log("log.pipes", order="file", format="pipes")).cases == 3
for wrong in ({"encoding": "utf-8"}, {"period": "2020"}, {"engine": "spark"}):
    try:
        open_log("log.pipes", **wrong)
    except Exception as error:
        assert "left out for pipes" in str(error), error
    else:
        raise AssertionError(wrong)
Path("log.pipes").write_text("1|b", encoding="utf-8")
try:
    count_variants("log.pipes")
except ReadError as error:
    assert "line 1 has 2 cells" in str(error)
else:
    raise AssertionError
"""


def test_the_reader_is_found_by_its_suffix(copy: Path) -> None:
    """Its rows are read like those of a table, and options that it does not have are refused."""
    run(copy, "-c", CHECK_READER)
    lines = [f"{i}|{'ab'[i % 3 == 0]}|2020-01-01" for i in range(300)]
    (copy / "log.pipes").write_text("\n".join(lines), encoding="utf-8")
    run(copy, "-m", "sacofa", "anonymize", "log.pipes", "-o", "piped.csv", "--epsilon=1")
    run(copy, "-m", "sacofa", "verify", "piped.csv")
