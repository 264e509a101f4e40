"""The process model that a miner finds in a release: a Petri net.

pm4py's Inductive Miner infrequent (Leemans et al., 2013) sees each sequence once, with its count.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ...kernel.variants import VariantCounts
from ..extras import optional_module
from ..sequences import name_sequences

NOISE = 0.2
"""The miner's noise threshold, as in the paper."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """A Petri net with its first and last marking, as pm4py knows them."""

    net: Any
    initial: Any
    final: Any


def discover_model(counts: VariantCounts) -> Model:
    """Mine a model from cases; there must be at least one."""
    inductive = "pm4py.algo.discovery.inductive"
    miner = optional_module(f"{inductive}.variants.imf").IMFUVCL
    structure = optional_module(f"{inductive}.dtypes.im_ds").IMDataStructureUVCL
    trees = optional_module("pm4py.objects.process_tree.utils.generic")
    converter = optional_module("pm4py.objects.conversion.process_tree.converter")

    settings = {"noise_threshold": NOISE}
    sequences = Counter(name_sequences(counts))
    tree = trees.fold(miner(settings).apply(structure(sequences), settings))
    trees.tree_sort(tree)
    net, initial, final = converter.apply(tree)
    return Model(net=net, initial=initial, final=final)
