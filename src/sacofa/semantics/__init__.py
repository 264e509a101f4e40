"""What makes sense for a process: rules, where they come from, and how prefixes are checked."""

from __future__ import annotations

from .allowed import Steps, all_sequences, sequences_of_steps, sequences_within_rules
from .file import read_rules, write_rules
from .free import NoRules
from .language import Language
from .learn import learn_rules
from .protocol import Semantics
from .rules import Rules
from .states import RuleStates

__all__ = [
    "Language",
    "NoRules",
    "RuleStates",
    "Rules",
    "Semantics",
    "Steps",
    "all_sequences",
    "learn_rules",
    "read_rules",
    "sequences_of_steps",
    "sequences_within_rules",
    "write_rules",
]
