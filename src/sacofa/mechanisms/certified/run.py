"""One run of `certified`: queries to the log, and what is made of their answers in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...errors import SettingError
from ...queries.distance import Ids
from ...queries.flow import (
    VOTE_UNITS,
    ActivityVotes,
    CaseCount,
    CaseLengths,
    NearestCandidate,
    StepVotes,
)
from ...queries.histogram import open_histogram
from ...queries.session import Session
from ...variants import VariantCounts
from ..protocol import Output, Progress
from .apportion import apportion, round_to
from .attributes import ask_attributes
from .budget import in_noise_scales
from .candidates import CandidateGenerator
from .chain import Chain
from .earlier import join_known, known_candidates
from .evidence import (
    FULL,
    Evidence,
    count_table,
    frequent_table,
    length_table,
    occurrence_table,
    step_table,
)
from .fit import fit, unexplained
from .frequent import show_frequent
from .lengths import bin_edges, choose_length, mean_length, unseen_length
from .medoids import select_medoids
from .occurrences import (
    activities_once,
    activities_repeated,
    activities_there,
    shares_repeating,
    step_weights,
)
from .orderly import drop_disorder, mark_core
from .sampler import UniformSampler
from .settings import FLOW, CertifiedSettings
from .size import count_cases
from .steps import KeptSteps, keep_steps
from .times import ask_times
from .verdict import judge
from .within import find_within

Ints = NDArray[np.int64]

EXACT = (
    "All noise was drawn exactly, the number of empty cells that reach a threshold too: no "
    "numerical error adds to ε, and δ is 0."
)
MAX_ACTIVITIES = 4_000
"""Every step between two of them has a cell; more would not fit into memory."""
MORE = 600
"""At most so many variations join the pool of the final fit; half as many that of the search."""
PROPOSALS = 3
"""So many times as many variations as candidates are tried for what the fit leaves unexplained."""
TRUST = Fraction(7, 2)
"""The pull towards the representatives hides what few cells tell of many cases: lengths and repeats
count as if their noise were so many times smaller."""
MOST_NOISE = 72
"""For the order penalty a noise scale is no more than one of so many cases: what a twelfth of all
cases shows is no disorder, however much noise there is."""
KEPT = Fraction(95, 100)
"""If activities with less of the votes are kept, lengths are no longer those that were asked."""


class CertifiedRun:
    """Makes a release of what a session answers and a sampler draws, and of nothing else."""

    def __init__(self, settings: CertifiedSettings, session: Session) -> None:
        self._set = settings
        self._session = session
        self._sampler = UniformSampler(session.noise)
        self._names = session.activities
        if len(self._names) > MAX_ACTIVITIES:
            raise SettingError(
                "activities", f"{len(self._names):,} names", f"at most {MAX_ACTIVITIES:,}"
            )
        self._split = settings.split(len(self._names))
        rules = settings.rules
        self._rules = None if rules is None else rules.project_onto(self._names)
        self._notes = [EXACT]
        self._evidence = Evidence()

    def release(self, progress: Progress | None = None) -> Output:
        """Go through the steps in order."""
        on_progress = progress or (lambda done: None)
        size = self._size()
        max_length, lengths = self._max_length(size)
        self._session.truncate(max_length)
        votes = self._activities(size, max_length, lengths)
        steps = self._steps(max_length, votes, size)
        once = frozenset() if self._rules else activities_once(votes, self._activity_scale)
        on_progress(0.2)
        scale = self._scale(self._split.frequent) if self._split.frequent else Fraction(1)
        number = len(self._session.activities)
        large = self._set.shows_frequent(size, number, max_length, scale)
        shown = self._frequent(steps, max_length, scale) if large else {}
        on_progress(0.4)
        chain = Chain(steps, max_length, self._sampler, self._rules, once)
        chain.limit_repeats(shares_repeating(votes, self._activity_scale, size))
        generator = CandidateGenerator(steps, chain, self._sampler, once)
        length = self._set.list_length(size, self._session.unit)
        first = generator.first(length, shown, size)
        if self._set.earlier is not None:
            names = self._session.activities
            first = join_known(known_candidates(self._set.earlier, names, max_length), first)
        weights = self._search(first, size)
        for weigh in (None, self._fitted_search):
            if weigh is not None:
                weights = weigh(generator, first, weights)
            weights.update((ids, 1) for ids in shown if ids not in weights)
            chain.learn(weights)
        on_progress(0.6)
        for ids in generator.repeating(weights, length // 4):
            weights.setdefault(ids, 1)
        for ids in generator.changed(weights, length // 2):
            weights.setdefault(ids, 1)
        candidates = generator.next(max(length, len(weights)), weights)
        final = self._split.final(frequent=large)
        votes = self._vote("final", candidates, final)
        size = self._cases()
        chosen = self._represent(candidates, votes, final, size)
        on_progress(0.8)
        pool = dict.fromkeys([*chosen, *candidates, *first, *shown])
        generator.more(pool, weights, min(MORE, 2 * length))
        released = round_to(self._fit(list(pool), chosen, self._scale(final), size), size)
        # Names are in one public order, so this changes ids and not the order of variants.
        found = self._variants(released, max_length)
        variants = found.project_onto(self._names)
        times, starts = None, None
        if self._set.time:
            times, starts = ask_times(self._set, self._session, found)
        columns = ask_attributes(self._set, self._session, found) if self._set.attributes else ()
        on_progress(1.0)
        return Output(
            variants=variants,
            times=times,
            starts=starts,
            columns=columns,
            core=mark_core(variants, self._set),
            verdict=str(judge(self._set, size, variants)),
            within=find_within(self._session.answers, variants),
            notes=tuple(self._notes),
        )

    def _price(self, share: Fraction) -> Fraction:
        return share * self._set.flow_price

    def _scale(self, share: Fraction, sensitivity: int = 1) -> Fraction:
        """1/scale of the noise that a share buys."""
        return self._session.cell_epsilon(sensitivity, self._price(share))

    def _variants(self, released: Mapping[Ids, int], max_length: int) -> VariantCounts:
        return VariantCounts.from_arrays(
            self._session.activities,
            [i for ids in released for i in ids],
            [len(ids) for ids in released],
            list(released.values()),
            [len(ids) < max_length for ids in released],
            self._session.unit,
        )

    def _size(self) -> int:
        """Ask how many cases there are; again, for more, where noise is large beside them."""
        first = self._count("size", self._split.size, "size")
        self._split = self._set.for_size(self._split, max(first, 1), self._session.unit)
        if self._split.size_again:
            self._count("size again", self._split.size_again, FLOW)
        return self._cases()

    def _count(self, name: str, share: Fraction, line: str) -> int:
        """Ask how many cases there are, at this share, and keep the answer for the fit."""
        answer = self._session.ask(CaseCount(name), self._price(share), line)
        self._evidence.add(answer, self._scale(share), count_table)
        return int(answer[0])

    def _cases(self) -> int:
        """The number of cases, by all answers so far."""
        return count_cases(self._session.answers)[0]

    def _max_length(self, size: int) -> tuple[int, Ints | None]:
        if self._set.max_length is not None:
            return self._set.max_length, None
        edges = bin_edges(self._set.max_length_bound)
        chosen, fallback, votes = unseen_length(edges), True, None
        if self._split.length:
            query = CaseLengths(tuple(edges))
            votes = self._session.ask(query, self._price(self._split.length), FLOW)
            scale = self._scale(self._split.length, VOTE_UNITS)
            chosen, fallback = choose_length(edges, votes, scale, VOTE_UNITS * size)
            mean = mean_length(edges, votes, scale)
            if mean is not None:
                self._split = self._split.for_length(mean)
        why = "a fallback: noise hides lengths" if fallback else "chosen from noisy lengths"
        self._notes.append(f"Cases are truncated at length {chosen}, {why}.")
        return chosen, votes

    @property
    def _activity_scale(self) -> Fraction:
        """1/scale of the noise in votes for activities, for one vote."""
        return self._scale(self._split.activities, VOTE_UNITS)

    def _activities(self, size: int, max_length: int, lengths: Ints | None) -> Ints:
        """Ask who votes for which activity; only those that stand out are asked about from now."""
        share, number = self._split.activities, len(self._names)
        answer = self._session.ask(ActivityVotes(number), self._price(share), FLOW)
        votes, none = answer[:-1].reshape(-1, 2), answer[-1:]
        part = 1.0
        if self._set.drops_activities(number, size, self._session.unit):
            kept = activities_there(votes, self._activity_scale)
            if len(kept) < number:
                self._session.project_onto([self._names[i] for i in kept])
                self._notes.append(
                    f"{number - len(kept)} of {number} activities were dropped: noise hides them."
                )
                votes = votes[kept]
                part = min(max(float(votes.sum()) / (VOTE_UNITS * size), 0.01), 1.0)
        once = np.concatenate([votes[:, 0], none])
        for repeated, values in ((False, once), (True, votes[:, 1])):
            table = occurrence_table(len(votes), part, repeated=repeated)
            trust = TRUST if repeated else FULL
            self._evidence.add(values, self._scale(share), table, VOTE_UNITS, trust)
        if lengths is not None and part >= KEPT:
            edges = bin_edges(self._set.max_length_bound)
            last = int(np.searchsorted(edges, max_length))
            # Whoever was truncated is in the last bin; noise of the rest would drown the answer.
            self._evidence.add(
                lengths[: last + 1],
                self._scale(self._split.length),
                length_table(edges[: last + 1]),
                VOTE_UNITS,
                TRUST,
            )
        return votes

    def _steps(self, max_length: int, activities: Ints, size: int) -> KeptSteps:
        number, share = len(self._session.activities), self._split.semantics
        query = StepVotes(number, step_weights(activities, self._activity_scale))
        votes = self._session.ask(query, self._price(share), FLOW)
        table = step_table(query, max_length)
        self._evidence.add_sparse(votes, self._scale(share), table, VOTE_UNITS)
        return keep_steps(
            votes.reshape(number + 1, -1),
            self._scale(share, VOTE_UNITS),
            self._set.false_steps,
            self._rules,
            weights=query.step_weights(),
            repeated=None if self._rules else activities_repeated(activities, self._activity_scale),
            # What somebody set says how long cases may be, not how long they are.
            longest=max_length if self._set.max_length is None else None,
            cases=size,
        )

    def _frequent(self, steps: KeptSteps, max_length: int, scale: Fraction) -> dict[Ids, int]:
        """Show the variants that stand out among all sequences."""
        histogram = open_histogram(self._session, self._price(self._split.frequent), FLOW)
        self._notes += show_frequent(
            histogram, steps.as_steps(self._session.activities), self._rules, max_length, scale
        )
        shown: dict[Ids, int] = {}
        for (ids, _), count in histogram.shown.items():
            shown[ids] = shown.get(ids, 0) + count
        self._notes.append(f"{len(shown)} frequent variants were shown as they are.")
        counts = np.array(list(shown.values()), dtype=np.int64)
        self._evidence.add(counts, scale, frequent_table(list(shown)))
        return shown

    def _vote(self, name: str, candidates: list[Ids], share: Fraction) -> Ints:
        query = NearestCandidate(name, tuple(candidates))
        votes = self._session.ask(query, self._price(share), FLOW)
        number = len(self._session.activities)
        self._evidence.add_nearest(votes, self._scale(share), candidates, number)
        return votes

    def _search(self, candidates: list[Ids], size: int) -> dict[Ids, int]:
        """Let cases vote on a list, and weigh the candidates that stand out."""
        votes = self._vote("search", candidates, self._split.search)
        threshold = in_noise_scales(self._set.search_threshold, self._scale(self._split.search))
        cells = apportion(votes, threshold, size)
        return {ids: n for ids, n in zip(candidates, cells.tolist(), strict=True) if n}

    def _fitted_search(
        self, generator: CandidateGenerator, candidates: Sequence[Ids], weights: Mapping[Ids, int]
    ) -> dict[Ids, int]:
        """Weigh the candidates, and variations of them, by all answers so far.

        Once more with variations of what fits that explain what does not.
        """
        pool = dict.fromkeys([*candidates, *weights])
        generator.more(pool, weights, min(MORE // 2, len(candidates)))
        scale = float(self._scale(self._split.final(frequent=False)))
        fitted = fit(self._evidence, list(pool), weights, scale)
        found = {ids: round(n) for ids, n in fitted.items() if n >= 0.5}
        tried = dict(pool)
        generator.more(tried, found, PROPOSALS * len(candidates))
        proposals = list(tried)[len(pool) :]
        chosen = unexplained(self._evidence, fitted, proposals, len(candidates) // 2)
        fitted = fit(self._evidence, [*pool, *chosen], weights, scale)
        kept = {ids: round(n) for ids, n in fitted.items() if n >= max(0.5 / scale, 0.5)}
        return kept or dict(weights)

    def _represent(
        self, candidates: list[Ids], votes: Ints, share: Fraction, size: int
    ) -> dict[Ids, int]:
        """Give the cases to few of the final list, by the votes for it."""
        threshold = in_noise_scales(self._set.final_threshold, self._scale(share))
        threshold = min(threshold, int(votes.max()))
        places, represented = select_medoids(
            candidates,
            np.where(votes >= threshold, np.maximum(votes, 1), 0),
            len(self._session.activities),
            cost=self._set.medoid_cost(self._session.unit),
            # Order is asked for when all answers are fitted, not before.
            order_penalty=Fraction(0),
        )
        cells = apportion(represented, 1, size).tolist()
        return {candidates[i]: n for i, n in zip(places, cells, strict=True)}

    def _fit(
        self, pool: list[Ids], chosen: Mapping[Ids, int], scale: Fraction, size: int
    ) -> dict[Ids, float]:
        """Fit all answers, without orders that too few cases show."""

        def again(left: Iterable[Ids]) -> dict[Ids, float]:
            kept = list(left)
            prior = {ids: chosen[ids] for ids in kept if ids in chosen}
            return fit(self._evidence, kept, prior, float(scale))

        fitted = again(pool)
        if not self._set.order_penalty:
            return fitted
        noise = min(1 / scale, Fraction(size, MOST_NOISE))
        return drop_disorder(fitted, float(self._set.order_penalty * noise), again)
