"""The certificate: what a release promises, under which assumptions, and how it adds up.

It holds facts: statements with codes and values. In JSON, each stands next to its English text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

from .._version import __version__
from ..errors import ReadError, SettingError, Statement
from ..kernel.accounting import Access, Leak, Spend, total_epsilon
from ..kernel.unit import Unit
from ..messages import from_content, render, to_content
from ..messages.units import neighbours, noun, protection
from ..synthesis.margins import Margins
from ..synthesis.verdict import Verdict
from .format_2 import FORMAT, upgrade
from .periods import PeriodStatement
from .single_keys import JsonObject, loads

Content = TypeVar("Content")

DAMAGED = Statement("certificate.damaged")


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What a release promises, to whom, under which assumptions, and how the price adds up."""

    mechanism: str
    """The name of the mechanism."""
    unit: Unit
    """What is protected: the unit that the cases were bounded by when they were read."""
    spent: tuple[Access, ...]
    """Every query to the log, with its price."""
    assumptions: tuple[Statement, ...]
    """What is taken to be public or true."""
    not_promised: tuple[Statement, ...]
    """What a reader might expect and must not."""
    settings: Mapping[str, object]
    """The settings of the mechanism: all that differ from their defaults, and some that do not."""
    publishable: bool = True
    """False where the noise can be drawn again from a seed."""
    version: str = __version__
    """The version of this package."""
    sha256: str | None = None
    """The hash of the released file, once it is written."""
    verdict: Verdict | None = None
    """What the release is good for; from noise and noisy values alone. None: not known."""
    missing_activities: tuple[str, ...] = ()
    """Public names of activities that no released case has."""
    margins: Margins | None = None
    """How far its figures may be off; from noise and noisy values alone. None: not known."""
    notes: tuple[Statement, ...] = ()
    """What else the run has to say; made of noisy values only."""
    period: PeriodStatement | None = None
    """Which period of the log was released; None: all of it."""

    @property
    def protects(self) -> Statement:
        """What is protected."""
        return protection(self.unit)

    @property
    def guarantee(self) -> Statement:
        """What ε means for a unit of the log."""
        return guarantee(self.epsilon, self.unit, publishable=self.publishable)

    @property
    def epsilon(self) -> Fraction | None:
        """The price of the whole release; None where no ε is finite."""
        return total_epsilon(self.spent)

    def of_file(self, sha256: str) -> Certificate:
        """The same certificate, for one released file."""
        return replace(self, sha256=sha256)

    def to_json(self) -> str:
        """Write as JSON."""
        content = {
            "format": FORMAT,
            "mechanism": self.mechanism,
            **_price("epsilon", self.epsilon),
            "delta": 0,
            "protects": str(self.protects),
            "unit": _unit(self.unit),
            **({} if self.period is None else {"period": self.period.to_content(self.unit)}),
            "neighbours": str(neighbours(self.unit)),
            "guarantee": str(self.guarantee),
            "spent": [_access(access) for access in self.spent],
            "assumptions": [to_content(said) for said in self.assumptions],
            "not_promised": [to_content(said) for said in self.not_promised],
            "verdict": None if self.verdict is None else self.verdict.to_content(),
            "missing_activities": list(self.missing_activities),
            **({} if self.margins is None else {"margins": self.margins.to_content()}),
            "notes": [to_content(said) for said in self.notes],
            "publishable": self.publishable,
            "settings": {name: _plain(value) for name, value in self.settings.items()},
            "version": self.version,
            "sha256": self.sha256,
        }
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str, path: object = "certificate") -> Certificate:
        """Read from JSON; the price is added up again, not taken as it stands."""
        try:
            content = upgrade(loads(text))
            if content["format"] != FORMAT:
                raise ReadError(path, Statement("certificate.wrong_format", format=FORMAT))
            certificate = cls(
                mechanism=str(content["mechanism"]),
                unit=_read_unit(content["unit"]),
                spent=tuple(_read_access(access) for access in content["spent"]),
                assumptions=tuple(map(from_content, content["assumptions"])),
                not_promised=tuple(map(from_content, content["not_promised"])),
                verdict=_or_none(Verdict.from_content, content["verdict"]),
                missing_activities=tuple(map(str, content.get("missing_activities", ()))),
                margins=_or_none(Margins.from_content, content.get("margins")),
                notes=tuple(map(from_content, content["notes"])),
                publishable=bool(content["publishable"]),
                settings={k: _read_setting(v) for k, v in content["settings"].items()},
                version=str(content["version"]),
                sha256=_or_none(str, content["sha256"]),
                period=_or_none(PeriodStatement.from_content, content.get("period")),
            )
            stated = content["epsilon_exact"]
            _refuse_strange(certificate.spent)
            if (None if stated is None else _read_price(stated)) != certificate.epsilon:
                raise ReadError(path, Statement("certificate.wrong_sum", epsilon=str(stated)))
        except ReadError:
            raise
        except (
            ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError, RecursionError,
            SettingError,
        ):  # fmt: skip
            raise ReadError(path, DAMAGED) from None
        return certificate


