"""Anonymize event logs under differential privacy and keep them useful for process mining.

from sacofa import Certified, anonymize, write_release

release = anonymize("hospital.xes.gz", Certified(epsilon=1))
print(release.certificate.epsilon)
write_release(release, "released.xes.gz")

Errors are in `sacofa.errors`; keys and signatures in `sacofa.release`; what a mechanism of your own
needs, in `sacofa.kernel` and `sacofa.mechanisms`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

# From here on, str() of a statement is English.
from . import messages as _messages  # noqa: F401
from ._version import __version__

if TYPE_CHECKING:
    from .errors import SacofaError
    from .events import Log, ReadOptions, count_variants, open_log
    from .kernel.unit import Unit
    from .kernel.variants import VariantCounts
    from .ledger import Ledger
    from .mechanisms import Certified, Laplace, Sacofa, plan
    from .release import (
        Certificate,
        Release,
        Request,
        anonymize,
        publish,
        read_release,
        verify,
        write_release,
    )
    from .rules import Rules, learn_rules, read_rules, write_rules

_HOMES = {
    ".errors": "SacofaError",
    ".events": "Log ReadOptions count_variants open_log",
    ".kernel.unit": "Unit",
    ".kernel.variants": "VariantCounts",
    ".ledger": "Ledger",
    ".mechanisms": "Certified Laplace Sacofa plan",
    ".release": "Certificate Release Request anonymize publish read_release verify write_release",
    ".rules": "Rules learn_rules read_rules write_rules",
}
"""The modules of the public names. They are loaded when a name is first used: a program that loads
all of them at once can be neither quick to start nor interrupted in good order."""

__all__ = [
    "Certificate", "Certified", "Laplace", "Ledger", "Log", "ReadOptions", "Release",
    "Request", "Rules", "Sacofa", "SacofaError", "Unit", "VariantCounts", "__version__",
    "anonymize", "count_variants", "learn_rules", "open_log", "plan", "publish",
    "read_release", "read_rules", "verify", "write_release", "write_rules",
]  # fmt: skip


def __getattr__(name: str) -> object:
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
