"""The list of sequences that cases vote for, made of noisy values only.

The first list holds the likeliest paths, their likeliest changes, and the most frequent samples.
The second holds the sequences to which a fit gives most cases. A wrong candidate costs nothing but
its place: no case is near it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice, pairwise

import numpy as np

from ...kernel.language import Ids
from ...kernel.variants import VariantCounts
from ..numerics import Floats
from .chain import Chain
from .steps import KeptSteps
from .tuning import TUNING


class CandidateGenerator:
    """Proposes candidates that keep the rules of a chain."""

    def __init__(self, steps: KeptSteps, sampler: Chain) -> None:
        self._chain = sampler
        self._allowed = steps.allowed.tolist()
        self._likeliest = steps.likeliest
        self._odds = steps.odds

    def samples(self, cases: int) -> list[Ids]:
        """Sample the chain, the more the more cases there are."""
        samples = self._chain.draw(TUNING.fewest_samples)
        mean = max(sum(map(len, samples)) / len(samples), 1.0)
        number = min(TUNING.samples_each_case * cases, TUNING.most_samples)
        number = min(number, int(TUNING.most_events / mean))
        samples += self._chain.draw(max(number - len(samples), 0))
        return [ids for ids in samples if self.fits(ids)] or [()]

    def first(
        self, size: int, shown: Mapping[Ids, int], cases: int, samples: Sequence[Ids]
    ) -> list[Ids]:
        """Make the first list: published variants, likely sequences, and frequent samples.

        The fewer of the cases are published, the more samples.
        """
        # A dictionary is a set that keeps its order: the same seed gives the same list.
        found = dict.fromkeys(shown)
        unnamed = max(cases - sum(shown.values()), 0)
        wanted = len(found) + max(size * unnamed // cases, size // 4)
        if not shown:
            # A short list has nearly all of them, and room for changes of the likeliest.
            self._add(found, self._likeliest, max(int(TUNING.likeliest * size), 1))
            likeliest = dict.fromkeys(islice(found, 1), 1.0)
            found.update(dict.fromkeys(self.changed(likeliest, size)))
        self._add(found, dict(Counter(samples).most_common()), wanted)
        # Most lists are full after a few samples.
        tries = (wanted, (TUNING.tries - 1) * wanted)
        self._add(found, chain.from_iterable(map(self._chain.draw, tries)), wanted)
        if self._chain.walker is not None:
            # Where noise hides nearly all steps, rules still say what there can be.
            draw = partial(self._chain.draw, guided=False)
            self._add(found, chain.from_iterable(map(draw, tries)), wanted, guided=False)
        # A vote needs something to vote for.
        return list(found) or [()]

    def second(self, size: int, shown: Mapping[Ids, int], fitted: Mapping[Ids, float]) -> list[Ids]:
        """Make the second list: what a fit gives most cases, and likely changes of that."""
        ranked = sorted(fitted, key=lambda ids: -fitted[ids])
        ranked = [ids for ids in ranked if self.fits(ids)]
        found = dict.fromkeys([*shown, *ranked[: size - int(TUNING.changes * size)]])
        found.update(dict.fromkeys(self.changed({ids: fitted[ids] for ids in ranked}, size)))
        self._add(found, ranked, size)
        tries = (size, (TUNING.tries - 1) * size)
        self._add(found, chain.from_iterable(map(self._chain.draw, tries)), size)
        return list(found) or [()]

    def _add(
        self, found: dict[Ids, None], proposals: Iterable[Ids], size: int, *, guided: bool = True
    ) -> None:
        """Add proposals that fit until there are enough."""
        for ids in proposals if len(found) < size else ():
            if self.fits(ids, steps=guided):
                found[ids] = None
                if len(found) >= size:
                    break

    def changed(self, weights: Mapping[Ids, float], size: int) -> list[Ids]:
        """Make the likeliest changes of the sequences of most weight, for a list of this size."""
        if self._odds is None:
            return []
        most = int(TUNING.changes * size)
        usual = [ids for ids in weights if len(ids) <= TUNING.longest_changed]
        usual.sort(key=lambda ids: -weights[ids])
        found: dict[Ids, None] = {}
        # In a short list there is room for changes of one: the others are most likely noise.
        number = max(most // TUNING.changes_each, 1)
        for ids in usual[:number]:
            edits = likely_edits(ids, self._odds.beside(ids))
            new = (edit for edit in edits if edit not in weights and self.fits(edit))
            found.update(dict.fromkeys(islice(new, min(TUNING.changes_each, most))))
        return list(found)

    def fits(self, sequence: Ids, *, steps: bool = True) -> bool:
        """Whether a sequence is short enough, and harmless."""
        walker, most = self._chain.walker, self._chain.max_length
        if len(sequence) > most:
            return False
        # Whether there are cases without events was voted for, like any other step.
        if not sequence and steps and not self._allowed[-1][-1]:
            return False
        if walker is not None:
            return walker.keeps(sequence, len(sequence) < most)
        return len(set(sequence)) == len(sequence) or self._may_repeat(sequence)

    def _may_repeat(self, sequence: Ids) -> bool:
        """Whether a sequence repeats only what cases may repeat."""
        single = [i for i in sequence if i in self._chain.once]
        # What leads back to a repeated activity must not vanish from between.
        return len(set(single)) == len(single) and all(
            a != b or self._allowed[a][a] for a, b in pairwise(sequence)
        )


Edit = tuple[float, int, Ids, int]
"""How likely a change is; how many activities stay before it, what comes then, and where the
sequence goes on."""


def likely_edits(sequence: Ids, odds: Floats) -> Iterator[Ids]:
    """Change a sequence in one way, the likeliest first; `odds` are those beside it.

    Where one path is usual, most other cases differ from it by one change: two parts that do not
    wait for one another come in the other order, a part is skipped, a case ends early. A chain of
    pairs draws such a case only if each of its new pairs passed by itself. Here their votes are
    added up: three pairs that noise might hide one by one stand out together.
    """
    known: set[Ids] = set()
    for _, first, middle, after in sorted(
        _edits(sequence, odds), key=lambda edit: (-edit[0], edit[1:])
    ):
        ids = sequence[:first] + middle + sequence[after:]
        # Some changes can be made in several ways: the likeliest counts.
        if ids not in known:
            known.add(ids)
            yield ids


def _edits(sequence: Ids, odds: Floats) -> Iterator[Edit]:
    """Let two neighbouring parts change places; or leave out a part, or all that is left."""
    number, end = len(sequence), len(odds) - 1
    # With its end, and at place −1 its beginning, which has the same number.
    path = (*sequence, end, end)
    for i in range(number):
        for j in range(i + 1, min(i + TUNING.longest_change, number - 1) + 1):
            for k in range(j + 1, min(j + TUNING.longest_change, number) + 1):
                # From before both to the second, from that to the first, and on from there.
                new = odds[path[i - 1], path[j]] + odds[path[k - 1], path[i]]
                new += odds[path[j - 1], path[k]]
                yield float(new), i, sequence[j:k] + sequence[i:j], k
        for j in (*range(i + 1, min(i + 1 + TUNING.longest_change, number)), number):
            yield float(odds[path[i - 1], path[j]]), i, (), j


def with_earlier(
    found: Iterable[Ids], earlier: VariantCounts, activities: Sequence[str], max_length: int
) -> list[Ids]:
    """Put earlier variants before a list, the most frequent first, truncated like cases.

    They are public by now, so they cost nothing; which of them stay is decided by the votes.
    """
    moved = earlier.project_onto(activities).truncate(max_length)
    sequences = list(moved.sequences())
    order = np.argsort(-moved.counts, kind="stable").tolist()
    known = list(dict.fromkeys(sequences[i] for i in order))[: TUNING.most_earlier]
    return list(dict.fromkeys([*known, *found]))
