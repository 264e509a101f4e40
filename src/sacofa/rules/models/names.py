"""An editable map from the names in a model to those in a log.

Pairs are proposed by similarity to a *declared* list of activities, never to the names in a
confidential log.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from ...base.files import write_whole
from ...errors import Argument, SettingError, Statement, advised
from ..reading import RefusedError, find_line, quoted, read_toml, refusing

MIN_LIKENESS = 0.6
"""Minimum similarity of a proposed pair."""
MAX_COMPARED = 200
"""Longer names are truncated for comparison, which takes quadratic time."""
MAX_PAIRS = 100_000

EXPLANATION = """\
# Names of a model and of a log. On the left what the model says, on the right the activity in the
# log. "" is for a step that no log records. A "?" has no pair yet: replace it.
"""
UNKNOWN = "?"


def propose(model: Sequence[str], activities: Sequence[str]) -> dict[str, str]:
    """Propose an activity for each name of a model; "?" if none is similar.

    The most similar pair is chosen first, and each activity is proposed once.
    """
    if len(model) * len(activities) > MAX_PAIRS:
        must = Statement("must.few_pairs", limit=MAX_PAIRS)
        raise SettingError("activities", len(activities), must)
    pairs = sorted((-likeness(name, each), name, each) for name in model for each in activities)
    found: dict[str, str] = {}
    for score, name, activity in pairs:
        if -score >= MIN_LIKENESS and name not in found and activity not in found.values():
            found[name] = activity
    return {name: found.get(name, UNKNOWN) for name in model}


def likeness(name: str, activity: str) -> float:
    """Return the similarity of two names from 0 to 1, by letters and by words in any order."""
    if name == activity:
        return 1.0
    left, right = (_words(text[:MAX_COMPARED]) for text in (name, activity))
    if not left or not right:
        return 0.0
    letters, ordered = (
        SequenceMatcher(None, " ".join(one), " ".join(other), autojunk=False).ratio()
        for one, other in ((left, right), (sorted(left), sorted(right)))
    )
    common = len(set(left) & set(right)) / min(len(set(left)), len(set(right)))
    return 0.99 * max(letters, ordered, 0.9 * common)


def _words(name: str) -> list[str]:
    """Split a name into lower-case words: "ER_Registration" and "erRegistration" have two each."""
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return re.findall(r"\w+", parted.replace("_", " ").lower())


def write_names(names: Mapping[str, str], path: str | Path, force: bool = False) -> None:
    """Write a map to a file."""
    lines = [f"{quoted(name)} = {quoted(activity)}" for name, activity in names.items()]
    with write_whole(path, force) as part:
        part.write_text("\n".join([EXPLANATION + "\n[names]", *lines, ""]), encoding="utf-8")


def read_names_map(path: str | Path) -> dict[str, str]:
    """Read a map; every name must have a pair."""
    with refusing(path):
        text, content = read_toml(path)
        names = content.get("names")
        if set(content) != {"names"} or not isinstance(names, dict):
            raise RefusedError("model.names.table", None)
        for name, activity in names.items():
            where = find_line(text, ("names",), name)
            if not isinstance(activity, str):
                raise RefusedError("model.names.text", where, name=name)
            if activity == UNKNOWN:
                raise RefusedError("model.names.unpaired", where, name=name)
        return names


def check_names(
    model: Sequence[str], names: Mapping[str, str] | None, activities: Sequence[str] | None
) -> Mapping[str, str]:
    """Map every name of a model to its activity; one without an activity is refused."""
    names = dict(zip(model, model, strict=True)) if names is None else names
    for name in names:
        if name not in model:
            raise RefusedError("model.names.not_in_model", None, name=name).advise(name, model)
    for name in model:
        if name not in names:
            raise RefusedError("model.names.not_in_map", None, name=name)
        if activities is not None and names[name] and names[name] not in activities:
            plain = Statement("model.names.undeclared", name=names[name])
            what = advised(plain, names[name], activities)
            if what == plain:
                values = {"name": names[name], "argument": Argument("names")}
                what = Statement("model.names.undeclared_map", **values)
            raise RefusedError(what, None)
    return names
