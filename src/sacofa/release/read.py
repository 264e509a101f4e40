"""Read a release back: the released file with the certificate that lies beside it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..cases import MICROSECONDS, CaseBatch, gather
from ..errors import ReadError
from ..logs import count_variants, open_log, read_cases
from ..logs.released import PRIVATE
from ..logs.time_mark import time_mark
from ..mechanisms.certified import Certified, mark_core
from ..variants import VariantCounts
from .anonymize import Release
from .certificate import Certificate
from .verify import verify


def read_release(path: str | Path) -> Release:
    """Read a released log and its certificate; a file that is not the certified one is refused."""
    # Events were written in the order of their case: times are only read where that is asked.
    listed = Path(path).name.lower().endswith(".json")
    log = open_log(path) if listed else open_log(path, order="file")
    verification = verify(path)
    if not verification.holds:
        raise ReadError(path, verification.findings[0])
    certificate = verification.certificate
    times = None
    if time_mark(log) == PRIVATE:
        cases = read_cases(log)
        assert cases.by_case is not None and isinstance(cases.variants, VariantCounts)
        counted, times = cases.variants, lay_out_times(cases.variants, gather(cases.by_case))
    else:
        counted = count_variants(log)
    variants = replace(counted, unit=certificate.unit)
    core = _core(variants, certificate)
    return Release(variants=variants, certificate=certificate, core=core, times=times)


def lay_out_times(variants: VariantCounts, cases: CaseBatch) -> NDArray[np.int64]:
    """Seconds since 1970 of all events, case by case in the order of the variants.

    Cases of one variant go by their times: readers do not all keep the order of cases, and the same
    file must give the same release.
    """
    assert cases.times is not None
    place = {
        (ids, flag): i
        for i, (ids, flag) in enumerate(
            zip(variants.sequences(), variants.complete.tolist(), strict=True)
        )
    }
    seconds = cases.times // MICROSECONDS
    listed, ends = seconds.tolist(), cases.offsets.tolist()
    keys = [
        (place[ids, flag], listed[start:end], number)
        for number, (ids, flag, (start, end)) in enumerate(
            zip(cases.sequences(), cases.complete.tolist(), pairwise(ends), strict=True)
        )
    ]
    order = np.array([number for _, _, number in sorted(keys)], dtype=np.int64)
    lengths = cases.lengths[order]
    before = np.cumsum(lengths) - lengths
    at = np.arange(lengths.sum()) + np.repeat(cases.offsets[:-1][order] - before, lengths)
    laid: NDArray[np.int64] = seconds[at]
    return laid


def _core(variants: VariantCounts, certificate: Certificate) -> NDArray[np.bool_] | None:
    """Mark the orderly core: it follows from what was released, and is worked out again."""
    if certificate.mechanism != Certified.name or certificate.epsilon is None:
        return None
    return mark_core(variants, Certified(epsilon=certificate.epsilon))
