"""Tuning parameters of control flow. They concern noisy answers only: no ε depends on them.

A value without a stated reason is empirical: no derivation of it is known. Noise scales are those
of the answer in question.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, kw_only=True)
class FlowTuning:
    """How answers about control flow are read, and what is made of them."""

    clear_cell: int = 20
    """Noise scales from which on a cell is taken as it was answered."""
    parts_per_scale: int = 4
    """Parts of a noise scale that numbers of a cell are told apart by."""
    min_variance: float = 0.7
    """Lower bound on the variance of what a cell is expected to hold."""

    longer_cases: Fraction = Fraction(2, 100)
    """Share of the cases that may be longer than the chosen length."""
    false_lengths: Fraction = Fraction(1, 200)
    """Expected number of empty bins of lengths that look filled."""
    false_far_lengths: Fraction = Fraction(1, 20_000)
    """The same of bins far beyond all others that do."""
    spare_lengths: int = 3
    """Bins that are added: noise hides the few cases that are longest."""
    hidden_cases: Fraction = Fraction(1, 4)
    """If noise hides the lengths of a larger share of the cases, they may well be longer."""
    unseen_length: int = 30
    """The choice where noise hides all lengths, and the least where it hides many."""

    false_activities: Fraction = Fraction(6)
    """Expected number of activities that no case has and that are kept all the same."""
    common_scales: int = 3
    """Noise scales of votes from which on the steps of an activity count less than others'."""
    min_step_weight: int = 6
    """Lower bound on what they count, however common it is."""

    clear_step: float = 6.0
    """No step tells more than this number of noise scales of votes would."""
    change_shares: tuple[float, ...] = (0.035, 0.07, 0.14, 0.28, 0.56)
    """Shares of the cases that may make a change; each is as likely."""
    least_expected: float = 0.5
    """Noise scales of votes that a step likely has, or it does not pass."""
    balance_slack: float = 1.5
    """Votes that may be missing, in standard deviations of what is added up; and noise scales of
    votes that a step needs even where votes are missing."""
    steps_with_rules: int = 5
    """Steps per activity that pass at least where rules weed out the false ones."""
    path_lengths: tuple[int, ...] = (3, 6, 12, 24)
    """Numbers of events that the likeliest paths are searched for."""
    path_shares: tuple[float, ...] = (0.25, 0.5, 1.0)
    """Shares of the cases that may take a step of such a path; each is as likely."""
    open_paths: int = 60
    """Paths that are followed at a time in search of the best."""
    branches: int = 12
    """Next steps that are tried for each of them, and paths that are found for each length."""

    invented_variants: Fraction = Fraction(1, 10)
    """Expected number of invented variants that one stage publishes individually."""
    publishing_rounds: int = 5
    """Upper bound on the rounds in which published variants make others plausible."""

    samples_each_case: int = 2
    """Samples for each case: with fewer, a fit has too little to choose from."""
    fewest_samples: int = 200
    most_samples: int = 4_000
    most_events: int = 100_000
    """Upper bound on the events of all samples together, about: bounds time and memory."""
    likeliest: float = 0.75
    """Share of the first list that the likeliest paths may take, if no variant is published."""
    changes: float = 0.5
    """Share of a list that changes of the usual sequences may take."""
    changes_each: int = 20
    """Changes of one usual sequence."""
    longest_changed: int = 100
    """Longer ones are not: one change of many events makes them hardly nearer to any case."""
    longest_change: int = 5
    """Activities of a part that comes elsewhere, or is skipped, at most; all that is left of a case
    may be skipped however long it is."""
    tries: int = 10
    """Tries for each place in a list, if it is not full otherwise."""
    most_earlier: int = 500
    """Upper bound on the variants of earlier releases that join a list."""

    holds: tuple[float, ...] = (16.0, 4.0, 1.0, 0.25, 0.0625)
    """What a case that moves by one unit of entropy costs, in squares of noise scales: from strong
    to weak, as long as a weaker one explains clearly more."""
    gain: float = 1.01
    """A weaker hold has to lower the sum of squared residuals by this factor."""
    sampling: float = 0.05
    """Share of the variance of a random sample to within which an answer is explained."""
    least_share: float = 1e-3
    """Share of the votes that all sequences get alike: what has no case cannot be multiplied."""
    largest_exponent: float = 30.0
    """e³⁰ outweighs everything else: no number is multiplied by more on the way, and potentials lie
    between this and its negative."""
    least_gain: float = 1e-3
    """The solver of a fit stops after a round that gains less, as a logarithm of a likelihood."""
    fit_rounds: int = 150
    """The solver of a fit stops after this number of rounds."""

    least_step: float = 1e-4
    """Probability of a pair that was not kept: repairs may need one that noise hid."""
    room: int = 12
    """Events by which a sample may become longer than all others."""
    smoothing: float = 3.0
    """Cases added to both counts of a pair before they are compared."""
    pace: float = 0.7
    """Part of the difference by which the potentials of pairs move; below 1, since they interact.
    """
    one_stays: int = 3
    """One of this number of samples is not moved, and the fit decides between it and the others:
    moves follow pairs alone, and noise in them."""
    most_rounds: int = 6
    """Rounds in which samples are fitted and moved after the last answer, at most."""
    gain_of_round: float = 1.03
    """Each round has to lower the sum of squared residuals by this factor."""
    most_moved: int = 100
    """Activities that are moved, the most frequent ones: time grows with their number."""
    bisections: int = 26
    """Halvings of the range of a potential: it is known to 10⁻⁶ then."""
    compared: int = 300
    """Cases among which different sequences are counted to tell whether hardly two are alike."""
    various: float = 0.3
    """Hardly two cases are alike if this share of them differs. Fits of logs with a main path came
    to 0.15 at most, those of diverse logs to 0.4 and more."""

    rarer: int = 4
    """One of two orders is rare if the other one has more than this number of times its cases."""
    cases_each_insertion: int = 20
    """At most one of this number of cases is changed: of small logs with many activities,
    insertions would otherwise be most of what is released."""


TUNING = FlowTuning()
"""The values of this version: releases with a seed depend on them."""
