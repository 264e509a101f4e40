"""The package builds, installs into an empty place and works there, and completes in a shell."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from .pages import ROOT


def run(*command: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program that knows nothing of this checkout; what it printed."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        env={**kept, **environment},
        timeout=900,
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and with the wheel that was built from it."""
    pytest.importorskip("build", reason="needs the extra dev")
    folder = tmp_path_factory.mktemp("dist")
    probe = run(
        sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, "hatchling"
    )
    if probe.returncode:
        pytest.skip("no index of packages within reach")
    dist = folder / "dist"
    done = run(sys.executable, "-m", "build", "--outdir", dist, ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return dist


def in_package() -> set[str]:
    """Every file of the package, by its path."""
    source = ROOT / "src"
    files = (path for path in (source / "sacofa").rglob("*") if path.is_file())
    return {str(path.relative_to(source)) for path in files if "__pycache__" not in path.parts}


def imported(folder: str) -> set[str]:
    """The libraries that the files of a folder import, at the top or when needed."""
    names = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and not node.level and node.module:
                names.add(node.module)
            elif isinstance(node, ast.Import):
                names |= {name.name for name in node.names}
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "optional_module":
                names |= {each.value for each in node.args if isinstance(each, ast.Constant)}
    # Only type checkers have `_typeshed`.
    own = {"sacofa", "_typeshed", *sys.stdlib_module_names}
    return {name.partition(".")[0] for name in names} - own


def test_every_library_that_is_imported_is_declared() -> None:
    """A library that only comes along with another may be gone with its next version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = {"": project["dependencies"], **project["optional-dependencies"]}
    declared = {
        extra: {re.split(r"[^\w.-]", each, maxsplit=1)[0].lower() for each in listed[extra]}
        for extra in listed
    }
    for_users = set().union(*(declared[each] for each in declared.keys() - {"docs", "test", "dev"}))
    # What is called otherwise on the index.
    names = {"sklearn": "scikit-learn", "ot": "pot", "yaml": "pyyaml"}
    in_source = {names.get(name, name) for name in imported("src")}
    assert {"scikit-learn", "pot", "matplotlib", "py4j"} <= in_source
    assert in_source <= for_users
    # A test names a library that nobody has, and one is skipped without the authors' package.
    in_tests = imported("tests") - {"tests", "no_such_library_at_all", "log_distance_measures"}
    named = {names.get(name, name).replace("_", "-") for name in in_tests}
    assert named <= for_users.union(*declared.values())


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(built: Path) -> None:
    """All its files: templates, styles and `py.typed` too; no tests."""
    (wheel,) = built.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == in_package()
    assert "sacofa/py.typed" in names


@pytest.mark.slow
def test_the_sdist_holds_what_it_takes_to_carry_on(built: Path) -> None:
    """Tests, documents and examples come along."""
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    documents = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE"]
    for name in (*documents, "Makefile", "mkdocs.yml", "docs/index.md", "tests/conftest.py"):
        assert name in names
    assert {f"src/{name}" for name in in_package()} <= names


@pytest.mark.slow
def test_the_wheel_installs_and_works_in_an_empty_place(built: Path, tmp_path: Path) -> None:
    """With what it depends on and nothing more, as pipx and uvx do it."""
    (wheel,) = built.glob("*.whl")
    assert run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv").returncode == 0
    programs = tmp_path / "venv" / "bin"
    pip = (sys.executable, "-m", "pip", "--python", programs / "python")
    # What is used is compiled when it is: that is a small part of what is installed.
    done = run(*pip, "install", "--quiet", "--no-compile", wheel)
    assert done.returncode == 0, done.stderr
    assert run(*pip, "check").returncode == 0
    done = run(programs / "sacofa", "demo", "-o", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    released = next((tmp_path / "demo").glob("*.certificate.json")).with_suffix("").with_suffix("")
    assert run(programs / "sacofa", "verify", released).returncode == 0
    # What is not installed is named, with the way to get it.
    original = tmp_path / "demo" / "hospital.csv"
    partly = run(programs / "sacofa", "evaluate", original, released)
    assert partly.returncode == 0, partly.stderr
    assert "pip install 'sacofa[evaluate]'" in " ".join(partly.stdout.split())
    compared = ["compare", original, "--epsilon", "1", "-o", tmp_path / "compared"]
    missing = run(programs / "sacofa", *compared)
    assert missing.returncode == 2
    assert "pip install 'sacofa[evaluate]'" in missing.stderr
    assert "Traceback" not in missing.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_are_told_how_to_complete(shell: str) -> None:
    """What `--show-completion` prints asks the program."""
    environment = {"_SACOFA_COMPLETE": f"source_{shell}", "PYTHONPATH": str(ROOT / "src")}
    script = run(sys.executable, "-m", "sacofa", **environment)
    assert script.returncode == 0
    assert "_SACOFA_COMPLETE=complete_" in script.stdout


def test_commands_are_completed() -> None:
    """The program answers what shells ask."""
    asked = {
        "_SACOFA_COMPLETE": "complete_bash",
        "COMP_WORDS": "sacofa ano",
        "COMP_CWORD": "1",
        "PYTHONPATH": str(ROOT / "src"),
    }
    assert run(sys.executable, "-m", "sacofa", **asked).stdout.split() == ["anonymize"]
