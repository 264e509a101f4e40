"""Public rules for a release: of a file, a model or a public log."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacofa.errors import ReadError, SettingError
from sacofa.examples import hospital, hospital_model, running_example
from sacofa.release.rules import public_rules
from sacofa.rules import (
    FromModel,
    FromPublicLog,
    ModelOptions,
    ModelRules,
    Stated,
    learn_rules,
    write_rules,
)
from tests.written import write_variants


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The embedded model."""
    path = tmp_path / "hospital.bpmn"
    path.write_bytes(hospital_model())
    return path


def test_the_name_of_the_file_tells_what_it_is(model: Path, tmp_path: Path) -> None:
    """A rules file keeps its own source, a model is named with what is said of it."""
    file = tmp_path / "rules.toml"
    write_rules(learn_rules(running_example(), Stated("a book")), file)
    rules = public_rules(file)
    assert rules is not None and rules.source == Stated("a book")
    said: list[object] = []
    given = ModelOptions(source="the manual", deviations=1)
    rules = public_rules(model, model=given, name="ward.bpmn", notify=said.append)
    assert isinstance(rules, ModelRules)
    assert rules.source == FromModel("ward.bpmn", "the manual", 1) and rules.source.public
    assert not any("assumed" in str(note) for note in said)
    assert public_rules() is None


def test_a_model_of_which_nobody_says_anything_is_assumed_to_be_public(model: Path) -> None:
    """The person is told, and the source says so."""
    said: list[object] = []
    rules = public_rules(model, notify=said.append)
    assert rules is not None and "assumed to be public" in str(rules.source)
    assert any("assumed to be public" in str(note) for note in said)


def test_names_and_closed_go_by_the_declared_activities(model: Path) -> None:
    """A name without an activity is refused; what a closed model lacks never happens."""
    with pytest.raises(ReadError, match="declared activities"):
        public_rules(model, activities=["Register"])
    names = (*hospital().activities, "Lunch")
    rules = public_rules(model, model=ModelOptions(closed=True), activities=names)
    assert rules is not None and rules.never_follows[:, rules.activities.index("Lunch")].all()


@pytest.mark.parametrize("given", [{"deviations": 0}, {"closed": True}, {"source": "a"}], ids=str)
def test_options_of_models_are_refused_elsewhere(given: dict[str, object], tmp_path: Path) -> None:
    """With a rules file, a log or nothing at all."""
    file, log = tmp_path / "rules.toml", tmp_path / "log.csv"
    file.write_text('activities = ["A"]\n')
    write_variants(running_example(), log)
    options = ModelOptions(**given)  # type: ignore[arg-type]
    for where in ({"file": file}, {"log": log}, {}):
        with pytest.raises(SettingError, match="for model"):
            public_rules(**where, model=options)


def test_the_secret_log_is_no_public_one(tmp_path: Path) -> None:
    """Another one is, by its name."""
    log, other = tmp_path / "log.csv", tmp_path / "other.csv"
    write_variants(running_example(), log)
    write_variants(running_example(), other)
    rules = public_rules(log=other, secret=log)
    assert rules is not None and rules.source == FromPublicLog("other.csv")
    with pytest.raises(SettingError, match="another log"):
        public_rules(log=log, secret=log)


def test_a_part_of_the_secret_log_is_no_public_one(tmp_path: Path) -> None:
    """By whatever pattern, folder, list or link the two are named."""
    folder = tmp_path / "logs"
    folder.mkdir()
    parts = [folder / "1.csv", folder / "2.csv"]
    for part in parts:
        write_variants(running_example(), part)
    link, outside = tmp_path / "link.csv", tmp_path / "other.csv"
    link.symlink_to(parts[0])
    write_variants(running_example(), outside)
    for secret in (folder, str(folder / "*.csv"), parts, [str(outside), str(folder)]):
        for log in (parts[0], link, folder, str(folder / "1*")):
            with pytest.raises(SettingError, match="another log"):
                public_rules(log=log, secret=secret, name="1.csv")
    assert public_rules(log=outside, secret=folder, name="other") is not None
    assert public_rules(log=outside, secret="postgresql://host/secret", name="other") is not None
