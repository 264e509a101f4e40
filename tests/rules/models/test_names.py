"""Names of a model and of a log."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacofa.errors import ReadError, RulesError, SettingError
from sacofa.rules import ModelOptions, open_rules
from sacofa.rules.models import propose, read_model, read_names_map, write_names

from .drawings import draw

MODEL = ("ER registration", "Give antibiotics (IV)", "Triage in ER", "Lunch")
LOG = ("ER Registration", "ER Triage", "IV Antibiotics", "Release A")


def test_pairs_are_proposed_by_likeness() -> None:
    """Whatever the order of words and the case of letters; what is like nothing has a ?."""
    assert propose(MODEL, LOG) == {
        "ER registration": "ER Registration",
        "Triage in ER": "ER Triage",
        "Give antibiotics (IV)": "IV Antibiotics",
        "Lunch": "?",
    }


def test_equal_names_are_pairs_before_all_others() -> None:
    """Even where another is nearly the same."""
    assert propose(["A B", "A C"], ["A C", "A B"]) == {"A B": "A B", "A C": "A C"}


def test_a_map_is_written_edited_and_read(tmp_path: Path) -> None:
    """Names of any kind survive; a ? must be replaced."""
    path = tmp_path / "names.toml"
    names = {'a "quoted" = name': "x", "line\nbreak": "", "plain": "ä"}
    write_names(names, path)
    assert read_names_map(path) == names
    write_names({"A": "x", "B": "?"}, path, force=True)
    with pytest.raises(RulesError, match='line 6: "B" has no pair'):
        read_names_map(path)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A, then B or C, then A again."""
    nodes = "start s\nend e\ntask A\ntask B\ntask C\ntask D\nxor x"
    return draw(tmp_path, nodes, "s > A > x > B > D > e\nx > C > D")


def test_names_are_changed_before_rules_are_read_off(model: Path) -> None:
    """Steps that get one name are one activity, and "" is a silent step."""
    names = {"A": "a", "B": "b", "C": "", "D": "a"}
    rules = open_rules(model, ModelOptions(names=names))
    assert rules.activities == ("a", "b")
    assert not rules.never_follows[0, 0] and rules.always_follows[1, 0]
    assert rules.always_precedes[1, 0] and not rules.always_precedes[0, 1]


def test_an_unmatched_name_is_an_error(model: Path) -> None:
    """In the declared activities, in the map, or in the model."""
    with pytest.raises(ReadError, match='"D" is not among the declared activities'):
        open_rules(model, activities=["A", "B", "C"])
    with pytest.raises(ReadError, match='"D" is not in the map'):
        open_rules(model, ModelOptions(names={"A": "A", "B": "B", "C": "C"}))
    with pytest.raises(ReadError, match='the model has no "E"'):
        open_rules(model, ModelOptions(names=dict.fromkeys("ABCDE", "")))
    assert open_rules(model, activities=["A", "B", "C", "D", "E"]).activities == tuple("ABCD")


def test_a_closed_model_knows_everything(model: Path) -> None:
    """What it lacks never happens; without a list nobody knows what that is."""
    rules = open_rules(model, ModelOptions(closed=True), activities=list("ABCDE"))
    assert rules.never_follows[:, 4].all() and not rules.starts[4]
    with pytest.raises(SettingError, match="closed"):
        open_rules(model, ModelOptions(closed=True))
    whole = open_rules(model, ModelOptions(closed=True, deviations=0), activities=list("ABCDE"))
    assert whole.project_onto(tuple("ABCDE")) is whole
    assert whole.never_follows[:, 4].all() and not whole.starts[4]


def test_only_models_have_names_and_deviations(tmp_path: Path) -> None:
    """A rules file has rules."""
    path = tmp_path / "rules.toml"
    path.write_text('activities = ["A"]')
    assert open_rules(path).activities == ("A",)
    for setting in ({"names": {}}, {"deviations": 1}, {"closed": True}):
        with pytest.raises(SettingError, match="for model files"):
            open_rules(path, ModelOptions(**setting))  # type: ignore[arg-type]
    declare = tmp_path / "model.decl"
    declare.write_text("activity A\n")
    with pytest.raises(SettingError, match="deviations"):
        open_rules(declare, ModelOptions(deviations=0))
    with pytest.raises(SettingError, match=r"one of \.bpmn"):
        read_model(tmp_path / "model.docx")


def test_declared_activities_can_be_renamed_and_dropped(tmp_path: Path) -> None:
    """But not merged: rules about two activities are not rules about one."""
    path = tmp_path / "model.decl"
    path.write_text("activity A\nactivity B\nactivity C\nResponse[A, B]\nResponse[A, C]\nInit[A]\n")
    rules = open_rules(path, ModelOptions(names={"A": "x", "B": "y", "C": ""}))
    assert rules.activities == ("x", "y") and rules.always_follows.tolist()[0] == [False, True]
    assert rules.starts.tolist() == [True, False]
    assert open_rules(path, ModelOptions(names={"A": "", "B": "y", "C": "z"})).starts.all()
    with pytest.raises(ReadError, match="cannot be merged"):
        open_rules(path, ModelOptions(names={"A": "x", "B": "y", "C": "y"}))
