"""The app as people start it: in a process of its own, with a real server and real uploads."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from .clients import example, started


def _enter(address: str) -> httpx.Client:
    """Open the address; the server may need a moment to answer."""
    base, token = address.split("/?token=")
    client = httpx.Client(base_url=base, headers={"Authorization": f"Bearer {token}"}, timeout=60)
    for _ in range(200):
        try:
            client.get("/api/logs").raise_for_status()
            return client
        except httpx.ConnectError:
            time.sleep(0.05)
    raise AssertionError("the app does not answer")


def test_it_serves_and_leaves_nothing(tmp_path: Path) -> None:
    """All it holds is gone after Ctrl-C, workers included, and its log holds no secret."""
    folder = tmp_path / "cache"
    with started(folder) as (process, address):
        client = _enter(address)
        log = client.post("/api/logs?name=patients.csv", content=example(tmp_path)).json()
        client.get("/", params={"token": "wrong"})
        client.post("/api/jobs", json={"log": log["id"], "epsilon": "1"})
        assert list(folder.rglob("log.csv"))
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) in (0, 130, -signal.SIGINT)
        assert process.stdout is not None
        said = process.stdout.read() + (tmp_path / "stderr").read_text()
    assert list(folder.iterdir()) == []
    token = address.split("token=")[1]
    assert token not in said
    assert "patients" not in said
    assert "Traceback" not in said


def test_a_killed_app_takes_its_workers_along(tmp_path: Path) -> None:
    """And what it left is deleted by the next one."""
    folder = tmp_path / "cache"
    with started(folder, "--workers", "1") as (process, address):
        client = _enter(address)
        client.post("/api/logs?name=a.csv", content=example(tmp_path))
        workers = _children(process.pid)
        process.kill()
    assert list(folder.iterdir())
    for _ in range(200):
        if not any(Path(f"/proc/{worker}").exists() for worker in workers):
            break
        time.sleep(0.05)
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    with started(folder) as (_, address):
        _enter(address)
        assert len(list(folder.iterdir())) == 1
    assert list(folder.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_a_large_log_is_taken_in_little_memory(tmp_path: Path) -> None:
    """300 MB come in; the app never holds more than a small part of them."""
    block = os.urandom(1_000_000)
    with started(tmp_path / "cache") as (process, address):
        client = _enter(address)
        before = _peak(process.pid)
        answer = client.post("/api/logs?name=big.xes", content=(block for _ in range(300)))
        assert answer.status_code == 201
        assert answer.json()["bytes"] == 300_000_000
        assert _peak(process.pid) - before < 60_000_000
        assert client.delete(f"/api/logs/{answer.json()['id']}").status_code == 204


def test_a_port_that_is_taken_and_an_open_address_are_refused(tmp_path: Path) -> None:
    """One line each, exit status 2."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for options, words in (
            (["--port", port], f"port ({port}) must be free"),
            (["--host", "0.0.0.0"], "or given together with --expose"),
            (["--host", "0.0.0.0", "--expose"], "name the host that browsers use"),
            (["--ledger", str(tmp_path / "none")], "none"),
        ):
            ended = subprocess.run(
                [sys.executable, "-m", "sacofa", "serve", "--folder", str(tmp_path), *options],
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert ended.returncode in (1, 2)
            assert words in ended.stderr
            assert len(ended.stderr.splitlines()) == 1


def test_an_open_address_says_what_that_means(tmp_path: Path) -> None:
    """Who can use the app, and that nothing is encrypted."""
    options = ("--host", "0.0.0.0", "--expose", "--name", "localhost")
    with started(tmp_path / "cache", *options) as (_, address):
        assert address.startswith("http://localhost:")
        _enter(address)
        assert "is encrypted, neither logs nor the token" in (tmp_path / "stderr").read_text()


def _children(pid: int) -> list[int]:
    """The processes that a process started."""
    tasks = Path(f"/proc/{pid}/task/{pid}/children")
    for _ in range(100):
        if tasks.exists() and (found := tasks.read_text().split()):
            return [int(child) for child in found]
        time.sleep(0.02)
    return []


def _peak(pid: int) -> int:
    """The most memory that a process ever held, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found
    return int(found[1]) * 1000


@pytest.mark.parametrize("missing", ["fastapi", "uvicorn"])
def test_without_its_libraries_the_command_says_what_to_install(missing: str) -> None:
    """One line."""
    program = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from sacofa.cli import main\nmain(['serve'])\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 2
    assert ended.stderr == f"sacofa: {missing} is not installed: pip install 'sacofa[web]'\n"
