"""The settings of a release with what they mean, from the words of the mechanism itself."""

from __future__ import annotations

from dataclasses import dataclass

from ..mechanisms.registry import MECHANISMS
from ..mechanisms.settings import settings_of
from ..release.certificate import Certificate, say_setting
from .words import label_of


@dataclass(frozen=True, kw_only=True)
class SettingLine:
    """One setting on the page."""

    name: str
    value: str
    meaning: str


def describe_settings(certificate: Certificate) -> tuple[SettingLine, ...]:
    """List the settings; those of a mechanism of somebody's own go without a meaning."""
    kind = MECHANISMS.get(certificate.mechanism)
    helps = {} if kind is None else {s.name: s.help for s in settings_of(kind)}
    return tuple(
        SettingLine(name=label_of(name), value=say_setting(value), meaning=helps.get(name, ""))
        for name, value in certificate.settings.items()
    )
