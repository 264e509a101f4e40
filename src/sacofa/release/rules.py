"""Public rules for a release: of a file, a model or a public log, never of the secret one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..errors import SettingError
from ..logs import count_variants, open_log
from ..semantics import FromPublicLog, ModelOptions, Rules, learn_rules, open_rules

NO_MODEL = ModelOptions()


def public_rules(
    file: str | Path | None = None,
    log: Any = None,
    *,
    secret: Any = None,
    name: str | None = None,
    trusted: bool = False,
    model: ModelOptions = NO_MODEL,
    activities: Sequence[str] | None = None,
    notify: Callable[[str], None] = lambda note: None,
) -> Rules | None:
    """Rules from a rules file, a model or a public log; None for neither.

    `name` says what the file or log is called. A log that is the `secret` one itself is refused.
    Names of a model must be among the declared `activities`; `notify` is told what is to be known
    about it.
    """
    if file is not None and log is not None:
        raise SettingError("rules_from", name or log, "left out where a rules file is given")
    if file is not None:
        return open_rules(file, model, activities=activities, name=name, notify=notify)
    model.refuse_given("it is for models, which are given as rules")
    if log is None:
        return None
    several = secret if isinstance(secret, (list, tuple)) else [secret]
    if any(_is_same(log, one) for one in several):
        raise SettingError("rules_from", name or log, "another log, one that is public")
    counted = count_variants(open_log(log, trusted=trusted))
    return learn_rules(counted, FromPublicLog(name or Path(log).name))


def _is_same(one: Any, other: Any) -> bool:
    paths = [Path(path) for path in (one, other) if isinstance(path, (str, Path))]
    return len(paths) == 2 and all(path.exists() for path in paths) and paths[0].samefile(paths[1])
