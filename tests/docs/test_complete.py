"""Everything a user can meet is documented: commands, options, errors, public names, formats."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import runpy
import tomllib
from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

import sacofa
from sacofa import Laplace, anonymize, errors
from sacofa.cli.app import make_app
from sacofa.evaluate.runs import HEADER
from sacofa.events import variants_json
from sacofa.examples import hospital, running_example
from sacofa.ledger.records import Budget, Entry
from sacofa.release.formats import FORMATS as RELEASED
from sacofa.report import figures
from sacofa.report.flow import count_flow
from sacofa.rules import file as rules_file

from .pages import DOCS, GENERATED, ROOT, all_pages

TOPICS = sorted((DOCS / "reference" / "python").glob("*.md"))
API = "".join(p.read_text("utf-8") for p in (DOCS / "reference" / "api.md", *TOPICS))
ERRORS = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
FORMATS = (DOCS / "reference" / "formats.md").read_text(encoding="utf-8")
PACKAGES = ["audit", "evaluate", "examples", "kernel", "mechanisms", "release", "report", "rules"]


def every_command() -> dict[str, Any]:
    """Every command with its full name."""

    def below(name: str, command: Any) -> dict[str, Any]:
        if not hasattr(command, "commands"):
            return {name: command}
        return {
            full: found
            for word, inner in command.commands.items()
            for full, found in below(f"{name} {word}", inner).items()
        }

    return below("sacofa", typer.main.get_command(make_app()))


def test_the_reference_of_commands_is_fresh() -> None:
    """It is what docs/make/cli.py writes; after a change of the command line, run that."""
    made = runpy.run_path(str(DOCS / "make" / "cli.py"))["write_reference"]()
    assert GENERATED.read_text(encoding="utf-8") == made, "run: python docs/make/cli.py"


@pytest.mark.parametrize("command", every_command().values(), ids=every_command())
def test_every_option_says_what_it_does(command: Any) -> None:
    """Commands, arguments and options all have a help text."""
    assert command.help
    for parameter in command.params:
        assert parameter.help, parameter.name


@pytest.mark.parametrize("name", every_command())
def test_every_command_is_told_outside_the_reference(name: str) -> None:
    """Some page that a person wrote uses it."""
    written = [page for page in all_pages() if page != GENERATED and page.name != "CHANGELOG.md"]
    assert any(re.search(rf"\b{name}\b", page.read_text(encoding="utf-8")) for page in written)


@pytest.mark.parametrize("name", sorted(set(sacofa.__all__)))
def test_every_public_name_is_in_the_reference(name: str) -> None:
    """With its docstring, or among the errors."""
    if name in vars(errors):
        assert f"`{name}`" in API
    elif name == "__version__":
        assert f"`sacofa.{name}`" in API
    else:
        assert any(told is getattr(sacofa, name) for told in told_names().values())


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_of_a_public_package_is_in_the_reference(package: str) -> None:
    """Those that can be imported from sacofa itself are told there."""
    module = importlib.import_module(f"sacofa.{package}")
    for name in set(module.__all__) - set(sacofa.__all__):
        assert any(told is getattr(module, name) for told in told_names().values()), name


@pytest.mark.parametrize(
    "function", [f for n in sacofa.__all__ if inspect.isfunction(f := getattr(sacofa, n))]
)
def test_every_parameter_is_explained_where_the_function_is(function: Any) -> None:
    """In a table under it, unless one or two parameters speak for themselves.

    Keywords of any name are fields of another parameter, which says so.
    """
    signature = inspect.signature(function).parameters.values()
    parameters = [p.name for p in signature if p.kind is not inspect.Parameter.VAR_KEYWORD]
    if len(parameters) <= 2:
        return
    (page,) = [
        text
        for text in (topic.read_text(encoding="utf-8") for topic in TOPICS)
        if re.search(rf"^::: sacofa\.(?:[\w.]+\.)?{function.__name__}$", text, re.MULTILINE)
    ]
    rows = ", ".join(re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)).split(", ")
    own = {"path", "source", "log", "release", "variants"}
    assert not [name for name in parameters if name not in rows and name not in own]


def test_every_topic_of_the_reference_has_an_example() -> None:
    """One that the tests run, before the first name."""
    assert len(TOPICS) > 5
    for topic in TOPICS:
        text = topic.read_text(encoding="utf-8")
        assert 0 < text.find("```python") < text.find("\n::: "), topic.name


def told_names() -> dict[str, object]:
    """Every name in the reference, and what it stands for; one that is not there is an error."""
    paths = re.findall(r"^::: (\S+)$", API, re.MULTILINE)
    # Tuning constants are told one by one, apart from their class.
    names = [path for path in paths if not path.startswith("sacofa.Certified.")]
    return {
        path: getattr(importlib.import_module(path.rpartition(".")[0]), path.rpartition(".")[2])
        for path in names
    }


def test_the_reference_tells_functions_and_not_modules_of_the_same_name() -> None:
    """`anonymize` is a function and a file; the page is made from files, so it names both."""
    for path in told_names():
        parts = path.split(".")[1:]
        source = Path(sacofa.__file__).parent.joinpath(*parts).with_suffix(".py")
        assert not source.exists(), path


def test_every_error_is_told_with_its_exit_status() -> None:
    """Each class of the tree has its line in the table."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    for kind in kinds:
        if issubclass(kind, errors.SacofaError):
            assert f"| `{kind.__name__}` | {kind.exit_status} |" in ERRORS


