"""Reports: a publishable one made of a release alone, and a secret one beside the original."""

from __future__ import annotations

from dataclasses import dataclass

from ..base.batches import gather
from ..evaluate.evaluate import variants_of
from ..kernel.cases import CaseBatch, Cases
from ..kernel.statements import Statement
from ..kernel.variants import VariantCounts
from ..release.anonymize import Release
from ..release.certificate import Certificate
from ..synthesis.margins import Margins
from .attributes import describe_attributes
from .comparison import ComparisonTable
from .explorer import list_variants
from .facts import Facts
from .flow import count_flow, describe_map
from .measures import measure
from .page import MAP_SCRIPTS, REPORT_SCRIPTS, render_page
from .promise import explain_epsilon, say_promise, say_reasons, say_spent, subject_of
from .settings import describe_settings
from .sureness import margins_of
from .times import describe_times
from .verdict import list_checks, say_sureness, say_verdict

VOTES = {
    "query.activities",
    "query.steps",
    "query.trigrams",
    "query.nearest.search",
    "query.nearest.final",
}
"""The queries in which each case has one vote."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One size of the release, beside that of the original in an internal report."""

    what: str
    after: str
    before: str | None = None
    margin: int | None = None
    """In 95 of 100 runs it is off by no more than this."""


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


def make_map_page(release: Release) -> str:
    """Make a page of the process map of a release alone."""
    explorer, times = list_variants(release.variants), describe_times(release)
    process_map = describe_map(
        [count_flow(release.variants)],
        margins_of(release),
        explorer.activities,
        () if times is None else times.medians,
    )
    return render_page(
        "map_page.html.j2",
        colours=len(explorer.activities),
        scripts=MAP_SCRIPTS,
        internal=False,
        map=process_map,
        ids={name: i for i, name in enumerate(explorer.activities)},
        data={"activities": explorer.activities, **process_map.data},
    )


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
    margins = margins_of(release)
    explorer = list_variants(released, original, margins)
    flows = [count_flow(log) for log in (original, released) if log is not None]
    times = describe_times(release, None if secret is None else _batch(secret))
    medians = () if times is None else times.medians
    process_map = describe_map(flows, margins, explorer.activities, medians)
    ids = {name: i for i, name in enumerate(explorer.activities)}
    measured = None if secret is None else measure(secret, release.cases)
    return render_page(
        "report.html.j2",
        colours=len(explorer.activities),
        scripts=REPORT_SCRIPTS,
        title=title,
        facts=facts,
        internal=original is not None,
        certificate=certificate,
        verdict=say_verdict(release),
        sureness=say_sureness(certificate),
        checks=list_checks(release),
        promise=say_promise(certificate),
        reasons=say_reasons(certificate),
        subject=subject_of(certificate),
        explanation=None if certificate.epsilon is None else explain_epsilon(certificate.epsilon),
        paid=say_spent(certificate.spent),
        votes=_explain_votes(certificate),
        protects=Statement("disclosure.sentence", said=certificate.protects),
        settings=describe_settings(certificate),
        figures=_figures(released, original, margins),
        margins=margins,
        explorer=explorer,
        ids=ids,
        map=process_map,
        data={
            **explorer.data(),
            **process_map.data,
        },
        measures=() if measured is None else measured.lines,
        measures_missing=None if measured is None else measured.missing,
        comparison=comparison,
        times=times,
        made_up=release.times is None,
        attributes=describe_attributes(release),
        cut=cut if isinstance(cut, int) else None,
    )


def _batch(secret: Cases) -> CaseBatch | None:
    return None if secret.by_case is None else gather(secret.by_case)


def _explain_votes(certificate: Certificate) -> Statement | None:
    """What a vote is, where the list of queries speaks of votes."""
    asked = {access.what.code for access in certificate.spent}
    return Statement("report.votes") if asked & VOTES else None


def _figures(
    released: VariantCounts, original: VariantCounts | None, margins: Margins
) -> tuple[Figure, ...]:
    def sizes(log: VariantCounts) -> dict[str, int]:
        return {
            "cases": log.cases,
            "variants": len(log),
            "activities": len(set(log.activity_ids.tolist())),
            "events": log.events,
        }

    before = {} if original is None else sizes(original)
    known = {"cases": margins.cases}
    return tuple(
        Figure(
            what=what,
            after=f"{size:,}",
            before=f"{before[what]:,}" if before else None,
            margin=known.get(what),
        )
        for what, size in sizes(released).items()
    )
