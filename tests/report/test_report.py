"""A report is one file, asks nobody for anything, and lets no name become markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from datetime import date
from fractions import Fraction
from pathlib import Path

import lxml.html
import pytest

from sacofa.evaluate.registry import MEASURES
from sacofa.evaluate.runs import Row, RunTable
from sacofa.examples import running_example
from sacofa.kernel.accounting import Leak
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms import Certified
from sacofa.release import Release, anonymize
from sacofa.report import Facts, make_internal_report, make_report, read_comparison
from sacofa.report.flow import count_flow
from sacofa.report.promise import say_promise, say_verdict

from .releases import HOSTILE, hospital, large, leaking, of, slow, timed, without_packages

NOTHING = VariantCounts.of({})


def _parse(page: str) -> lxml.html.HtmlElement:
    return lxml.html.document_fromstring(page)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


PAGES = {
    "published": lambda: make_report(hospital(), title="hospital.xes"),
    "leaking": lambda: make_report(leaking(), title="hospital.xes"),
    "empty": lambda: make_report(of(NOTHING), title="empty"),
    "hostile": lambda: make_report(of(VariantCounts.of({HOSTILE: 5})), title=HOSTILE[0]),
    "internal": lambda: make_internal_report(hospital(), running_example(), title="hospital.xes"),
    "internal, hostile": lambda: make_internal_report(
        of(VariantCounts.of({HOSTILE: 5})), VariantCounts.of({HOSTILE[:3]: 5}), title=HOSTILE[1]
    ),
    "internal, nothing released": lambda: make_internal_report(
        of(NOTHING), running_example(), title="x"
    ),
    "times": lambda: make_report(timed(), title="times"),
    "internal, times": lambda: make_internal_report(timed(), slow(), title="times"),
    "internal, of nothing": lambda: make_internal_report(hospital(), NOTHING, title="x"),
}


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_stands_alone_under_a_strict_policy(kind: str) -> None:
    """No address but its own parts, no style or script but those that the policy names."""
    page = PAGES[kind]()
    tree = _parse(page)
    for attribute in ("src", "href", "srcset", "action", "poster", "data", "xlink:href"):
        for value in tree.xpath(f"//@*[name()='{attribute}']"):
            assert value.startswith("#") or value == "data:,"
    assert not re.search(r"url\(|@import", page)
    (style,) = tree.xpath("//style")
    scripts = tree.xpath("//script")
    assert [script.get("type") for script in scripts] == ["application/json", None]
    (policy,) = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert f"style-src {_hash(style.text)};" in policy
    assert f"script-src {_hash(scripts[1].text)};" in policy
    assert not tree.xpath("//@style")
    assert not [name for element in tree.iter() for name in element.attrib if name.startswith("on")]


def test_names_that_are_markup_stay_names() -> None:
    """Every hostile name is there as text, and not one became an element."""
    page = PAGES["internal, hostile"]()
    tree = _parse(page)
    assert not tree.xpath("//img")
    shown = tree.xpath("//ol[@class='trace'][1]/li[not(@class='note')]/text()")
    assert shown[: len(HOSTILE)] == list(HOSTILE)
    (data,) = tree.xpath("//script[@type='application/json']/text()")
    assert "<" not in data
    assert set(json.loads(data)["activities"]) == set(HOSTILE)
    assert tree.xpath("//head/title/text()") == [f"CONFIDENTIAL · {HOSTILE[1]}"]


def test_the_publishable_report_begins_with_a_verdict() -> None:
    """Then what to check, then the price, and the numbers are those of the release."""
    release = hospital()
    tree = _parse(make_report(release, title="hospital.xes"))
    (verdict,) = tree.xpath("//main/section[1]/p[1]/text()")
    assert verdict == say_verdict(release)
    assert tree.xpath("//main/section[2]/@id") == ["check"]
    assert say_promise(release.certificate) in tree.xpath("//section[@id='account']/p/text()")
    numbers = [(number.text or "").strip() for number in tree.xpath("//dl//dd")]
    figures = dict(zip(tree.xpath("//dl//dt/text()"), numbers, strict=True))
    assert figures["ε of the whole release"] == "1"
    assert figures["cases"] == f"{release.variants.cases:,}"
    assert figures["variants"] == f"{len(release.variants):,}"
    text = tree.text_content()
    for line in (*release.certificate.assumptions, *release.certificate.not_promised):
        assert str(line) in text
    assert "Confidential" not in text
    assert [h.tag for h in tree.xpath("//h1|//h2")] == ["h1"] + 6 * ["h2"]


def test_a_report_says_when_of_what_and_by_whom() -> None:
    """As far as somebody said so; and no term that only the program knows is left over."""
    facts = Facts(date=date(2026, 3, 1), dataset="ward <7>", released_by="City of X")
    release = anonymize(running_example(), Certified(epsilon=1))
    page = _parse(make_report(release, title="x", facts=facts))
    (line,) = page.xpath("//p[contains(@class, 'facts')]")
    assert line.text_content() == "Released on 1 March 2026 by City of X, dataset ward <7>"
    text = page.text_content()
    for term in ("max_length", "empty cells", "sacofa compare"):
        assert term not in text
    assert "each case has one vote" in text
    assert not _parse(make_report(release, title="x")).xpath("//p[contains(@class, 'facts')]")


def test_what_does_not_hold_is_said() -> None:
    """Neither a leak nor a seed looks like a promise."""
    leak = _parse(make_report(leaking(), title="x")).text_content()
    assert "no mathematical promise" in leak
    assert "no finite ε" in leak
    seeded = _parse(make_report(hospital(seed=1), title="x")).text_content()
    assert "must not be published" in seeded


def test_the_internal_report_is_secret_everywhere() -> None:
    """The title, a bar that stays, the page margins, every printed page."""
    page = PAGES["internal"]()
    tree = _parse(page)
    assert tree.xpath("//head/title/text()")[0].startswith("CONFIDENTIAL")
    assert tree.xpath("//body[@class='internal']//aside[@class='secret']")
    assert "@page secret" in page


def test_the_internal_report_shows_lost_and_invented() -> None:
    """Both counts of each variant, and a word for those that only one log has."""
    released = VariantCounts.of({("Register", "Triage"): 4, ("Register",): 1})
    original = VariantCounts.of({("Register", "Triage"): 3, ("Triage",): 2})
    tree = _parse(make_internal_report(of(released), original, title="x"))
    rows = [
        [cell.text_content().strip() for cell in row.xpath("./td")[2:]]
        for row in tree.xpath("//tbody[@id='variants-body']/tr")
    ]
    assert rows == [["4", "3", ""], ["1", "0", "invented"], ["0", "2", "lost"]]


def test_measures_are_shown_as_far_as_they_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the optional libraries the simple ones are there, and how to get the rest."""
    released = VariantCounts.of({("a", "b"): 4})
    original = VariantCounts.of({("a", "b"): 3, ("c",): 1})
    without_packages(monkeypatch, "pm4py", "sklearn")
    tree = _parse(make_internal_report(of(released), original, title="x"))
    lines = dict(
        zip(
            tree.xpath("//section[@id='measures']//tbody/tr/th/text()"),
            tree.xpath("//section[@id='measures']//tbody/tr/td[1]/text()"),
            strict=True,
        )
    )
    assert lines["Mass kept"] == "0.750" and lines["Invented"] == "0.000"
    assert "Steps" in lines and "F-score" not in lines
    assert "sacofa[evaluate]" in tree.text_content()


