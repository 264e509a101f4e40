"""People and programs that use the app in tests."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sacofa.examples import running_example
from sacofa.web.settings import ServeSettings

from ..forked import PYTHON

pytest.importorskip("fastapi", reason="the app needs the extra web: pip install 'sacofa[web]'")

from starlette.testclient import TestClient

from sacofa.web.app import create_app
from tests.written import write_variants

BASE = "http://127.0.0.1:8000"


class Person:
    """Somebody at a browser: has a session, and sends what the app's pages send."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        page = client.get("/").text
        found = re.search(r'name="csrf" content="([^"]+)"', page)
        assert found
        self.csrf = found[1]

    def ask(self, method: str, path: str, **more: Any) -> Any:
        """Send a request as the app's own pages do."""
        headers = {"X-CSRF-Token": self.csrf, "Origin": BASE, **more.pop("headers", {})}
        return self.client.request(method, path, headers=headers, **more)

    def upload(self, content: bytes, name: str = "log.csv") -> dict[str, Any]:
        """Upload a log."""
        answer = self.ask("POST", "/api/logs", params={"name": name}, content=content)
        assert answer.status_code == 201, answer.text
        log: dict[str, Any] = answer.json()
        return log

    def start(self, log: str, **settings: Any) -> dict[str, Any]:
        """Begin a release."""
        content = {"log": log, "epsilon": 1, "not_charged": "dataset" not in settings, **settings}
        answer = self.ask("POST", "/api/jobs", json=content)
        assert answer.status_code == 202, answer.text
        job: dict[str, Any] = answer.json()
        return job

    def wait(self, path: str) -> dict[str, Any]:
        """Wait until a job has ended, or the inspection of a log has."""
        for _ in range(1200):
            told = self.ask("GET", path)
            assert told.status_code == 200, told.text
            answer = told.json()
            job: dict[str, Any] = answer.get("inspection", answer) if "/logs/" in path else answer
            if job["state"] not in ("waiting", "running"):
                return job
            time.sleep(0.05)
        raise AssertionError("the job does not end")


@contextmanager
def serving(
    folder: Path, python: Path | None = None, **more: Any
) -> Iterator[tuple[Any, ServeSettings]]:
    """Run the app in this process; its workers by another Python, if one is given."""
    settings = ServeSettings(folder=folder, **{"workers": 2, **more})
    app = create_app(settings)
    with TestClient(app, base_url=BASE) as first:
        app.state.portal = first.portal
        if python is not None:
            app.state.jobs.python = str(python)
        yield app, settings


def stranger(app: Any) -> TestClient:
    """Somebody who knows nothing; the app runs already, so this client joins it."""
    client = TestClient(app, base_url=BASE)
    client.portal = app.state.portal
    return client


def person(app: Any, settings: ServeSettings) -> Person:
    """Let one more person in."""
    client = stranger(app)
    answer = client.get("/", params={"token": settings.token}, follow_redirects=False)
    assert answer.status_code == 303
    return Person(client)


def example(folder: Path, suffix: str = "csv") -> bytes:
    """The running example as a file."""
    path = folder / f"example.{suffix}"
    write_variants(running_example(), path, force=True)
    return path.read_bytes()


@contextmanager
def started(
    folder: Path, *options: str, program: Path | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start `sacofa serve`, wait for its address, and end it as Ctrl-C does.

    A forked program starts it, and its workers, sooner.
    """
    command = [sys.executable, "-m", "sacofa"] if program is None else [str(program)]
    environment = {} if program is None else {PYTHON: str(program)}
    with (folder.parent / "stderr").open("w") as errors:
        process = subprocess.Popen(
            [*command, "serve", "--port", "0", "--folder", str(folder), *options],
            env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=errors, text=True,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            address = re.search(r"http://\S+", process.stdout.readline())
            assert address
            yield process, address[0]
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.wait(timeout=30)
