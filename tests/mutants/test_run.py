"""The kept mutants apply to the sources, and the runner tells those that tests notice."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from .run import (
    PACKAGE,
    ROOT,
    SCORE,
    Mutant,
    MutantError,
    changed_text,
    read_mutants,
    score,
    try_all,
)

MUTANTS = read_mutants()
LEAST = 100
"""So many mutants of the privacy core and the ledger are kept at least."""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_applies_and_is_a_program(mutant: Mutant) -> None:
    """Its old text occurs once; what it makes of the file can be compiled, and is another one."""
    text = changed_text(ROOT, mutant)
    before = (ROOT / PACKAGE / mutant.file).read_text("utf-8")
    assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(before))


@cache
def functions_of(path: Path) -> set[str]:
    """The functions that a file of tests defines."""
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_the_tests_that_mutants_name_exist() -> None:
    """Each names one at least; a file of tests, or a function in one."""
    for mutant in MUTANTS:
        assert mutant.tests, mutant.name
        for test in mutant.tests:
            path, _, function = test.partition("::")
            assert (ROOT / path).is_file(), (mutant.name, test)
            assert not function or function in functions_of(ROOT / path), (mutant.name, test)


def test_there_are_enough_different_mutants() -> None:
    """Few may survive, and none is listed twice."""
    assert len(MUTANTS) >= LEAST
    assert len({(mutant.file, mutant.old, mutant.new) for mutant in MUTANTS}) == len(MUTANTS)
    survivors = [mutant for mutant in MUTANTS if mutant.survives]
    assert 1 - len(survivors) / len(MUTANTS) >= SCORE


SOURCE = "def double(number):\n    return 2 * number\n\n\nUNUSED = 7\n"
TEST = "from sacofa.small import double\n\n\ndef test_double():\n    assert double(3) == 6\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of one function and its test."""
    (tmp_path / "src" / "sacofa").mkdir(parents=True)
    (tmp_path / "src" / "sacofa" / "__init__.py").write_text("")
    (tmp_path / "src" / "sacofa" / "small.py").write_text(SOURCE)
    (tmp_path / "test_small.py").write_text(TEST)
    return tmp_path


def mutant(old: str, new: str, test: str = "test_small.py", survives: str = "") -> Mutant:
    """A change of that function."""
    return Mutant(name=old, file="small.py", old=old, new=new, tests=(test,), survives=survives)


def test_mutants_are_killed_or_survive(project: Path) -> None:
    """One that a test notices, one that none can notice, and again one that is noticed."""
    results = list(
        try_all(
            project,
            [
                mutant("2 * number", "3 * number"),
                mutant("UNUSED = 7", "UNUSED = 8", survives="Nothing uses it."),
                mutant("return 2", "return 5"),
            ],
        )
    )
    assert [result.killed for result in results] == [True, False, True]
    assert results[0].how == "test_small.py::test_double"
    assert results[1].how == "Nothing uses it."
    assert score(results) == pytest.approx(2 / 3)
    assert (project / "src" / "sacofa" / "small.py").read_text() == SOURCE


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (mutant("4 * number", "3 * number"), "occurs 0 times"),
        (mutant("number", "n"), "occurs 2 times"),
        (mutant("2 * number", "3 * number", "test_none.py"), "do not run"),
    ],
)
def test_a_mutant_that_cannot_be_tried_is_an_error(project: Path, broken: Mutant, why: str) -> None:
    """It is not taken for one that was noticed."""
    with pytest.raises(MutantError, match=why):
        list(try_all(project, [broken]))


def test_tests_that_fail_by_themselves_are_an_error(project: Path) -> None:
    """They would notice every mutant."""
    (project / "test_small.py").write_text(TEST.replace("6", "7"))
    with pytest.raises(MutantError, match="do not pass without any mutant"):
        list(try_all(project, [mutant("2 * number", "3 * number")]))
