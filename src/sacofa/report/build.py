"""Reports: a publishable one made of a release alone, and a secret one beside the original."""

from __future__ import annotations

from dataclasses import dataclass

from ..cases import CaseBatch, Cases, gather
from ..evaluation.evaluate import variants_of
from ..release.anonymize import Release
from ..variants import VariantCounts
from .comparison import ComparisonTable
from .explorer import list_variants
from .facts import Facts
from .flow import count_flow, list_steps
from .maps import Level, draw_levels
from .measures import measure
from .page import render_page
from .promise import explain_epsilon, say_promise, say_reasons, say_spent, subject_of
from .times import describe_times

DEFAULT_SHARE = 0.8
"""The map opens at the least detail that shows this much."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One size of the release, beside that of the original in an internal report."""

    what: str
    after: str
    before: str | None = None


def make_report(release: Release, *, title: str, facts: Facts | None = None) -> str:
    """Make a page of a release and its certificate alone: it may be published with them."""
    return _make(release, title, facts or Facts(), None, None)


def make_internal_report(
    release: Release,
    original: VariantCounts | Cases,
    *,
    title: str,
    facts: Facts | None = None,
    comparison: ComparisonTable | None = None,
) -> str:
    """Make a page that shows a release beside its original: as secret as the original."""
    known = original if isinstance(original, Cases) else Cases(variants=original)
    return _make(release, title, facts or Facts(), known, comparison)


def _make(
    release: Release,
    title: str,
    facts: Facts,
    secret: Cases | None,
    comparison: ComparisonTable | None,
) -> str:
    certificate, released = release.certificate, release.variants
    original = None if secret is None else variants_of(secret)
    cut = certificate.settings.get("max_length")
    explorer = list_variants(released, original)
    flow = count_flow(released)
    before = None if original is None else count_flow(original)
    levels = draw_levels(flow) if before is None else draw_levels(before, flow)
    measured = None if secret is None else measure(secret, release.cases)
    return render_page(
        "report.html.j2",
        colours=len(explorer.activities),
        title=title,
        facts=facts,
        internal=original is not None,
        certificate=certificate,
        promise=say_promise(certificate),
        reasons=say_reasons(certificate),
        subject=subject_of(certificate),
        explanation=None if certificate.epsilon is None else explain_epsilon(certificate.epsilon),
        paid=say_spent(certificate.spent),
        figures=_figures(released, original),
        explorer=explorer,
        ids={name: i for i, name in enumerate(explorer.activities)},
        steps=list_steps(flow, before),
        levels=levels,
        default_level=_default_level(levels or ()),
        measures=() if measured is None else measured.lines,
        measures_missing=None if measured is None else measured.missing,
        comparison=comparison,
        times=describe_times(release, None if secret is None else _batch(secret)),
        made_up=release.times is None,
        cut=cut if isinstance(cut, int) else None,
    )


def _batch(secret: Cases) -> CaseBatch | None:
    return None if secret.by_case is None else gather(secret.by_case)


def _figures(released: VariantCounts, original: VariantCounts | None) -> tuple[Figure, ...]:
    def sizes(log: VariantCounts) -> dict[str, int]:
        return {
            "cases": log.cases,
            "variants": len(log),
            "activities": len(set(log.activity_ids.tolist())),
            "events": log.events,
        }

    before = {} if original is None else sizes(original)
    return tuple(
        Figure(what=what, after=f"{size:,}", before=f"{before[what]:,}" if before else None)
        for what, size in sizes(released).items()
    )


def _default_level(levels: tuple[Level, ...]) -> int:
    for number, level in enumerate(levels, start=1):
        if min(map.share for map in level.maps) >= DEFAULT_SHARE:
            return number
    return max(1, len(levels))
