"""Anonymize a log and mine the release with pm4py: the model that others may see.

Needs pm4py: pip install 'sacofa[evaluate]'
"""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import pm4py

from sacofa import Certified, publish
from sacofa.examples import hospital
from sacofa.trace_variant_query import to_frame


def main(folder: Path) -> None:
    """Go from a frame, as pm4py loads it, to a Petri net of the release."""
    # Stands for `pm4py.read_xes("your-log.xes")`: a frame with pm4py's names of columns.
    original = to_frame(hospital())
    released = folder / "released.xes"
    release = publish(original, Certified(epsilon=Fraction(1)), released, force=True)
    print(f"released {release.variants.cases:,} cases at ε = {release.certificate.epsilon}")

    log = pm4py.read_xes(str(released))
    net, start, end = pm4py.discover_petri_net_inductive(log, noise_threshold=0.2)
    print(f"the model has {len(net.transitions)} transitions")

    # How well does a model that was found in the release fit what really happened? The answer
    # comes from the original without noise: it is secret.
    fitness = pm4py.fitness_token_based_replay(original, net, start, end)
    print(f"its fitness on the original is {fitness['average_trace_fitness']:.3f} (secret)")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
