"""Release event logs under differential privacy and keep them useful for process mining.

from sacofa import Certified, anonymize, write_release

release = anonymize("hospital.xes.gz", Certified(epsilon=1))
print(release.certificate.epsilon)
write_release(release, "released.xes.gz")
"""

from ._version import __version__
from .cases import CaseBatch, Cases
from .errors import (
    BudgetError,
    ColumnsError,
    LedgerError,
    MissingExtraError,
    OutputError,
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
    Release,
    anonymize,
    publish,
    read_release,
    verify,
    write_release,
)
from .semantics import Rules, Semantics, learn_rules, read_rules, write_rules
from .unit import ONE_CASE, Unit
from .variants import VariantCounts

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
    "Promise",
    "PromiseError",
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
    "open_log",
    "plan",
    "publish",
    "read_release",
    "read_rules",
    "verify",
    "write_release",
    "write_rules",
]
