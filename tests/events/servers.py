"""Servers that tests share: a PostgreSQL server and a small Spark, started once."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

USER, PASSWORD = "kate", "s3cret-of-kate"

QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "America/New_York",
}
"""Settings of Spark for all tests; the zone shows that none is relied on."""
UNCOMPILED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Settings for small logs: Spark would compile every query, which takes longer than to run it."""


def need_spark() -> None:
    """Skip where Spark cannot run."""
    pytest.importorskip("pyspark", reason="the extra spark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is not installed")


@contextmanager
def spark_for_small_logs(master: str, settings: Mapping[str, str]) -> Iterator[Any]:
    """Start Spark; if there was one before, in its Java, which has loaded all that Spark needs."""
    need_spark()
    from pyspark.sql import SparkSession

    # Spark would otherwise start the python3 on the path, of whatever version it is.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Whose memory, of all settings, is that of the first.
    builder = SparkSession.builder.master(master).config("spark.driver.memory", "1g")
    for key, value in {**QUIET, **UNCOMPILED, **settings}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def small_spark() -> Iterator[Any]:
    """Start a small Spark with several partitions."""
    settings = {
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.files.maxPartitionBytes": "8192",
        "spark.sql.files.openCostInBytes": "1",
    }
    with spark_for_small_logs("local[3]", settings) as session:
        yield session


def programs() -> Path:
    """Find the folder with the programs of a PostgreSQL server."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    pytest.skip("there is no PostgreSQL server on this machine (Debian: postgresql)")


@contextmanager
def postgresql_server() -> Iterator[str]:
    """Start a fresh server on the loopback interface, stopped afterwards; gives its address."""
    psycopg = pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    folder = programs()
    home = Path(tempfile.mkdtemp(prefix="sacofa-postgresql-"))
    # The server refuses to run as root.
    who: dict[str, Any] = {}
    if os.geteuid() == 0:
        import pwd

        try:
            entry = pwd.getpwnam("postgres")
        except KeyError:
            shutil.rmtree(home)
            pytest.skip("PostgreSQL does not run as root and there is no user postgres")
        who = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        os.chown(home, entry.pw_uid, entry.pw_gid)
    (home / "password").write_text(PASSWORD)
    os.chmod(home / "password", 0o644)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = home / "data"
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "cwd": "/"}
    server = None
    try:
        subprocess.run(
            [folder / "initdb", "-D", data, "-U", USER, f"--pwfile={home / 'password'}",
             "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"],
            check=True, **quiet, **who,
        )  # fmt: skip
        server = subprocess.Popen(
            [folder / "postgres", "-D", data, "-p", str(port), "-c", "listen_addresses=127.0.0.1",
             "-c", "fsync=off", "-k", home],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", **who,
        )  # fmt: skip
        there = f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{port}/postgres"
        for _ in range(150):
            try:
                psycopg.connect(there).close()
                break
            except psycopg.OperationalError:
                time.sleep(0.2)
        else:
            pytest.fail("the server does not come up")
        yield there
    finally:
        if server is not None:
            server.terminate()
            server.wait(30)
        shutil.rmtree(home, ignore_errors=True)
