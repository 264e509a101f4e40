"""The trace-variant query with the call that pm4py users know.

    from sacofa import trace_variant_query as algorithm  # instead of pm4py's

    frame = algorithm.apply(log, algorithm.Variants.LAPLACE, {"epsilon": 1.0, "k": 10, "p": 5})

It takes what `pm4py.algo.anonymization.trace_variant_query.algorithm` takes and gives a frame that
pm4py's own functions accept, without needing pm4py. As there, `epsilon` of LAPLACE and SACOFA is
the price of one level, and SACOFA learns the rules from the log; `anonymize` says what that means.
CERTIFIED is not known there: its `epsilon` is the price of the whole release.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import Any, ClassVar

from .errors import SettingError, Statement, advised
from .kernel.variants import VariantCounts
from .mechanisms import Certified, Laplace, Mechanism, Sacofa
from .mechanisms.released import ReleasedLog
from .release import anonymize
from .release.formats.blocks import to_pandas


class Parameters(Enum):
    """The keys of parameters; their text values are keys as well."""

    EPSILON = "epsilon"
    K = "k"
    P = "p"
    SHOW_PROGRESS_BAR = "show_progress_bar"


class WrongParameterError(SettingError, ValueError):
    """An invalid parameter; a ValueError, as users of pm4py expect."""


RETURN_CERTIFICATE = "return_certificate"
"""Parameter beyond those of pm4py: return the certificate together with the frame."""


@dataclass(frozen=True)
class _Variant:
    """Counterpart of pm4py's module of a variant."""

    name: str
    Parameters: ClassVar = Parameters

    def apply(self, log: Any, parameters: Mapping[Any, Any] | None = None) -> Any:
        """Anonymize a log with this variant, like the function `apply` of this module."""
        return apply(log, self, parameters)


laplace, sacofa, certified = (_Variant(name) for name in ("LAPLACE", "SACOFA", "CERTIFIED"))


class Variants(Enum):
    """The variants, under pm4py's names, and CERTIFIED."""

    LAPLACE = laplace
    SACOFA = sacofa
    CERTIFIED = certified


DEFAULT_VARIANT = Variants.SACOFA


def apply(log: Any, variant: Any = DEFAULT_VARIANT, parameters: Any = None) -> Any:
    """Anonymize a log and return the result as a pandas frame.

    Args:
        log: A pandas frame, or pm4py's EventLog or EventStream.
        variant: A member of Variants, here or in pm4py, its value, or its name.
        parameters: `epsilon` (1 if omitted), `k`, the length at which cases are truncated (0 if
            omitted, except for CERTIFIED), and `p`, the pruning threshold (1 if omitted); keyed by
            text or by members of Parameters. As in pm4py, other keys have no effect.

    Returns:
        A pandas frame; with the parameter `return_certificate`, a pair of it and the certificate,
        which says what is guaranteed.

    Raises:
        ValueError: If a parameter is wrong, or the result would be empty.
    """
    given = {_plain(key): _plain(value) for key, value in (parameters or {}).items()}
    ignored = given.keys() - {each.value for each in Parameters} - {RETURN_CERTIFICATE}
    if ignored:
        names = ", ".join(sorted(map(str, ignored)))
        warnings.warn(f"parameters without effect: {names}", UserWarning, stacklevel=2)
    try:
        mechanism = _mechanism(_name(variant), given)
    except SettingError as error:
        raise WrongParameterError(error.name, error.value, error.must) from None
    release = anonymize(log, mechanism)
    if not release.variants.cases:
        raise ValueError(str(Statement("variant_query.empty")))
    frame = release.to_pandas()
    return (frame, release.certificate) if given.get(RETURN_CERTIFICATE) else frame


def to_frame(variants: VariantCounts) -> Any:
    """Convert variants to an event log: a pandas frame with pm4py's column names."""
    return to_pandas(ReleasedLog(variants=variants))


def _mechanism(name: str, given: Mapping[Any, Any]) -> Mechanism:
    epsilon, k, p = given.get("epsilon", 1), given.get("k", 0), given.get("p", 1)
    if name == "CERTIFIED":
        if "p" in given:
            raise SettingError("p", p, Statement("must.be.left_out_for", mechanism=name))
        return Certified(epsilon=epsilon, max_length=given.get("k"))
    if k == 0:
        raise ValueError(str(Statement("variant_query.no_length")))
    if name == "LAPLACE":
        return Laplace(level_epsilon=epsilon, max_length=k, prune=p)
    return Sacofa(level_epsilon=epsilon, max_length=k, prune_harmless=p, prune_harmful=p)


def _name(variant: Any) -> str:
    """Return the name of a variant in any supported form."""
    name = getattr(variant, "name", variant)
    if isinstance(variant, ModuleType):
        name = variant.__name__.rpartition(".")[-1]
    name = str(name).upper()
    if name not in Variants.__members__:
        must = Statement("must.one_of", choices=(known := tuple(Variants.__members__)))
        raise SettingError("variant", name, advised(must, name, known))
    return name


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value
