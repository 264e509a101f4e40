"""Anonymize event logs under differential privacy and keep them useful for process mining.

from sacofa import Certified, anonymize, write_release

release = anonymize("hospital.xes.gz", Certified(epsilon=1))
print(release.certificate.epsilon)
write_release(release, "released.xes.gz")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .cases import CaseBatch, Cases
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
    from .logs import (
        Log,
        ReadOptions,
        count_variants,
        distribute_variants,
        inspect_variants,
        open_log,
    )
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
    from .privacy import Leak, Noise, Spend
    from .privacy.ledger import Ledger
    from .queries import Query, Session
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
    from .semantics import Rules, Semantics, learn_rules, read_rules, write_rules
    from .unit import ONE_CASE, Unit
    from .variants import VariantCounts

_HOMES = {
    ".cases": "CaseBatch Cases",
    ".errors": "BudgetError ColumnsError LedgerError MissingExtraError OutputError PolicyError "
    "PromiseError ReadError RulesError SacofaError SettingError TooLargeError",
    ".logs": "Log ReadOptions count_variants distribute_variants inspect_variants open_log",
    ".mechanisms": "ADMIT_NONE Certified Laplace Mechanism Outcome Output Plan Promise Sacofa plan",
    ".privacy": "Leak Noise Spend",
    ".privacy.ledger": "Ledger",
    ".queries": "Query Session",
    ".release": "Certificate PrivateKey PublicKey Release anonymize make_key publish "
    "read_private_key read_public_key read_release sign verify verify_signed write_release",
    ".semantics": "Rules Semantics learn_rules read_rules write_rules",
    ".unit": "ONE_CASE Unit",
    ".variants": "VariantCounts",
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
