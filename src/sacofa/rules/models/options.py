"""How a model becomes rules: what a person says about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...errors import SettingError, Statement

MAX_DEVIATIONS = 10


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """How to turn a process model into rules.

    Attributes:
        names: File that maps names of the model to names of the log, as `sacofa rules --match`
            writes it.
        deviations: Use the whole language of the model. Cases may differ from it in up to this many
            events.
        closed: Activities that are not in the model never happen.
        source: Origin of the model. The certificate repeats it.
    """

    names: Mapping[str, str] | None = None
    deviations: int | None = None
    closed: bool = False
    source: str | None = None

    def __post_init__(self) -> None:
        if self.deviations is not None and not 0 <= self.deviations <= MAX_DEVIATIONS:
            what = Statement("must.whole_between", low=0, high=MAX_DEVIATIONS)
            raise SettingError("deviations", self.deviations, what)

    def refuse_given(self, must: Statement) -> None:
        """Refuse every option that was given, if there is no model."""
        for name in ("names", "deviations", "closed", "source"):
            value = getattr(self, name)
            if value is not None and value is not False:
                raise SettingError(name, value, must)
