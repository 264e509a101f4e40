"""Reports: a publishable one of a release alone, and a confidential one next to the original."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path

from ..base.batches import gather
from ..base.files import write_text, write_whole
from ..evaluate import Evaluator
from ..evaluate.registry import variants_of
from ..kernel.cases import Cases
from ..kernel.statements import Statement
from ..kernel.variants import VariantCounts
from ..mechanisms.registry import MECHANISMS
from ..mechanisms.settings import settings_of
from ..messages import has_wording
from ..release.anonymize import Release
from ..release.certificate import Certificate, say_setting
from .attributes import describe_attributes
from .comparison import ComparisonTable, list_measures
from .figures import is_table, write_figures
from .flow import Explorer, count_flow, list_steps, list_variants, page_data
from .page import MAP_SCRIPTS, REPORT_SCRIPTS, render_page
from .promise import (
    LEVELS,
    explain_epsilon,
    list_checks,
    margins_of,
    say_promise,
    say_reasons,
    say_spent,
    say_verdict,
    subject_of,
)
from .times import describe_times

VOTES = {
    "query.activities", "query.steps", "query.trigrams", "query.nearest.search",
    "query.nearest.final",
}  # fmt: skip
"""The queries to which each case contributes one vote."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts for a report that certificates do not contain: date, data set and publisher.

    Attributes:
        date: Day of the release.
        dataset: Dataset that was released.
        released_by: Person, department or organisation that released it.
    """

    date: datetime.date | None = None
    dataset: str | None = None
    released_by: str | None = None


def make_report(release: Release, *, title: str, facts: Facts | None = None) -> str:
    """Make a report from a release and its certificate alone: it may be published with them."""
    return _make(release, title, facts or Facts())


def make_internal_report(
    release: Release,
    original: VariantCounts | Cases,
    *,
    title: str,
    facts: Facts | None = None,
    comparison: ComparisonTable | None = None,
) -> str:
    """Make a report that compares a release with its original: as confidential as the original."""
    known = original if isinstance(original, Cases) else Cases(variants=original)
    return _make(release, title, facts or Facts(), known, comparison)


def write_report(
    release: Release, path: Path, *, title: str, facts: Facts | None = None, force: bool
) -> None:
    """Write a report of a release, or a table of its figures, by the suffix of the file."""
    if is_table(path):
        with write_whole(path, force) as part:
            write_figures(release, part)
    else:
        write_text(path, make_report(release, title=title, facts=facts), force)


def make_map_page(release: Release) -> str:
    """Make a page with the process map of a release alone."""
    explorer = list_variants(release.variants)
    content = _flow(release, None, explorer)
    return render_page("map_page.html.j2", MAP_SCRIPTS, len(explorer.activities), content)


def _make(
    release: Release,
    title: str,
    facts: Facts,
    original: Cases | None = None,
    comparison: ComparisonTable | None = None,
) -> str:
    certificate, epsilon = release.certificate, release.certificate.epsilon
    before = None if original is None else variants_of(original)
    explorer = list_variants(release.variants, before, margins_of(release))
    measures, unmeasured = _measured(original, release)
    content: dict[str, object] = {
        "title": title,
        "facts": facts,
        "certificate": certificate,
        "verdict": say_verdict(release),
        "levels": LEVELS,
        "checks": list_checks(release),
        "promise": say_promise(certificate),
        "reasons": say_reasons(certificate),
        "subject": subject_of(certificate),
        "explanation": None if epsilon is None else explain_epsilon(epsilon, certificate.budget),
        "paid": list(say_spent(certificate.spent)),
        # Defines votes if the list of queries mentions them.
        "votes": Statement("report.votes_with_delta" if certificate.delta else "report.votes")
        if VOTES & {access.what.code for access in certificate.spent}
        else None,
        "protects": Statement("disclosure.sentence", said=certificate.protects),
        "settings": _settings(certificate),
        "sizes": _sizes(release.variants),
        "sizes_before": {} if before is None else _sizes(before),
        "comparison": comparison,
        "artificial": release.times is None,
        "attributes": describe_attributes(release),
        "cut": certificate.settings.get("max_length"),
        "measures": measures,
        "unmeasured": unmeasured,
        **_flow(release, original, explorer),
    }
    return render_page("report.html.j2", REPORT_SCRIPTS, len(explorer.activities), content)


def _flow(release: Release, original: Cases | None, explorer: Explorer) -> dict[str, object]:
    """Return times and process map, with the data for the script of the page."""
    margins, logs, batch = margins_of(release), [release.variants], None
    if original is not None:
        logs.insert(0, variants_of(original))
        batch = None if original.by_case is None else gather(original.by_case)
    times, flows = describe_times(release, batch), [count_flow(log) for log in logs]
    medians = () if times is None else times.medians
    return {
        "internal": original is not None,
        "ids": explorer.ids,
        "margins": margins,
        "explorer": explorer,
        "times": times,
        "steps": list_steps(flows[-1], flows[0] if original is not None else None, margins.steps),
        "waits": medians[-1] if medians else {},
        "timed": bool(medians),
        "data": page_data(explorer, flows, margins, medians),
    }


def _settings(certificate: Certificate) -> list[tuple[str, str, str]]:
    """Return the name, value and meaning of each setting if the mechanism is known."""
    kind = MECHANISMS.get(certificate.mechanism)
    helps = {} if kind is None else {each.name: each.help for each in settings_of(kind)}
    lines = []
    for name, value in certificate.settings.items():
        code = f"setting_label.{name}"
        label = str(Statement(code)) if has_wording(code) else name.replace("_", " ")
        lines.append((label, say_setting(value), helps.get(name, "")))
    return lines


def _measured(
    original: Cases | None, release: Release
) -> tuple[list[tuple[str, ...]], Statement | None]:
    """Return the measures of utility, and the reason if some are missing."""
    if original is None:
        return [], None
    if not variants_of(original).cases:
        return [], Statement("report.unmeasured")
    evaluator = Evaluator(original)
    found = evaluator.measure(release.cases)
    partly = Statement("report.measured_partly", missing=found.missing or "")
    return list_measures(found, evaluator.limit()), None if found.missing is None else partly


def _sizes(log: VariantCounts) -> dict[str, int]:
    used = len(log.used())
    return {"cases": log.cases, "variants": len(log), "activities": used, "events": log.events}