def test_every_key_of_a_certificate_is_told() -> None:
    """As it is written to the file, with what its accesses hold."""
    mechanism = Laplace(level_epsilon=1, max_length=2, prune=2)
    release = anonymize(running_example(), mechanism, seed=1)
    content = json.loads(release.certificate.to_json())
    for key in (*content, *content["unit"], *content["spent"][0]):
        assert f"`{key}`" in FORMATS


def test_every_part_of_the_other_formats_is_told() -> None:
    """Variants, rules, ledger and runs."""
    ledger = [field.name for kind in (Entry, Budget) for field in fields(kind)]
    for name in (*ledger, *HEADER, *rules_file.TOP_KEYS[:-1], *rules_file.PAIR_KEYS):
        assert f"`{name}`" in FORMATS, name
    assert variants_json.FORMAT in FORMATS
    for each in RELEASED:
        assert f"`{each.suffix}`" in FORMATS, each.suffix
    assert figures.FORMAT in FORMATS
    for column in figures.COLUMNS:
        assert f"`{column}`" in FORMATS


def test_scripts_and_examples_say_what_they_are() -> None:
    """Each begins with a docstring."""
    for script in (*ROOT.glob("examples/*.py"), *DOCS.glob("make/*.py")):
        assert script.read_text(encoding="utf-8").startswith('"""'), script


def test_the_pictures_are_fresh() -> None:
    """They are what docs/make/pictures.py draws; after a change of the examples, run that."""
    for name, svg in runpy.run_path(str(DOCS / "make" / "pictures.py"))["draw_all"]():
        picture = DOCS / "pictures" / name
        assert picture.read_text(encoding="utf-8") == svg, "run: python docs/make/pictures.py"


def test_the_picture_of_the_hospitals_rules_is_fresh() -> None:
    """Up to its numbers: where Graphviz puts things differs from version to version."""
    pytest.importorskip("pygraphviz", reason="pip install 'sacofa[map]'")
    svg = runpy.run_path(str(DOCS / "make" / "pictures.py"))["hospital_rules"]()
    picture = (DOCS / "pictures" / "hospital-rules.svg").read_text(encoding="utf-8")
    drawn, kept = (re.sub(r"-?[0-9.]+", "", text) for text in (svg, picture))
    assert drawn == kept, "run: python docs/make/pictures.py"


def test_every_picture_is_shown_on_some_page() -> None:
    """None that nobody sees."""
    pages = "".join(page.read_text(encoding="utf-8") for page in all_pages())
    pictures = [*(DOCS / "images").iterdir(), *(DOCS / "pictures").iterdir()]
    assert not [p.name for p in pictures if f"{p.parent.name}/{p.name})" not in pages]


def test_the_picture_on_the_first_screen_is_of_the_embedded_log() -> None:
    """Counts of the original are those of the log; those of the release change with its noise."""
    svg = (DOCS / "pictures" / "before-after.svg").read_text(encoding="utf-8")
    log = hospital()
    assert f"original, {log.cases:,} cases (confidential)" in svg
    shown = [item for item in count_flow(log).activities.items() if f">{item[0]} " in svg]
    assert len(shown) > 5
    assert not [name for name, events in shown if f">{name} {events:,}<" not in svg]


def test_the_citation_is_that_of_this_version() -> None:
    """CITATION.cff can be read, and names the version and the papers."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == sacofa.__version__
    researchers = (DOCS / "researchers.md").read_text(encoding="utf-8")
    assert f"version = {{{sacofa.__version__}}}" in researchers
    assert f"title   = {{{citation['title']}}}" in researchers
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert all(
        {"title", "authors", "type", "doi"} <= set(paper) for paper in citation["references"]
    )


def test_contributors_are_sent_to_files_that_exist() -> None:
    """Every file that CONTRIBUTING names is there, in the package or beside it."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    # Its recipes make files of their own.
    named = set(re.findall(r"`([\w./-]+\.(?:py|md))`", text)) - {"rules/ends.py"}
    named = {name for name in named if not name.startswith("sacofa_starts/")}
    assert len(named) > 10
    package = Path(sacofa.__file__).parent
    for name in named:
        places = [ROOT / name, package / name, package / "rules" / name]
        assert any(place.exists() for place in places), name


def test_every_extra_is_told() -> None:
    """The start page says what each optional part is for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    start = (DOCS / "index.md").read_text(encoding="utf-8")
    for extra in project["optional-dependencies"]:
        assert f"`{extra}`" in start, extra


def test_the_start_page_names_the_versions_that_are_declared() -> None:
    """Those of Python, and of each library in its table of versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    start = (DOCS / "index.md").read_text(encoding="utf-8")
    pythons = [each.split(" :: ")[-1] for each in project["classifiers"] if " 3." in each]
    assert project["requires-python"] == f">={pythons[0]}"
    assert f"Python {pythons[0]} or later" in start
    assert f"| Python | {pythons[0]} to {pythons[-1]} |" in start
    listed = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    libraries = re.findall(
        r"^\| (\w+) \| (\S+) or later(?:, below (\S+))? \|$", start, re.MULTILINE
    )
    assert len(libraries) > 5
    for name, oldest, below in libraries:
        declared = {each for each in listed if re.split(r"\W", each)[0] == name.lower()}
        assert declared == {f"{name.lower()}>={oldest}" + (f",<{below}" if below else "")}
