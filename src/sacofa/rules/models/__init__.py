"""Rules from existing process models: BPMN, Petri nets and Declare.

A file is converted to a Petri net (bpmn, bpmn_net; pnml), the net to the graph of its states (net),
and the graph to rules or to its language (automaton). Declare is converted to rules directly.
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
