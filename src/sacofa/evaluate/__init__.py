"""Utility of a release compared with the confidential original; results are confidential, too."""

from .evaluate import Evaluator, Measures, evaluate_release

__all__ = ["Evaluator", "Measures", "evaluate_release"]
