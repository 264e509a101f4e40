"""One run of `certified`: queries to the log, and what is made of their answers in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...base.batches import cases_of
from ...errors import SettingError
from ...kernel.cases import MICROSECONDS
from ...kernel.language import Ids
from ...kernel.session import Session
from ...kernel.statements import Statement
from ...kernel.variants import VariantCounts
from ...synthesis.flow.apportion import apportion, round_to
from ...synthesis.flow.candidates import CandidateGenerator
from ...synthesis.flow.chain import Chain
from ...synthesis.flow.earlier import join_known, known_candidates
from ...synthesis.flow.fit import fit, unexplained
from ...synthesis.flow.margins import find_flow_margins
from ...synthesis.flow.medoids import select_medoids
from ...synthesis.flow.orderly import Fitted, Refit, drop_disorder
from ...synthesis.flow.presence import insert_missing
from ...synthesis.flow.sampler import UniformSampler
from ...synthesis.flow.smooth import settle, share_out, smooth
from ...synthesis.flow.steps import KeptSteps
from ...synthesis.margins import Margins
from ...synthesis.share_margins import add_share_margins
from ..protocol import Output, Progress
from ..released import ReleasedLog
from .attributes import ask_attributes
from .budget import in_noise_scales
from .questions import Questions
from .settings import CertifiedSettings
from .times import ask_times
from .verdict import judge

Ints = NDArray[np.int64]

MAX_ACTIVITIES = 4_000
"""Every step between two of them has a cell; more would not fit into memory."""
MORE = 600
"""At most so many variations join the pool of the final fit; half as many that of the search."""
PROPOSALS = 3
"""So many times as many variations as candidates are tried for what the fit leaves unexplained."""
MOST_NOISE = 72
"""For the order penalty a noise scale is no more than one of so many cases: what a twelfth of all
cases shows is no disorder, however much noise there is."""
DRAWN_EACH, DRAWN, DRAWN_EVENTS = 2, 4_000, 50_000
"""Where hardly two cases are alike, so many sequences are drawn for each case, no more than so many
in all, and with no more than about so many events; as many are varied."""
ONE_BY_ONE = 10_000_000
"""Cases that get times or attributes lie in memory one by one: no more than so many, though with
very little ε noise alone may be a thousand times as much."""


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
        self._ask = Questions(settings, session)

    def release(self, progress: Progress | None = None) -> Output:
        """Go through the steps in order."""
        on_progress = progress or (lambda done: None)
        ask = self._ask
        size = ask.size()
        max_length, lengths = ask.max_length(size)
        self._session.truncate(max_length)
        votes = ask.activities(size, max_length, lengths)
        steps = ask.steps(max_length, votes, size)
        once, repeating = ask.repeats(votes, size)
        on_progress(0.2)
        scale = ask.scale(ask.split.frequent) if ask.split.frequent else Fraction(1)
        number = len(self._session.activities)
        large = self._set.shows_frequent(size, number, max_length, scale)
        shown = ask.frequent(steps, max_length, scale) if large else {}
        on_progress(0.4)
        chain = Chain(steps, max_length, self._sampler, ask.rules, once)
        chain.limit_repeats(repeating)
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
        various = chain.is_various()
        trigrams = various and not large and ask.trigrams(steps, chain, max_length, size)
        on_progress(0.6)
        for ids in generator.repeating(weights, length // 4):
            weights.setdefault(ids, 1)
        for ids in generator.changed(weights, length // 2):
            weights.setdefault(ids, 1)
        candidates = generator.next(max(length, len(weights)), weights)
        final = ask.split.final(frequent=large, trigrams=trigrams)
        vote = ask.vote("final", candidates, final)
        size, scaled = self._bounded(ask.cases())
        on_progress(0.8)
        pool = dict.fromkeys([*candidates, *first, *shown])
        if various:
            events = max(sum(map(len, candidates)), 1)
            number = min(DRAWN_EACH * size, DRAWN, DRAWN_EVENTS * len(candidates) // events)
            drawn = generator.draw_many(pool, weights, number)
            start = share_out(drawn, vote.nearest, vote.expected, size)
            fitted = self._smooth(start, ask.scale(final), size)
        else:
            chosen = self._represent(candidates, vote.votes, final, size)
            pool = dict.fromkeys([*chosen, *pool])
            generator.more(pool, weights, min(MORE, 2 * length))
            fitted = self._fit(list(pool), chosen, ask.scale(final), size)
        released = self._with_all(round_to(fitted, size), steps, max_length)
        # Names are in one public order, so this changes ids and not the order of variants.
        found = self._variants(released, max_length)
        variants = found.project_onto(self._names)
        times, starts = None, None
        if self._set.time:
            times, starts = ask_times(self._set, self._session, found)
        columns = ask_attributes(self._set, self._session, found) if self._set.attributes else ()
        log = ReleasedLog(
            variants=variants,
            times=times,
            starts=starts,
            core=self._set.mark_core(variants),
            columns=columns,
        )
        on_progress(1.0)
        return Output(
            log=log,
            verdict=judge(self._set, self._session.answers, size, variants),
            margins=None if scaled else self._margins(log),
            notes=tuple(ask.notes),
        )

    def _margins(self, log: ReleasedLog) -> Margins:
        """How far the figures of the release may be off."""
        answers = self._session.answers
        margins = find_flow_margins(answers, log.variants)
        if log.times is None and not log.columns:
            return margins
        seconds = np.zeros(0, dtype=np.int64) if log.times is None else log.times
        batch = cases_of(
            log.variants.project_onto(self._session.activities), seconds * MICROSECONDS
        )
        return add_share_margins(margins, answers, batch, log.columns, self._session.attributes)

    def _bounded(self, size: int) -> tuple[int, bool]:
        """How many cases are released of so many, and whether these are fewer."""
        if size <= ONE_BY_ONE or not (self._set.time or self._set.attributes):
            return size, False
        self._ask.notes.append(Statement("note.scaled_cases", cases=size, bound=ONE_BY_ONE))
        return ONE_BY_ONE, True

    def _with_all(
        self, released: Mapping[Ids, int], steps: KeptSteps, max_length: int
    ) -> Mapping[Ids, int]:
        """The same with each activity that was asked about; rules may forbid some of them."""
        if steps.odds is None or self._ask.rules is not None:
            return released
        return insert_missing(released, steps.odds.votes, max_length)

    def _variants(self, released: Mapping[Ids, int], max_length: int) -> VariantCounts:
        return VariantCounts.from_arrays(
            self._session.activities,
            [i for ids in released for i in ids],
            [len(ids) for ids in released],
            list(released.values()),
            [len(ids) < max_length for ids in released],
            self._session.unit,
        )

    def _search(self, candidates: list[Ids], size: int) -> dict[Ids, int]:
        """Let cases vote on a list, and weigh the candidates that stand out."""
        votes = self._ask.vote("search", candidates, self._ask.split.search).votes
        threshold = in_noise_scales(
            self._set.search_threshold, self._ask.scale(self._ask.split.search)
        )
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
        scale = float(self._ask.scale(self._ask.split.final(frequent=False)))
        fitted = fit(self._ask.evidence, list(pool), weights, scale)
        found = {ids: round(n) for ids, n in fitted.items() if n >= 0.5}
        tried = dict(pool)
        generator.more(tried, found, PROPOSALS * len(candidates))
        proposals = list(tried)[len(pool) :]
        chosen = unexplained(self._ask.evidence, fitted, proposals, len(candidates) // 2)
        fitted = fit(self._ask.evidence, [*pool, *chosen], weights, scale)
        kept = {ids: round(n) for ids, n in fitted.items() if n >= max(0.5 / scale, 0.5)}
        return kept or dict(weights)

    def _represent(
        self, candidates: list[Ids], votes: Ints, share: Fraction, size: int
    ) -> dict[Ids, int]:
        """Give the cases to few of the final list, by the votes for it."""
        threshold = in_noise_scales(self._set.final_threshold, self._ask.scale(share))
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

        def again(_: Fitted, left: Iterable[Ids]) -> Fitted:
            kept = list(left)
            prior = {ids: chosen[ids] for ids in kept if ids in chosen}
            return fit(self._ask.evidence, kept, prior, float(scale))

        return self._in_order(again({}, pool), again, scale, size)

    def _smooth(self, start: Mapping[Ids, float], scale: Fraction, size: int) -> Fitted:
        """The same where hardly two cases are alike."""
        evidence = self._ask.evidence
        return self._in_order(smooth(evidence, start), partial(settle, evidence), scale, size)

    def _in_order(self, fitted: Fitted, again: Refit, scale: Fraction, size: int) -> Fitted:
        """Drop orders that too few cases show, if that is asked for."""
        if not self._set.order_penalty:
            return fitted
        noise = min(1 / scale, Fraction(size, MOST_NOISE))
        return drop_disorder(fitted, float(self._set.order_penalty * noise), again)
