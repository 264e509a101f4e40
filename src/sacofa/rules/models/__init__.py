"""Rules from the models that people have: BPMN, Petri nets and Declare.

A file becomes a Petri net (bpmn, bpmn_net, bpmn_nodes, bpmn_ways, joins; pnml), the net all its
states (reduce, reachability), and these become rules (profile) or the language itself (automaton,
language).
"""

from __future__ import annotations

from .language import ModelRules, ModelStates
from .names import propose, read_names_map, write_names
from .options import ModelOptions
from .read import MODELS, Model, open_rules, read_model

__all__ = [
    "MODELS",
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
