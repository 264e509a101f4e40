"""Every mechanism by its name, and how one is made from settings as people give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import cast

from ..base.extensions import load_extensions
from ..errors import SettingError, Statement, advised
from .certified import Certified
from .paper import Laplace, Sacofa
from .protocol import Mechanism
from .settings import Setting, settings_of

GROUP = "sacofa.mechanisms"
"""The entry point group of mechanisms."""
BUILT_IN: tuple[type[Mechanism], ...] = (Certified, Sacofa, Laplace)


def installed_mechanisms() -> dict[str, type[Mechanism]]:
    """All mechanisms by name: the built-in ones, then those of other packages.

    Another package registers a class under the entry point group `sacofa.mechanisms`. It cannot
    replace a built-in mechanism.
    """
    named = {kind.name: kind for kind in BUILT_IN}
    for name, kind in load_extensions(GROUP):
        named.setdefault(name, cast(type[Mechanism], kind))
    return named


MECHANISMS = installed_mechanisms()

DEFAULT = "certified"
"""The mechanism of a person who asks for nothing in particular."""


def choices() -> tuple[Setting, ...]:
    """List the settings of all mechanisms, each option once, with what it means for each."""
    settings: dict[str, Setting] = {}
    meanings: dict[str, dict[str, list[str]]] = {}
    for name, mechanism in MECHANISMS.items():
        for entry in settings_of(mechanism):
            settings[entry.option] = entry
            # Mechanisms for which it means the same are named together.
            meanings.setdefault(entry.option, {}).setdefault(entry.help, []).append(name)
    return tuple(
        replace(settings[option], help=_describe(texts), mechanisms=tuple(chain(*texts.values())))
        for option, texts in meanings.items()
    )


def option_names() -> dict[str, str]:
    """What people call each field of a mechanism that they may set."""
    found = (entry for kind in MECHANISMS.values() for entry in settings_of(kind))
    return {entry.name: entry.option for entry in found}


def make_mechanism(name: str, given: Mapping[str, object]) -> Mechanism:
    """Make the mechanism of a name; settings that it does not have or lacks are refused.

    `given` holds settings by option; one that is None was not given.
    """
    kind = _class_of(name)
    known_settings = {entry.option: entry for entry in settings_of(kind)}
    said = {option: value for option, value in given.items() if value is not None}
    for option, value in said.items():
        if option not in known_settings:
            raise SettingError(option, value, Statement("must.be.no_such_setting", mechanism=name))
    for option, entry in known_settings.items():
        if entry.required and option not in said:
            raise SettingError(option, None, Statement("must.be.given_for", mechanism=name))
    return kind(**{known_settings[option].name: value for option, value in said.items()})


def _class_of(name: str) -> type[Mechanism]:
    if name not in MECHANISMS:
        must = Statement("must.one_of", choices=list(MECHANISMS))
        raise SettingError("mechanism", name, advised(must, name, MECHANISMS))
    return MECHANISMS[name]


def _describe(texts: Mapping[str, list[str]]) -> str:
    """The help text; where mechanisms differ, each with its name."""
    if len(texts) == 1:
        ((text, names),) = texts.items()
        return text if len(names) == len(MECHANISMS) else f"{text} ({', '.join(names)})"
    return " ".join(f"{text} ({', '.join(names)})" for text, names in texts.items())
