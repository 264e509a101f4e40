"""The certificate: what a release guarantees, under which assumptions, and how its ε adds up.

It holds facts: statements with codes and values. In JSON, each stands next to its English text.
Certificates of format 2 held sentences in place of statements. They are read as if they were of the
present format: each sentence is a statement that is its own wording, in every language.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any, TypeVar

from .._version import __version__
from ..base.claims import inside, say_claim
from ..base.periods import Period
from ..errors import ReadError, SettingError, Statement
from ..kernel.accounting import ZCDP, Access, Budget, Leak, Spend, total_epsilon
from ..kernel.unit import Unit
from ..ledger.records import Rho
from ..messages import from_content, render, to_content
from ..messages.units import neighbours, noun, protection
from ..synthesis.margins import Margins
from ..synthesis.verdict import Verdict

Content = TypeVar("Content")
JsonObject = Mapping[str, Any]
"""An object as JSON holds it, whose values are checked where they are read."""

FORMAT = "sacofa-certificate-3"
FORMAT_2 = "sacofa-certificate-2"
FORMAT_4 = "sacofa-certificate-4"
"""With a δ: queries are charged in ρ. Programs that know `FORMAT` alone refuse it."""
CONVERSION = "Canonne, Kamath and Steinke 2020 (arXiv:2004.00010), Corollary 13"
"""What makes a sum of ρ an ε for a δ."""
TOLERANCE = 1 + Fraction(1, 10**12)
"""Two machines may differ by far less in the ρ that they work out for an ε and a δ."""
DERIVED = ("protects", "neighbours", "guarantee", "composition")
"""Texts that follow from other fields."""
DAMAGED = Statement("certificate.damaged")


def loads(text: str | bytes) -> Any:
    """Read JSON; a `ValueError` where an object has a key twice: programs read that in two ways."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a key stands twice")
        return found

    return json.loads(text, object_pairs_hook=once)


