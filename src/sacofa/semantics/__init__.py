"""What makes sense for a process: rules, where they come from, and how prefixes are checked."""

from __future__ import annotations

from .allowed import Steps, all_sequences, sequences_of_steps, sequences_within_rules
from .file import read_rules, write_rules
from .free import NoRules
from .judge import judge
from .language import Language
from .learn import learn_rules
from .models import Model, ModelRules, ModelStates, open_rules, read_model
from .protocol import Semantics
from .rules import Rules
from .show import show_rules
from .states import RuleStates

__all__ = [
    "Language",
    "Model",
    "ModelRules",
    "ModelStates",
    "NoRules",
    "RuleStates",
    "Rules",
    "Semantics",
    "Steps",
    "all_sequences",
    "judge",
    "learn_rules",
    "open_rules",
    "read_model",
    "read_rules",
    "sequences_of_steps",
    "sequences_within_rules",
    "show_rules",
    "write_rules",
]
