"""Rules files: what is written is read back, and wrong entries are named with their line."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.errors import OutputError, ReadError, RulesError
from sacofa.rules.file import read_rules, write_rules
from sacofa.rules.learn import learn_rules
from sacofa.rules.provenance import Stated
from sacofa.rules.rules import Rules

from .cases import RUNNING_EXAMPLE, random_rules

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def renamed(rules: Rules, names: list[str], source: Stated) -> Rules:
    """The same rules about other names."""
    return Rules(**{**vars(rules), "activities": tuple(names), "source": source})


@given(
    names=st.lists(TEXT, max_size=6, unique=True),
    source=TEXT,
    seed=st.integers(0, 2**32),
    density=st.sampled_from([0.0, 0.1, 0.4]),
)
@settings(max_examples=400, deadline=None)
def test_any_rules_survive_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory,
    names: list[str],
    source: str,
    seed: int,
    density: float,
) -> None:
    """Any names: quotes, newlines, brackets, every script."""
    path = tmp_path_factory.getbasetemp() / "any.toml"
    rules = random_rules(np.random.default_rng(seed), len(names), density)
    rules = renamed(rules, names, Stated(source))
    write_rules(rules, path, force=True)
    assert read_rules(path) == rules


@pytest.mark.parametrize(
    "name", ["", '"]', "[rules]", "a\nb", "\x7f", "\r\n", ">>>", "日本", "'x'"]
)
def test_awkward_names_survive_a_round_trip(tmp_path: Path, name: str) -> None:
    """Each of these has a meaning in TOML or in terminals."""
    rules = renamed(random_rules(np.random.default_rng(1), 2, 0.5), [name, "other"], Stated(name))
    write_rules(rules, tmp_path / "rules.toml")
    assert read_rules(tmp_path / "rules.toml") == rules


def test_rules_that_allow_everything_are_short(tmp_path: Path) -> None:
    """Apart from the explanation only the source and the activities are left."""
    write_rules(Rules.free(("a", "b")), tmp_path / "rules.toml")
    content = tomllib.loads((tmp_path / "rules.toml").read_text(encoding="utf-8"))
    assert content == {"source": "no rules", "activities": ["a", "b"]}


def test_the_file_of_the_running_example(tmp_path: Path) -> None:
    """The format that leaves the house, word by word."""
    path = tmp_path / "rules.toml"
    write_rules(learn_rules(RUNNING_EXAMPLE, "Table 1 of the SaCoFa paper"), path)
    golden = Path(__file__).parent / "running_example.toml"
    assert path.read_text(encoding="utf-8") == golden.read_text(encoding="utf-8")


def test_a_file_that_exists_is_kept(tmp_path: Path) -> None:
    """Unless it is overwritten by force."""
    path = tmp_path / "rules.toml"
    path.write_text("mine")
    with pytest.raises(OutputError, match="force=True"):
        write_rules(Rules.free(("a",)), path)
    assert path.read_text() == "mine"
    write_rules(Rules.free(("a",)), path, force=True)
    assert read_rules(path) == Rules.free(("a",))


def test_names_that_are_not_text_are_refused(tmp_path: Path) -> None:
    """A lone surrogate has no UTF-8; nothing is written."""
    with pytest.raises(OutputError, match="not text"):
        write_rules(Rules.free(("\ud800",)), tmp_path / "rules.toml")
    assert list(tmp_path.iterdir()) == []


def test_a_file_by_hand_may_leave_nearly_everything_out(tmp_path: Path) -> None:
    """Only activities are needed; never can be written from either side."""
    path = tmp_path / "mine.toml"
    path.write_text(
        'activities = ["in", "out"]\n[rules.in]\nnever_preceded_by = ["out"]\n', encoding="utf-8"
    )
    rules = read_rules(path)
    assert rules.source == Stated("rules file mine.toml")
    assert rules.never_follows.tolist() == [[False, False], [True, False]]
    assert rules.starts.all() and not rules.always_follows.any()


HEAD = 'activities = ["Register", "Triage", "Release"]\n'


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (HEAD + 'starts = ["Regster"]', 2, 'Did you mean "Register"'),
        (HEAD + '[rules."Relese"]', 2, 'Did you mean "Release"'),
        (HEAD + "[rules.Triage]\nnever_folowed_by = []", 3, 'Did you mean "never_followed_by"'),
        (HEAD + '[rules.Triage]\nnever_followed_by = [\n"Release",\n"Triag"]', 5, "Triage"),
        (HEAD + "[rules.Triage]\n\nalways_followed_by = 'Release'", 4, "list of activities"),
        (HEAD + "[rules.Triage]\nalways_followed_by = [1]", 3, "list of activities"),
        (HEAD + "[rules.Release]\nnever_followed_by = ['Triage', 'Triage']", 3, "twice"),
        (HEAD + "[rules.Release]\nnever_followed_by = ['Triage',\n'Triage']", 4, "twice"),
        ('activities = [\n"a",\n"b",\n"a"]', 4, "twice"),
        (HEAD + "strats = []", 2, 'Did you mean "starts"'),
        (HEAD + "empty = 0", 2, "true or false"),
        (HEAD + "source = 3", 2, "sentence"),
        (HEAD + "rules = 3", 2, "tables"),
        (HEAD + "[rules]\nTriage = 3", 3, "table"),
        ("starts = []", None, "list them as activities"),
        ("activities = 'a'", 1, "list of activities"),
        (HEAD + "starts = [", 2, "not TOML"),
        (HEAD + "[rules.Triage]\n[rules.Triage]", 3, "not TOML"),
        (HEAD + "[rules.Triage]\nalways_preceded_by = ['Triage']", 3, "itself"),
        (
            HEAD + '[rules.Triage]\nnever_followed_by = ["Release"]\n'
            'always_followed_by = [\n  "Release",\n]',
            5,
            'cannot be always followed by "Release": line 3 says never',
        ),
        (
            HEAD + '[rules.Triage]\nalways_followed_by = ["Release"]\n'
            "[rules.Release]\nnever_preceded_by = ['Triage']",
            3,
            "line 5 says never",
        ),
        (
            HEAD + '[rules.Triage]\nalways_preceded_by = ["Register"]\n'
            "[rules.Register]\nnever_followed_by = ['Triage']",
            3,
            "line 5 says never",
        ),
        (HEAD + "rules.Triage.never_followed_by = ['Regist']", 2, 'Did you mean "Register"'),
        (HEAD + "rules = {Triage = {never_followed_by = ['Regist']}}", 2, "Register"),
    ],
)
def test_wrong_entries_are_named_with_file_and_line(
    tmp_path: Path, text: str, line: int | None, says: str
) -> None:
    """One clear line, with the nearest valid name where there is one."""
    path = tmp_path / "rules.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RulesError, match=r"rules\.toml") as caught:
        read_rules(path)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize("value", ["[" * 5000 + "]" * 5000, "9" * 5000])
def test_absurd_files_are_refused(tmp_path: Path, value: str) -> None:
    """Nesting and numbers that no TOML reader takes."""
    path = tmp_path / "rules.toml"
    path.write_text(f"{HEAD}x = {value}", encoding="utf-8")
    with pytest.raises(RulesError, match="not TOML"):
        read_rules(path)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """No file, a folder, not text."""
    with pytest.raises(ReadError, match="no such file"):
        read_rules(tmp_path / "none.toml")
    with pytest.raises(ReadError, match="directory"):
        read_rules(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RulesError, match="UTF-8"):
        read_rules(tmp_path / "binary.toml")
