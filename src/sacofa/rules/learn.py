"""Rules that all cases of a log keep.

*Never* rules hold if no case contradicts them, also for activities that no case has. *Always* rules
hold if every case with the activity agrees and at least one case has it, so that unseen activities
demand nothing. A truncated case is evidence for the activities that it contains, but not for those
that it lacks.

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
CELLS = 1 << 18


def learn_rules(variants: VariantCounts, source: Provenance | str = THIS_LOG) -> Rules:
    """Learn the rules that all cases keep. Reads the confidential log without any noise.

    Args:
        variants: The log.
        source: Origin of the rules. A sentence states that they are public.

    Returns:
        The rules.
    """
    size, offsets, lengths = len(variants.activities), variants.offsets, variants.lengths
    followed = np.zeros((size, size), dtype=np.bool_)
    followed_finished, preceded = np.zeros((2, size, size), dtype=np.int64)
    having, having_finished = np.zeros((2, size), dtype=np.int64)
    many = max(1, CELLS // max(size**2, 1))
    for begin in range(0, len(variants), many):
        end = min(begin + many, len(variants))
        finished = variants.complete[begin:end, None]
        ids = variants.activity_ids[offsets[begin] : offsets[end]]
        rows = np.repeat(np.arange(end - begin), lengths[begin:end])
        # A block is about the activities that it has.
        used, columns = np.unique(ids, return_inverse=True)
        shape, places = (end - begin, len(used)), np.arange(len(ids))
        # [variant, activity]: where it occurs first and last.
        begins, ends = np.full(shape, len(ids)), np.full(shape, -1)
        np.minimum.at(begins, (rows, columns), places)
        np.maximum.at(ends, (rows, columns), places)
        there, pairs = ends >= 0, np.ix_(used, used)
        # [variant, a, b]: whether some b comes after, or before, the first a.
        after = ends[:, None, :] > begins[:, :, None]
        before = (begins[:, None, :] < begins[:, :, None]) & there[:, :, None]
        followed[pairs] |= after.any(axis=0)
        followed_finished[pairs] += (after & finished[:, :, None]).sum(axis=0)
        preceded[pairs] += before.sum(axis=0)
        having[used] += there.sum(axis=0)
        having_finished[used] += (there & finished).sum(axis=0)
    filled, complete = lengths > 0, variants.complete
    first, last = np.zeros((2, size), dtype=np.bool_)
    first[variants.activity_ids[offsets[:-1][filled]]] = True
    last[variants.activity_ids[offsets[1:][filled & complete] - 1]] = True
    facts = Facts(
        seen=having > 0,
        seen_finished=having_finished > 0,
        followed=followed,
        not_followed=followed_finished < having_finished[:, None],
        not_preceded=preceded < having[:, None],
        first=first,
        last=last,
    )
    empty = bool((complete & ~filled).any()) or not len(variants)
    source = Stated(source) if isinstance(source, str) else source
    return rules_of(variants.activities, facts, empty, source)
