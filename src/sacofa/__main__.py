"""Run the command line with `python -m sacofa`."""

import sys

try:
    from .cli import main
except KeyboardInterrupt:
    # Even the little that is loaded before signals are caught takes a moment.
    sys.exit("sacofa: interrupted: nothing was written")

main()
