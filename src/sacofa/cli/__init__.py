"""The command line: thin, with no logic of its own."""

from .app import app, main

__all__ = ["app", "main"]
