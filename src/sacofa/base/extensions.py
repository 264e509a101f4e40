"""Entry points that other installed packages register for sacofa."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib.metadata import entry_points


def load_extensions(group: str) -> Iterator[tuple[str, object]]:
    """Load what installed packages register under an entry point group.

    Args:
        group: The entry point group, such as `sacofa.mechanisms`.

    Yields:
        The name and the value of each entry point. An entry point that fails to load is skipped
        with a warning, so that one broken package does not disable the others.
    """
    for entry in entry_points(group=group):
        try:
            value = entry.load()
        except Exception as error:
            what = f"{entry.name} ({entry.value}) of {group} cannot be loaded"
            warnings.warn(f"{what}: {type(error).__name__}: {error}", stacklevel=2)
        else:
            yield entry.name, value
