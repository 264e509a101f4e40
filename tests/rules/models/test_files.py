"""Files in the dialects of editors and miners: diagrams, extensions, their own sections and all."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacofa.examples import hospital, hospital_model
from sacofa.rules import ModelOptions, learn_rules, scorer_of, show_rules
from sacofa.rules.models import read_model
from sacofa.rules.rules import Rules

from .words import automaton_of, words_of_automaton

FILES = Path(__file__).parent / "files"


def words(name: str, longest: int = 6) -> set[tuple[str, ...]]:
    """All words of a file up to a length."""
    net = read_model(FILES / name).net
    assert net is not None
    return words_of_automaton(automaton_of(net), longest)


def test_camunda_modeler() -> None:
    """Names over two lines are one; the boundary event stands for the task."""
    assert words("camunda.bpmn") == {
        ("Check claim", "Pay"),
        ("Check claim", "Refuse"),
        ("Escalate",),
    }


def test_signavio() -> None:
    """Pools, lanes and messages are passed over and said."""
    middle = [("Examine",), ("Scan",), ("Examine", "Scan"), ("Scan", "Examine")]
    assert words("signavio.bpmn") == {("Admit", *part, "Write letter") for part in middle}
    notes = " ".join(map(str, read_model(FILES / "signavio.bpmn").notes))
    assert "Lanes" in notes and "Messages" in notes


def test_bpmn_io() -> None:
    """A subprocess that can fail at any time, with a task that repeats."""
    whole = {("Mix", *["Taste"] * n, "Serve") for n in (1, 2)}
    failed = {("Order pizza",), ("Mix", "Order pizza"), ("Mix", "Taste", "Order pizza")}
    assert whole | failed <= words("bpmnio.bpmn", 4)


def test_prom() -> None:
    """Invisible transitions are silent, whatever their name."""
    assert words("prom.pnml") == {("Register",), ("Register", "Pay")}


def test_woped() -> None:
    """No final marking: the only place that nothing leaves."""
    assert words("woped.pnml") == {("Decide",), ("Decide", "Approve")}


def facts(rules: Rules, part: str) -> set[tuple[str, str]]:
    """The pairs of names for which a rule holds."""
    names, table = rules.activities, getattr(rules, part)
    size = range(len(names))
    return {(names[a], names[b]) for a in size for b in size if table[a, b]}


def test_rum() -> None:
    """Conditions on data make a constraint useless as a rule; one on time only a ban."""
    model = read_model(FILES / "rum.decl")
    rules = model.rules()
    register, triage, release, back = rules.activities
    # What begins every case comes before all the rest.
    begun = {(name, register) for name in (triage, release, back)}
    assert facts(rules, "always_precedes") == {*begun, (back, release)}
    assert facts(rules, "always_follows") == {(triage, release)}
    assert facts(rules, "never_follows") == {(release, register), (register, register)}
    assert rules.starts.tolist() == [True, False, False, False]
    assert not rules.empty
    (note,) = map(str, model.notes)
    assert "3 constraints" in note
    assert "line 10" in note and "Choice" in note and "line 16" in note


def test_declare4py() -> None:
    """The same file format with other names."""
    rules = read_model(FILES / "declare4py.decl").rules()
    test, licence, again, failed = rules.activities
    assert facts(rules, "always_follows") == {(failed, again), (again, failed)}
    assert facts(rules, "always_precedes") == {(failed, again)}
    assert facts(rules, "never_follows") == {
        (licence, licence),
        (licence, failed),
        (failed, licence),
    }
    assert rules.starts.tolist() == [True, True, True, False] and not rules.empty
    assert test not in {name for pair in facts(rules, "always_follows") for name in pair}


@pytest.fixture(scope="module")
def hospital_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model that comes with the package."""
    path = tmp_path_factory.mktemp("model") / "hospital.bpmn"
    path.write_bytes(hospital_model())
    return path


def test_the_hospital_keeps_its_model(hospital_file: Path) -> None:
    """Every case of the embedded log is a word of the embedded model."""
    log = hospital()
    states = scorer_of(read_model(hospital_file).rules(ModelOptions(deviations=0)))
    assert states.activities == log.activities
    assert not any(states.violations(ids, True) for ids in log.sequences())


def test_the_model_says_no_more_than_the_log(hospital_file: Path) -> None:
    """A log of 4,000 cases shows all that the model allows but for one pair."""
    model, log = read_model(hospital_file).rules(), learn_rules(hospital(), "test")
    for part in ("always_follows", "always_precedes", "starts"):
        assert (getattr(model, part) == getattr(log, part)).all()
    assert not (model.never_follows & ~log.never_follows).any()
    assert (log.never_follows & ~model.never_follows).sum() <= 1


def test_rules_are_told_in_words(hospital_file: Path) -> None:
    """One line for each activity."""
    told = show_rules(read_model(hospital_file).rules())
    assert "A case begins with Ambulance or Register." in told
    assert "Triage          at most once; only after Register" in told
    assert len(told.splitlines()) == 3 + 16
