"""The interface keeps to its own description, whatever is sent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from sacofa.web.settings import ServeSettings

from .clients import create_app, example, person, serving

schemathesis = pytest.importorskip("schemathesis", reason="pip install schemathesis")

checks = pytest.importorskip("schemathesis.specs.openapi.checks")
DESCRIPTION = create_app(ServeSettings(folder=Path("unused"))).openapi()
schema = schemathesis.openapi.from_dict(DESCRIPTION)


@pytest.fixture(scope="module")
def anna(tmp_path_factory: pytest.TempPathFactory, forked: Path) -> Iterator[Any]:
    """Somebody who has a log and a release in an app."""
    folder = tmp_path_factory.mktemp("app")
    with serving(folder / "app", forked, max_upload=1) as (app, made):
        anna = person(app, made)
        log = anna.upload(example(folder))["id"]
        anna.wait(f"/api/jobs/{anna.start(log)['id']}")
        anna.content = example(folder)
        anna.app, anna.name = app, app.state.uploads._uploads[log].owner
        yield anna


@schema.exclude(method="DELETE").parametrize()
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_answers_are_as_described(case: Any, anna: Any) -> None:
    """Known states, the described content, no error of the app."""
    _use_what_is_there(case, anna)
    request = case.as_transport_kwargs(base_url="http://127.0.0.1:8000")
    content = request.pop("data", None)
    answer = anna.client.request(
        request["method"],
        request["url"],
        params=request.get("params"),
        json=request.get("json"),
        content=content if isinstance(content, bytes) else None,
        headers={**dict(request.get("headers") or {}), "X-CSRF-Token": anna.csrf},
    )
    assert answer.status_code < 500, answer.text
    if answer.status_code not in (405, 413):
        # What the server software answers of itself to unknown methods, and to far too much.
        # Settings that fit the description may still not fit each other.
        case.validate_response(answer, excluded_checks=[checks.positive_data_acceptance])


def _use_what_is_there(case: Any, anna: Any) -> None:
    """Put ids that exist in half of the places for ids: with others nothing ever happens."""
    # Not by asking for them, which takes longer than the request that is tried.
    if not anna.app.state.uploads.of(anna.name):
        anna.upload(anna.content)
    log = anna.app.state.uploads.of(anna.name)[0].id
    job = anna.app.state.jobs.of(anna.name, "anonymize")[-1].id
    there = {"log": log, "job": job, "file": "log.csv"}
    for name, value in list((case.path_parameters or {}).items()):
        if name in there and len(str(value)) % 2:
            case.path_parameters[name] = there[name]
    if isinstance(case.body, dict) and "log" in case.body:
        case.body["log"] = there["log"]


def test_the_description_names_every_way() -> None:
    """Pages are not part of it."""
    assert sorted(DESCRIPTION["paths"]) == [
        "/api/jobs",
        "/api/jobs/{job}",
        "/api/jobs/{job}/cancel",
        "/api/jobs/{job}/files/{file}",
        "/api/jobs/{job}/signatures/{file}",
        "/api/ledger",
        "/api/ledger/{dataset}",
        "/api/logs",
        "/api/logs/{log}",
        "/api/logs/{log}/draft",
        "/api/logs/{log}/inspection",
        "/api/mechanisms",
        "/api/plan",
        "/api/signer",
    ]
