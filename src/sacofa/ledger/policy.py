"""The policy of a ledger: what a release may cost at most, what a year may, and who may release.

It is a TOML file beside the ledger, LEDGER.policy.toml, which whoever is responsible writes. The
ledger itself looks at it whenever a price is taken, so the command line, the web app and Python all
obey it. A file that cannot be read forbids everything, and so does one that names a dataset which
the ledger does not have: a typing error must not open the door.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..base.epsilon import parse_epsilon
from ..errors import LedgerError, PolicyError, SettingError, nearest

LARGEST = 1 << 20
KEYS = ("largest_release", "largest_year", "who")
PRICES = KEYS[:2]


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What holds for releases of a dataset."""

    largest_release: Fraction | None = None
    """The most that one release may cost."""
    largest_year: Fraction | None = None
    """The most that all releases that are made in one calendar year (UTC) may cost together."""
    who: tuple[str, ...] | None = None
    """The system's names of those who may release; None: everyone who can write the ledger."""

    def check(self, dataset: str, price: Fraction | None, user: str) -> None:
        """Refuse a release by its price, or by who asks for it."""
        if self.who is not None and user not in self.who:
            raise PolicyError(f'"{user}" may not release dataset "{dataset}": ask who may')
        for limit in (self.largest_release, self.largest_year):
            if limit is not None and price is None:
                raise PolicyError("a release without a finite ε is not allowed")
        if None not in (self.largest_release, price) and price > self.largest_release:  # type: ignore[operator]
            raise PolicyError(
                f"a release may cost ε = {self.largest_release} at most, and this one costs {price}"
            )

    def check_year(self, year: str, spent: Fraction | None) -> None:
        """Refuse a release that would bring the spending of a year to more than is allowed."""
        if self.largest_year is not None and (spent is None or spent > self.largest_year):
            all_of_it = "no finite ε" if spent is None else f"ε = {spent}"
            raise PolicyError(
                f"releases of {year} may cost ε = {self.largest_year} together, and with this one "
                f"they would cost {all_of_it}"
            )


@dataclass(frozen=True, kw_only=True)
class Policies:
    """What a policy says of all datasets, and of some."""

    general: Policy
    """What holds where nothing else is said."""
    own: Mapping[str, Policy]
    """What holds for those that it names: what is said of them comes before what is said of all."""

    def of(self, dataset: str) -> Policy:
        """What holds for a dataset."""
        return self.own.get(dataset, self.general)


def policy_path(ledger: Path) -> Path:
    """Where the policy of a ledger lies."""
    return Path(f"{os.path.realpath(ledger)}.policy.toml")


def read_policies(ledger: Path) -> Policies | None:
    """Read the policy of a ledger; None where there is none."""
    path = policy_path(ledger)
    try:
        # A link that leads nowhere is a policy that cannot be read, not none at all.
        if not os.path.lexists(path):
            return None
        if not path.is_file():
            raise LedgerError(f"{path}: not a regular file: write a policy there")
        with path.open("rb") as file:
            text = file.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise ValueError(f"more than {LARGEST:,} bytes")
        content = tomllib.loads(text.decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise LedgerError(
            f"{path}: the policy cannot be read ({what}): nothing is released"
        ) from None
    datasets = content.pop("datasets", {})
    if not isinstance(datasets, dict) or not all(isinstance(v, dict) for v in datasets.values()):
        raise LedgerError(f"{path}: datasets must be tables, such as [datasets.visits]")
    general = _read(path, content, "")
    own = {name: _read(path, table, f"datasets.{name}.") for name, table in datasets.items()}
    return Policies(
        general=Policy(**general),
        own={name: Policy(**{**general, **said}) for name, said in own.items()},
    )


def _read(path: Path, content: dict[str, Any], where: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in content.items():
        if key not in KEYS:
            raise LedgerError(
                f'{path}: "{where}{key}" is no entry of a policy.{nearest(key, KEYS)}'
            )
        if key in PRICES:
            try:
                found[key] = parse_epsilon(key, value, None)
            except (SettingError, TypeError, ValueError):
                raise LedgerError(f'{path}: {where}{key} must be a price, such as "1/2"') from None
        elif isinstance(value, list) and all(isinstance(name, str) for name in value):
            found[key] = tuple(value)
        else:
            raise LedgerError(f'{path}: {where}who must be a list of names, such as ["anna"]')
    return found


def current_user() -> str:
    """Who runs this, by the system's own account and not by what the environment says."""
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):  # pragma: no cover
        return os.environ.get("USERNAME", "unknown")
