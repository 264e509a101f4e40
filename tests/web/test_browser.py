"""The app in a real browser: upload, choose, release, read, download. Makes the screenshots, too.

With SACOFA_SCREENSHOTS set, pictures for the documentation are written to docs/images.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sacofa.events import count_variants, open_log
from sacofa.examples import hospital, running_example
from sacofa.kernel.variants import VariantCounts
from sacofa.ledger import Ledger
from sacofa.release import make_key, verify
from sacofa.release.sign import signature_path
from tests.written import write_variants

from ..browser import Window, accessibility_faults, open_browser, watch
from ..report.releases import HOSTILE
from .clients import started

IMAGES = Path(__file__).parents[2] / "docs" / "images"
WIDE = {"width": 1280, "height": 860}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, forked: Path) -> Iterator[str]:
    """A running app with a ledger and a key."""
    folder = tmp_path_factory.mktemp("app")
    Ledger.create(folder / "ledger").set_budget("emergency ward", Fraction(2))
    make_key(folder / "office")
    options = ("--ledger", str(folder / "ledger"), "--key", str(folder / "office.key"))
    with started(folder / "cache", *options, program=forked) as (_, address):
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for all tests here."""
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def _window(browser: Any, address: str) -> Window:
    return Window(browser, own=(address.split("/?")[0], "data:"))


@pytest.fixture
def window(_window: Window) -> Iterator[Window]:
    """One window for all tests here; what one has opened does not go on asking beside the next."""
    yield _window
    _window.renew()


def _enter(window: Window, address: str, **look: Any) -> tuple[Any, list[str]]:
    """A new person opens the address; whatever is asked of another server is a complaint."""
    window.renew(**{"viewport": WIDE, **look})
    window.page.goto(address)
    assert "token" not in window.page.url
    return window.page, window.complaints


def _picture(page: Any, name: str, **more: Any) -> None:
    if os.environ.get("SACOFA_SCREENSHOTS"):
        IMAGES.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=IMAGES / f"{name}.png", **more)


def _await_promise(page: Any, words: str) -> None:
    """Wait until the promise on the page says something."""
    page.locator("#promise", has_text=words).wait_for()


def _charge_nobody(page: Any) -> None:
    page.locator("[name=dataset]").select_option("none: charge no budget")
    page.get_by_role("checkbox", name="Charge no budget").check()


