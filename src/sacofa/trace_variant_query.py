"""The trace-variant query with the call that pm4py users know.

    from sacofa import trace_variant_query

    frame = trace_variant_query.apply(log, variant="SACOFA",
                                      parameters={"epsilon": 1.0, "k": 10, "p": 3})

It takes what `pm4py.algo.anonymization.trace_variant_query.algorithm.apply` takes and gives a frame
that pm4py's own functions accept, without needing pm4py. As there, `epsilon` is the price of one
level, and the rules are read off the log; `anonymize` says what that means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .errors import MissingExtraError, SettingError, nearest
from .logs import count_variants
from .logs.released import NO_ACTIVITY, all_events
from .mechanisms import Laplace, Mechanism, Sacofa
from .release import anonymize
from .variants import VariantCounts

VARIANTS = ("LAPLACE", "SACOFA")


def apply(log: Any, variant: Any = "SACOFA", parameters: Mapping[Any, Any] | None = None) -> Any:
    """Anonymize a log (a frame or pm4py's EventLog) and give the result as a pandas frame.

    `variant` is a name or a member of pm4py's own Variants; `parameters` hold epsilon, k and p,
    keyed by name or by pm4py's own Parameters.
    """
    name = str(getattr(variant, "name", variant)).upper()
    if name not in VARIANTS:
        raise SettingError("variant", name, f"LAPLACE or SACOFA.{nearest(name, VARIANTS)}")
    given = {_key(key): value for key, value in (parameters or {}).items()}
    unknown = sorted(set(given) - {"epsilon", "k", "p", "show_progress_bar"})
    if unknown:
        raise SettingError("parameters", ", ".join(unknown), "epsilon, k and p")
    epsilon, k, p = given.get("epsilon", 1.0), given.get("k", 10), given.get("p", 1)
    mechanism: Mechanism
    if name == "LAPLACE":
        mechanism = Laplace(level_epsilon=epsilon, max_length=k, prune=p)
    else:
        mechanism = Sacofa(level_epsilon=epsilon, max_length=k, prune_harmless=p, prune_harmful=p)
    return to_frame(anonymize(_count(log), mechanism).variants)


def to_frame(variants: VariantCounts) -> Any:
    """Lay variants out as an event log: a pandas frame with pm4py's column names."""
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("pandas", "evaluate") from None
    events = all_events(variants)
    # pm4py has no cases without events.
    real = events.activity_id != NO_ACTIVITY
    names = np.array([*variants.activities, None], dtype=object)
    return pandas.DataFrame(
        {
            "case:concept:name": events.case[real].astype(str),
            "concept:name": names[events.activity_id[real]],
            "time:timestamp": pandas.to_datetime(events.seconds[real], unit="s", utc=True),
        }
    )


def _key(key: Any) -> str:
    return str(getattr(key, "value", key))


def _count(log: Any) -> VariantCounts:
    """Count a frame, or an EventLog as pm4py has it: traces of events with attributes."""
    if hasattr(log, "columns"):
        return count_variants(log)
    return VariantCounts.from_cases([[event["concept:name"] for event in case] for case in log])
