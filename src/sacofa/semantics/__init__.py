"""What makes sense for a process: rules, where they come from, and how prefixes are checked."""

from __future__ import annotations

from .allowed import Steps, all_sequences, sequences_of_steps, sequences_within_rules
from .file import read_rules, write_rules
from .free import NoRules
from .language import Language
from .learn import learn_rules
from .protocol import Semantics
from .provenance import FromPublicLog, FromSecretLog, Provenance, Stated
from .rules import Rules
from .states import RuleStates

__all__ = [
    "FromPublicLog",
    "FromSecretLog",
    "Language",
    "NoRules",
    "Provenance",
    "RuleStates",
    "Rules",
    "Semantics",
    "Stated",
    "Steps",
    "all_sequences",
    "learn_rules",
    "read_rules",
    "sequences_of_steps",
    "sequences_within_rules",
    "write_rules",
]
