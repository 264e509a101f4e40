"""The program as a person runs it, for these tests too."""

from tests.cli.conftest import run

__all__ = ["run"]
