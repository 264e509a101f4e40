"""Compare mechanisms on one log: what each promises, and what is left of the log.

Needs the measures: pip install 'sacofa[evaluate]'
"""

from __future__ import annotations

import sys
from fractions import Fraction
from statistics import median

from sacofa import Certified, Laplace, Sacofa, anonymize
from sacofa.evaluate import Evaluator
from sacofa.examples import hospital
from sacofa.mechanisms import Mechanism

ONE = Fraction(1)
MECHANISMS: list[Mechanism] = [
    Certified(epsilon=ONE),
    # The papers' ε is the price of one level: for 8 levels to cost 1 in all, take an eighth.
    Laplace(level_epsilon=ONE / 8, max_length=8, prune=30),
    Sacofa(level_epsilon=ONE / 8, max_length=8, prune_harmless=30, prune_harmful=30),
]


def main(repeat: int) -> None:
    """Run each mechanism several times and print medians. All of it is secret."""
    original = hospital(1000)
    evaluator = Evaluator(original)
    print("mechanism    ε   similarity  mass kept  F-score")
    for mechanism in MECHANISMS:
        releases = [anonymize(original, mechanism) for _ in range(repeat)]
        price = releases[0].certificate.epsilon
        measured = [evaluator.measure(release.variants) for release in releases]
        print(
            f"{mechanism.name:9}  {'∞' if price is None else price!s:>3}"
            f"  {median(m['similarity'] for m in measured):10.3f}"
            f"  {median(m['mass_kept'] for m in measured):9.3f}"
            f"  {median(m['f_score'] for m in measured):7.3f}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
