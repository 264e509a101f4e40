"""The queries of a run, one by one: what each spends, and its answer as evidence for the fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...base.distance import nearest
from ...kernel.cases import MICROSECONDS
from ...kernel.language import Ids
from ...kernel.laws import Law
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
from ...kernel.queries.protocol import Query
from ...kernel.session import Session
from ...kernel.statements import Statement
from ...kernel.variants import VariantCounts
from ...synthesis.attributes.ask import attribute_queries, laid_out
from ...synthesis.attributes.release import release_attributes
from ...synthesis.flow.answers import (
    activities_once,
    activities_there,
    bin_edges,
    choose_length,
    count_cases,
    mean_length,
    part_of_votes,
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
from ...synthesis.numerics import Ints, Uniform
from ...synthesis.released import Columns
from ...synthesis.times.ask import TimeSettings, time_queries
from ...synthesis.times.courses import TimeAnswer, TimeAnswers
from ...synthesis.times.fit import fit_times
from .settings import FLOW, CertifiedSettings

SCALES_PER_TRIGRAM = Fraction(3, 2)
"""Noise scales of cases that each 3-gram needs, or none are asked."""
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
        number = len(session.activities)
        self._number = number
        self.split = settings.split(number)
        """How ε is divided; the first answers decide about the rest."""
        self.rules = (
            None if settings.rules is None else settings.rules.project_onto(session.activities)
        )
        """Public rules of the process, for its activities."""
        self._euclidean = bool(settings.delta)
        for_repeats = FEW_FOR_REPEATS if settings.is_wide(number) else VOTES_FOR_REPEATS
        self._occurring = ActivityVotes(number, for_repeats, euclidean=self._euclidean)
        self.law: Callable[..., Law] = partial(settings.noise, session.unit)
        """The noise that a share of the flow buys; of votes, with their number."""
        self.evidence = Evidence()
        """The answers so far."""
        self.notes = [Statement("note.exact_with_delta" if settings.delta else "note.exact")]
        """What there is to say about them."""

    def _ask(self, query: Query, share: Fraction, line: str = FLOW) -> Ints:
        return self._session.ask(query, share * self._set.flow_price, line)

    def size(self) -> int:
        """Ask how many cases there are; again, for more, where noise is large beside them."""

        def count(name: str, share: Fraction, line: str) -> int:
            answer = self._ask(CaseCount(name), share, line)
            self.evidence.add(answer, self.law(share), count_table)
            return int(answer[0])

        first, unit = count("size", self.split.size, "size"), self._session.unit
        self.split = self._set.for_size(self.split, max(first, 1), self._number, unit)
        if self.split.size_again:
            count("size again", self.split.size_again, FLOW)
        return count_cases(self._session.answers)[0]

    def max_length(self, size: int) -> tuple[int, Ints | None]:
        """Where cases are truncated, and the answer about lengths if that was asked."""
        if self._set.max_length is not None:
            return self._set.max_length, None
        edges = bin_edges(self._set.max_length_bound)
        chosen, fallback, votes = unseen_length(edges), True, None
        if self.split.length:
            votes = self._ask(CaseLengths(tuple(edges)), self.split.length)
            law = self.law(self.split.length, VOTE_UNITS)
            chosen, fallback = choose_length(edges, votes, law, VOTE_UNITS * size)
            mean = mean_length(edges, votes, law)
            if mean is not None:
                self.split = self.split.for_length(mean)
        code = "note.truncated_fallback" if fallback else "note.truncated"
        self.notes.append(Statement(code, length=chosen))
        return chosen, votes

    def activities(self, size: int, max_length: int, lengths: Ints | None) -> Ints | None:
        """Ask who votes for which activity; only those that stand out are asked about from now.

        Where noise would hide all of them, nothing is asked.
        """
        share, number = self.split.activities, self._number
        if not share:
            return None
        answer = self._ask(self._occurring, share)
        votes, none = answer[:-1].reshape(-1, 2), answer[-1:]
        law, part = self.law(share, VOTE_UNITS), 1.0
        if self._set.drops_activities(number):
            kept = activities_there(votes, law)
            if len(kept) < number:
                names, self._number = self._session.activities, len(kept)
                self._session.project_onto([names[i] for i in kept])
                self._occurring = replace(self._occurring, activities=len(kept))
                dropped = number - len(kept)
                self.notes.append(Statement("note.dropped", dropped=dropped, activities=number))
                asked, votes = votes, votes[kept]
                part = part_of_votes(asked, votes, size, euclidean=self._euclidean)
        once = np.concatenate([votes[:, 0], none])
        for repeated, values in ((False, once), (True, votes[:, 1])):
            table = occurrence_table(self._occurring, part, repeated=repeated)
            self.evidence.add(values, law, table, VOTE_UNITS)
        if lengths is not None and part >= KEPT:
            edges = bin_edges(self._set.max_length_bound)
            # Whoever was truncated is in the last bin; noise of the rest would drown the answer.
            end = int(np.searchsorted(edges, max_length)) + 1
            law = self.law(self.split.length, VOTE_UNITS)
            self.evidence.add(lengths[:end], law, length_table(edges[:end]), VOTE_UNITS)
        return votes

    def once(self, activities: Ints | None) -> frozenset[int]:
        """What no case repeats, as far as noise lets one see."""
        if self.rules:
            return frozenset()
        if activities is None:
            return frozenset(range(self._number))
        return activities_once(activities, self.law(self.split.activities, VOTE_UNITS))

    def activity_answers(
        self, activities: Ints | None, once: frozenset[int]
    ) -> ActivityAnswers | None:
        """The answers about activities that samples are moved by; rules forbid to move them."""
        if self.rules or activities is None:
            return None
        repeats, power = self._occurring.for_repeats / VOTE_UNITS, 1 + self._euclidean
        return ActivityAnswers(
            once=activities[:, 0] / VOTE_UNITS,
            repeated=activities[:, 1] / VOTE_UNITS,
            part_once=(1 - repeats**power) ** (1 / power),
            part_repeated=repeats,
            power=1 / power,
            never_repeated=once,
        )

    def steps(self, max_length: int, activities: Ints | None, size: int) -> KeptSteps:
        """Ask who votes for which directly-follows pair, and keep those that pass.

        Where nothing is known of repeats, they would only take votes from what comes first; but
        rules say what may come directly after what, repeats included.
        """
        share = self.split.semantics
        if activities is None:
            query = StepVotes(self._number, once=not self.rules, euclidean=self._euclidean)
        else:
            law = self.law(self.split.activities, VOTE_UNITS)
            weights = step_weights(activities, law, self._occurring)
            query = StepVotes(self._number, weights, euclidean=self._euclidean)
        votes = self._ask(query, share)
        law = self.law(share, VOTE_UNITS)
        self.evidence.add_sparse(votes, law, step_table(query, max_length), VOTE_UNITS)
        return keep_steps(
            votes.reshape(self._number + 1, -1),
            law,
            self._set.false_steps,
            self.rules,
            query=query,
            cases=size,
        )

    def frequent(self, steps: KeptSteps, max_length: int) -> dict[Ids, int]:
        """Publish the variants that stand out among all sequences."""
        price, law = self.split.frequent * self._set.flow_price, self.law(self.split.frequent)
        histogram = open_histogram(self._session, price, FLOW)
        allowed = steps.as_steps(self._session.activities)
        self.notes += show_frequent(histogram, allowed, self.rules, max_length, law)
        shown: dict[Ids, int] = {}
        for (ids, _), count in histogram.shown.items():
            shown[ids] = shown.get(ids, 0) + count
        self.notes.append(Statement("note.frequent", variants=len(shown)))
        counts = np.array(list(shown.values()), dtype=np.int64)
        self.evidence.add(counts, law, frequent_table(list(shown)))
        return shown

    def trigrams(self, steps: KeptSteps, max_length: int, fitted: Mapping[Ids, float]) -> bool:
        """Ask what comes before and after each activity at once, if noise leaves enough of that.

        Pairs alone do not say what a case does after it came this way. Tell whether it was asked.
        A case of n Euclidean votes gives √n in sum, and all to those that are listed: then the
        most frequent pairs are asked for what comes next.
        """
        share = self.split.trigrams(frequent=False)
        power = 1 / (1 + self._euclidean)
        votes = sum(n * len(ids) ** (1 - power) for ids, n in fitted.items())
        most = int(votes * float(self.law(share).epsilon / SCALES_PER_TRIGRAM))
        # Counted before they are listed: of many pairs they may be too many to list.
        number = steps.count_trigrams()
        if not number or (number > most and not self._euclidean):
            return False
        listed = tuple(steps.trigrams(most))
        if not listed:
            return False
        query = TrigramVotes(self._number, listed, euclidean=self._euclidean)
        votes, law = self._ask(query, share), self.law(share, VOTE_UNITS)
        self.evidence.add_sparse(votes, law, trigram_table(query, max_length), VOTE_UNITS)
        return True

    def vote(self, name: str, candidates: list[Ids], share: Fraction) -> Vote:
        """Let each case vote for the nearest of a list."""
        votes = self._ask(NearestCandidate(name, tuple(candidates), nearest), share)
        near = Nearest(candidates, self._number)
        expected = self.evidence.add_nearest(votes, self.law(share), near)
        return Vote(dict(zip(candidates, expected.tolist(), strict=True)), near)

    def times(self, released: VariantCounts, uniform: Uniform) -> tuple[Ints, Ints | None]:
        """Ask for times, and give every released event one, in seconds since 1970.

        The second list says when work began, where the log was declared to tell that. Which pairs
        and bins are asked for follows from the released variants, which are public by now.
        """
        session = self._session
        time = TimeSettings(granularity=self._set.granularity, calendar=self._set.calendar)
        # Bins follow from the noise, which has to hide all cases of a unit.
        law = partial(session.noise_on, 1)
        answers: dict[str, Any] = {}
        queries = time_queries(
            released, time, self._set.time_price, law, service=session.has_starts
        )
        for name, (query, price) in queries.items():
            table = session.ask(query, price, "time")
            answers[name] = TimeAnswer(query, table, law(price).epsilon)
        if not released.events:
            none = np.zeros(0, dtype=np.int64)
            return none, none if session.has_starts else None
        fitted = fit_times(TimeAnswers(**answers), released, time, uniform)
        starts = None if fitted.starts is None else fitted.starts // MICROSECONDS
        return fitted.times // MICROSECONDS, starts

    def attributes(self, released: VariantCounts, uniform: Uniform) -> Columns:
        """Ask for attributes, and give released cases and events values.

        How fine tables are follows from the released variants, which are public by now.
        """
        session = self._session
        price, law = self._set.attribute_price, partial(session.noise_on, 1)
        asked = attribute_queries(released, session.attributes, session.pairs, price, law)
        tables = [
            session.ask(query, price, "attributes")
            for query, price in zip((*asked.tables, *asked.pairs), asked.prices, strict=True)
        ]
        cases = laid_out(released)
        return release_attributes(asked, tables, session.attributes, session.pairs, cases, uniform)
