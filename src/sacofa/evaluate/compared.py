"""An original log and a release of it, with intermediate results that several measures share."""

from __future__ import annotations

from functools import cached_property

from ..kernel.cases import CaseBatch
from ..kernel.variants import VariantCounts
from .measures import attributes
from .measures.model import ModelQuality, model_quality, orderly_core
from .measures.normal import NormalBehaviour
from .measures.timed import Timed
from .sequences import share_activities

AttributePairs = tuple[tuple[int, int], ...]
"""Declared pairs of attributes, by their places."""


class Original:
    """An original log; intermediate results that concern it alone are computed once."""

    def __init__(
        self,
        variants: VariantCounts,
        by_case: CaseBatch | None = None,
        pairs: AttributePairs = (),
    ) -> None:
        """Take an original with at least one case.

        Args:
            variants: Its variants.
            by_case: Its cases with times and attributes, if there are any.
            pairs: Pairs of attributes to compare.
        """
        self.variants, _ = share_activities(variants, variants)
        self.by_case = by_case
        self.pairs = pairs

    @cached_property
    def normal(self) -> NormalBehaviour:
        """A detector of behaviour that is unlike the original's."""
        return NormalBehaviour(self.variants)


class Compared:
    """An original and a release of it."""

    def __init__(
        self,
        original: Original,
        released: VariantCounts,
        by_case: CaseBatch | None = None,
    ) -> None:
        """Take a release.

        Args:
            original: The original.
            released: Variants of the release.
            by_case: Its cases one by one, if they have times or attributes of their own.
        """
        self.original = original.variants
        self.released = released
        self._source = original
        self._by_case = by_case

    @cached_property
    def _with_attributes(self) -> tuple[CaseBatch, CaseBatch] | None:
        """The cases of both; None if one of them has no attributes."""
        before, after = self._source.by_case, self._by_case
        if before is None or after is None or not before.attributes or not after.attributes:
            return None
        return before, after

    @cached_property
    def values(self) -> dict[str, float]:
        """Total variation of the values of each attribute."""
        both = self._with_attributes
        return {} if both is None else attributes.value_distances(*both)

    @cached_property
    def activity_values(self) -> dict[str, float]:
        """Total variation within each activity, for each attribute of events."""
        both = self._with_attributes
        return {} if both is None else attributes.activity_distances(*both)

    @cached_property
    def pair_values(self) -> dict[str, float]:
        """Total variation of each declared pair of attributes."""
        both = self._with_attributes
        return {} if both is None else attributes.pair_distances(*both, self._source.pairs)

    @property
    def decisions(self) -> float | None:
        """Accuracy, on the original, of a decision tree that learned from the release."""
        both = self._with_attributes
        if both is None or not self.values:
            return None
        try:
            return attributes.decision_accuracy(*both, self._source.pairs)
        except ImportError:
            return None

    @cached_property
    def quality(self) -> ModelQuality:
        """Quality, on the original, of the model mined from the whole release."""
        return model_quality(self.original, self.released)

    @cached_property
    def core(self) -> VariantCounts:
        """The orderly core of the release, chosen by the same filter for every release."""
        return orderly_core(self.released)

    @property
    def core_share(self) -> float:
        """Share of the released cases that are in the core."""
        return self.core.cases / max(self.released.cases, 1)

    @property
    def core_quality(self) -> ModelQuality:
        """Quality, on the original, of the model mined from the core alone."""
        return model_quality(self.original, self.core)

    @property
    def normal(self) -> float:
        """Share of the released cases that look like those of the original."""
        return self._source.normal.share(self.released)

    @cached_property
    def timed(self) -> tuple[Timed, Timed] | None:
        """The times of both; None if one of them has none."""
        if self._source.by_case is None or self._by_case is None:
            return None
        original, released = Timed.both(self._source.by_case, self._by_case)
        return (original, released) if original.cases else None
