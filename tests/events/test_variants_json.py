"""Counted variants as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sacofa.errors import ReadError
from sacofa.events import count_variants
from sacofa.kernel.variants import VariantCounts
from tests.written import write_variants


def test_the_file_looks_like_this(tmp_path: Path) -> None:
    """The format is fixed: other programs read it."""
    write_variants(
        VariantCounts.of({("a", "b"): 2}, ["b", "a", "c"], {("a",): 1}), tmp_path / "v.json"
    )
    assert (tmp_path / "v.json").read_text() == (
        '{"format": "sacofa-variants-1",\n'
        ' "activities": ["b", "a", "c"],\n'
        ' "variants": [\n'
        '  {"activities": ["a"], "count": 1, "finished": false},\n'
        '  {"activities": ["a", "b"], "count": 2, "finished": true}\n'
        " ]}\n"
    )
    assert count_variants(tmp_path / "v.json").activities == ("b", "a", "c")


GOOD = {
    "format": "sacofa-variants-1",
    "activities": ["a"],
    "variants": [{"activities": ["a"], "count": 1, "finished": True}],
}


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"format": "sacofa-variants-2"}, "no variants"),
        ({"activities": ["a", "a"]}, "different names"),
        ({"activities": "a"}, "different names"),
        ({"activities": [1]}, "different names"),
        ({"activities": ["a", "\ud800"]}, "Unicode"),
        ({"variants": {}}, "must be a list"),
        ({"variants": [["a"]]}, "variant 1"),
        ({"variants": [{"activities": ["a"], "count": -1, "finished": True}]}, "variant 1"),
        ({"variants": [{"activities": ["a"], "count": 1.5, "finished": True}]}, "variant 1"),
        ({"variants": [{"activities": ["a"], "count": True, "finished": True}]}, "variant 1"),
        ({"variants": [{"activities": ["a"], "count": 10**30, "finished": True}]}, "variant 1"),
        ({"variants": [{"activities": ["b"], "count": 1, "finished": True}]}, "unknown activity"),
    ],
)
def test_wrong_content(change: dict[str, object], what: str, tmp_path: Path) -> None:
    """What is no such file is refused with the place that is wrong."""
    (tmp_path / "v.json").write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(ReadError, match=what):
        count_variants(tmp_path / "v.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, '{"format": NaN}'])
def test_no_json(text: str, tmp_path: Path) -> None:
    """What is no JSON at all is one clear line."""
    (tmp_path / "v.json").write_text(text)
    with pytest.raises(ReadError) as caught:
        count_variants(tmp_path / "v.json")
    assert "\n" not in str(caught.value)
