"""Which variants can be shown by name: thresholds by meaning, from strict to lenient.

A threshold is the smallest that lets at most so many invented variants pass, expected: high
where all sequences are asked, lower where only those that make sense are. What makes sense is
known better with each variant that is shown.
"""

from __future__ import annotations

from functools import lru_cache

from ...kernel.language import Language, Word
from ...kernel.laws import Law
from ...kernel.queries.histogram import Histogram
from ...kernel.statements import Statement
from ...kernel.variants import VariantCounts
from ...rules.allowed import Steps, all_sequences, sequences_of_steps, sequences_within_rules
from ...rules.learn import learn_rules
from ...rules.provenance import Stated
from ...rules.rules import Rules
from ..thresholds import smallest_threshold
from .tuning import TUNING

SMALL = 500
"""Of so few sequences the same languages come up again and again: they are kept."""
ROOM = 1 << 30
"""Sequences whose number takes more bytes to work out are passed over: memory has an end."""


@lru_cache
def all_threshold(law: Law, activities: int, max_length: int) -> int:
    """From this noisy count on, any variant at all is shown."""
    # The sequences of each length, and those of full length once more: as truncated cases.
    last: int = activities**max_length
    shorter = max_length if activities == 1 else (last - 1) // (activities - 1)
    return smallest_threshold(law, shorter + 2 * last, TUNING.invented_variants)


def show_frequent(
    histogram: Histogram,
    steps: Steps,
    rules: Rules | None,
    max_length: int,
    law: Law,
) -> tuple[Statement, ...]:
    """Show variants stage by stage; what there is to say about it comes back."""
    notes: list[Statement] = []
    whole = all_sequences(steps.activities, max_length)
    if histogram.least is not None:
        # No variant is invented: all that may be shown are shown at once.
        histogram.show(whole, histogram.least)
        return ()
    small = _room(whole) <= ROOM and whole.size <= SMALL
    so_far = _kept_so_far if small else sequences_so_far
    of_steps = _kept_of_steps if small else sequences_of_steps

    def show(language: Language) -> int:
        if _room(language) > ROOM:
            notes.append(Statement("note.uncountable"))
            return 0
        if not language.size:
            return 0
        return len(
            histogram.show(
                language, smallest_threshold(law, language.size, TUNING.invented_variants)
            )
        )

    show(whole)
    for _ in range(TUNING.publishing_rounds):
        if not histogram.shown:
            break
        if not show(so_far(steps, tuple(histogram.shown), max_length)):
            break
    last = (
        of_steps(steps, max_length)
        if rules is None
        else sequences_within_rules(steps, rules, max_length)
    )
    show(last)
    if not last.keeps_rules:
        notes.append(Statement("note.rules_states"))
    return tuple(dict.fromkeys(notes))


def sequences_so_far(steps: Steps, shown: tuple[Word, ...], max_length: int) -> Language:
    """What takes allowed steps and keeps the rules of the variants shown so far."""
    so_far = VariantCounts.from_arrays(
        steps.activities,
        [i for ids, _ in shown for i in ids],
        [len(ids) for ids, _ in shown],
        [1] * len(shown),
        [finished for _, finished in shown],
    )
    known = learn_rules(so_far, source=Stated("variants shown so far"))
    return sequences_within_rules(steps, known, max_length)


# Languages are made of noisy values alone, so keeping them keeps nothing of a log.
_kept_so_far = lru_cache(sequences_so_far)
_kept_of_steps = lru_cache(sequences_of_steps)


def _room(language: Language) -> int:
    """About how many bytes it takes to count the words of a language, at most."""
    # A count of words of n steps has n times as many bits as an activity: half of the longest
    # on average. Every state has such a count for every number of steps.
    bits = language.max_length * len(language.activities).bit_length()
    return language.states * (language.max_length + 1) * (bits // 16 + 4)
