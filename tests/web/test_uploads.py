"""Uploaded logs stay in the app's own folder, whatever they are called, and not for long."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sacofa.web.schemas import JobAnswer, LogAnswer
from sacofa.web.settings import ServeSettings
from sacofa.web.uploads import MAX_LOGS, Uploads, download_stem, plain_name

from .clients import example, person, serving


@pytest.mark.parametrize(
    "name",
    [
        "../../../etc/cron.d/x.csv",
        "..\\..\\windows\\x.csv",
        "/etc/passwd.csv",
        "C:\\x.csv",
        "a\x00b\n\x1b[31m.csv",
        "....//....//x.csv",
        "x" * 900 + ".csv",
        "<img src=x onerror=alert(1)>.csv",
        "..csv",
    ],
)
def test_a_name_is_never_a_path(tmp_path: Path, name: str) -> None:
    """The file is called what the app calls it; the name is only shown."""
    with serving(tmp_path / "app") as (app, settings):
        anna = person(app, settings)
        log = anna.upload(example(tmp_path), name)
        files = [path for path in settings.folder.rglob("*") if path.is_file()]
        assert [path.name for path in files] == ["log.csv"]
        assert files[0].parent.parent == settings.folder / "logs"
        assert "/" not in log["name"]
        assert "\\" not in log["name"]
        assert log["name"].isprintable()
        assert len(log["name"]) <= 200
        assert not [path for path in tmp_path.iterdir() if path.name not in ("app", "example.csv")]


@pytest.mark.parametrize("name", ["x", "x.exe", ".gz", "x.csv.exe", "x.gz.gz", "..", "x.csv/"])
def test_an_unknown_format_is_refused(tmp_path: Path, name: str) -> None:
    """Before a byte of it is stored; a slash at the end is no part of the name."""
    with serving(tmp_path / "app") as (app, settings):
        answer = person(app, settings).ask("POST", "/api/logs", params={"name": name}, content=b"x")
        assert (answer.status_code, name) in ((422, name), (201, "x.csv/"))


def test_names_of_downloads_are_the_users_own() -> None:
    """But for signs that some system does not take in a name; the format is told by the app."""
    assert download_stem("Besuche März (final).xes.gz") == "Besuche März (final).anonymized"
    assert download_stem("a<b>:c|?.csv") == "a_b_c.anonymized"
    assert download_stem("...csv") == "log.anonymized"
    assert plain_name("a/b\\c.csv") == "c.csv"
    assert plain_name("") == "log"


def test_only_the_owner_can_enter_the_folder(tmp_path: Path) -> None:
    """All folders in it, too."""
    with serving(tmp_path / "app") as (app, settings):
        anna = person(app, settings)
        log = anna.upload(example(tmp_path))
        folder = settings.folder / "logs" / log["id"]
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_answers_hold_declared_fields_only(tmp_path: Path) -> None:
    """Not the id of the session, which is the cookie, and not where a log lies."""
    with serving(tmp_path / "app") as (app, settings):
        anna = person(app, settings)
        log = anna.upload(example(tmp_path))
        job = anna.start(log["id"])
        (listed,) = anna.ask("GET", "/api/logs").json()
        for answer in (log, listed):
            assert set(answer) == set(LogAnswer.model_fields)
        cancelled = anna.ask("POST", f"/api/jobs/{job['id']}/cancel").json()
        for answer in (log["inspection"], listed["inspection"], job, cancelled):
            assert set(answer) == set(JobAnswer.model_fields)


def test_an_upload_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    """No file, no folder, no entry."""
    uploads = Uploads(ServeSettings(folder=tmp_path))

    async def broken() -> AsyncIterator[bytes]:
        yield b"x" * 3_000_000
        raise ConnectionError

    with pytest.raises(ConnectionError):
        asyncio.run(uploads.receive("anna", "a.csv", broken()))
    assert uploads.of("anna") == []
    assert list((tmp_path / "logs").iterdir()) == []


def test_logs_are_deleted_after_their_time(tmp_path: Path) -> None:
    """With what is known of them; a log whose job still runs stays until the job ends."""
    now = [0.0]
    with serving(tmp_path / "app", clock=lambda: now[0]) as (app, settings):
        anna = person(app, settings)
        log = anna.upload(example(tmp_path))
        anna.wait(f"/api/logs/{log['id']}")
        now[0] = 3599.0
        app.state.portal.call(app.state.jobs.delete_expired)
        assert anna.ask("GET", "/api/logs").json()[0]["seconds_left"] == 1
        now[0] = 3600.0
        upload = next(iter(app.state.uploads._uploads.values()))
        upload.using += 1
        app.state.portal.call(app.state.jobs.delete_expired)
        assert len(anna.ask("GET", "/api/logs").json()) == 1
        upload.using -= 1
        app.state.portal.call(app.state.jobs.delete_expired)
        assert anna.ask("GET", "/api/logs").json() == []
        assert anna.ask("GET", f"/api/jobs/{log['inspection']['id']}").status_code == 404
        assert not [path for path in settings.folder.rglob("*") if path.is_file()]


def test_one_person_cannot_fill_the_disk_with_small_logs(tmp_path: Path) -> None:
    """There is a number of logs, too."""
    uploads = Uploads(ServeSettings(folder=tmp_path))

    async def one() -> AsyncIterator[bytes]:
        yield b"x"

    async def many() -> None:
        for _ in range(MAX_LOGS + 1):
            await uploads.receive("anna", "a.csv", one())

    with pytest.raises(Exception, match="delete one first"):
        asyncio.run(many())
    assert len(uploads.of("anna")) == MAX_LOGS
    assert asyncio.run(uploads.receive("ben", "a.csv", one())).owner == "ben"
