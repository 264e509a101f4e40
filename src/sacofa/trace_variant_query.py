"""The trace-variant query with the call that pm4py users know.

    from sacofa import trace_variant_query

    frame = trace_variant_query.apply(log, variant="CERTIFIED", parameters={"epsilon": 1.0})

It takes what `pm4py.algo.anonymization.trace_variant_query.algorithm.apply` takes and gives a frame
that pm4py's own functions accept, without needing pm4py. As there, `epsilon` of LAPLACE and SACOFA
is the price of one level, and SACOFA reads the rules off the log; `anonymize` says what that means.
CERTIFIED is not known there: its `epsilon` is the price of the whole release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import SettingError, nearest
from .mechanisms import Certified, Laplace, Mechanism, Sacofa
from .release import anonymize
from .release.frames import event_columns, to_pandas
from .variants import VariantCounts

VARIANTS = ("CERTIFIED", "LAPLACE", "SACOFA")
KNOWN = ("epsilon", "k", "p", "show_progress_bar", "return_certificate")


def apply(log: Any, variant: Any = "SACOFA", parameters: Mapping[Any, Any] | None = None) -> Any:
    """Anonymize a log (a frame or pm4py's EventLog) and give the result as a pandas frame.

    `variant` is a name or a member of pm4py's own Variants; `parameters` hold epsilon, k and p,
    keyed by name or by pm4py's own Parameters. With `return_certificate`, the frame comes together
    with the certificate, which says what is promised.
    """
    name = str(getattr(variant, "name", variant)).upper()
    if name not in VARIANTS:
        raise SettingError(
            "variant", name, f"one of {', '.join(VARIANTS)}.{nearest(name, VARIANTS)}"
        )
    given = {_key(key): value for key, value in (parameters or {}).items()}
    unknown = sorted(set(given) - set(KNOWN))
    if unknown:
        raise SettingError("parameters", ", ".join(unknown), "epsilon, k and p")
    epsilon, k, p = given.get("epsilon", 1.0), given.get("k", 10), given.get("p", 1)
    mechanism: Mechanism
    if name == "CERTIFIED":
        if "p" in given:
            raise SettingError("p", p, "left out for CERTIFIED, which finds its own thresholds")
        mechanism = Certified(epsilon=epsilon, max_length=given.get("k"))
    elif name == "LAPLACE":
        mechanism = Laplace(level_epsilon=epsilon, max_length=k, prune=p)
    else:
        mechanism = Sacofa(level_epsilon=epsilon, max_length=k, prune_harmless=p, prune_harmful=p)
    release = anonymize(log, mechanism)
    frame = release.to_pandas()
    return (frame, release.certificate) if given.get("return_certificate") else frame


def to_frame(variants: VariantCounts) -> Any:
    """Lay variants out as an event log: a pandas frame with pm4py's column names."""
    return to_pandas(event_columns(variants))


def _key(key: Any) -> str:
    return str(getattr(key, "value", key))