@dataclass(frozen=True, kw_only=True)
class PeriodStatement:
    """Which part of a log a release is of, and how it adds up with releases of other parts."""

    period: Period
    """The period."""
    series: str | None = None
    """The name of a series of releases that have no case in common; None: nothing is known."""

    def composition(self, unit: Unit) -> Statement:
        """How it adds up with releases of other periods."""
        known = self.series is not None
        return Statement(f"composition.{unit.kind}s" if known else "composition.log_alone")

    def assumption(self, unit: Unit) -> Statement:
        """Which cases are meant."""
        code = "period_of_cases" if unit.person is None else "period_of_persons"
        return Statement(f"assumption.{code}", period=self.period.name)

    def to_content(self, unit: Unit) -> JsonObject:
        """As it stands in a certificate."""
        return {
            "name": self.period.name,
            "first_day": self.period.start.isoformat(),
            "day_after": self.period.end.isoformat(),
            "series": self.series,
            "composition": str(self.composition(unit)),
        }

    @classmethod
    def from_content(cls, content: JsonObject) -> PeriodStatement:
        """Read from a certificate."""
        series = content["series"]
        if not (series is None or isinstance(series, str)):
            raise ValueError(series)
        return cls(period=Period.parse(str(content["name"])), series=series)


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What a release guarantees, to whom, under which assumptions, and how its ε adds up."""

    mechanism: str
    """The name of the mechanism."""
    unit: Unit
    """The unit of privacy, by which contributions were bounded when the log was read."""
    spent: tuple[Access, ...]
    """Every query to the log, with its price."""
    assumptions: tuple[Statement, ...]
    """Facts that are assumed to be public or true."""
    not_promised: tuple[Statement, ...]
    """Guarantees that a reader might expect and the release does not give."""
    settings: Mapping[str, object]
    """The settings of the mechanism: all that differ from their defaults, and some that do not."""
    publishable: bool = True
    """False where the noise can be drawn again from a seed."""
    version: str = __version__
    """The version of this package."""
    sha256: str | None = None
    """The hash of the released file, once it is written."""
    verdict: Verdict | None = None
    """Expected usefulness, from the noise scale and noisy values alone; None if unknown."""
    missing_activities: tuple[str, ...] = ()
    """Public names of activities that no released case has."""
    margins: Margins | None = None
    """How far its figures may be off; from noise and noisy values alone. None: not known."""
    notes: tuple[Statement, ...] = ()
    """Further notes about the run, from noisy values only."""
    period: PeriodStatement | None = None
    """Which period of the log was released; None: all of it."""
    budget: Budget | None = None
    """The currency of all amounts, and the claim; None: pure ε, the sum of the amounts."""

    @property
    def protects(self) -> Statement:
        """The statement of what is protected."""
        return protection(self.unit)

    @property
    def guarantee(self) -> Statement:
        """The meaning of ε for one unit of the log."""
        if self.epsilon is None:
            return Statement("guarantee.leak")
        if not self.publishable:
            return Statement("guarantee.seed")
        if not self.delta or self.rho is None or self.budget is None:
            double = 2 * self.epsilon
            values = {"noun": noun(self.unit), "epsilon": self.epsilon, "double": double}
            return Statement("guarantee.finite", **values)
        return Statement(
            "guarantee.approximate",
            noun=noun(self.unit),
            epsilon=self.epsilon,
            delta=self.delta,
            rho=self.rho.rho,
            inside=inside(self.budget),
        )

    @property
    def epsilon(self) -> Fraction | None:
        """The ε of the whole release; None where no ε is finite."""
        return total_epsilon(self.spent, self.budget)

    @property
    def delta(self) -> Fraction:
        """The δ of the whole release; 0 for pure differential privacy."""
        return self.budget.delta if self.budget else Fraction(0)

    @property
    def rho(self) -> Rho | None:
        """The ρ of all queries together; None in pure differential privacy."""
        total = total_epsilon(self.spent)
        if not isinstance(self.budget, ZCDP) or total is None:
            return None
        return Rho(rho=total, selection=self.budget.selection)

    @property
    def claim(self) -> Statement:
        """What the release claims, in a few words."""
        return say_claim(self.epsilon, self.delta)

    def of_file(self, sha256: str) -> Certificate:
        """The same certificate, for one released file."""
        return replace(self, sha256=sha256)

    def to_json(self) -> str:
        """Write as JSON."""
        period, margins, verdict = self.period, self.margins, self.verdict
        rho = self.rho if self.delta else None
        content = {
            "format": FORMAT_4 if rho else FORMAT,
            "mechanism": self.mechanism,
            **_amount("epsilon", self.epsilon),
            **({"delta": 0} if rho is None else _approximate(rho, self.delta)),
            "protects": str(self.protects),
            "unit": {
                "person": self.unit.person,
                "max_cases": self.unit.max_cases,
                **({"per_period": True} if self.unit.per_period else {}),
            },
            **({} if period is None else {"period": period.to_content(self.unit)}),
            "neighbours": str(neighbours(self.unit)),
            "guarantee": str(self.guarantee),
            "spent": [
                {"what": access.what, **_amount("epsilon", None), "why": access.why}
                if isinstance(access, Leak)
                else {"what": access.what, **_amount("rho" if rho else "epsilon", access.amount)}
                for access in self.spent
            ],
            "assumptions": self.assumptions,
            "not_promised": self.not_promised,
            "verdict": None if verdict is None else verdict.to_content(),
            "missing_activities": self.missing_activities,
            **({} if margins is None else {"margins": margins.to_content()}),
            "notes": self.notes,
            "publishable": self.publishable,
            "settings": {n: "inf" if v == math.inf else v for n, v in self.settings.items()},
            "version": self.version,
            "sha256": self.sha256,
        }
        return json.dumps(content, indent=2, ensure_ascii=False, default=_plain) + "\n"

    @classmethod
    def from_json(cls, text: str, path: object = "certificate") -> Certificate:
        """Read from JSON; the price is added up again, not taken as it stands."""
        try:
            content = upgrade(loads(text))
            if content["format"] not in (FORMAT, FORMAT_4):
                raise ReadError(path, Statement("certificate.wrong_format", format=FORMAT))
            budget = _read_budget(content) if content["format"] == FORMAT_4 else None
            currency = "epsilon" if budget is None else "rho"
            certificate = cls(
                mechanism=str(content["mechanism"]),
                unit=_read_unit(content["unit"]),
                spent=tuple(_read_access(access, currency) for access in content["spent"]),
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
                budget=budget,
            )
            _refuse_strange(certificate.spent)
            if not _adds_up(certificate.spent, stated := content[f"{currency}_exact"], budget):
                wrong = "certificate.wrong_sum" if budget is None else "certificate.wrong_rho"
                raise ReadError(path, Statement(wrong, amount=str(stated)))
        except ReadError:
            raise
        except (
            ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError, RecursionError,
            SettingError,
        ):  # fmt: skip
            raise ReadError(path, DAMAGED) from None
        return certificate


def entries_of(settings: Mapping[str, object], name: str) -> list[JsonObject]:
    """The objects that a setting lists."""
    value = settings.get(name, ())
    return [e for e in value if isinstance(e, Mapping)] if isinstance(value, list | tuple) else []


def say_setting(value: object, language: str = "en") -> str:
    """A setting in words: of a list each entry, of an attribute its name and type."""
    if isinstance(value, Statement):
        return render(value, language)
    if isinstance(value, Mapping) and "name" in value:
        return f"{value['name']} ({value['type']})" if "type" in value else str(value["name"])
    if isinstance(value, list | tuple):
        return ", ".join(say_setting(entry, language) for entry in value)
    return str(value)


def _amount(name: str, amount: Fraction | None) -> dict[str, object]:
    """An amount as a number for people and as an exact fraction."""
    if amount is None:
        return {name: None, f"{name}_exact": None}
    return {name: _number(amount), f"{name}_exact": str(amount)}


def _approximate(rho: Rho, delta: Fraction) -> dict[str, object]:
    """What belongs to a δ. The numbers for people are the nearest floats, which read as given."""
    return {
        "delta": float(delta),
        "delta_exact": str(delta),
        "delta_for_selection": float(rho.selection),
        "delta_for_selection_exact": str(rho.selection),
        **_amount("rho", rho.rho),
        "conversion": CONVERSION,
    }


def _number(value: Fraction) -> int | float:
    """The nearest number that JSON can hold and that is not less: no ε is stated too small."""
    if value.denominator == 1:
        return int(value)
    nearest = float(value)
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)


def _read_unit(content: JsonObject) -> Unit:
    person, max_cases = content["person"], content["max_cases"]
    per_period = content.get("per_period", False)
    typed = isinstance(person, str | None) and isinstance(max_cases, int)
    if not (typed and isinstance(per_period, bool)):
        raise ValueError(content)
    return Unit(person=person, max_cases=max_cases, per_period=per_period)


def _read_budget(content: JsonObject) -> ZCDP:
    names = ("epsilon", "delta", "delta_for_selection")
    epsilon, delta, selection = (_read_price(content[f"{name}_exact"]) for name in names)
    if not (epsilon > 0 and 0 <= selection < delta < 1):
        raise ValueError(content)
    return ZCDP(epsilon, delta, selection)


def _adds_up(accesses: tuple[Access, ...], stated: str | None, budget: ZCDP | None) -> bool:
    """Whether amounts add up to the sum that is stated, and a sum of ρ implies the claim."""
    total = total_epsilon(accesses)
    if budget is not None and (total is None or total > budget.amount * TOLERANCE):
        return False
    return total == _or_none(_read_price, stated)


def _read_access(content: JsonObject, currency: str) -> Access:
    what, amount = from_content(content["what"]), content.get(f"{currency}_exact")
    if amount is None:
        return Leak(what=what, why=from_content(content["why"]))
    return Spend(what=what, amount=_read_price(amount))


def _read_price(text: str) -> Fraction:
    """Parse an ε as certificates write it. `1e999999999` would need gigabytes of memory."""
    if not re.fullmatch("[0-9]{1,99}(/[0-9]{1,99})?", text, re.ASCII):
        raise ValueError(text)
    return Fraction(text)


def _refuse_strange(accesses: tuple[Access, ...]) -> None:
    """Refuse prices whose sum would take forever: those of one release have much in common."""
    parts = (access.amount.denominator for access in accesses if isinstance(access, Spend))
    if any(common > 10**100 for common in accumulate(parts, math.lcm)):
        raise ValueError(accesses)


def _read_setting(content: object) -> object:
    is_statement = isinstance(content, Mapping) and "code" in content
    return from_content(content) if is_statement else content


def _or_none(read: Callable[[Any], Content], content: object) -> Content | None:
    return None if content is None else read(content)


def _plain(value: object) -> object:
    """Return the JSON form of a statement or a fraction."""
    return to_content(value) if isinstance(value, Statement) else str(value)


def upgrade(content: JsonObject) -> JsonObject:
    """Convert the content of a certificate to the present format."""
    if content["format"] != FORMAT_2:
        return content

    def stated(sentence: object) -> object:
        return to_content(Statement.plain(str(sentence)))

    verdict, lists = content.get("judgement"), ("assumptions", "not_promised", "notes")
    new = {name: value for name, value in content.items() if name != "judgement"}
    new |= {name: list(map(stated, content[name])) for name in lists}
    if verdict is None and content["verdict"] is not None:
        new["notes"].append(to_content(Statement("note.verdict", text=content["verdict"])))
    spent = [
        {name: stated(value) if name in ("what", "why") else value for name, value in each.items()}
        for each in content["spent"]
    ]
    return new | {"format": FORMAT, "verdict": verdict, "spent": spent}


def facts(content: object) -> object:
    """The content of a certificate without its texts, which other versions word differently."""
    if isinstance(content, list):
        return [facts(entry) for entry in content]
    if not isinstance(content, Mapping):
        return content
    is_statement = "code" in content or "sureness" in content
    texts = ("text",) if is_statement else DERIVED
    return {name: facts(value) for name, value in content.items() if name not in texts}
