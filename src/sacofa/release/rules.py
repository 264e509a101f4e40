"""Public rules for a release: of a file, a model or a public log, never of the secret one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from ..base.files import identity
from ..errors import ReadError, SettingError, Statement, refuse_given
from ..events import count_variants, open_log
from ..events.find_source import find_files
from ..rules import FromPublicLog, ModelOptions, Rules, learn_rules, open_rules

NO_MODEL = ModelOptions()


def public_rules(
    file: str | Path | None = None,
    log: object = None,
    *,
    secret: object = None,
    name: str | None = None,
    trusted: bool = False,
    model: ModelOptions = NO_MODEL,
    activities: Sequence[str] | None = None,
    notify: Callable[[Statement], None] = lambda note: None,
) -> Rules | None:
    """Rules from a rules file, a model or a public log; None for neither.

    `name` says what the file or log is called. A log that is the `secret` one itself, or shares a
    file with it, is refused.
    Names of a model must be among the declared `activities`; `notify` is told what is to be known
    about it.
    """
    if file is not None and log is not None:
        raise SettingError("rules_from", name or log, Statement("must.be.left_out_with_rules"))
    if file is not None:
        return open_rules(file, model, activities=activities, name=name, notify=notify)
    refuse_given(model, Statement("must.left_out_no_model"))
    if log is None:
        return None
    several = secret if isinstance(secret, (list, tuple)) else [secret]
    if _files(log) & set[object]().union(*map(_files, several)):
        raise SettingError("rules_from", name or log, Statement("must.be.public_log"))
    counted = count_variants(open_log(log, trusted=trusted))
    return learn_rules(counted, FromPublicLog(name or Path(str(log)).name))


def _files(log: object) -> set[object]:
    """Return the identities of the files of a log, resolved through patterns, folders and links."""
    # The storage format is irrelevant here. A missing file is refused when it is read.
    with suppress(ReadError):
        if isinstance(log, (str, Path)):
            return {part for file in find_files(str(log), "csv")[0] for part in identity(file)}
    return set()
