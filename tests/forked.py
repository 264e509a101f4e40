"""The program in forked processes: real ones, but for the second that loading it takes.

A server process loads the program once. Each run of it is a process of its own, forked off that
server: with its own arguments, folder, environment, standard streams and exit status. A script of a
few lines passes all these on, so shells and pipes can start it like any program. With `-c` and a
text, `-m` and a module or the name of a Python file, it is not the program but Python, which runs
that. A run whose script is ended is asked to end as well.

Not for tests of loading, of signals or of processes themselves: they start an interpreter.
"""

from __future__ import annotations

import array
import atexit
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from runpy import run_module, run_path
from select import select
from tempfile import TemporaryDirectory
from types import ModuleType

LOADED = (
    "duckdb", "lxml.etree", "matplotlib.pyplot", "ot", "pandas", "pm4py", "pydantic.json_schema",
    "rapidfuzz.process", "rich.progress", "rich.table", "sacofa.report.build", "sklearn.ensemble",
    "typer._adapters",
)  # fmt: skip
"""What runs load when they use it, where it is installed."""
APP = (
    "duckdb", "lxml.etree", "rapidfuzz.process", "sacofa.cli.serve", "sacofa.report.build",
    "sacofa.web.app", "sacofa.web.worker", "threadpoolctl", "typer._adapters", "uvicorn",
)  # fmt: skip
"""What the web app and its workers load."""
PYTHON = "FORKED_PYTHON"
"""A variable of the environment: what else a run starts is started by this Python."""

# Sends what it was given to the server, and ends as the fork does.
SCRIPT = """\
#!{python} -IS
import array, json, os, socket, sys
text = json.dumps([os.getcwd(), sys.argv[1:], dict(os.environ)]).encode()
with socket.socket(socket.AF_UNIX) as there:
    there.connect({address!r})
    streams = array.array("i", [0, 1, 2])
    length = len(text).to_bytes(8, "big")
    there.sendmsg([length], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
    there.sendall(text)
    status = there.recv(1)
os._exit(status[0] if status else 70)
"""


@contextmanager
def forked_program(
    folder: Path, environment: Mapping[str, str], loaded: Sequence[str] = LOADED
) -> Iterator[Path]:
    """A script in a folder that runs the program, while a server is there for it."""
    with TemporaryDirectory(prefix="forked-") as place:
        # The address of a socket is short: the folder of a test may not be.
        yield from _served(folder, Path(place) / "server", environment, loaded)


def _served(
    folder: Path, address: Path, environment: Mapping[str, str], loaded: Sequence[str]
) -> Iterator[Path]:
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.forked", str(address), *loaded],
        env=dict(environment), cwd=Path(__file__).parents[1], stdout=subprocess.PIPE,
    )  # fmt: skip
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    script = folder / "sacofa"
    script.write_text(SCRIPT.format(python=sys.executable, address=str(address)))
    script.chmod(0o755)
    try:
        yield script
    finally:
        server.terminate()
        server.wait(30)
        server.stdout.close()


def serve(address: str, loaded: Sequence[str]) -> None:
    """Load the program, then fork it for everyone who asks."""
    if tuple(loaded) == LOADED:
        from sacofa.cli.app import make_app

        # Commands are loaded when they are named, and what they need when it is used.
        make_app()
    for module in loaded:
        # Some greet those who load them.
        with suppress(ImportError), redirect_stdout(sys.stderr):
            import_module(module)
    # Forks share what is loaded as long as nobody looks through it for garbage.
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as here:
        here.bind(address)
        here.listen(16)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        # Forks that have ended leave nothing behind but what they cost: it is this process's.
        signal.signal(signal.SIGCHLD, _reap)
        while True:
            there, _ = here.accept()
            if os.fork() == 0:
                here.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _answer(there)
            there.close()


def _reap(number: int, frame: object) -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _answer(there: socket.socket) -> None:
    """Fork the program, and tell how it ended."""
    import json

    streams = array.array("i")
    length, sent, _, _ = there.recvmsg(8, socket.CMSG_SPACE(3 * streams.itemsize))
    streams.frombytes(sent[0][2])
    with there.makefile("rb") as rest:
        folder, arguments, environment = json.loads(rest.read(int.from_bytes(length, "big")))
    child = os.fork()
    if child == 0:
        there.close()
        for place, stream in enumerate(streams):
            os.dup2(stream, place)
            os.close(stream)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.executable = environment.pop(PYTHON, sys.executable)
        os._exit(_run(arguments))
    # Whoever reads from a pipe waits until nobody holds its other end.
    for stream in (0, 1, 2, *streams):
        os.close(stream)
    if hasattr(os, "pidfd_open"):
        ended = os.pidfd_open(child)
        if ended not in select([ended, there], [], [])[0]:
            # Nothing more is sent: whoever asked is gone.
            os.kill(child, signal.SIGTERM)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    there.sendall(bytes([status if status >= 0 else 128 - status]))
    os._exit(0)


def _run(arguments: list[str]) -> int:
    """Be the program or Python, from the first line to what is done at the end."""
    # Those of the server know what kind of file they were opened on: these are others.
    sys.stdin, sys.stdout, sys.stderr = (
        open(place, mode, errors=errors, closefd=False)  # noqa: SIM115
        for place, mode, errors in ((0, "r", None), (1, "w", None), (2, "w", "backslashreplace"))
    )
    work: Callable[[], object]
    if arguments[:1] == ["-c"]:
        sys.modules["__main__"] = here = ModuleType("__main__")
        sys.argv, sys.path[0] = ["-c"], ""
        work = partial(exec, compile(arguments[1], "<string>", "exec"), here.__dict__)
    elif "-m" in arguments:
        module = arguments[arguments.index("-m") + 1]
        # It is loaded already, with all that it needs, and is run all the same.
        sys.modules.pop(module, None)
        work = partial(run_module, module, run_name="__main__", alter_sys=True)
    elif arguments[:1] and arguments[0].endswith(".py"):
        sys.argv, sys.path[0] = arguments, str(Path(arguments[0]).parent)
        work = partial(run_path, arguments[0], run_name="__main__")
    else:
        from sacofa.cli import main

        work = main
        # What else is started from here is told what the main module is.
        sys.modules["__main__"].__spec__ = ModuleSpec("sacofa.__main__", None)
        sys.argv = ["sacofa", *arguments]
    status = 0
    try:
        work()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        status = 120
    return status


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2:])
