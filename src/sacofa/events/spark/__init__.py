"""Logs on a Spark cluster: counted there, and left there where variants are too many."""

from ...errors import MissingExtraError


def check_installed() -> None:
    """Refuse to go on without PySpark."""
    try:
        import pyspark.sql  # noqa: F401
    except ImportError:
        raise MissingExtraError("PySpark", "spark") from None


check_installed()
