"""All measures of one release against its original. What comes out is as secret as the original."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import SettingError
from ..variants import VariantCounts
from .measures.normal import NormalBehaviour
from .measures.overlap import invented, mass_kept, size_error
from .measures.quality import model_quality
from .measures.similarity import similarity
from .sequences import share_activities


@dataclass(frozen=True, kw_only=True)
class Measures:
    """How useful a release is. Secret: computed from the original log without any noise."""

    f_score: float
    """Harmonic mean of fitness and precision of the release's model on the original log."""
    fitness: float
    precision: float
    generalization: float
    """How well the use of that model by the original log supports its parts."""
    normal: float
    """The share of released cases that look normal beside the original."""
    similarity: float
    """1 − earth mover's distance between the two distributions of variants."""
    mass_kept: float
    """The share of original cases whose variant is in the release."""
    size_error: float
    """How far the number of cases is off, relative to the original."""
    invented: float
    """The share of released cases whose variant is not in the original."""


class Evaluator:
    """Measures releases of one original log; what concerns the original alone is done once."""

    def __init__(self, original: VariantCounts) -> None:
        """Take an original with at least one case."""
        if not original.cases:
            raise SettingError("original", "0 cases", "a log with at least one case")
        self.original, _ = share_activities(original, original)
        self._normal = NormalBehaviour(self.original)

    def measure(self, released: VariantCounts) -> Measures:
        """Compare one release with the original."""
        original = self.original
        quality = model_quality(original, released)
        return Measures(
            f_score=quality.f_score,
            fitness=quality.fitness,
            precision=quality.precision,
            generalization=quality.generalization,
            normal=self._normal.share(released),
            similarity=similarity(original, released),
            mass_kept=mass_kept(original, released),
            size_error=size_error(original, released),
            invented=invented(original, released),
        )


def evaluate_release(original: VariantCounts, released: VariantCounts) -> Measures:
    """Measure how useful a release is; the result is secret, it must not be published with it."""
    return Evaluator(original).measure(released)
