"""The settings of a release with what they mean, from the help texts of the mechanism."""

from __future__ import annotations

from dataclasses import dataclass

from ..kernel.statements import Statement
from ..mechanisms.registry import MECHANISMS
from ..mechanisms.settings import settings_of
from ..messages import has_wording
from ..release.certificate import Certificate, say_setting


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
        SettingLine(name=_label(name), value=say_setting(value), meaning=helps.get(name, ""))
        for name, value in certificate.settings.items()
    )


def _label(setting: str) -> str:
    """The name of a setting on pages."""
    code = f"setting_label.{setting}"
    return str(Statement(code)) if has_wording(code) else setting.replace("_", " ")
