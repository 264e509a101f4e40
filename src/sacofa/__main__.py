"""Run the command line with `python -m sacofa`."""

from .cli import main

main()
