"""Judge prefixes by a score of your own: known steps, instead of rules.

The SaCoFa paper leaves open what "makes sense". Here a step is harmless if it was seen directly
after the activity before it in a list of known paths. Anything with the members of
`sacofa.rules.Semantics` can take the place of the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sacofa import Rules, Sacofa, anonymize
from sacofa.examples import running_example
from sacofa.rules import Stated

PATHS = [
    ("Register", "Triage", "Surgery", "Release"),
    ("Register", "Triage", "Antibiotics", "Release"),
    ("Register", "Triage", "Consultation", "Release"),
]
"""Public knowledge: how the ward says that it works."""


@dataclass(frozen=True)
class KnownSteps:
    """Harmless is what takes known steps only; the state is the activity that came last."""

    activities: tuple[str, ...]
    allowed: NDArray[np.bool_]
    """[a, b]: b may come directly after a; the last row is the beginning, the last column the end.
    """

    @classmethod
    def of(cls, rules: Rules) -> KnownSteps:
        """Read the steps off the paths; of the rules only the names of the activities are used."""
        names = rules.activities
        ids = {name: i for i, name in enumerate(names)}
        edge = len(names)
        allowed = np.zeros((edge + 1, edge + 1), dtype=np.bool_)
        for path in PATHS:
            for a, b in pairwise([edge, *(ids[name] for name in path), edge]):
                allowed[a, b] = True
        return cls(names, allowed)

    def start(self) -> int:
        """Nothing came yet."""
        return len(self.activities)

    def harmless(self, states: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The known steps from each state."""
        return self.allowed[states]

    def step(self, states: NDArray[np.int64], activities: NDArray[np.int64]) -> NDArray[np.int64]:
        """The activity that came last is the state."""
        return activities

    def violations(self, prefix: Sequence[int], finished: bool) -> int:
        """How many steps are not known."""
        edge = len(self.activities)
        path = [edge, *prefix, *([edge] if finished else [])]
        return sum(not self.allowed[a, b] for a, b in pairwise(path))


def main() -> None:
    """Release the running example; new behaviour is steered along known steps."""
    log = running_example()
    mechanism = Sacofa(
        level_epsilon=Fraction(1),
        max_length=6,
        prune_harmless=2,
        prune_harmful=6,
        # The score knows its paths by itself; the rules only say that nothing comes from the log.
        rules=Rules.free(log.activities, source=Stated("known paths of the ward")),
        scorer=KnownSteps.of,
    )
    release = anonymize(log, mechanism)
    scorer = KnownSteps.of(Rules.free(log.activities))
    for (variant, count), ids in zip(release.variants, release.variants.sequences(), strict=True):
        print(f"{count:3}  {', '.join(variant)}  ({scorer.violations(ids, True)} unknown steps)")
    print(f"ε = {release.certificate.epsilon}, {release.certificate.assumptions[-1]}")


if __name__ == "__main__":
    main()
