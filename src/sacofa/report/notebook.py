"""The notebook display of a release: guarantee, most frequent variants, process map."""

from __future__ import annotations

from ..release.anonymize import Release
from .build import make_map_page
from .flow import list_variants
from .page import render
from .promise import say_promise

SHOWN_VARIANTS = 10
SHOWN_ACTIVITIES = 30
"""Number of activities of a variant that are listed, before the number of the others."""


def notebook_html(release: Release) -> str:
    """Make HTML that a notebook displays for a release.

    Args:
        release: The release.

    Returns:
        HTML without external resources. It may be published with the release.
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
