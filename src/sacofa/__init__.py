"""Anonymize event logs under differential privacy and keep them useful for process mining.

from sacofa import Certified, anonymize, write_release

release = anonymize("hospital.xes.gz", Certified(epsilon=1))
print(release.certificate.epsilon)
write_release(release, "released.xes.gz")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import messages as _messages  # noqa: F401  From here on, str() of a statement is English.
from ._version import __version__

if TYPE_CHECKING:
    from .errors import (
        BudgetError,
        ColumnsError,
        LedgerError,
        MissingExtraError,
        OutputError,
        PolicyError,
        PromiseError,
        ReadError,
        RulesError,
        SacofaError,
        SettingError,
        TooLargeError,
    )
    from .events import (
        Log,
        ReadOptions,
        count_variants,
        distribute_variants,
        inspect_variants,
        open_log,
    )
    from .kernel import Leak, Noise, Spend
    from .kernel.cases import CaseBatch, Cases
    from .kernel.queries.protocol import Query
    from .kernel.session import Session
    from .kernel.unit import ONE_CASE, Unit
    from .kernel.variants import VariantCounts
    from .ledger import Ledger
    from .mechanisms import (
        ADMIT_NONE,
        Certified,
        Laplace,
        Mechanism,
        Outcome,
        Output,
        Plan,
        Promise,
        Sacofa,
        plan,
    )
    from .mechanisms.released import ReleasedLog
    from .release import (
        Certificate,
        PrivateKey,
        PublicKey,
        Release,
        anonymize,
        make_key,
        publish,
        read_private_key,
        read_public_key,
        read_release,
        sign,
        verify,
        verify_signed,
        write_release,
    )
    from .rules import Rules, Semantics, learn_rules, read_rules, write_rules

_HOMES = {
    ".kernel.cases": "CaseBatch Cases",
    ".errors": "BudgetError ColumnsError LedgerError MissingExtraError OutputError PolicyError "
    "PromiseError ReadError RulesError SacofaError SettingError TooLargeError",
    ".events": "Log ReadOptions count_variants distribute_variants inspect_variants open_log",
    ".mechanisms": "ADMIT_NONE Certified Laplace Mechanism Outcome Output Plan Promise Sacofa plan",
    ".kernel.accounting": "Leak Spend",
    ".kernel.noise": "Noise",
    ".ledger": "Ledger",
    ".kernel.queries.protocol": "Query",
    ".mechanisms.released": "ReleasedLog",
    ".kernel.session": "Session",
    ".release": "Certificate PrivateKey PublicKey Release anonymize make_key publish "
    "read_private_key read_public_key read_release sign verify verify_signed write_release",
    ".rules": "Rules Semantics learn_rules read_rules write_rules",
    ".kernel.unit": "ONE_CASE Unit",
    ".kernel.variants": "VariantCounts",
}
"""Where the public names are at home. They are loaded when they are first used: a program that
loads all of them at once can be neither quick to start nor interrupted in good order."""


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names.split():
            globals()[name] = found = getattr(import_module(home, __name__), name)
            return found
    try:
        return import_module(f".{name}", __name__)
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "ADMIT_NONE",
    "ONE_CASE",
    "BudgetError",
    "CaseBatch",
    "Cases",
    "Certificate",
    "Certified",
    "ColumnsError",
    "Laplace",
    "Leak",
    "Ledger",
    "LedgerError",
    "Log",
    "Mechanism",
    "MissingExtraError",
    "Noise",
    "Outcome",
    "Output",
    "OutputError",
    "Plan",
    "PolicyError",
    "PrivateKey",
    "Promise",
    "PromiseError",
    "PublicKey",
    "Query",
    "ReadError",
    "ReadOptions",
    "Release",
    "ReleasedLog",
    "Rules",
    "RulesError",
    "Sacofa",
    "SacofaError",
    "Semantics",
    "Session",
    "SettingError",
    "Spend",
    "TooLargeError",
    "Unit",
    "VariantCounts",
    "__version__",
    "anonymize",
    "count_variants",
    "distribute_variants",
    "inspect_variants",
    "learn_rules",
    "make_key",
    "open_log",
    "plan",
    "publish",
    "read_private_key",
    "read_public_key",
    "read_release",
    "read_rules",
    "sign",
    "verify",
    "verify_signed",
    "write_release",
    "write_rules",
]
