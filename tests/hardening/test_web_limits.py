"""The web app under load and abuse: every job ends, limits hold, nothing secret is left."""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("fastapi", reason="the app needs the extra web: pip install 'sacofa[web]'")

from sacofa.web import jobs as jobs_module
from sacofa.web.settings import ServeSettings
from sacofa.web.uploads import MAX_LOGS, StatusError, Uploads
from tests.web.clients import example, person, serving, started


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_every_signal_deletes_what_was_uploaded(tmp_path: Path, number: signal.Signals) -> None:
    """Also a second one, which comes while the app ends."""
    folder = tmp_path / "cache"
    with started(folder) as (process, address):
        client = enter(address)
        client.post("/api/logs?name=a.csv", content=example(tmp_path)).raise_for_status()
        assert list(folder.rglob("log.csv"))
        process.send_signal(number)
        time.sleep(0.05)
        process.send_signal(number)
        process.wait(timeout=30)
    assert list(folder.iterdir()) == []
    assert "Traceback" not in (tmp_path / "stderr").read_text()


def enter(address: str) -> httpx.Client:
    """Open the address as a program; the server may need a moment."""
    base, token = address.split("/?token=")
    client = httpx.Client(base_url=base, headers={"Authorization": f"Bearer {token}"}, timeout=60)
    for _ in range(200):
        try:
            client.get("/api/logs").raise_for_status()
            return client
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("the app does not answer")


def test_an_inspection_of_names_without_end_ends(tmp_path: Path) -> None:
    """A log whose names alone are many megabytes: said so, and everything else is told."""
    rows = "".join(f"{i},{'x' * 20_000}{i}\n" for i in range(250))
    with serving(tmp_path / "own") as (app, settings):
        user = person(app, settings)
        log = user.upload(f"case,activity\n{rows}".encode())
        job = user.wait(f"/api/logs/{log['id']}")
        assert job["state"] == "done", job
        assert job["inspection"]["cases"] == 250
        assert any("too long to be shown" in notice for notice in job["inspection"]["notices"])
        assert user.ask("DELETE", f"/api/logs/{log['id']}").status_code == 204
    assert not list((tmp_path / "own").rglob("log.csv"))


def test_a_worker_that_tells_too_much_is_a_job_that_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It can be deleted, and so can the logs of others."""
    monkeypatch.setattr(jobs_module, "MAX_LINE_BYTES", 20)
    with serving(tmp_path / "own") as (app, settings):
        user = person(app, settings)
        log = user.upload(example(tmp_path))
        job = user.wait(f"/api/jobs/{log['inspection']['id']}")
        assert job["state"] == "crashed"
        assert "makes no sense" in job["problem"]
        assert user.ask("DELETE", f"/api/jobs/{job['id']}").status_code == 204


def test_a_worker_that_cannot_be_started_is_a_job_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For instance because there are too many processes."""

    async def refuse(*_: Any, **__: Any) -> Any:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", refuse)
    with serving(tmp_path / "own") as (app, settings):
        user = person(app, settings)
        log = user.upload(example(tmp_path))
        job = user.wait(f"/api/logs/{log['id']}")
    assert (job["state"], "could not be started" in job["problem"]) == ("refused", True)


def test_a_job_that_takes_too_long_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every job ends."""
    monkeypatch.setattr(ServeSettings, "__post_init__", lambda self: None)
    with serving(tmp_path / "own", longest_job=0.01) as (app, settings):
        user = person(app, settings)
        log = user.upload(example(tmp_path))
        job = user.wait(f"/api/jobs/{log['inspection']['id']}")
    assert (job["state"], "too long" in job["problem"]) == ("crashed", True)


def test_the_sweeper_survives_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forked: Path
) -> None:
    """A job that cannot be deleted keeps nobody else's log here."""
    now = [0.0]
    with serving(tmp_path / "own", forked, clock=lambda: now[0], keep=100.0) as (app, settings):
        people = [person(app, settings) for _ in range(2)]
        for user in people:
            log = user.upload(example(tmp_path))
            user.wait(f"/api/logs/{log['id']}")

        async def fail(job: Any) -> None:
            raise RuntimeError("cannot be deleted")

        monkeypatch.setattr(app.state.jobs, "delete", fail)
        now[0] = 200.0
        app.state.portal.call(app.state.jobs.delete_expired)
        assert not list((tmp_path / "own").rglob("log.csv"))
        monkeypatch.undo()


def test_many_uploads_at_once_do_not_pass_the_limit(tmp_path: Path) -> None:
    """Those that are still coming count; a refused one leaves nothing."""

    async def slow() -> AsyncIterator[bytes]:
        yield b"case,activity\n"
        await asyncio.sleep(0.05)
        yield b"1,a\n"

    async def send(count: int) -> list[Any]:
        uploads = Uploads(ServeSettings(folder=tmp_path))
        every = [uploads.receive("me", "a.csv", slow()) for _ in range(count)]
        return await asyncio.gather(*every, return_exceptions=True)

    ends = asyncio.run(send(60))
    assert sum(isinstance(end, StatusError) for end in ends) == 60 - MAX_LOGS
    assert len(list(tmp_path.rglob("log.csv"))) == MAX_LOGS


def test_a_log_that_is_not_looked_at_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has too many jobs is refused, and the upload goes."""
    monkeypatch.setattr(jobs_module, "MAX_JOBS", 0)
    with serving(tmp_path / "own") as (app, settings):
        user = person(app, settings)
        answer = user.ask("POST", "/api/logs", params={"name": "a.csv"}, content=example(tmp_path))
        assert answer.status_code == 429
        assert not list((tmp_path / "own").rglob("log.csv"))
        assert user.ask("GET", "/api/logs").json() == []


def test_conversions_wait_for_a_free_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forked: Path
) -> None:
    """`--workers` says how many processes there are, whatever they do."""
    running, most = 0, 0
    real = jobs_module.Jobs._work

    async def work(self: Any, job: Any, request: Any) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            await real(self, job, request)
        finally:
            running -= 1

    monkeypatch.setattr(jobs_module.Jobs, "_work", work)
    with serving(tmp_path / "own", forked, workers=1) as (app, settings):
        user = person(app, settings)
        for _ in range(2):
            log = user.upload(example(tmp_path))
            user.wait(f"/api/logs/{log['id']}")
        folder = settings.folder / "jobs" / "made"
        folder.mkdir(parents=True)
        parts = [
            jobs_module.Job(
                id=f"j{i}", owner="me", kind="anonymize", log="l", name="n", folder=folder
            )
            for i in range(4)
        ]

        async def convert() -> None:
            parts_made = (app.state.jobs.convert(part, "no.csv") for part in parts)
            await asyncio.gather(*parts_made, return_exceptions=True)

        app.state.portal.call(convert)
    assert most == 1


def test_half_open_requests_do_not_keep_others_out(tmp_path: Path) -> None:
    """More of them than there are files for a process, without a token; and the log stays short."""
    with started(tmp_path / "cache") as (_, address):
        client = enter(address)
        port = int(address.split(":")[2].split("/")[0])
        half = []
        for _ in range(900):
            try:
                one = socket.create_connection(("127.0.0.1", port), timeout=5)
                one.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
                half.append(one)
            except OSError:
                break
        assert len(half) > 500
        for _ in range(3):
            fresh = enter(address)
            assert fresh.get("/api/mechanisms").status_code == 200
            fresh.close()
        assert client.get("/api/logs").status_code == 200
        for one in half:
            one.close()
    assert len((tmp_path / "stderr").read_text()) < 20_000
