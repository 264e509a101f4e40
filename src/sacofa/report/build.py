"""Reports: a publishable one of a release alone, and a confidential one next to the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..base.batches import gather
from ..evaluate.evaluate import variants_of
from ..kernel.cases import CaseBatch, Cases
from ..kernel.statements import Statement
from ..kernel.variants import VariantCounts
from ..release.anonymize import Release
from ..release.certificate import Certificate
from .attributes import describe_attributes
from .comparison import ComparisonTable
from .explorer import Explorer, list_variants
from .facts import Facts
from .flow import count_flow, describe_map
from .measures import Measured, measure
from .page import MAP_SCRIPTS, REPORT_SCRIPTS, render_page
from .promise import explain_epsilon, say_promise, say_reasons, say_spent, subject_of
from .settings import describe_settings
from .sureness import margins_of
from .times import describe_times
from .verdict import list_checks, say_verdict, sureness_level

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
    """One size of the release, next to that of the original in an internal report."""

    what: str
    after: int
    before: int | None = None
    margin: int | None = None
    """The margin of error (95 %)."""


@dataclass(frozen=True, kw_only=True)
class Original:
    """What an internal report compares a release with. Confidential."""

    cases: Cases
    comparison: ComparisonTable | None = None

    @property
    def variants(self) -> VariantCounts:
        """Its variants."""
        return variants_of(self.cases)

    @property
    def batch(self) -> CaseBatch | None:
        """Its cases one by one, if it has times."""
        return None if self.cases.by_case is None else gather(self.cases.by_case)


def make_report(release: Release, *, title: str, facts: Facts | None = None) -> str:
    """Make a page of a release and its certificate alone: it may be published with them."""
    return _make(release, title, facts or Facts())


def make_internal_report(
    release: Release,
    original: VariantCounts | Cases,
    *,
    title: str,
    facts: Facts | None = None,
    comparison: ComparisonTable | None = None,
) -> str:
    """Make a page that compares a release with its original: as confidential as the original."""
    known = original if isinstance(original, Cases) else Cases(variants=original)
    return _make(release, title, facts or Facts(), Original(cases=known, comparison=comparison))


def make_map_page(release: Release) -> str:
    """Make a page of the process map of a release alone."""
    explorer = list_variants(release.variants)
    flow = _describe_flow(release, None, explorer)
    return render_page("map_page.html.j2", MAP_SCRIPTS, len(explorer.activities), flow)


def _make(release: Release, title: str, facts: Facts, original: Original | None = None) -> str:
    certificate, epsilon = release.certificate, release.certificate.epsilon
    before = None if original is None else original.variants
    explorer = list_variants(release.variants, before, margins_of(release))
    return render_page(
        "report.html.j2",
        REPORT_SCRIPTS,
        len(explorer.activities),
        _describe_flow(release, original, explorer),
        title=title,
        facts=facts,
        certificate=certificate,
        verdict=say_verdict(release),
        sureness_level=sureness_level(certificate),
        checks=list_checks(release),
        promise=say_promise(certificate),
        reasons=say_reasons(certificate),
        subject=subject_of(certificate),
        explanation=None if epsilon is None else explain_epsilon(epsilon),
        paid=list(say_spent(certificate.spent)),
        votes=_explain_votes(certificate),
        protects=Statement("disclosure.sentence", said=certificate.protects),
        settings=describe_settings(certificate),
        figures=_figures(release, original),
        measured=Measured() if original is None else measure(original.cases, release.cases),
        comparison=None if original is None else original.comparison,
        artificial=release.times is None,
        attributes=describe_attributes(release),
        cut=certificate.settings.get("max_length"),
    )


def _describe_flow(
    release: Release, original: Original | None, explorer: Explorer
) -> Mapping[str, object]:
    """Times and process map, with the data for the script of the page."""
    margins, before = margins_of(release), None if original is None else original.variants
    times = describe_times(release, None if original is None else original.batch)
    logs: Sequence[VariantCounts | None] = (before, release.variants)
    process_map = describe_map(
        [count_flow(log) for log in logs if log is not None],
        margins,
        explorer.activities,
        () if times is None else times.medians,
    )
    return {
        "internal": original is not None,
        "ids": {name: i for i, name in enumerate(explorer.activities)},
        "margins": margins,
        "explorer": explorer,
        "times": times,
        "map": process_map,
        "data": {**explorer.data(), **process_map.data},
    }


def _explain_votes(certificate: Certificate) -> Statement | None:
    """What a vote is, if the list of queries names votes."""
    asked = {access.what.code for access in certificate.spent}
    return Statement("report.votes") if asked & VOTES else None


def _figures(release: Release, original: Original | None) -> list[Figure]:
    after = _sizes(release.variants)
    before = {} if original is None else _sizes(original.variants)
    margin = {"cases": margins_of(release).cases}
    return [
        Figure(what=what, after=size, before=before.get(what), margin=margin.get(what))
        for what, size in after.items()
    ]


def _sizes(log: VariantCounts) -> dict[str, int]:
    return {
        "cases": log.cases,
        "variants": len(log),
        "activities": len(set(log.activity_ids.tolist())),
        "events": log.events,
    }