def say_setting(value: object, language: str = "en") -> str:
    """A setting in words: of a list each entry, of an attribute its name and type."""
    if isinstance(value, Statement):
        return render(value, language)
    if isinstance(value, Mapping) and "name" in value:
        return f"{value['name']} ({value['type']})" if "type" in value else str(value["name"])
    if isinstance(value, list | tuple):
        return ", ".join(say_setting(entry, language) for entry in value)
    return str(value)


def _price(name: str, price: Fraction | None) -> dict[str, object]:
    """A price as a number for people and as an exact fraction."""
    if price is None:
        return {name: None, f"{name}_exact": None}
    return {name: _number(price), f"{name}_exact": str(price)}


def _number(value: Fraction) -> int | float:
    """The nearest number that JSON can hold and that is not less: no ε is stated too small."""
    if value.denominator == 1:
        return int(value)
    nearest = float(value)
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)


def guarantee(epsilon: Fraction | None, unit: Unit, *, publishable: bool = True) -> Statement:
    """What ε means for a unit of the log."""
    if epsilon is None:
        return Statement("guarantee.leak")
    if not publishable:
        return Statement("guarantee.seed")
    return Statement("guarantee.finite", noun=noun(unit), epsilon=epsilon, double=2 * epsilon)


def _access(access: Access) -> dict[str, object]:
    if isinstance(access, Leak):
        what, why = to_content(access.what), to_content(access.why)
        return {"what": what, "epsilon": None, "epsilon_exact": None, "why": why}
    return {"what": to_content(access.what), **_price("epsilon", access.epsilon)}


def _unit(unit: Unit) -> dict[str, object]:
    content: dict[str, object] = {"person": unit.person, "max_cases": unit.max_cases}
    return {**content, "per_period": True} if unit.per_period else content


def _read_unit(content: JsonObject) -> Unit:
    person, max_cases = content["person"], content["max_cases"]
    per_period = content.get("per_period", False)
    if not (person is None or isinstance(person, str)) or not isinstance(max_cases, int):
        raise ValueError(content)
    if not isinstance(per_period, bool):
        raise ValueError(content)
    return Unit(person=person, max_cases=max_cases, per_period=per_period)


def _read_access(content: JsonObject) -> Access:
    if content["epsilon_exact"] is None:
        return Leak(what=from_content(content["what"]), why=from_content(content["why"]))
    what, epsilon = from_content(content["what"]), _read_price(content["epsilon_exact"])
    return Spend(what=what, epsilon=epsilon)


def _read_price(text: str) -> Fraction:
    """Read a price as it is written here; `1e999999999` would be a number that fills the memory."""
    if not re.fullmatch("[0-9]{1,60}(/[0-9]{1,60})?", text, re.ASCII):
        raise ValueError(text)
    return Fraction(text)


def _refuse_strange(accesses: tuple[Access, ...]) -> None:
    """Refuse prices whose sum would take forever: those of one release have much in common."""
    common = 1
    for access in accesses:
        if isinstance(access, Spend):
            common = math.lcm(common, access.epsilon.denominator)
            if common > 10**100:
                raise ValueError(common)


def _or_none(read: Callable[[Any], Content], content: object) -> Content | None:
    return None if content is None else read(content)


def _read_setting(content: object) -> object:
    is_statement = isinstance(content, Mapping) and "code" in content
    return from_content(content) if is_statement else content


def _plain(value: object) -> object:
    if isinstance(value, Statement):
        return to_content(value)
    if isinstance(value, Fraction):
        return str(value)
    if value == math.inf:
        return "inf"
    return value
