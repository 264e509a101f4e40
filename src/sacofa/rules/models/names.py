"""The names of a model and those of a log: a map that a person can edit.

Pairs are proposed by likeness from a *declared* list of activities. The names in a secret log are
never looked at for it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from ...base.files import write_whole
from ...errors import Argument, ReadError, RulesError, SettingError, nearest
from ..lines import find_line, quoted

ALIKE = 0.6
"""Names less alike than that are not proposed as a pair."""
LONGEST = 200
"""Longer names are compared by their beginning: comparing takes the square of their length."""
MAX_PAIRS = 100_000

EXPLANATION = """\
# Names of a model and of a log. On the left what the model says, on the right the activity in the
# log. "" is for a step that no log records. A "?" has no pair yet: replace it.
"""
UNKNOWN = "?"


def propose(model: Sequence[str], activities: Sequence[str]) -> dict[str, str]:
    """Propose an activity for each name of a model; "?" where none is like it.

    The most alike pair is taken first, and an activity is proposed once.
    """
    if len(model) * len(activities) > MAX_PAIRS:
        what = f"so few that there are at most {MAX_PAIRS:,} pairs with names of the model"
        raise SettingError("activities", len(activities), what)
    pairs = sorted(
        ((-likeness(name, activity), name, activity) for name in model for activity in activities),
    )
    found: dict[str, str] = {}
    for score, name, activity in pairs:
        if -score >= ALIKE and name not in found and activity not in found.values():
            found[name] = activity
    return {name: found.get(name, UNKNOWN) for name in model}


def likeness(one: str, other: str) -> float:
    """How alike two names are, from 0 to 1: by letters and by words, whatever their order."""
    if one == other:
        return 1.0
    left, right = (_words(name[:LONGEST]) for name in (one, other))
    if not left or not right:
        return 0.0
    letters = SequenceMatcher(None, " ".join(left), " ".join(right), autojunk=False).ratio()
    ordered = SequenceMatcher(
        None, " ".join(sorted(left)), " ".join(sorted(right)), autojunk=False
    ).ratio()
    common = len(set(left) & set(right)) / min(len(set(left)), len(set(right)))
    return 0.99 * max(letters, ordered, 0.9 * common)


def _words(name: str) -> list[str]:
    """Lower case words: "ER_Registration" and "erRegistration" are two words each."""
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return re.findall(r"\w+", parted.replace("_", " ").lower())


def write_names(names: Mapping[str, str], path: str | Path, force: bool = False) -> None:
    """Write a map to a file."""
    lines = [f"{quoted(name)} = {quoted(activity)}" for name, activity in names.items()]
    with write_whole(path, force) as part:
        part.write_text("\n".join([EXPLANATION + "\n[names]", *lines, ""]), encoding="utf-8")


def read_names_map(path: str | Path) -> dict[str, str]:
    """Read a map; every name must have got its pair."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
        content = tomllib.loads(text)
    except OSError as error:
        raise ReadError(path, f"cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise RulesError(path, None, f"not TOML: {error}") from None
    names = content.get("names")
    if set(content) != {"names"} or not isinstance(names, dict):
        raise RulesError(path, None, "must have one table, [names]")
    for name, activity in names.items():
        where = find_line(text, ("names",), name)
        if not isinstance(activity, str):
            raise RulesError(path, where, f'"{name}" must have a name in quotes')
        if activity == UNKNOWN:
            what = f'"{name}" has no pair yet: write the activity of the log, or ""'
            raise RulesError(path, where, what)
    return names


def check_names(
    path: str | Path,
    model: Iterable[str],
    names: Mapping[str, str] | None,
    activities: Sequence[str] | None,
) -> dict[str, str]:
    """Give every name of a model its activity; one without is an error, before a log is read."""
    found: dict[str, str] = {}
    model = list(model)
    for name in names or {}:
        if name not in model:
            what = f'the model has no "{name}", which the map names.{nearest(name, model)}'
            raise ReadError(path, what)
    for name in model:
        if names is not None and name not in names:
            raise ReadError(path, f'"{name}" is not in the map of names: add it, or "" for none')
        found[name] = name if names is None else names[name]
        if activities is not None and found[name] and found[name] not in activities:
            what = f'"{found[name]}" is not among the declared activities.'
            if advice := nearest(found[name], activities):
                raise ReadError(path, what + advice)
            raise ReadError(path, f"{what} Give it a pair in a map (", Argument("names"), ").")
    return found
