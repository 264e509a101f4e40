"""The queries of a run, one by one: what each costs, and its answer as evidence for the fit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...base.distance import nearest
from ...kernel.language import Ids
from ...kernel.queries.flow import (
    FEW_FOR_REPEATS,
    VOTE_UNITS,
    VOTES_FOR_REPEATS,
    ActivityVotes,
    CaseCount,
    CaseLengths,
    NearestCandidate,
    StepVotes,
    TrigramVotes,
)
from ...kernel.queries.histogram import open_histogram
from ...kernel.session import Session
from ...kernel.statements import Statement
from ...synthesis.flow.answers import (
    activities_once,
    activities_repeated,
    activities_there,
    bin_edges,
    choose_length,
    count_cases,
    mean_length,
    step_weights,
    unseen_length,
)
from ...synthesis.flow.fit import (
    Evidence,
    Nearest,
    count_table,
    frequent_table,
    length_table,
    occurrence_table,
    step_table,
    trigram_table,
)
from ...synthesis.flow.frequent import show_frequent
from ...synthesis.flow.population import ActivityAnswers
from ...synthesis.flow.steps import KeptSteps, keep_steps
from .settings import FLOW, CertifiedSettings

Ints = NDArray[np.int64]

TRUST = Fraction(2)
"""Answers about activities and lengths count as if their noise were that many times smaller: they
have few cells, and what they tell of all cases no other answer tells."""
SCALES_PER_TRIGRAM = Fraction(3, 2)
"""There must be so many noise scales of cases for each 3-gram, or none are asked."""
KEPT = Fraction(95, 100)
"""If activities with less of the votes are kept, lengths are no longer those that were asked."""


class Vote(NamedTuple):
    """What came of a vote for the nearest candidate."""

    candidates: dict[Ids, float]
    """What each candidate likely has, in cases."""
    nearest: Nearest
    """Finds the candidate of a sequence."""


class Questions:
    """Asks a session what a run wants to know, and keeps the answers for the fit."""

    def __init__(self, settings: CertifiedSettings, session: Session) -> None:
        """Take what is set, and the session that charges."""
        self._set = settings
        self._session = session
        self._names = session.activities
        self.split = settings.split(len(self._names))
        """How ε is divided; the first answers decide about the rest."""
        self.rules = None if settings.rules is None else settings.rules.project_onto(self._names)
        """Public rules of the process, for its activities."""
        wide = settings.is_wide(len(self._names))
        self._occurring = ActivityVotes(
            len(self._names), FEW_FOR_REPEATS if wide else VOTES_FOR_REPEATS
        )
        self.evidence = Evidence()
        """The answers so far."""
        self.notes = [Statement("note.exact")]
        """What there is to say about them."""

    def price(self, share: Fraction) -> Fraction:
        """What a share of the flow costs."""
        return share * self._set.flow_price

    def scale(self, share: Fraction, sensitivity: int = 1) -> Fraction:
        """1/scale of the noise that a share buys."""
        return self._session.cell_epsilon(sensitivity, self.price(share))

    def size(self) -> int:
        """Ask how many cases there are; again, for more, where noise is large beside them."""
        first = self._count("size", self.split.size, "size")
        number, unit = len(self._names), self._session.unit
        self.split = self._set.for_size(self.split, max(first, 1), number, unit)
        if self.split.size_again:
            self._count("size again", self.split.size_again, FLOW)
        return self.cases()

    def _count(self, name: str, share: Fraction, line: str) -> int:
        """Ask how many cases there are, at this share, and keep the answer for the fit."""
        answer = self._session.ask(CaseCount(name), self.price(share), line)
        self.evidence.add(answer, self.scale(share), count_table)
        return int(answer[0])

    def cases(self) -> int:
        """The number of cases, by all answers so far."""
        return count_cases(self._session.answers)[0]

    def max_length(self, size: int) -> tuple[int, Ints | None]:
        """Where cases are truncated, and the answer about lengths if that was asked."""
        if self._set.max_length is not None:
            return self._set.max_length, None
        edges = bin_edges(self._set.max_length_bound)
        chosen, fallback, votes = unseen_length(edges), True, None
        if self.split.length:
            query = CaseLengths(tuple(edges))
            votes = self._session.ask(query, self.price(self.split.length), FLOW)
            scale = self.scale(self.split.length, VOTE_UNITS)
            chosen, fallback = choose_length(edges, votes, scale, VOTE_UNITS * size)
            mean = mean_length(edges, votes, scale)
            if mean is not None:
                self.split = self.split.for_length(mean)
        code = "note.truncated_fallback" if fallback else "note.truncated"
        self.notes.append(Statement(code, length=chosen))
        return chosen, votes

    @property
    def activity_scale(self) -> Fraction:
        """1/scale of the noise in votes for activities, for one vote."""
        return self.scale(self.split.activities, VOTE_UNITS)

    def activities(self, size: int, max_length: int, lengths: Ints | None) -> Ints | None:
        """Ask who votes for which activity; only those that stand out are asked about from now.

        Where noise would hide all of them, nothing is asked.
        """
        share, number = self.split.activities, len(self._names)
        if not share:
            return None
        answer = self._session.ask(self._occurring, self.price(share), FLOW)
        votes, none = answer[:-1].reshape(-1, 2), answer[-1:]
        part = 1.0
        if self._set.drops_activities(number):
            kept = activities_there(votes, self.activity_scale)
            if len(kept) < number:
                self._session.project_onto([self._names[i] for i in kept])
                self._occurring = replace(self._occurring, activities=len(kept))
                dropped = number - len(kept)
                self.notes.append(Statement("note.dropped", dropped=dropped, activities=number))
                votes = votes[kept]
                part = min(max(float(votes.sum()) / (VOTE_UNITS * size), 0.01), 1.0)
        once = np.concatenate([votes[:, 0], none])
        for repeated, values in ((False, once), (True, votes[:, 1])):
            table = occurrence_table(self._occurring, part, repeated=repeated)
            self.evidence.add(values, self.scale(share), table, VOTE_UNITS, TRUST)
        if lengths is not None and part >= KEPT:
            edges = bin_edges(self._set.max_length_bound)
            last = int(np.searchsorted(edges, max_length))
            # Whoever was truncated is in the last bin; noise of the rest would drown the answer.
            self.evidence.add(
                lengths[: last + 1],
                self.scale(self.split.length),
                length_table(edges[: last + 1]),
                VOTE_UNITS,
                TRUST,
            )
        return votes

    def once(self, activities: Ints | None) -> frozenset[int]:
        """What no case repeats, as far as noise lets one see."""
        if self.rules:
            return frozenset()
        if activities is None:
            return frozenset(range(len(self._session.activities)))
        return activities_once(activities, self.activity_scale)

    def activity_answers(
        self, activities: Ints | None, once: frozenset[int]
    ) -> ActivityAnswers | None:
        """The answers about activities that samples are moved by; rules forbid to move them."""
        if self.rules or activities is None:
            return None
        return ActivityAnswers(
            once=activities[:, 0] / VOTE_UNITS,
            repeated=activities[:, 1] / VOTE_UNITS,
            part_once=1 - self._occurring.for_repeats / VOTE_UNITS,
            never_repeated=once,
        )

    def steps(self, max_length: int, activities: Ints | None, size: int) -> KeptSteps:
        """Ask who votes for which step, and keep those that pass.

        Where nothing is known of repeats, they would only take votes from what comes first; but
        rules say what may come directly after what, repeats included.
        """
        number, share = len(self._session.activities), self.split.semantics
        if activities is None:
            query = StepVotes(number, once=not self.rules)
        else:
            weights = step_weights(activities, self.activity_scale, self._occurring)
            query = StepVotes(number, weights)
        votes = self._session.ask(query, self.price(share), FLOW)
        table = step_table(query, max_length)
        repeated = None
        if activities is not None and not self.rules:
            repeated = activities_repeated(activities, self.activity_scale)
        self.evidence.add_sparse(votes, self.scale(share), table, VOTE_UNITS)
        return keep_steps(
            votes.reshape(number + 1, -1),
            self.scale(share, VOTE_UNITS),
            self._set.false_steps,
            self.rules,
            weights=query.step_weights(),
            repeated=repeated,
            # What somebody set says how long cases may be, not how long they are.
            longest=max_length if self._set.max_length is None else None,
            cases=size,
            once=query.once,
        )

    def frequent(self, steps: KeptSteps, max_length: int, scale: Fraction) -> dict[Ids, int]:
        """Show the variants that stand out among all sequences."""
        histogram = open_histogram(self._session, self.price(self.split.frequent), FLOW)
        self.notes += show_frequent(
            histogram, steps.as_steps(self._session.activities), self.rules, max_length, scale
        )
        shown: dict[Ids, int] = {}
        for (ids, _), count in histogram.shown.items():
            shown[ids] = shown.get(ids, 0) + count
        self.notes.append(Statement("note.frequent", variants=len(shown)))
        counts = np.array(list(shown.values()), dtype=np.int64)
        self.evidence.add(counts, scale, frequent_table(list(shown)))
        return shown

    def trigrams(self, steps: KeptSteps, max_length: int, size: int) -> bool:
        """Ask what comes before and after each activity at once, if noise leaves enough of that.

        Steps alone do not say what a case does after it came this way. Tell whether it was asked.
        """
        share = self.split.trigrams(frequent=False)
        scale = self.scale(share)
        # Counted before they are listed: of many steps they may be too many to list.
        number = steps.count_trigrams()
        if not number or size * scale < SCALES_PER_TRIGRAM * number:
            return False
        listed = tuple(steps.trigrams())
        query = TrigramVotes(len(self._session.activities), listed)
        votes = self._session.ask(query, self.price(share), FLOW)
        table = trigram_table(query, max_length)
        self.evidence.add_sparse(votes, scale, table, VOTE_UNITS)
        return True

    def vote(self, name: str, candidates: list[Ids], share: Fraction) -> Vote:
        """Let each case vote for the nearest of a list."""
        query = NearestCandidate(name, tuple(candidates), nearest)
        votes = self._session.ask(query, self.price(share), FLOW)
        near = Nearest(candidates, len(self._session.activities))
        expected = self.evidence.add_nearest(votes, self.scale(share), near)
        return Vote(dict(zip(candidates, expected.tolist(), strict=True)), near)
