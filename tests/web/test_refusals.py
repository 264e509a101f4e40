"""Refusals of the interface name the fields of a request, never what Python calls them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sacofa.web.settings import ServeSettings

from .clients import Person, create_app, person, serving

PYTHON = re.compile(
    r"\bNone\b|\bTrue\b|\bFalse\b|\w=[\w'\"]|\['|\('|constrained|dict|\blist\[|--[a-z]|Extra inputs"
)
"""Words of Python and of the command line."""


@pytest.fixture(scope="module")
def anna(tmp_path_factory: pytest.TempPathFactory, forked: Path) -> Iterator[tuple[Person, str]]:
    """Somebody with a log, and its id."""
    with serving(tmp_path_factory.mktemp("app"), forked) as app:
        anna = person(*app)
        yield anna, anna.upload(b"case,activity,time\n1,a,2025-01-01\n")["id"]


READING: list[tuple[dict[str, Any], str]] = [
    ({"max_cases": 2}, "columns.person must be given together with columns.max_cases"),
    ({"protect": "person"}, "left out unless columns.person and columns.period are given"),
    ({"person": "p", "period": "2026"}, "columns.protect must be"),
    ({"period": "x"}, "columns.period (x)"),
    ({"accept_other": True}, "columns.accept_other (given)"),
    ({"employees": True}, "columns.employees (given)"),
    ({"columns": "[x"}, "is not TOML"),
    ({"columns": 3}, "columns.columns must be an object"),
    ({"timestamp": 1}, "columns.timestamp must be text"),
    ({"timestamp": {}}, "columns.timestamp must be text"),
    ({"timestamp": ["a", "a"]}, "columns.timestamp (a, a)"),
    ({"attribute": ["a"], "pair": [["a", " "]]}, "columns.pair (a, )"),
    ({"time_format": "epoch", "timestamp": ["a", "b"]}, "columns.time_format (epoch)"),
    ({"header": ["a", "a"]}, "columns.header (a,a)"),
    ({"unknown": 1}, "columns.unknown is unknown"),
    ({"order": "x"}, "columns.order must be"),
    ({"skip_rows": 0}, "columns.skip_rows must be greater"),
]


@pytest.mark.parametrize(("columns", "expected"), READING)
def test_a_release_names_the_fields_of_reading(
    anna: tuple[Person, str], columns: dict[str, Any], expected: str
) -> None:
    """By their path in the request."""
    wish = {"log": anna[1], "epsilon": 1, "columns": columns}
    _check(anna[0].ask("POST", "/api/jobs", json=wish), expected)


CHOICES: list[tuple[dict[str, Any], str]] = [
    ({"mechanism": "x"}, "mechanism (x)"),
    ({"epsilon": 0}, "epsilon (0)"),
    ({"epsilon": True}, "epsilon must be text"),
    ({"mechanism": "laplace"}, "max_length must be given"),
    ({"mechanism": "laplace", "max_length": 5}, "prune must be given"),
    ({"max_length": 0}, "max_length must be greater"),
    ({"time": "x"}, "time must be true or false"),
    ({"seed": 1.5}, "seed must be a whole number"),
    ({"attribute_share": "1/3"}, "attribute_share (1/3)"),
    ({"unknown": 1}, "unknown is unknown"),
]


@pytest.mark.parametrize("path", ["/api/jobs", "/api/plan"])
@pytest.mark.parametrize(("choice", "expected"), CHOICES)
def test_a_plan_and_a_release_name_the_fields_of_a_mechanism(
    anna: tuple[Person, str], path: str, choice: dict[str, Any], expected: str
) -> None:
    """The same in both."""
    wish = {"epsilon": 1, **choice} | ({"log": anna[1]} if path == "/api/jobs" else {})
    _check(anna[0].ask("POST", path, json=wish), expected)


PLANS: list[tuple[dict[str, Any], str]] = [
    ({"max_cases": 2}, "person must be given together with max_cases"),
    ({"attributes": [{"name": "org:resource"}]}, "employees: true"),
    ({"attributes": [{"name": "email"}]}, "personal: true"),
    ({"attributes": [{"name": "case:concept:name"}]}, "attributes (case:concept:name)"),
    ({"attributes": [{"nam": "a"}]}, "attributes.0.name must be given"),
    ({"attributes": [3]}, "attributes.0 must be an object"),
    ({"attributes": [{"name": "a"}], "columns": "x"}, "is not TOML"),
    ({"dataset": "x"}, "dataset (x)"),
    ({"timed": "x"}, "timed must be true or false"),
]


@pytest.mark.parametrize(("wish", "expected"), PLANS)
def test_a_plan_names_its_own_fields(
    anna: tuple[Person, str], wish: dict[str, Any], expected: str
) -> None:
    """There the person and the attributes are not among the columns."""
    _check(anna[0].ask("POST", "/api/plan", json={"epsilon": 1, **wish}), expected)


REFUSED: dict[tuple[str, str], tuple[str, dict[str, Any], str]] = {
    ("post", "/api/jobs"): ("/api/jobs", {"json": {}}, "epsilon must be given"),
    ("post", "/api/plan"): ("/api/plan", {"json": []}, "the request must be an object"),
    ("post", "/api/logs"): ("/api/logs?name=x.foo", {"content": b"x"}, "unknown suffix"),
    ("put", "/api/logs/{log}/draft"): ("/api/logs/{log}/draft", {"json": {"x": 1}}, "x must be"),
    ("post", "/api/logs/{log}/inspection"): (
        "/api/logs/{log}/inspection",
        {"json": {"timestamp": 3}},
        "timestamp must be text",
    ),
}
"""For each endpoint that takes content: a wrong request, and how its refusal begins or ends."""


def test_every_endpoint_that_takes_content_has_a_wrong_request_here() -> None:
    """A new endpoint needs one as well."""
    paths = create_app(ServeSettings(folder=Path("unused"))).openapi()["paths"]
    taking = {
        (method, path)
        for path, methods in paths.items()
        for method, described in methods.items()
        if "requestBody" in described
    }
    assert taking == set(REFUSED)


@pytest.mark.parametrize("endpoint", REFUSED)
def test_every_endpoint_refuses_in_words_of_its_request(
    anna: tuple[Person, str], endpoint: tuple[str, str]
) -> None:
    """One line that names a field."""
    path, content, expected = REFUSED[endpoint]
    answer = anna[0].ask(endpoint[0].upper(), path.replace("{log}", anna[1]), **content)
    _check(answer, expected)


def test_text_that_is_no_json_is_refused_as_such(anna: tuple[Person, str]) -> None:
    """Without the place where a parser of Python stumbled."""
    headers = {"Content-Type": "application/json"}
    answer = anna[0].ask("POST", "/api/plan", content=b"{x", headers=headers)
    _check(answer, "the request must be JSON")


def test_a_job_that_is_refused_names_the_fields_of_the_page(anna: tuple[Person, str]) -> None:
    """Also where only the job finds that a setting cannot be."""
    path = f"/api/logs/{anna[1]}"
    anna[0].ask("POST", f"{path}/inspection", json={"protect": "person"})
    problem = anna[0].wait(path)["problem"]
    assert "left out unless “person” and “period” are given" in problem and not PYTHON.search(
        problem
    )


def _check(answer: Any, expected: str) -> None:
    message = answer.json()["detail"]
    assert answer.status_code == 422 and expected in message
    assert not PYTHON.search(message) and "\n" not in message
