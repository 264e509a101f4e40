"""The policy of a ledger: the maximum ε per release and per year, and who may release.

It is a TOML file beside the ledger, LEDGER.policy.toml, which whoever is responsible writes. The
ledger itself looks at it whenever a price is taken, so the command line, the web app and Python all
obey it. A file that cannot be read forbids everything, and so does one that names a dataset which
the ledger does not have: a typing error must not open the door.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from ..base.epsilon import LARGEST_DELTA, parse_epsilon
from ..base.files import read_small
from ..errors import PolicyError, ReadError, SettingError, Statement, advised
from .records import Account
from .storage import refusal

LARGEST = 1 << 20
KEYS = ("largest_release", "largest_year", "largest_delta", "who")


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The limits on releases of a dataset."""

    largest_release: Fraction | None = None
    """The largest ε that one release may claim."""
    largest_year: Fraction | None = None
    """Maximum ε of all releases of one calendar year (UTC)."""
    largest_delta: Fraction = Fraction(0)
    """Maximum δ of one release. By default, a policy allows pure ε only."""
    who: tuple[str, ...] | None = None
    """The system's names of those who may release; None: everyone who can write the ledger."""

    def check(self, dataset: str, price: Fraction | None, delta: Fraction, user: str) -> None:
        """Refuse a release by its price, or by who asks for it."""
        if self.who is not None and user not in self.who:
            raise PolicyError(Statement("policy.who", user=user, dataset=dataset))
        for limit in (self.largest_release, self.largest_year):
            if limit is not None and price is None:
                raise PolicyError(Statement("policy.no_epsilon"))
        largest = self.largest_release
        if largest is not None and price is not None and price > largest:
            raise PolicyError(Statement("policy.release", largest=largest, epsilon=price))
        if delta > self.largest_delta:
            values = {"largest": self.largest_delta, "delta": delta}
            raise PolicyError(Statement("policy.delta", **values))

    def check_year(self, year: str, account: Account) -> None:
        """Refuse a release that would bring the spending of a year to more than is allowed."""
        spent = None if account.spent is None else account.epsilon(account.spent)
        if self.largest_year is not None and (spent is None or spent > self.largest_year):
            values = {"year": year, "largest": self.largest_year}
            if spent is None:
                raise PolicyError(Statement("policy.infinite_year", **values))
            raise PolicyError(Statement("policy.year", **values, epsilon=spent))


@dataclass(frozen=True, kw_only=True)
class Policies:
    """The limits for all datasets and for single ones."""

    general: Policy
    """The limits for datasets without an entry."""
    own: Mapping[str, Policy]
    """The limits of the named datasets, which take precedence."""

    def of(self, dataset: str) -> Policy:
        """Return the limits of a dataset."""
        return self.own.get(dataset, self.general)


def policy_path(ledger: Path) -> Path:
    """Where the policy of a ledger lies."""
    return Path(f"{os.path.realpath(ledger)}.policy.toml")


def read_policies(ledger: Path) -> Policies | None:
    """Read the policy of a ledger; None if it has none."""
    path = policy_path(ledger)
    # A link to a missing file is an unreadable policy, not a missing one.
    if not os.path.lexists(path):
        return None
    try:
        text = read_small(path, LARGEST, Statement("file.not_regular"))
        content = tomllib.loads(text.decode("utf-8"))
    except ReadError as error:
        raise refusal(path, Statement("policy.unreadable", reason=error.what)) from None
    except (ValueError, RecursionError) as error:
        raise refusal(path, Statement("policy.unreadable", reason=str(error))) from None
    datasets = content.pop("datasets", {})
    if not isinstance(datasets, dict) or not all(isinstance(v, dict) for v in datasets.values()):
        raise refusal(path, Statement("policy.datasets"))
    general = _read(path, content, Policy(), "")
    own = {name: _read(path, said, general, f"datasets.{name}.") for name, said in datasets.items()}
    return Policies(general=general, own=own)


def _read(path: Path, content: Mapping[str, object], general: Policy, where: str) -> Policy:
    """Read the limits of a table; limits that it omits are the general ones."""
    said: dict[str, object] = {}
    for key, value in content.items():
        entry = f"{where}{key}"
        if key not in KEYS:
            raise refusal(path, advised(Statement("policy.unknown_entry", entry=entry), key, KEYS))
        if key == "who":
            if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
                raise refusal(path, Statement("policy.must_be_names", entry=entry))
            said[key] = tuple(value)
            continue
        of_delta = key == "largest_delta"
        largest = LARGEST_DELTA if of_delta else None
        try:
            said[key] = parse_epsilon(entry, value, largest, may_be_zero=of_delta)  # type: ignore[arg-type]
        except SettingError:
            code = "must_be_delta" if of_delta else "must_be_epsilon"
            raise refusal(path, Statement(f"policy.{code}", entry=entry)) from None
    return replace(general, **said)  # type: ignore[arg-type]


def current_user() -> str:
    """Return the account that runs this process, from the system and not from the environment."""
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):  # pragma: no cover
        return os.environ.get("USERNAME", "unknown")
