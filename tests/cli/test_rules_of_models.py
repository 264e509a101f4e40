"""`sacofa rules --from-model`, `--match` and `--show`, and `anonymize --rules MODEL`."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree

from sacofa.cli import main
from sacofa.errors import RulesError
from sacofa.examples import hospital, hospital_model
from sacofa.rules import ModelOptions, Stated, read_model, read_rules, scorer_of
from tests.written import write_variants

FILES = Path(__file__).parents[1] / "rules" / "models" / "files"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The embedded model."""
    path = tmp_path / "hospital.bpmn"
    path.write_bytes(hospital_model())
    return path


@pytest.fixture
def names(tmp_path: Path) -> Path:
    """The names of the embedded log, and one more."""
    path = tmp_path / "activities.txt"
    path.write_text("\n".join([*hospital().activities, "Lunch"]))
    return path


def run(*arguments: object) -> int:
    """Call the program and give its exit status."""
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    return int(left.value.code or 0)


def test_rules_of_a_model_are_written(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file holds them, with the source that was given; notes go to stderr."""
    target = tmp_path / "rules.toml"
    source = "the ward's manual of 2025"
    assert run("rules", "--from-model", model, "-o", target, "--source", source) == 0
    expected = read_model(model).rules(ModelOptions(source=source))
    assert source in str(expected.source)
    assert read_rules(target) == replace(expected, source=Stated(str(expected.source)))
    said = capsys.readouterr()
    assert "16 activities" in said.out
    assert "share a name" in said.err and "assumed" not in said.err


def test_what_is_assumed_of_a_model_without_source_is_said(
    model: Path, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """To the person, and to whoever reads the certificate."""
    released = tmp_path / "released.json"
    release = ("anonymize", log, "-o", released, "--epsilon", "1", "--rules", model)
    for call in (("rules", "--from-model", model, "-o", tmp_path / "rules.toml"), release):
        assert run(*call) == 0
        assert "it is assumed to be public" in capsys.readouterr().err
    certificate = tmp_path / "released.json.certificate.json"
    assert "hospital.bpmn (assumed to be public" in certificate.read_text()
    assert run(*release, "--source", "the ward's manual", "--force") == 0
    assert "assumed to be public" not in capsys.readouterr().err
    assert "hospital.bpmn (the ward's manual)" in certificate.read_text()


@pytest.mark.parametrize("name", ["prom.pnml", "rum.decl", "signavio.bpmn"])
def test_models_of_every_kind(name: str, tmp_path: Path) -> None:
    """By what the name of the file ends with."""
    target = tmp_path / "rules.toml"
    assert run("rules", "--from-model", FILES / name, "-o", target) == 0
    expected = read_model(FILES / name).rules()
    assert read_rules(target) == replace(expected, source=Stated(str(expected.source)))


def test_a_closed_model(model: Path, names: Path, tmp_path: Path) -> None:
    """What it lacks never happens."""
    target = tmp_path / "rules.toml"
    call = ("rules", "--from-model", model, "-o", target, "--activities", names, "--closed")
    assert run(*call) == 0
    rules = read_rules(target)
    assert rules.never_follows[:, rules.activities.index("Lunch")].all()


def test_names_are_matched_from_the_declared_list(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Proposed, edited, given back; an unmatched name is an error that names it."""
    declared = tmp_path / "declared.txt"
    declared.write_text("\n".join(f"ER {name.lower()}" for name in hospital().activities[:-1]))
    target, rules = tmp_path / "names.toml", tmp_path / "rules.toml"
    match = ("rules", "--from-model", model, "--activities", declared, "-o", target)
    assert run(*match[:-2], "-o", rules) == 1
    assert "is not among the declared activities" in capsys.readouterr().err
    assert run(*match, "--match") == 0
    assert "1 names without one" in capsys.readouterr().out
    call = (*match[:-2], "--names", target, "-o", rules)
    assert run(*call) == 1
    assert "has no pair yet" in capsys.readouterr().err
    target.write_text(target.read_text().replace('"?"', '""'))
    assert run(*call) == 0
    assert set(read_rules(rules).activities) == set(declared.read_text().splitlines())


def test_rules_are_shown_as_text_and_picture(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a model and of a rules file alike."""
    pytest.importorskip("pygraphviz", reason="pip install 'sacofa[map]'")
    rules = tmp_path / "rules.toml"
    assert run("rules", "--from-model", model, "-o", rules) == 0
    capsys.readouterr()
    told = []
    for file in (model, rules):
        assert run("rules", file, "--show") == 0
        told.append(capsys.readouterr().out)
        picture = tmp_path / f"{file.suffix[1:]}.svg"
        assert run("rules", file, "--show", "-o", picture) == 0
        capsys.readouterr()
        text = "".join(etree.parse(picture).getroot().itertext())
        assert all(name in text for name in hospital().activities)
    assert told[0] == told[1]
    assert "A case begins with Ambulance or Register." in told[0]


def test_a_name_is_only_text_in_a_picture(tmp_path: Path) -> None:
    """Whatever it holds."""
    pytest.importorskip("pygraphviz", reason="pip install 'sacofa[map]'")
    rules, picture = tmp_path / "rules.toml", tmp_path / "rules.svg"
    rules.write_text('activities = ["<script>alert(1)</script>", "a&b", "\\u0001"]\n')
    assert run("rules", rules, "--show", "-o", picture) == 0
    root = etree.parse(picture).getroot()
    assert not [part for part in root.iter() if "script" in str(part.tag)]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["rules"], 2),
        (["rules", "--from-model", "hospital.bpmn"], 2),
        (["rules", "log.csv", "--from-model", "hospital.bpmn", "-o", "r.toml"], 2),
        (["rules", "--from-model", "missing.bpmn", "-o", "r.toml"], 1),
        (["rules", "--from-model", "hospital.docx", "-o", "r.toml"], 2),
        (["rules", "--from-model", "hospital.bpmn", "-o", "r.toml", "--match"], 2),
        (["rules", "--from-model", "hospital.bpmn", "-o", "r.toml", "--closed"], 2),
        (["rules", "hospital.bpmn", "--show", "-o", "r.png"], 2),
        (["rules", "missing.toml", "--show"], 1),
    ],
)
def test_wrong_calls_are_one_line(
    arguments: list[str],
    status: int,
    model: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And nothing is written."""
    monkeypatch.chdir(model.parent)
    shutil.copy(model, "hospital.docx")
    before = sorted(model.parent.iterdir())
    assert run(*arguments) == status
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert sorted(model.parent.iterdir()) == before


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The embedded log."""
    path = tmp_path / "hospital.csv"
    write_variants(hospital(400), path)
    return path


@pytest.mark.parametrize("deviations", [None, 0, 1])
def test_a_release_keeps_the_model(
    deviations: int | None, log: Path, model: Path, tmp_path: Path
) -> None:
    """Its rules, or its language; the certificate says which model it was."""
    released = tmp_path / "released.json"
    more = [] if deviations is None else ["--deviations", deviations]
    call = ("anonymize", log, "-o", released, "--epsilon", "0.2", "--rules", model, *more)
    assert run(*call) == 0
    certificate = json.loads((tmp_path / "released.json.certificate.json").read_text())
    assert any("hospital.bpmn" in said["text"] for said in certificate["assumptions"])
    rules = read_model(model).rules(ModelOptions(deviations=deviations))
    states = scorer_of(rules)
    for variant in json.loads(released.read_text())["variants"]:
        ids = [rules.activities.index(name) for name in variant["activities"]]
        assert states.violations(ids, variant["finished"]) == 0


def test_an_unmatched_name_is_told_before_the_log_is_read(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is no log at all here."""
    declared = tmp_path / "declared.txt"
    declared.write_text("Register\n")
    call = ("anonymize", tmp_path / "none.csv", "-o", tmp_path / "o.csv", "--epsilon", "1")
    assert run(*call, "--rules", model, "--activities", declared) == 1
    assert "is not among the declared activities" in capsys.readouterr().err


def test_settings_of_models_need_one(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where rules come from nowhere."""
    call = ("anonymize", log, "-o", tmp_path / "o.csv", "--epsilon", "1")
    assert run(*call, "--deviations", "1") == 2
    assert "deviations" in capsys.readouterr().err
    assert issubclass(RulesError, Exception)
