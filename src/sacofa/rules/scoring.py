"""What scores prefixes by rules: the rules one by one, or the language of a model."""

from __future__ import annotations

from .models.language import ModelRules, ModelStates
from .rules import Rules
from .states import RuleStates

Scorer = RuleStates | ModelStates


def scorer_of(rules: Rules) -> Scorer:
    """Make what scores prefixes by rules, or by the language of a model where they know it."""
    return ModelStates(rules) if isinstance(rules, ModelRules) else RuleStates(rules)