def _number(page: Any, what: str) -> int:
    """A figure on the page, by the words under it."""
    found = page.locator("dl div", has=page.locator("dt", has_text=re.compile(f"^{what}$")))
    return int(found.locator("dd").inner_text().split()[0].replace(",", ""))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The embedded hospital log as a file."""
    path = tmp_path / "hospital.csv"
    write_variants(hospital(), path)
    return path


def test_from_a_log_to_its_release(window: Window, address: str, log: Path, tmp_path: Path) -> None:
    """The whole way, with numbers read off the page and the downloaded log read back."""
    page, complaints = _enter(window, address)
    assert accessibility_faults(page) == []
    _picture(page, "web-start")
    page.set_input_files("#file", log)
    page.wait_for_url("**/logs/*")
    page.wait_for_selector("#settings:visible")
    original = hospital()
    assert _number(page, "cases") == original.cases
    assert _number(page, "variants") == len(original)
    assert _number(page, "events") == original.events
    _await_promise(page, "2.72")
    assert accessibility_faults(page) == []
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowLeft")
    _await_promise(page, "1.65")
    assert page.locator("[name=epsilon]").input_value() == "0.5"
    page.keyboard.press("ArrowRight")
    _await_promise(page, "2.72")
    release = page.get_by_role("button", name="Release")
    assert release.is_disabled()  # nobody pays yet
    page.locator("[name=dataset]").select_option("emergency ward")
    page.locator("#cost", has_text="2 left of “emergency ward”, 1 after it").wait_for()
    page.locator("[name=epsilon]").fill("2,5")
    page.locator("#cost", has_text="not enough").wait_for()
    assert release.is_disabled()
    assert page.locator("#strength").inner_text() == "moderate"
    assert 7 < float(page.locator("#slider").input_value()) < 8
    page.locator("[name=epsilon]").fill("1")
    page.locator("#cost", has_text="1 after it").wait_for()
    _picture(page, "web-settings", full_page=True)
    page.wait_for_timeout(200)
    page.reload()
    page.locator("#cost", has_text="1 after it").wait_for()
    release.click()
    page.wait_for_url("**/jobs/*")
    page.reload()
    page.wait_for_selector("#result:visible", timeout=60_000)
    assert "a factor of at most 2.72" in page.locator("#promise").inner_text()
    page.wait_for_selector("#entries tr")  # the ledger is asked after the result is shown
    assert page.locator("#entries tr").count() == 1
    assert "released" in page.locator("#entries").inner_text()
    assert accessibility_faults(page) == []
    _picture(page, "web-release")
    downloaded = tmp_path / "released.parquet"
    for words, target in (
        ("log.parquet", downloaded),
        ("certificate", tmp_path / "released.parquet.certificate.json"),
        ("signature", signature_path(downloaded)),
    ):
        page.locator("#result details").evaluate("e => { e.open = true; }")
        row = page.locator("#files tr", has_text="Parquet")
        with page.expect_download() as download:
            row.get_by_role("link", name=words).click()
        download.value.save_as(target)
    assert verify(downloaded).holds
    assert page.locator("#signed").inner_text() == "signature by office"
    released = count_variants(open_log(downloaded))
    assert released.cases == _number(page, "cases")
    assert len(released) == _number(page, "variants")
    page.locator("#format").select_option(".csv")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download all").click()
    assert download.value.suggested_filename == "hospital.anonymized.zip"
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Read the report").click()
    report = opened.value
    more = watch(report)
    report.wait_for_load_state()
    assert _number(report, "cases") == released.cases
    report.set_viewport_size(WIDE)
    _picture(report, "report")
    report.locator("#variants").scroll_into_view_if_needed()
    report.get_by_role("searchbox").fill("Surgery")
    assert 0 < report.locator("#variants-body tr").count() <= 25
    assert (complaints, more) == ([], [])
    # The report is apart from the app: its scripts could not ask the interface for anything.
    assert report.evaluate("self.origin") == "null"
    for section in ("variants", "map"):
        report.get_by_role("searchbox").fill("")
        if os.environ.get("SACOFA_SCREENSHOTS"):
            report.locator(f"#{section}").screenshot(path=IMAGES / f"report-{section}.png")


def test_columns_can_be_named_on_the_page(window: Window, address: str, tmp_path: Path) -> None:
    """A log with unusual names is asked about, and then goes through."""
    path = tmp_path / "odd.csv"
    path.write_text("patient,what\n" + "".join(f"{i},a\n{i},b\n" for i in range(400)))
    page, complaints = _enter(window, address)
    page.set_input_files("#file", path)
    page.wait_for_selector("#columns:visible")
    assert accessibility_faults(page) == []
    page.locator("#columns-form [name=case]").select_option("patient")
    page.locator("#columns-form [name=activity]").select_option("what")
    page.wait_for_selector("#settings:visible")
    assert _number(page, "cases") == 400
    assert page.locator("#preview-head .taken").all_inner_texts() == [
        "patient\ncase · number", "what\nactivity · text",
    ]  # fmt: skip
    assert page.locator("#preview-body tr").count() == 6
    # Counted again with another column, and after a reload it is still so.
    page.locator("#columns-form [name=activity]").select_option("patient")
    page.locator("dd", has_text=re.compile("^400$")).nth(2).wait_for()
    page.reload()
    page.wait_for_selector("#settings:visible")
    assert page.locator("#columns-form [name=activity]").input_value() == "patient"
    assert _number(page, "activities") == 400
    assert complaints == []


def test_who_is_protected_is_counted_again_and_kept(
    window: Window, address: str, tmp_path: Path
) -> None:
    """With persons, as many cases of each count as are kept; a reload changes nothing."""
    path = tmp_path / "persons.csv"
    rows = (f"{case},a,p{case % 100}\n" for case in range(300))
    path.write_text("case,activity,who\n" + "".join(rows))
    page, complaints = _enter(window, address)
    page.set_input_files("#file", path)
    page.wait_for_selector("#settings:visible")
    assert _number(page, "cases") == 300
    page.get_by_label("Every person").check()
    _await_promise(page, "Choose the column")
    page.locator("[name=person]").select_option("who")
    page.locator("dd", has_text=re.compile("^100$")).first.wait_for()
    page.locator("[name=max_cases]").fill("2")
    page.locator("dd", has_text=re.compile("^200$")).first.wait_for()
    _await_promise(page, "about one person")
    assert "who\nperson · text" in page.locator("#preview-head .taken").all_inner_texts()
    page.reload()
    page.wait_for_selector("#settings:visible")
    _await_promise(page, "about one person")
    assert page.locator("[name=person]").input_value() == "who"
    assert page.locator("[name=max_cases]").input_value() == "2"
    assert _number(page, "cases") == 200
    assert complaints == []


def test_charging_nobody_is_confirmed_and_going_back_keeps_all(
    window: Window, address: str, tmp_path: Path
) -> None:
    """A second price needs no second upload; what was chosen is still there."""
    log = tmp_path / "small.csv"
    write_variants(running_example(), log)
    page, complaints = _enter(window, address)
    page.set_input_files("#file", log)
    page.wait_for_selector("#settings:visible")
    page.locator("[name=dataset]").select_option("none: charge no budget")
    page.locator("#cost", has_text="Confirm").wait_for()
    release = page.get_by_role("button", name="Release")
    assert release.is_disabled()
    page.get_by_role("checkbox", name="Charge no budget").check()
    page.locator("#cost", has_text="charged to nobody").wait_for()
    page.locator("[name=epsilon]").fill("0,5")
    _await_promise(page, "1.65")
    release.click()
    page.wait_for_selector("#result:visible", timeout=60_000)
    page.get_by_role("link", name="another ε").click()
    _await_promise(page, "1.65")
    assert page.locator("[name=epsilon]").input_value() == "0,5"
    assert page.get_by_role("checkbox", name="Charge no budget").is_checked()
    page.goto(address)  # the printed address again
    page.locator("#logs a", has_text=log.name).wait_for()
    assert page.locator("#jobs a").count() == 1
    assert complaints == []


def test_a_lost_connection_is_tried_again(window: Window, address: str) -> None:
    """The page says so meanwhile, and goes on when the app answers; problems stay until read."""
    page, _ = _enter(window, address)
    page.route("**/api/logs", lambda route: route.abort())
    page.locator("#offline").wait_for(timeout=10_000)
    page.unroute("**/api/logs")
    page.locator("#offline").wait_for(state="hidden", timeout=10_000)
    page.goto(address.split("?")[0] + "logs/nothing")
    page.wait_for_selector("#problem:visible")
    page.wait_for_timeout(500)
    page.get_by_role("button", name="Dismiss").click()
    assert page.locator("#problem").is_hidden()


def test_the_interface_can_be_browsed(window: Window, address: str) -> None:
    """Every way is there, with its fields and examples, and nothing is asked of other servers."""
    page, complaints = _enter(window, address)
    page.get_by_role("link", name="for programs").click()
    page.locator("#ways h2", has_text="POST /api/jobs").first.wait_for()
    assert "not_charged" in page.locator("#ways").inner_text()
    assert accessibility_faults(page) == []
    assert complaints == []


def test_attributes_are_ticked_and_show_their_price(
    window: Window, address: str, tmp_path: Path
) -> None:
    """Every one more makes the others dearer; what is ticked is what is released."""
    rows = [
        f"{i},{step},2025-03-0{1 + i % 9}T0{hour}:00:00,{('web', 'shop')[i % 2]},{i % 40},Ann,{i},"
        "Eva Bly"
        for i in range(200)
        for hour, step in enumerate(("order", "pay"))
    ]
    path = tmp_path / "orders.csv"
    header = "case,activity,timestamp,case:channel,amount,org:resource,invoice_id,customer_name"
    path.write_text("\n".join([header, *rows]))
    columns = tmp_path / "columns.toml"
    columns.write_text('[attributes.amount]\ntype = "number"\nmin = 0\nmax = 40\nunit = 5\n')
    page, complaints = _enter(window, address)
    page.set_input_files("#file", path)
    page.wait_for_selector("#settings:visible")
    _charge_nobody(page)
    box = page.locator("#attribute-list")
    assert "identifier" in box.locator("label", has_text="invoice_id").first.inner_text()
    # Names of persons are offered apart, and can be ticked only after the user has insisted.
    assert box.locator("label", has_text="customer_name").count() == 0
    assert page.locator("#personal-list input[value=customer_name]").first.is_disabled()
    price = box.locator("label", has_text="case:channel").locator("output")
    box.get_by_role("checkbox", name="case:channel").check()
    page.locator("#attribute-list output", has_text="ε = 0.200").wait_for()
    page.locator("[name=columns_file]").set_input_files(columns)
    box.locator("input[value=amount]").first.check()
    box.get_by_role("checkbox", name="amount: one value for each case").check()
    page.locator("#attribute-sum", has_text="0.20 buys attributes").wait_for()
    box.locator("label", has_text="amount").first.locator("output", has_text="ε").wait_for()
    assert 0.05 < float(price.inner_text().split()[2].strip(",")) < 0.15
    box.locator("input[value='org:resource']").first.check()
    _await_promise(page, "names people at work")
    assert page.get_by_role("button", name="Release").is_disabled()
    box.locator("input[value='org:resource']").first.uncheck()
    _await_promise(page, "2.72")
    assert accessibility_faults(page) == []
    page.get_by_role("button", name="Release").click()
    page.wait_for_url("**/jobs/*")
    page.wait_for_selector("#result:visible", timeout=60_000)
    page.locator("#result details").evaluate("e => { e.open = true; }")
    with page.expect_download() as download:
        page.locator("#files").get_by_role("link", name="log.csv").first.click()
    header, *released = download.value.path().read_text().splitlines()
    assert {"case:channel", "case:amount"} <= set(
        header.split(",")
    ) and "org:resource" not in header
    # The one complaint is that the plan was refused, as it had to be.
    assert len(released) > 100 and ["422" in line for line in complaints] == [True]


def test_settings_that_cannot_be_are_explained(window: Window, address: str, log: Path) -> None:
    """While they are typed; nothing can be released with them."""
    page, _ = _enter(window, address)
    page.set_input_files("#file", log)
    page.wait_for_selector("#settings:visible")
    page.locator("[name=epsilon]").fill("-1")
    _await_promise(page, "must be")
    assert page.get_by_role("button", name="Release").is_disabled()
    page.locator("[name=epsilon]").fill("1")
    page.locator("#more summary").click()
    page.locator("[name=mechanism]").select_option("sacofa")
    page.locator("[name=max_length]").fill("8")
    page.locator("[name=prune]").fill("5")
    _await_promise(page, "no math")
    assert page.locator("#beliefs-table").is_hidden()


def test_names_that_are_markup_do_nothing(window: Window, address: str, tmp_path: Path) -> None:
    """Names of activities and of the file are text on every page."""
    path = tmp_path / "<img src=x onerror=alert(1)>.json"
    write_variants(VariantCounts.of({HOSTILE: 5000}), tmp_path / "x.json")
    (tmp_path / "x.json").rename(path)
    page, complaints = _enter(window, address)
    page.set_input_files("#file", path)
    page.wait_for_selector("#settings:visible")
    assert page.locator("h1").inner_text() == path.name
    assert page.locator("#frequent li").all_text_contents() == [*HOSTILE]
    _charge_nobody(page)
    page.get_by_role("button", name="Release").click()
    page.wait_for_selector("#result:visible", timeout=60_000)
    page.goto(address.split("?")[0])
    page.wait_for_selector("#jobs-section:visible")
    assert page.locator("#jobs a").first.inner_text() == path.name
    assert page.locator("main img").count() == 0
    assert complaints == []


def test_a_job_can_be_cancelled_on_the_page(window: Window, address: str, tmp_path: Path) -> None:
    """And the log is still there for other settings."""
    names = [f"activity {i}" for i in range(40)]
    counts = {tuple(names[(i * j) % 40] for j in range(60)): 40 for i in range(1, 40)}
    path = tmp_path / "long.xes"
    write_variants(VariantCounts.of(counts), path)
    page, complaints = _enter(window, address)
    page.set_input_files("#file", path)
    page.wait_for_selector("#settings:visible", timeout=60_000)
    _charge_nobody(page)
    page.get_by_role("button", name="Release").click()
    page.wait_for_url("**/jobs/*")
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector("#ended:visible")
    assert page.locator("#why").inner_text() == "Cancelled."
    page.get_by_role("link", name="choose other settings").click()
    page.wait_for_selector("#settings:visible")
    page.get_by_role("button", name="Delete it now").click()
    page.get_by_role("button", name="Keep it").click()
    assert page.locator("#settings").is_visible()
    page.get_by_role("button", name="Delete it now").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.wait_for_url(re.compile(r"/$"))
    assert complaints == []


def test_two_browsers_are_two_people(browser: Any, window: Window, address: str, log: Path) -> None:
    """What one uploads the other does not see, nor finds by its address."""
    anna, _ = _enter(window, address)
    ben = browser.new_context().new_page()
    ben.goto(address)
    anna.set_input_files("#file", log)
    anna.wait_for_selector("#settings:visible")
    ben.reload()
    assert ben.locator("#logs-section").is_hidden()
    ben.goto(anna.url)
    ben.wait_for_selector("#problem:visible")
    assert "never was yours" in ben.locator("#problem").inner_text()
    ben.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_small_screens(window: Window, address: str, log: Path, scheme: str) -> None:
    """Nothing is wider than a telephone, and the checker finds nothing in the dark either."""
    page, complaints = _enter(
        window, address, color_scheme=scheme, viewport={"width": 360, "height": 780}
    )
    page.set_input_files("#file", log)
    page.wait_for_selector("#settings:visible")
    page.locator("#more summary").click()
    _await_promise(page, "2.72")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert accessibility_faults(page) == []
    assert complaints == []
