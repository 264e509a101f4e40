"""One run of `certified`: queries to the log, and what is made of their answers in between."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...errors import SettingError
from ...queries.distance import Ids
from ...queries.flow import VOTE_UNITS, CaseCount, CaseLengths, NearestCandidate, StepVotes
from ...queries.histogram import open_histogram
from ...queries.protocol import Ints, Query
from ...queries.session import Session
from ...variants import MOST_CASES, VariantCounts
from ..protocol import Output, Progress
from .apportion import apportion
from .budget import in_noise_scales
from .candidates import CandidateGenerator
from .chain import Chain
from .frequent import show_frequent
from .lengths import bin_edges, choose_length
from .medoids import select_medoids
from .sampler import UniformSampler
from .settings import CertifiedSettings
from .steps import keep_steps

EXACT = (
    "All noise was drawn exactly, the number of empty cells that reach a threshold too: no "
    "numerical error adds to ε, and δ is 0."
)

MAX_ACTIVITIES = 4_000
"""Every step between two of them has a cell; more would not fit into memory."""


class CertifiedRun:
    """Makes a release of what a session answers and a sampler draws, and of nothing else."""

    def __init__(self, settings: CertifiedSettings, session: Session) -> None:
        self._set = settings
        self._session = session
        self._sampler = UniformSampler(session.noise)
        self._split = settings.split
        self._names = session.activities
        if len(self._names) > MAX_ACTIVITIES:
            raise SettingError(
                "activities", f"{len(self._names):,} names", f"at most {MAX_ACTIVITIES:,}"
            )
        rules = settings.rules
        self._rules = None if rules is None else rules.project_onto(self._names)
        self._notes = [EXACT]

    def release(self, progress: Progress | None = None) -> Output:
        """Go through the steps in order."""
        on_progress = progress or (lambda done: None)
        size = self._size()
        max_length = self._max_length()
        self._session.truncate(max_length)
        votes = self._ask(StepVotes(len(self._names)), self._split.semantics, "semantics")
        steps = keep_steps(
            votes.reshape(len(self._names) + 1, -1),
            self._scale(self._split.semantics, VOTE_UNITS),
            self._set.expected_false_steps,
            self._rules,
        )
        on_progress(0.2)
        scale = self._scale(self._split.frequent) if self._split.frequent else Fraction(1)
        large = self._set.shows_frequent(size, len(self._names), max_length, scale)
        shown: dict[Ids, int] = {}
        if large:
            histogram = open_histogram(self._session, self._price(self._split.frequent), "counts")
            self._notes += show_frequent(
                histogram, steps.as_steps(self._names), self._rules, max_length, scale
            )
            for (ids, _), count in histogram.shown.items():
                shown[ids] = shown.get(ids, 0) + count
            self._notes.append(f"{len(shown)} frequent variants were shown as they are.")
        on_progress(0.4)
        chain = Chain(steps, max_length, self._sampler, self._rules)
        generator = CandidateGenerator(steps, chain, self._sampler, self._rules)
        length = self._set.list_length(size, self._session.unit)
        weights = self._search(generator.first(length, shown, size), size)
        weights.update((ids, 1) for ids in shown if ids not in weights)
        chain.learn(weights)
        on_progress(0.6)
        candidates = generator.next(max(length, len(weights)), weights)
        released = self._final_vote(candidates, large=large, size=size)
        on_progress(1.0)
        return Output(
            variants=VariantCounts.from_arrays(
                self._names,
                [i for ids in released for i in ids],
                [len(ids) for ids in released],
                list(released.values()),
                [len(ids) < max_length for ids in released],
                self._session.unit,
            ),
            notes=tuple(self._notes),
        )

    def _price(self, share: Fraction) -> Fraction:
        return share * self._set.price

    def _scale(self, share: Fraction, sensitivity: int = 1) -> Fraction:
        """1/scale of the noise that a share buys."""
        return self._session.cell_epsilon(sensitivity, self._price(share))

    def _ask(self, query: Query, share: Fraction, line: str) -> Ints:
        """Ask the log; noise beyond what any log could answer is cut off.

        What is made of the answers is then never too large for a machine word, and a release never
        larger than a log can be. It is made of the answer alone.
        """
        most = MOST_CASES * query.sensitivity
        return self._session.ask(query, self._price(share), line).clip(-most, most)

    def _size(self) -> int:
        return max(int(self._ask(CaseCount(), self._split.size, "size")[0]), 1)

    def _max_length(self) -> int:
        if self._set.max_length is not None:
            return self._set.max_length
        edges = bin_edges(self._set.max_length_bound)
        votes = self._ask(CaseLengths(tuple(edges)), self._split.length, "length")
        chosen = choose_length(edges, votes, self._scale(self._split.length))
        self._notes.append(f"Cases are truncated at length {chosen}, chosen from noisy lengths.")
        return chosen

    def _vote(self, name: str, candidates: list[Ids], share: Fraction) -> Ints:
        return self._ask(NearestCandidate(name, tuple(candidates)), share, "counts")

    def _search(self, candidates: list[Ids], size: int) -> dict[Ids, int]:
        """Let cases vote on a list, and weigh the candidates that stand out."""
        votes = self._vote("search", candidates, self._split.search)
        threshold = in_noise_scales(self._set.search_threshold, self._scale(self._split.search))
        cells = apportion(votes, threshold, size)
        return {ids: n for ids, n in zip(candidates, cells.tolist(), strict=True) if n}

    def _final_vote(self, candidates: list[Ids], *, large: bool, size: int) -> dict[Ids, int]:
        """Let cases vote on the final list, and give the cases to few of it."""
        share = self._split.final(frequent=large)
        votes = self._vote("final", candidates, share)
        threshold = in_noise_scales(self._set.final_threshold, self._scale(share))
        threshold = min(threshold, int(votes.max()))
        places, represented = select_medoids(
            candidates,
            np.where(votes >= threshold, np.maximum(votes, 1), 0),
            len(self._names),
            cost=self._set.medoid_cost(self._session.unit),
            order_penalty=self._set.order_penalty,
        )
        cells = apportion(represented, 1, size).tolist()
        return {candidates[i]: n for i, n in zip(places, cells, strict=True)}
