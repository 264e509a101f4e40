"""Rules of a process: their sources, and the automata that check prefixes."""

from __future__ import annotations

from ..kernel.language import Language
from .allowed import Steps, all_sequences, sequences_of_steps, sequences_within_rules
from .file import read_rules, write_rules
from .kinds import Semantics
from .learn import learn_rules
from .models import Model, ModelOptions, ModelRules, ModelStates, open_rules, read_model
from .provenance import FromModel, FromPublicLog, FromSecretLog, Provenance, Stated
from .rules import Rules
from .semantics import NoRules, RuleStates, scorer_of
from .show import show_rules

__all__ = [
    "FromModel",
    "FromPublicLog",
    "FromSecretLog",
    "Language",
    "Model",
    "ModelOptions",
    "ModelRules",
    "ModelStates",
    "NoRules",
    "Provenance",
    "RuleStates",
    "Rules",
    "Semantics",
    "Stated",
    "Steps",
    "all_sequences",
    "learn_rules",
    "open_rules",
    "read_model",
    "read_rules",
    "scorer_of",
    "sequences_of_steps",
    "sequences_within_rules",
    "show_rules",
    "write_rules",
]
