"""Performs runs: makes a release and measures it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter

from ..errors import TooLargeError
from ..kernel.cases import Cases
from ..mechanisms.protocol import Mechanism
from ..release.anonymize import anonymize
from .evaluate import Evaluator, Measured, variants_of
from .read import measured_release
from .runs import DONE, LIMIT, REFUSED, Row, Run, digest_of, start_row


class Performer:
    """Performs runs on some logs; what concerns a log alone is done once."""

    def __init__(self, originals: Mapping[str, Measured]) -> None:
        """Take the logs by name."""
        self._originals = originals
        self._digests = {name: digest_of(log) for name, log in originals.items()}
        self._evaluators: dict[str, Evaluator] = {}

    def __call__(self, run: Run) -> Row:
        """Perform one run."""
        original = self._originals[run.log]
        if run.log not in self._evaluators:
            self._evaluators[run.log] = Evaluator(original)
        start = perf_counter()
        released: Measured = original
        spent, times = None, ""
        if run.mechanism is not None:
            try:
                release = anonymize(_for(original, run.mechanism), run.mechanism, seed=run.seed)
            except TooLargeError as error:
                return start_row(run, self._digests[run.log], REFUSED, str(error))
            attributes = original.attributes if isinstance(original, Cases) else ()
            released = measured_release(release, attributes)
            times = "no" if release.times is None else "yes"
            price = release.certificate.epsilon
            spent = math.inf if price is None else float(price)
        made = perf_counter()
        evaluator = self._evaluators[run.log]
        limit = run.series == LIMIT
        variants = variants_of(released)
        measures = evaluator.limit() if limit else evaluator.measure(released)
        return start_row(
            run,
            self._digests[run.log],
            DONE,
            spent=spent,
            times=times,
            cases=variants.cases,
            variants=len(variants),
            release_seconds=made - start,
            measure_seconds=perf_counter() - made,
            measures=dict(measures),
        )


def _for(original: Measured, mechanism: Mechanism) -> Measured:
    """The log as a mechanism is given it: without attributes where it releases none."""
    if isinstance(original, Cases) and not mechanism.capabilities.attributes:
        return replace(original, attributes=(), pairs=())
    return original
