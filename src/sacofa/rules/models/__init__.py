"""Rules from the models that people have: BPMN, Petri nets and Declare.

A file becomes a Petri net (bpmn, bpmn_net; pnml), the net all its states (net), and these become
rules or the language itself (automaton). Declare becomes rules at once.
"""

from __future__ import annotations

from .automaton import ModelRules, ModelStates
from .names import UNKNOWN, propose, read_names_map, write_names
from .read import MAX_DEVIATIONS, MODELS, Model, ModelOptions, open_rules, read_model

__all__ = [
    "MAX_DEVIATIONS",
    "MODELS",
    "UNKNOWN",
    "Model",
    "ModelOptions",
    "ModelRules",
    "ModelStates",
    "open_rules",
    "propose",
    "read_model",
    "read_names_map",
    "write_names",
]