def test_all_measures_are_shown_where_the_libraries_are() -> None:
    """A line for each, with the similarity of a log to itself."""
    pytest.importorskip("pm4py")
    tree = _parse(make_internal_report(of(running_example()), running_example(), title="x"))
    assert len(tree.xpath("//section[@id='measures']//tbody/tr")) == sum(
        not one.timed for one in MEASURES
    )
    (similarity,) = tree.xpath("//section[@id='measures']//tr[th='Similarity']/td[1]/text()")
    assert similarity == "1.000"


def test_a_table_takes_the_place_of_the_map_without_scripts() -> None:
    """It is open and complete; the script closes it when it draws the map."""
    page = _parse(make_report(of(running_example()), title="x"))
    assert page.xpath("//section[@id='map']//noscript")
    rows = page.xpath("//section[@id='map']/details[@open]//tbody/tr")
    assert len(rows) == len(count_flow(running_example()).steps)


def test_a_thousand_variants_fit_two_megabytes() -> None:
    """Also where cases are long and names are, too, and beside an original."""
    for release in (large(1000, 30, 25), large(1000, 60, 200)):
        assert len(make_report(release, title="x").encode()) < 2_000_000
    assert len(_without_measures(large(1000, 30, 25), large(900, 28, 25).variants)) < 2_000_000


def _without_measures(release: Release, original: VariantCounts) -> bytes:
    with pytest.MonkeyPatch.context() as patch:
        # Measuring takes long here and is not what this is about.
        without_packages(patch, "pm4py", "sklearn")
        return make_internal_report(release, original, title="x").encode()


def test_equal_releases_give_equal_pages() -> None:
    """Nothing of the moment or the machine is in a page."""
    assert make_report(hospital(seed=5), title="x") == make_report(hospital(seed=5), title="x")


def test_a_leak_beside_spends_is_named_in_the_account() -> None:
    """The account names what was not paid for, and why that matters."""
    leak = Leak(what="the rules", why="one case can change them")
    text = _parse(make_report(of(running_example(), leak), title="x")).text_content()
    assert "one case can change them" in text


def test_a_comparison_is_summed_up(tmp_path: Path) -> None:
    """Medians and quartiles for each setting; a timeout has no value and is left out."""
    table = RunTable(tmp_path / "runs.csv")
    values: list[tuple[float | None, float]] = [(0.9, 0.5), (0.7, 0.6), (0.8, 0.7), (None, 0.7)]
    for repetition, (similarity, f_score) in enumerate(values, start=1):
        table.append(_row("certified", "1", repetition, 1.0, similarity, f_score))
    table.append(_row("sacofa", "0.1", 1, float("inf"), 0.25, 0.5))
    comparison = read_comparison(tmp_path)
    places = [comparison.columns.index(name) for name in ("Similarity", "Mass kept")]
    what = [(*row[:5], *(row[place] for place in places)) for row in comparison.rows]
    assert comparison.columns[:5] == ("mechanism", "requested ε", "spent ε", "times", "runs")
    assert what == [
        ("certified", "1", "1", "–", "4", "0.800 (0.750–0.850)", "–"),
        ("sacofa", "0.1", "∞", "–", "1", "0.250", "–"),
    ]
    page = make_internal_report(
        hospital(level_epsilon=Fraction(1)), running_example(), title="x", comparison=comparison
    )
    assert "0.800 (0.750–0.850)" in page


def _row(
    series: str, epsilon: str, repetition: int, spent: float, similarity: float | None, f: float
) -> Row:
    return Row(
        log="x", digest="x", series=series, mechanism=series, epsilon=epsilon, settings="{}",
        repetition=repetition, seed=1, status="done", spent=spent,
        measures={"similarity": similarity, "f_score": f},
    )  # fmt: skip
