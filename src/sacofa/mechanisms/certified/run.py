"""One run of `certified`: queries to the log, and what is made of their answers in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import partial

import numpy as np

from ...base.batches import cases_of
from ...errors import SettingError
from ...kernel.cases import MICROSECONDS
from ...kernel.language import Ids
from ...kernel.session import Session
from ...kernel.statements import Statement
from ...kernel.variants import VariantCounts
from ...synthesis.find_margins import add_share_margins, find_flow_margins
from ...synthesis.flow.answers import count_cases
from ...synthesis.flow.candidates import CandidateGenerator, with_earlier
from ...synthesis.flow.chain import Chain
from ...synthesis.flow.fit import estimate, estimate_with_misfit, share_out, spread
from ...synthesis.flow.population import Population, is_various
from ...synthesis.flow.release import Fitted, drop_disorder, insert_missing, round_to
from ...synthesis.flow.steps import KeptSteps
from ...synthesis.flow.tuning import TUNING
from ...synthesis.margins import Margins
from ...synthesis.numerics import draw_uniform
from ..protocol import Output, Progress
from ..released import ReleasedLog
from .questions import Questions, Vote
from .settings import CertifiedSettings
from .verdict import judge

MAX_ACTIVITIES = 4_000
"""Every pair of two of them has a cell; more would not fit into memory."""
MOST_NOISE = 72
"""For the order penalty a noise scale is no more than one of so many cases: what a twelfth of all
cases shows is no disorder, however much noise there is."""
ONE_BY_ONE = 10_000_000
"""Cases that get times or attributes lie in memory one by one: no more than that, though with very
little ε noise alone may be a thousand times as much."""
STAGES = 5
"""Parts of a run that progress is reported after."""


class CertifiedRun:
    """Makes a release of what a session answers and a sampler draws, and of nothing else."""

    def __init__(self, settings: CertifiedSettings, session: Session) -> None:
        self._set = settings
        self._session = session
        self._uniform = partial(draw_uniform, session.noise)
        self._names = session.activities
        if len(self._names) > MAX_ACTIVITIES:
            raise SettingError(
                "activities", f"{len(self._names):,} names", f"at most {MAX_ACTIVITIES:,}"
            )
        self._ask = Questions(settings, session)

    def release(self, progress: Progress | None = None) -> Output:
        """Go through the steps in order."""
        on_progress = progress or (lambda done: None)
        stages = iter(np.linspace(1 / STAGES, 1.0, STAGES).tolist())
        ask = self._ask
        size = ask.size()
        max_length, lengths = ask.max_length(size)
        self._session.truncate(max_length)
        votes = ask.activities(size, max_length, lengths)
        steps = ask.steps(max_length, votes, size)
        once = ask.once(votes)
        on_progress(next(stages))
        names, unit = self._session.activities, self._session.unit
        shown_from = self._set.published_from(ask.split, unit, len(names), max_length)
        large = shown_from is not None and shown_from <= self._set.large_log_ratio * size
        shown = ask.frequent(steps, max_length) if large else {}
        on_progress(next(stages))
        chain = Chain(steps, max_length, self._uniform, ask.rules, once)
        generator = CandidateGenerator(steps, chain)
        answers = ask.activity_answers(votes, once)
        samples = generator.samples(size)
        population = Population(samples, steps.likely, answers, max_length, self._uniform)
        start = spread(Counter(population.samples), size)
        population.evolve(start, estimate(ask.evidence, start), size)
        length = self._set.list_length(size, unit)
        first = generator.first(length, shown, size, population.samples)
        if self._set.earlier is not None:
            first = with_earlier(first, self._set.earlier, names, max_length)
        vote = ask.vote("search", first, ask.split.search)
        start = _share_out(vote, generator, population, shown, size)
        fitted = estimate(ask.evidence, start)
        population.evolve(start, fitted, size)
        trigrams = not large and is_various(fitted) and ask.trigrams(steps, max_length, fitted)
        on_progress(next(stages))
        candidates = generator.second(length, shown, fitted)
        final = ask.split.final(frequent=large, trigrams=trigrams)
        vote = ask.vote("final", candidates, final)
        size, scaled = self._bounded(count_cases(self._session.answers)[0])
        on_progress(next(stages))
        left, known = np.inf, [*first, *shown]
        for _ in range(TUNING.most_rounds):
            start = _share_out(vote, generator, population, known, size)
            fitted, misfit = estimate_with_misfit(ask.evidence, start)
            if misfit * TUNING.gain_of_round > left:
                break
            left = misfit
            population.evolve(start, fitted, size)
        fitted = self._in_order(start, fitted, ask.law(final).epsilon, size)
        found = self._variants(round_to(fitted, size), steps, max_length)
        # Names are in one public order, so this changes ids and not the order of variants.
        variants = found.project_onto(self._names)
        times, starts = ask.times(found, self._uniform) if self._set.time else (None, None)
        log = ReleasedLog(
            variants=variants,
            times=times,
            starts=starts,
            core=self._set.mark_core(variants),
            columns=ask.attributes(found, self._uniform) if self._set.attributes else (),
        )
        on_progress(next(stages))
        return Output(
            log=log,
            verdict=judge(self._set, self._session.answers, size, variants),
            margins=None if scaled else self._margins(log),
            notes=tuple(ask.notes),
        )

    def _bounded(self, size: int) -> tuple[int, bool]:
        """How many cases are released of so many, and whether these are fewer."""
        if size <= ONE_BY_ONE or not (self._set.time or self._set.attributes):
            return size, False
        self._ask.notes.append(Statement("note.scaled_cases", cases=size, bound=ONE_BY_ONE))
        return ONE_BY_ONE, True

    def _in_order(
        self, start: Mapping[Ids, float], fitted: Fitted, scale: Fraction, size: int
    ) -> Fitted:
        """Fit again without rare orders, unless the order penalty is 0."""
        if not self._set.order_penalty:
            return fitted
        noise = min(1 / scale, Fraction(size, MOST_NOISE))
        return drop_disorder(
            fitted,
            float(self._set.order_penalty * noise),
            lambda left: estimate(
                self._ask.evidence, spread({ids: start[ids] for ids in left}, size)
            ),
        )

    def _variants(
        self, released: Mapping[Ids, int], steps: KeptSteps, max_length: int
    ) -> VariantCounts:
        """The released variants, with each activity that was asked about unless rules are given."""
        if steps.odds is not None and self._ask.rules is None:
            released = insert_missing(released, steps.odds.votes, max_length)
        return VariantCounts.from_arrays(
            self._session.activities,
            [i for ids in released for i in ids],
            [len(ids) for ids in released],
            list(released.values()),
            [len(ids) < max_length for ids in released],
            self._session.unit,
        )

    def _margins(self, log: ReleasedLog) -> Margins:
        """How far the figures of the release may be off."""
        answers = self._session.answers
        margins = find_flow_margins(answers, log.variants)
        if log.times is None and not log.columns:
            return margins
        seconds = np.zeros(0, dtype=np.int64) if log.times is None else log.times
        variants = log.variants.project_onto(self._session.activities)
        batch = cases_of(variants, seconds * MICROSECONDS)
        return add_share_margins(margins, answers, batch, log.columns, self._session.attributes)


def _share_out(
    vote: Vote,
    generator: CandidateGenerator,
    population: Population,
    known: Iterable[Ids],
    size: int,
) -> dict[Ids, float]:
    """Divide the votes between their candidates and the samples near them."""
    samples = Counter(filter(generator.fits, population.samples))
    for ids in known:
        samples.setdefault(ids, 1)
    return share_out(samples, vote.candidates, vote.nearest, size)
