"""How rules become a judgement on prefixes."""

from __future__ import annotations

from .models.language import ModelRules, ModelStates
from .rules import Rules
from .states import RuleStates

Judge = RuleStates | ModelStates


def judge(rules: Rules) -> Judge:
    """Make what judges prefixes by rules, or by the language of a model where they know it."""
    return ModelStates(rules) if isinstance(rules, ModelRules) else RuleStates(rules)
