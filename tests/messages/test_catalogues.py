"""Every statement has a wording in each language, with the same places."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sacofa.kernel import ONE_CASE
from sacofa.kernel.statements import TEXT
from sacofa.mechanisms import Certified
from sacofa.messages import catalogue
from sacofa.messages.catalogue import (
    FOLDER,
    Wording,
    check_language,
    languages,
    load_catalogue,
    parsed,
)
from sacofa.release.anonymize import certify_request
from sacofa.release.disclosure import disclose, to_markdown

from .sources import Made, made_statements, used_codes

ENGLISH = load_catalogue("en").wordings
MADE = sorted(made_statements(), key=lambda made: made.where)


def places(wording: Wording) -> set[str]:
    """The names of the places in the templates of a code."""
    found = {name for template in wording.templates for _, name, _ in parsed(template) if name}
    return found | ({wording.plural} if wording.plural else set())


@pytest.mark.parametrize("language", [name for name in languages() if name != "en"])
def test_a_language_has_the_codes_and_places_of_english(language: str) -> None:
    """A missing or extra code or place fails here."""
    wordings = load_catalogue(language).wordings
    assert wordings.keys() == ENGLISH.keys()
    for code, wording in wordings.items():
        assert places(wording) == places(ENGLISH[code]), code


@pytest.mark.parametrize("language", languages())
def test_a_language_states_how_it_writes_numbers_and_lists(language: str) -> None:
    """The table `[language]` is complete."""
    assert load_catalogue(language).conventions.keys() == load_catalogue("en").conventions.keys()


@pytest.mark.parametrize("made", MADE, ids=lambda made: f"{made.where} {made.code}")
def test_a_statement_has_a_wording_and_the_values_that_it_needs(made: Made) -> None:
    """Each code in the sources stands in the catalogue, with places for just these values."""
    if made.code == TEXT:
        return
    assert made.code in ENGLISH
    expected = places(ENGLISH[made.code])
    assert made.values <= expected if made.open else made.values == expected


def test_every_wording_is_used() -> None:
    """No catalogue keeps a code that no source makes."""
    codes, tables = used_codes()
    assert {code for code in ENGLISH if code not in codes and not code.startswith(tables)} == set()


@pytest.mark.parametrize("language", languages())
def test_a_plural_is_complete(language: str) -> None:
    """A number decides between two templates, or there is one."""
    for code, wording in load_catalogue(language).wordings.items():
        assert (wording.one is None) == (wording.plural is None), code


def test_a_language_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file next to the others is a language: certificates are worded in it."""
    for path in FOLDER.glob("*.toml"):
        shutil.copy(path, tmp_path)
    text = (FOLDER / "en.toml").read_text(encoding="utf-8")
    french = text.replace('title = "Privacy statement"', 'title = "Confidentialité"')
    (tmp_path / "fr.toml").write_text(french, encoding="utf-8")
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    caches = (languages, load_catalogue)
    for cached in caches:
        cached.cache_clear()
    try:
        assert check_language("fr") == "fr" and languages()[0] == "en"
        certificate = certify_request(Certified(epsilon=1), ONE_CASE)
        pages = [to_markdown(disclose(certificate), language) for language in ("en", "fr")]
        assert pages[1] == pages[0].replace("# Privacy statement", "# Confidentialité", 1)
    finally:
        for cached in caches:
            cached.cache_clear()
