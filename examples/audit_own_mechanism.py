"""Audit a mechanism of your own: one that keeps its promise, and one that does not.

Anything with the members of `sacofa.mechanisms.Mechanism` can be released with and audited. The one
here counts cases by their first and last activity, with a query of its own. Its careless brother
forgets that a case then changes two counts, so that the session draws half of the noise that is
needed. No reader of a release would notice. The audit does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sacofa import Unit, VariantCounts, anonymize
from sacofa.audit import Pair, audit
from sacofa.examples import running_example
from sacofa.kernel import Session, Spend
from sacofa.mechanisms import Mechanism, Output, Promise, ReleasedLog


@dataclass(frozen=True, kw_only=True)
class FirstAndLast:
    """How many cases begin, and how many end, with each activity. A case adds 1 to two cells."""

    activities: int
    """How many activities there are: public."""
    sensitivity: int = 2
    """By how much one case changes the cells, in sum. To say 1 here is a mistake."""

    name = "first and last"
    what = "how many cases begin and end with each activity"
    by_case = False

    @property
    def cells(self) -> range:
        """Beginnings first, then ends."""
        return range(2 * self.activities)

    def table(self, part: VariantCounts) -> NDArray[np.int64]:
        """The table of one part of the log. Secret."""
        table = np.zeros(len(self.cells), dtype=np.int64)
        some = part.lengths > 0
        first = part.activity_ids[part.offsets[:-1][some]]
        last = part.activity_ids[part.offsets[1:][some] - 1]
        np.add.at(table, first, part.counts[some])
        np.add.at(table, self.activities + last, part.counts[some])
        return table


@dataclass(frozen=True, kw_only=True)
class Ends(Mechanism):
    """Each activity as a variant, with the mean of the cases that begin and end with it."""

    epsilon: Fraction
    """The price of the whole release."""
    sensitivity: int = 2
    """What the query says of itself."""

    name = "ends"

    def settings(self) -> Mapping[str, object]:
        """The settings that the certificate repeats."""
        return {"epsilon": self.epsilon}

    def promise(self, unit: Unit) -> Promise:
        """One query, for all of ε; the session makes the noise fit the unit."""
        spend = Spend(what="first and last activities", amount=self.epsilon, line="counts")
        return Promise(accesses=(spend,))

    def run(self, session: Session, progress: Callable[[float], None] | None = None) -> Output:
        """Ask, and make variants of the answer."""
        size = len(session.activities)
        query = FirstAndLast(activities=size, sensitivity=self.sensitivity)
        noisy = session.ask(query, self.epsilon, "counts")
        released = VariantCounts.from_arrays(
            session.activities,
            np.arange(size),
            np.ones(size, dtype=np.int64),
            np.maximum((noisy[:size] + noisy[size:]) // 2, 0),
            np.zeros(size, dtype=np.bool_),
        )
        return Output(log=ReleasedLog(variants=released))


BEFORE = VariantCounts.of({("a",): 10}, activities=["a", "b"])
AFTER = VariantCounts.of({("a",): 10, ("b",): 1}, activities=["a", "b"])
ONE_MORE = Pair(name="one more", what="a case of nothing but b", smaller=BEFORE, larger=AFTER)
"""Two logs that differ by one case: an attacker who knows both tries to tell which was used."""


def main(runs: int) -> None:
    """Release with it, then try to refute what it and its careless brother promise."""
    right = Ends(epsilon=Fraction(1))
    careless = Ends(epsilon=Fraction(1), sensitivity=1)
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
