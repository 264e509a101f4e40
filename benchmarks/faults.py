"""Faults on purpose: kills, failing system calls, many writers, a loaded web app.

    python benchmarks/faults.py [--seconds 60] [--seed 1]

Each part runs for about so many seconds, checks after every fault what is left, and stops at the
first thing that must not be. At the end a table says what was done. System calls are made to fail
with strace; where it is not installed, that part is left out and the table says so.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from functools import partial
from importlib import import_module
from pathlib import Path

import sacofa
from sacofa.cli import main as main_of_program
from sacofa.cli.app import make_app
from sacofa.errors import SacofaError
from sacofa.kernel.variants import VariantCounts
from sacofa.ledger import Ledger
from sacofa.mechanisms.released import ReleasedLog
from sacofa.release import certificate_path, verify
from sacofa.release.formats import store_log

PLACE = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(sacofa.__file__).parents[1])}
PROGRAM = [sys.executable, "-m", "sacofa"]
CALLS = {
    "openat": ("ENOSPC", "EMFILE", "EACCES"),
    "write": ("ENOSPC", "EIO"),
    "fsync": ("EIO",),
    "fdatasync": ("EIO", "ENOSPC"),
    "link": ("EPERM", "ENOSPC", "EEXIST"),
    "rename": ("EXDEV", "ENOSPC", "EACCES"),
    "mkdir": ("ENOSPC", "EACCES"),
    "unlink": ("EACCES",),
    "flock": ("ENOLCK",),
    "ftruncate": ("EIO",),
    "pwrite64": ("ENOSPC", "EIO"),
}
"""The system calls that are made to fail, and how."""

Seen = Counter[str]


def prepare(folder: Path) -> None:
    """Make a small log, and a ledger with a large budget."""
    log = ReleasedLog(variants=VariantCounts.of({("a", "b"): 40, ("a",): 20}))
    store_log(log, folder / "log.csv")
    Ledger.create(folder / "a.ledger").set_budget("visits", Fraction(1000))
    (folder / "tmp").mkdir()


def release(output: str) -> list[str]:
    """What releases the log."""
    return [
        *PROGRAM, "anonymize", "log.csv", "-o", output, "--epsilon", "0.1", "--max-length", "2",
        "--force", "--ledger", "a.ledger", "--dataset", "visits",
    ]  # fmt: skip


def check(folder: Path, output: str, said: str) -> str:
    """Check what is left after a fault; say what became of the release."""
    assert "Traceback" not in said and "internal error" not in said, said
    path = folder / output
    entries = Ledger.open(folder / "a.ledger").entries()
    if not path.exists():
        assert not certificate_path(path).exists(), "a certificate without a file"
        return "nothing out"
    assert verify(path).holds, "a certificate that does not fit"
    paid = [entry for entry in entries if entry.file == str(path)]
    assert any(entry.sha256 == verify(path).certificate.sha256 for entry in paid), "unpaid"
    return "released"


def until(seconds: float, work: Callable[[int], str]) -> Seen:
    """Do something again and again, and count what came of it."""
    seen: Seen = Counter()
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end or not number:
        seen[work(number)] += 1
        number += 1
    return seen


def kills(seconds: float, chance: random.Random) -> Seen:
    """Kill releases over an old one at any moment."""
    with tempfile.TemporaryDirectory(dir=PLACE) as name:
        folder = Path(name)
        prepare(folder)
        usual = _time(
            lambda: subprocess.run(
                release("out.csv"), cwd=folder, env=ENVIRONMENT, capture_output=True, check=True
            )
        )

        def work(number: int) -> str:
            process = subprocess.Popen(
                release("out.csv"), cwd=folder, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, env={**ENVIRONMENT, "TMPDIR": str(folder / "tmp")},
            )  # fmt: skip
            how = chance.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT))
            time.sleep(chance.uniform(0, 1.1 * usual))
            process.send_signal(how)
            process.wait()
            if how != signal.SIGKILL:
                check_clean(folder)
            return f"{how.name}: {check(folder, 'out.csv', '')}"

        return until(seconds, work)


def check_clean(folder: Path) -> None:
    """Nothing of the log is left: not even by one that was killed before, if it began to read."""
    left = [path for path in (folder / "tmp").iterdir() if not _killed(path)]
    assert not left, f"left behind: {left}"


def _killed(path: Path) -> bool:
    """Whether nobody holds a folder, or it is empty and has no lock yet: who is next removes it."""
    import fcntl

    if not any(path.iterdir()):
        return True
    try:
        with (path / "lock").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def failing_calls(seconds: float, chance: random.Random) -> Seen:
    """Let one system call fail, at one of the times that it is made."""
    if shutil.which("strace") is None:
        return Counter({"left out: strace is not installed": 1})

    def work(number: int) -> str:
        call, error, when = _fault(chance)
        with tempfile.TemporaryDirectory(dir=PLACE) as name:
            folder = Path(name)
            prepare(folder)
            done = subprocess.run(
                ["strace", "-f", "--seccomp-bpf", "-o", "/dev/null", "-e", f"trace={call}",
                 "-e", f"inject={call}:error={error}:when={when}", *release("out.csv")],
                cwd=folder, capture_output=True, text=True, check=False,
                env={**ENVIRONMENT, "TMPDIR": str(folder / "tmp"), "PYTHONDONTWRITEBYTECODE": "1"},
            )  # fmt: skip
            ours = "sacofa" in done.stderr or done.returncode == 0
            # Before the program has begun, Python itself may fail: that is not ours to say.
            return f"{call}: {check(folder, 'out.csv', done.stderr if ours else '')}"

    return until(seconds, work)


def _fault(chance: random.Random) -> tuple[str, str, int]:
    call = chance.choice(sorted(CALLS))
    early = {"openat": 900, "write": 1}.get(call, 1)
    return call, chance.choice(CALLS[call]), early + chance.randrange(40 if early > 1 else 8)


def fork_release(folder: Path) -> int:
    """Release the log in a process forked off this one, which has loaded the program already."""
    child = os.fork()
    if child:
        return child
    status = 70
    try:
        os.chdir(folder)
        said = os.open("said", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(said, 2)
        main_of_program(release("out.csv")[len(PROGRAM) :])
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0
    finally:
        os._exit(status)


def _wait(process: int) -> str:
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return "killed" if status < 0 else f"status {status}"


def _time(work: Callable[[], object]) -> float:
    start = time.monotonic()
    work()
    return time.monotonic() - start


def writers(seconds: float, chance: random.Random) -> Seen:
    """Sixteen at once, of one name and into one ledger; some are killed.

    What a release needs is loaded before: so they meet in the ledger, and not while they load.
    """
    make_app(["anonymize"])
    for module in ("duckdb", "rapidfuzz.process", "rich.progress", "typer._adapters"):
        with suppress(ImportError):
            import_module(module)
    with tempfile.TemporaryDirectory(dir=PLACE) as name:
        folder = Path(name)
        prepare(folder)

        usual = _time(partial(_wait, fork_release(folder)))

        def work(number: int) -> str:
            started = [fork_release(folder) for _ in range(16)]
            begun = time.monotonic()
            for moment, victim in sorted(
                (chance.uniform(0, 16 * usual / (os.cpu_count() or 1)), victim)
                for victim in started[::4]
            ):
                time.sleep(max(0.0, begun + moment - time.monotonic()))
                os.kill(victim, signal.SIGKILL)
            ends = Counter(map(_wait, started))
            said = (folder / "said").read_text()
            assert "Traceback" not in said and "internal error" not in said, said
            check(folder, "out.csv", "")
            ledger = Ledger.open(folder / "a.ledger")
            ledger.check()
            spent = sum(entry.price or 0 for entry in ledger.entries() if entry.spent)
            assert ledger.account("visits").spent == spent
            return ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))

        return until(seconds, work)


def web(seconds: float, chance: random.Random) -> Seen:
    """Half-open requests and parallel uploads while somebody uses the app."""
    import httpx

    seen: Seen = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "stderr").open("w") as errors:
            process = subprocess.Popen(
                [*PROGRAM, "serve", "--port", "0", "--folder", str(folder / "own")],
                stdout=subprocess.PIPE, stderr=errors, text=True, env=ENVIRONMENT,
            )  # fmt: skip
        assert process.stdout is not None
        found = re.search(r"http://127.0.0.1:(\d+)/\?token=(\S+)", process.stdout.readline())
        assert found
        headers = {"Authorization": f"Bearer {found[2]}"}
        client = httpx.Client(base_url=f"http://127.0.0.1:{found[1]}", headers=headers, timeout=30)
        half: list[socket.socket] = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for _ in range(50):
                one = socket.create_connection(("127.0.0.1", int(found[1])), timeout=5)
                one.sendall(b"POST /api/logs HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n")
                half.append(one)
                seen["half-open requests"] += 1
            for one in half[:-700]:
                one.close()
            del half[:-700]
            with ThreadPoolExecutor(30) as pool:
                answers = pool.map(
                    lambda _: client.post("/api/logs?name=a.csv", content=b"case,activity\n1,a\n"),
                    range(30),
                )
                for answer in answers:
                    seen[f"upload: {answer.status_code}"] += 1
            logs = client.get("/api/logs").json()
            assert len(logs) <= 20, "more logs than allowed"
            for log in logs:
                client.delete(f"/api/logs/{log['id']}")
        process.send_signal(chance.choice((signal.SIGTERM, signal.SIGHUP)))
        process.wait(timeout=60)
        assert not list((folder / "own").iterdir()), "logs are left on the disk"
        said = (folder / "stderr").read_text()
        assert "Traceback" not in said and len(said) < 50_000, said[:2_000]
    return seen


PARTS: dict[str, Callable[[float, random.Random], Seen]] = {
    "kills and signals": kills,
    "failing system calls": failing_calls,
    "16 writers": writers,
    "web load": web,
}


def main() -> None:
    """Run all parts, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for each part")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", choices=list(PARTS))
    given = parser.parse_args()
    lines = ["| part | what | how often |", "|---|---|---|"]
    for name in [given.part] if given.part else PARTS:
        try:
            seen = PARTS[name](given.seconds, random.Random(given.seed))
        except (AssertionError, SacofaError) as error:
            sys.exit(f"{name}: {error}")
        lines += [f"| {name} | {what} | {seen[what]:,} |" for what in sorted(seen)]
        sys.stdout.write(f"{name}: {sum(seen.values()):,}\n")
        sys.stdout.flush()
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
