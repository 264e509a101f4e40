"""Release event logs under differential privacy and keep them useful for process mining.

from sacofa import Certified, anonymize, count_variants, read_log, write_log

log = read_log("hospital.xes.gz")
release = anonymize(count_variants(log), Certified(epsilon="1"))
print(release.certificate.epsilon)
write_log(release, "released.xes.gz")
"""

__version__ = "0.1.0"

from .errors import (
    BudgetError,
    ColumnsError,
    LedgerError,
    MissingExtraError,
    OutputError,
    ReadError,
    RulesError,
    SacofaError,
    SettingError,
    TooLargeError,
)
from .logs import Log, count_variants, inspect_variants, read_log, scatter_variants
from .mechanisms import (
    ADMIT_NONE,
    Certified,
    Laplace,
    Mechanism,
    Outcome,
    Plan,
    Promise,
    Sacofa,
    plan,
)
from .privacy import Leak, Noise, Spend, Unit
from .privacy.ledger import Ledger
from .release import Certificate, Release, anonymize, publish, verify, write_log
from .semantics import Rules, Semantics, learn_rules, read_rules, write_rules
from .variants import VariantCounts

__all__ = [
    "ADMIT_NONE",
    "BudgetError",
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
    "OutputError",
    "Plan",
    "Promise",
    "ReadError",
    "Release",
    "Rules",
    "RulesError",
    "Sacofa",
    "SacofaError",
    "Semantics",
    "SettingError",
    "Spend",
    "TooLargeError",
    "Unit",
    "VariantCounts",
    "anonymize",
    "count_variants",
    "inspect_variants",
    "learn_rules",
    "plan",
    "publish",
    "read_log",
    "read_rules",
    "scatter_variants",
    "verify",
    "write_log",
    "write_rules",
]
