"""A real browser for tests: Debian's chromium, driven by playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def open_browser() -> Iterator[Any]:
    """Start a browser; the test is skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("no chromium here (Debian: apt-get install chromium)")
    api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"]
        )
        try:
            yield browser
        finally:
            browser.close()


def watch(page: Any) -> list[str]:
    """Collect what a page complains about, policy violations included."""
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return complaints


SCREEN = {"width": 1280, "height": 720}


class Window:
    """A window that tests share: to open one takes longer than most of what is done in it."""

    def __init__(self, browser: Any, own: tuple[str, ...] = ()) -> None:
        """Open the window; addresses that begin like own are no complaint."""
        self.page = browser.new_context().new_page()
        self.complaints = watch(self.page)
        """What the page complains about, and the other addresses that it asks for."""
        self.page.on(
            "request",
            lambda request: request.url.startswith(own) or self.complaints.append(request.url),
        )
        # A question of a page is a complaint too: nobody is there to answer.
        self.page.on("dialog", self._refuse)

    def _refuse(self, dialog: Any) -> None:
        self.complaints.append(dialog.message)
        dialog.dismiss()

    def renew(self, color_scheme: str = "light", viewport: dict[str, int] = SCREEN) -> None:
        """Leave what was opened before, and be somebody else."""
        for popup in self.page.context.pages[1:]:
            popup.close()
        self.page.goto("about:blank")
        self.page.context.clear_cookies()
        self.page.emulate_media(color_scheme=color_scheme)
        self.page.set_viewport_size(viewport)
        self.complaints.clear()


def accessibility_faults(page: Any) -> list[str]:
    """What axe, the accessibility checker, finds wrong with a page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = axe.Axe().run(page).response["violations"]
    return [f"{fault['id']}: {fault['nodes'][0]['html'][:200]}" for fault in found]
