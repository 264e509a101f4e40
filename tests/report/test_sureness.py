"""Margins that a report shows are those of the certificate, and they hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from sacofa.events import count_variants, open_log
from sacofa.examples.hospital import hospital
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms import Certified
from sacofa.release import Release, anonymize
from sacofa.report.figures import list_figures
from sacofa.report.flow import count_flow
from sacofa.report.promise import margins_of
from sacofa.synthesis.margins import Margins

from .releases import leaking, of


def off_by_step(log: VariantCounts, release: Release) -> np.ndarray:
    """How far each directly-follows pair is off, in margins."""
    before, margins = count_flow(log).steps, margins_of(release).steps
    after = count_flow(release.variants).steps
    return np.array([abs(n - before.get(step, 0)) / margins[step] for step, n in after.items()])


def test_shares_lie_within_their_margins() -> None:
    """Of directly-follows pairs, as a table of figures holds them; a quarter would not do."""
    log = hospital()
    before = count_flow(log).steps
    total = sum(before.values())
    off = np.array(
        [
            abs(figure.share - before.get(figure.activities, 0) / total) / figure.share_margin
            for seed in range(3)
            for figure in list_figures(anonymize(log, Certified(epsilon=1), seed=seed))
            if figure.kind == "step"
        ]
    )
    assert (off <= 1).mean() >= 0.93
    assert (off <= 1 / 4).mean() < 0.93


def test_margins_hold_where_the_release_fits_badly(logs: Path) -> None:
    """On Sepsis cases come out too short; half of the margins would not do."""
    log = count_variants(open_log(next(logs.glob("sepsis*"))))
    runs = [anonymize(log, Certified(epsilon=1, time=False), seed=seed) for seed in range(8)]
    off = np.concatenate([off_by_step(log, run) for run in runs])
    assert (off <= 1).mean() >= 0.92
    assert (off <= 1 / 2).mean() < 0.92


def test_without_a_promise_or_cases_no_margin_is_stated() -> None:
    """What was read without noise has no margin of noise."""
    assert margins_of(leaking()) == Margins()
    release = leaking()
    stated = replace(release, certificate=replace(release.certificate, margins=Margins(cases=3)))
    assert margins_of(stated) == Margins()
    assert margins_of(of(VariantCounts.of({("a",): 1}))) == Margins()
