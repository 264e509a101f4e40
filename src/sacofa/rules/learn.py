"""Rules that all cases of a log keep.

*Never* holds if no case shows the opposite, also for activities that no case has. *Always* holds if
every case with the activity agrees and at least one case has it, so that nothing is demanded on
behalf of activities that were not seen. A truncated case is evidence for what it contains, but not
for what it lacks.

It follows that every prefix of every case is harmless under the rules of its own log.
"""

from __future__ import annotations

import numpy as np

from ..kernel.variants import VariantCounts
from .kinds import Facts
from .provenance import THIS_LOG, Provenance, Stated
from .rules import Rules, rules_of

# This many (variant, activity, activity) cells are processed together: bounds memory, not the
# result.
CELLS = 1 << 22


def learn_rules(variants: VariantCounts, source: Provenance | str = THIS_LOG) -> Rules:
    """Learn the rules that all cases keep. Reads the confidential log without any noise.

    Args:
        variants: The log.
        source: Origin of the rules. A sentence states that they are public.

    Returns:
        The rules.
    """
    size, offsets, lengths = len(variants.activities), variants.offsets, variants.lengths
    followed, not_followed, not_preceded = np.zeros((3, size, size), dtype=np.bool_)
    seen, seen_finished = np.zeros((2, size), dtype=np.bool_)
    many = max(1, CELLS // max(size**2, 1))
    for begin in range(0, len(variants), many):
        end = min(begin + many, len(variants))
        block, finished = slice(begin, end), variants.complete[begin:end, None]
        ids = variants.activity_ids[offsets[begin] : offsets[end]]
        rows, places = np.repeat(np.arange(len(finished)), lengths[block]), np.arange(len(ids))
        # [variant, activity]: where it occurs first and last.
        begins, ends = np.full((2, len(finished), size), [[[len(ids)]], [[-1]]])
        np.minimum.at(begins, (rows, ids), places)
        np.maximum.at(ends, (rows, ids), places)
        there = ends >= 0
        # [variant, a, b]: whether some b comes after, or before, the first a.
        after = ends[:, None, :] > begins[:, :, None]
        before = begins[:, None, :] < begins[:, :, None]
        followed |= after.any(axis=0)
        not_followed |= ((there & finished)[:, :, None] & ~after).any(axis=0)
        not_preceded |= (there[:, :, None] & ~before).any(axis=0)
        seen |= there.any(axis=0)
        seen_finished |= (there & finished).any(axis=0)
    filled, complete = lengths > 0, variants.complete
    first, last = np.zeros((2, size), dtype=np.bool_)
    first[variants.activity_ids[offsets[:-1][filled]]] = True
    last[variants.activity_ids[offsets[1:][filled & complete] - 1]] = True
    facts = Facts(seen, seen_finished, followed, not_followed, not_preceded, first, last)
    empty = bool((complete & ~filled).any()) or not len(variants)
    source = Stated(source) if isinstance(source, str) else source
    return rules_of(variants.activities, facts, empty, source)
