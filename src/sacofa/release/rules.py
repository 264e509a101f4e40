"""Public rules for a release: from a file or from a public log, never from the secret one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import SettingError
from ..logs import count_variants, open_log
from ..semantics import FromPublicLog, Rules, learn_rules, read_rules


def public_rules(
    file: str | Path | None = None,
    log: Any = None,
    *,
    secret: Any = None,
    name: str | None = None,
    trusted: bool = False,
) -> Rules | None:
    """Rules from a file or from a public log (`name` says what it is called); None for neither.

    A log that is the `secret` one itself is refused.
    """
    if file is not None and log is not None:
        raise SettingError("rules_from", name or log, "left out where a rules file is given")
    if file is not None:
        return read_rules(file)
    if log is None:
        return None
    if _is_same(log, secret):
        raise SettingError("rules_from", name or log, "another log, one that is public")
    counted = count_variants(open_log(log, trusted=trusted))
    return learn_rules(counted, FromPublicLog(name or Path(log).name))


def _is_same(one: Any, other: Any) -> bool:
    paths = [Path(path) for path in (one, other) if isinstance(path, (str, Path))]
    return len(paths) == 2 and all(path.exists() for path in paths) and paths[0].samefile(paths[1])
