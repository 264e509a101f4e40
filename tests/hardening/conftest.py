"""The program as a person runs it, and quick workers of the web app, for these tests too."""

from tests.cli.conftest import run
from tests.web.conftest import forked

__all__ = ["forked", "run"]
