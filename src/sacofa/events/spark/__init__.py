"""Logs on a Spark cluster: counted there, and left there where variants are too many."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ...errors import MissingExtraError, ReadError, Statement

MISSING = re.compile(r"ModuleNotFoundError: No module named '(\w+)")
"""The errors of Python on a machine that lacks a package."""
NANOSECONDS = "Illegal Parquet type: INT64 (TIMESTAMP(NANOS"
"""The error of Spark for a Parquet type that pandas 2 writes by default."""
IN_DATA = ("SQLSTATE: 22", "Job aborted due to stage failure")
"""The marks of errors that a value of the log causes."""


def check_installed() -> None:
    """Refuse to continue without PySpark."""
    try:
        import pyspark.sql  # noqa: F401
    except ImportError:
        raise MissingExtraError("PySpark", "spark") from None


check_installed()


@contextmanager
def clear_errors(name: str) -> Iterator[None]:
    """Turn errors of Spark, and the loss of the connection, into one clear line."""
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    # Older versions of Py4J log a traceback to the root logger, and so to the terminal.
    logging.getLogger().addFilter(_is_not_py4j)
    try:
        with warnings.catch_warnings():
            # Users cannot act on PySpark's warnings about pandas.
            warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
            yield
    except (PySparkException, Py4JError, ConnectionError, EOFError) as error:
        text, what = str(error), Statement("read.spark.failed", why=first_line(error))
        if missing := MISSING.search(text):
            what = Statement("read.spark.lacks", module=missing[1])
        elif "PYTHON_VERSION_MISMATCH" in text:
            what = Statement("read.spark.version")
        elif NANOSECONDS in text:
            what = Statement("read.spark.nanoseconds")
        elif isinstance(error, (Py4JNetworkError, ConnectionError, EOFError)):
            what = Statement("read.spark.lost")
        raise ReadError(name, what) from None


def _is_not_py4j(record: logging.LogRecord) -> bool:
    """Whether a record is from another logger than the connection of Py4J to Java."""
    return record.module not in ("java_gateway", "clientserver")


def first_line(error: Exception) -> str:
    """Return the first line of an error, or of the Java error that caused it."""
    text = str(error)
    if hasattr(error, "java_exception"):
        # Python's text speaks of objects of the bridge to Java; where Java is gone, it must do.
        with suppress(Exception):
            text = error.java_exception.getMessage() or text
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if any(mark in text for mark in IN_DATA):
        # Text in quotes is the value that caused the error.
        lines[0] = re.sub("'.*'|'.*$", "…", lines[0])
    return lines[0][:300] if lines else type(error).__name__
