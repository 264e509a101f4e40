"""Semantics from rules: their tables, the language of a model, and kinds that judge themselves."""

from __future__ import annotations

from .models.language import ModelRules, ModelStates
from .protocol import Semantics
from .rules import KINDS, Rules
from .states import RuleStates


def scorer_of(rules: Rules) -> Semantics:
    """Return semantics that judge by rules, or by the language of a model if the rules have one."""
    scorer: Semantics = ModelStates(rules) if isinstance(rules, ModelRules) else RuleStates(rules)
    for kind in KINDS:
        table = rules.tables[kind.name]
        if kind.judge is not None and (table != kind.free).any():
            scorer = kind.judge(scorer, table)
    return scorer
