"""How a model becomes rules: what a person says about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...errors import SettingError

MOST_DEVIATIONS = 10


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """What holds for a model beyond what its file says."""

    names: Mapping[str, str] | None = None
    """Names of the model and of the log: a map as `rules --match` writes it."""
    deviations: int | None = None
    """Keep the whole language of the model; cases may differ in so many events."""
    closed: bool = False
    """Activities that the model lacks never happen."""
    source: str | None = None
    """Where the model comes from; certificates repeat it."""

    def __post_init__(self) -> None:
        if self.deviations is not None and not 0 <= self.deviations <= MOST_DEVIATIONS:
            raise SettingError("deviations", self.deviations, f"0 to {MOST_DEVIATIONS}")

    def refuse_given(self, why: str) -> None:
        """Refuse every option that was given, where there is no model."""
        for name in ("names", "deviations", "closed", "source"):
            value = getattr(self, name)
            if value is not None and value is not False:
                raise SettingError(name, value, f"left out: {why}")
