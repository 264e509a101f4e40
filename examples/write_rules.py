"""Write rules for a process in Python, keep them in a file, and release cases that keep them."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

from sacofa import Certified, Rules, VariantCounts, anonymize, read_rules, write_rules
from sacofa.examples import running_example
from sacofa.rules import RuleStates, Stated

ACTIVITIES = ("Antibiotics", "Consultation", "Register", "Release", "Surgery", "Triage")


def guideline() -> Rules:
    """What the ward knows without looking at any log."""
    place = {name: i for i, name in enumerate(ACTIVITIES)}
    free = np.zeros((len(ACTIVITIES), len(ACTIVITIES)), dtype=bool)
    never_follows, always_precedes, always_follows = free.copy(), free.copy(), free.copy()
    # Nothing comes after Release, and nobody is registered or triaged twice.
    never_follows[place["Release"], :] = True
    for once in ("Register", "Triage"):
        never_follows[place[once], place[once]] = True
    # Whoever is treated was triaged before; whoever was registered is released in the end.
    for treatment in ("Antibiotics", "Consultation", "Surgery"):
        always_precedes[place[treatment], place["Triage"]] = True
    always_follows[place["Register"], place["Release"]] = True
    return Rules(
        activities=ACTIVITIES,
        never_follows=never_follows,
        always_follows=always_follows,
        always_precedes=always_precedes,
        starts=np.array([name == "Register" for name in ACTIVITIES]),
        source=Stated("the guideline of the ward"),
    )


def main(folder: Path) -> None:
    """Write the rules, read them back, release with them, and see that they are kept."""
    write_rules(guideline(), folder / "guideline.toml", force=True)
    rules = read_rules(folder / "guideline.toml")
    # The 49 cases of the example, twenty times: privacy needs more than a handful of cases.
    log = VariantCounts.of({variant: 20 * count for variant, count in running_example()})
    mechanism = Certified(epsilon=Fraction(1), rules=rules)
    release = anonymize(log, mechanism, activities=ACTIVITIES)
    states = RuleStates(rules)
    whole = release.variants.complete.tolist()
    for (variant, count), ids, complete in zip(
        release.variants, release.variants.sequences(), whole, strict=True
    ):
        broken = states.violations(ids, complete)
        print(f"{count:3}  {', '.join(variant)}  ({broken} rules broken)")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
