"""Audit a mechanism of your own: one that keeps its promise, and one that does not.

Anything with the members of `sacofa.Mechanism` can be released with and audited. The one here
counts cases by their first activity. Its careless brother draws half of the noise that its promise
needs, which no reader of a release would notice. The audit does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sacofa import Noise, Outcome, Promise, Spend, Unit, VariantCounts, anonymize
from sacofa.audit import Pair, audit
from sacofa.examples import running_example


@dataclass(frozen=True, kw_only=True)
class FirstActivities:
    """How many cases begin with each activity."""

    epsilon: Fraction
    """The price of the whole release."""
    too_little: int = 1
    """Noise is divided by this; above 1 it is a mistake."""

    name = "first activities"
    unit = Unit()

    def settings(self) -> Mapping[str, object]:
        """The settings that the certificate repeats."""
        return {"epsilon": self.epsilon}

    def promise(self) -> Promise:
        """One look: a case adds 1 to one of the counts."""
        return Promise(looks=(Spend(what="counts of first activities", epsilon=self.epsilon),))

    def run(
        self,
        variants: VariantCounts,
        noise: Noise,
        progress: Callable[[float], None] | None = None,
    ) -> Outcome:
        """Count, add noise, and give variants of one activity each."""
        size = len(variants.activities)
        counts = np.zeros(size, dtype=np.int64)
        for ids, count in zip(variants.sequences(), variants.counts.tolist(), strict=True):
            if ids:
                counts[ids[0]] += count
        noisy = counts + noise.laplace(self.epsilon * self.too_little, size)
        released = VariantCounts.from_arrays(
            variants.activities,
            np.arange(size),
            np.ones(size, dtype=np.int64),
            np.maximum(noisy, 0),
            np.zeros(size, dtype=np.bool_),
        )
        return Outcome(variants=released, transcript={"counts": noisy})


BEFORE = VariantCounts.of({("a",): 10}, activities=["a", "b"])
AFTER = VariantCounts.of({("a",): 10, ("b",): 1}, activities=["a", "b"])
ONE_MORE = Pair(name="one more", what="a case that begins with b", smaller=BEFORE, larger=AFTER)
"""Two logs that differ by one case: an attacker who knows both tries to tell which was used."""


def main(runs: int) -> None:
    """Release with it, then try to refute what it and its careless brother promise."""
    right = FirstActivities(epsilon=Fraction(1))
    careless = FirstActivities(epsilon=Fraction(1), too_little=2)
    release = anonymize(running_example(), right)
    print(f"released at ε = {release.certificate.epsilon}: {dict(release.variants)}")
    for what, mechanism in (("right", right), ("careless", careless)):
        for finding in audit(mechanism, [ONE_MORE], runs=runs):
            verdict = "refuted" if finding.refuted else "not refuted"
            print(
                f"{what}, seeing the {finding.view}: ε = {finding.claimed} is promised, "
                f"at least {finding.certified:.2f} is certain: {verdict}"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4_000)
