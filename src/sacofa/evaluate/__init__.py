"""What a release is worth, compared with the secret original: results are secret too."""

from .evaluate import Evaluator, Measures, evaluate_release

__all__ = ["Evaluator", "Measures", "evaluate_release"]
