"""A release as a notebook displays it: the promise, the most frequent variants, the process map."""

from __future__ import annotations

from ..release.anonymize import Release
from .build import make_map_page
from .flow import list_variants
from .page import render
from .promise import say_promise

SHOWN_VARIANTS = 10
SHOWN_ACTIVITIES = 30
"""Activities of a variant that are listed; of longer ones the number of the others is given."""


def notebook_html(release: Release) -> str:
    """Make HTML that a notebook displays for a release.

    Args:
        release: The release.

    Returns:
        HTML that loads nothing from elsewhere. It may be published with the release.
    """
    return render(
        "notebook.html.j2",
        certificate=release.certificate,
        promise=say_promise(release.certificate),
        explorer=list_variants(release.variants),
        variants=len(release.variants),
        shown=SHOWN_VARIANTS,
        longest=SHOWN_ACTIVITIES,
        map_page=make_map_page(release) if release.variants.cases else "",
    )
