"""What is allowed for a while: numbers that only fall, and what is pinned."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TypeGuard

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import sacofa

SOURCE = Path(sacofa.__file__).parent
ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

EXCEPTIONS = {"C901": 1, "PLR0913": 7, "ANN401": 7}
"""The most files that a rule of ruff spares, by pyproject.toml. These numbers only fall."""
MOST_ANY = 83
"""The most often that the word `Any` occurs. This number only falls."""
MOST_COMPLEX = 16
"""The most functions whose cyclomatic complexity is above 10. This number only falls."""
MOST_SENTENCES = 26
"""The most errors that are made with a sentence in the code, those of programmers included. This
number only falls."""
NUMBERED = ("mechanisms/certified", "synthesis", "kernel/queries")
MOST_NUMBERS = 214
"""The most numbers that stand in these packages. This number only falls."""
WALK = {"functions": 650, "modules": 97, "depth": 19}
"""The most functions and modules of the package, and levels of calls, that one release from the
command line walks through. These numbers only fall."""


def test_exceptions_of_the_linter_become_fewer() -> None:
    """Only the listed files may be too complex, take too many arguments or take anything."""
    ignored = PROJECT["tool"]["ruff"]["lint"]["per-file-ignores"]
    files = {name: ignored[name] for name in ignored if name.endswith(".py")}
    for name in files:
        assert (ROOT / name).is_file(), f"{name} does not exist: take it off the list"
    for rule, most in EXCEPTIONS.items():
        assert sum(rule in rules for rules in files.values()) <= most, rule


def test_no_rule_is_silenced_in_the_code() -> None:
    """Exceptions are counted, so none is made by a comment."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"noqa.*(C901|PLR0913|ANN401)", text), path


def test_values_of_any_type_become_fewer() -> None:
    """`Any` switches the type checker off; it belongs to the borders to untyped libraries."""
    texts = (path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    assert sum(len(re.findall(r"\bAny\b", text)) for text in texts) <= MOST_ANY


def test_complex_functions_become_fewer() -> None:
    """As radon counts: also `and` and `or`, comprehensions and assertions are decisions."""
    radon = pytest.importorskip("radon.complexity", reason="needs the extra dev")
    found = [
        f"{path.relative_to(SOURCE)}: {block.fullname} {block.complexity}"
        for path in SOURCE.rglob("*.py")
        for block in radon.cc_visit(path.read_text(encoding="utf-8"))
        if block.letter in "FM" and block.complexity > 10
    ]
    assert len(found) <= MOST_COMPLEX, "\n".join(sorted(found))


def test_errors_with_a_sentence_become_fewer() -> None:
    """An error holds a statement, whose wording stands in the message catalogues."""
    found = [
        f"{path.relative_to(SOURCE)}:{call.lineno}"
        for path in SOURCE.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and name_of(call.func).endswith("Error")
        if any(" " in literal_text(part).strip() for part in call.args)
    ]
    assert len(found) <= MOST_SENTENCES, "\n".join(found)


def test_numbers_of_the_mechanism_become_fewer() -> None:
    """Each has to be justified: a field of a `Tuning`, a constant, or a literal in the code."""
    found = [
        f"{path.relative_to(SOURCE)}:{line} {name}"
        for package in NUMBERED
        for path in sorted((SOURCE / package).rglob("*.py"))
        for line, name in numbers_in(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert len(found) <= MOST_NUMBERS, "\n".join(found)


def numbers_in(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The lines and names of numbers other than 0, 1, 2 and −1.

    All numbers of one assignment in a module or a class are one, and each field of a `Tuning` or
    of shares of ε is, whatever its value.
    """
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    bodies = [(each.name, each.body) for each in classes] + [("", tree.body)]
    known = set[int]()
    for owner, body in bodies:
        for each in body:
            if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is not None:
                values = [node for node in ast.walk(each.value) if is_number(node)]
                known |= {id(node) for node in values}
                tuned = owner.endswith(("Tuning", "Shares"))
                if values and (tuned or any(is_unusual(node) for node in values)):
                    yield each.lineno, ast.unparse(each)
    for node in ast.walk(tree):
        if id(node) not in known and is_unusual(node):
            yield node.lineno, ast.unparse(node)


def is_number(node: ast.AST) -> TypeGuard[ast.Constant]:
    """Whether it is a number that stands in the code."""
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def is_unusual(node: ast.AST) -> TypeGuard[ast.Constant]:
    """Whether it is another number than 0, 1, 2 and −1."""
    return is_number(node) and node.value not in (0, 1, 2)


def name_of(function: ast.expr) -> str:
    """The name that is called."""
    return str(getattr(function, "id", getattr(function, "attr", "")))


def literal_text(part: ast.expr) -> str:
    """The text that stands in an argument, with the fixed parts of an f-string."""
    parts = part.values if isinstance(part, ast.JoinedStr) else [part]
    return "".join(
        each.value
        for each in parts
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )


def test_the_walk_of_a_release_becomes_shorter() -> None:
    """`sacofa anonymize log.csv -o out.xes` calls few functions, none of them very deep."""
    command = [sys.executable, "-m", "tests.walk"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    walked = json.loads(done.stdout.splitlines()[-1])
    assert walked.keys() == WALK.keys()
    assert all(walked[what] <= most for what, most in WALK.items()), walked


def test_the_pinned_versions_are_those_that_are_declared() -> None:
    """Each library that is declared is pinned, to a version that is allowed."""
    pins: dict[str, set[str]] = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            (pin,) = (pinned := Requirement(line)).specifier
            pins.setdefault(canonicalize_name(pinned.name), set()).add(pin.version)
    project = PROJECT["project"]
    extras = chain(*project["optional-dependencies"].values())
    for each in map(Requirement, chain(project["dependencies"], extras)):
        if each.name != "sacofa":
            versions = pins.get(canonicalize_name(each.name), set())
            assert versions, f"{each.name} is not pinned, run: make lock"
            assert all(map(each.specifier.contains, versions)), f"{each}, run: make lock"
