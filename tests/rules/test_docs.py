"""The documentation of rules says what is so."""

from __future__ import annotations

import re
from pathlib import Path

from sacofa.rules import allowed, file, read_rules

DOCS = Path(__file__).parents[2] / "docs" / "rules.md"


def test_the_example_in_the_documentation_is_a_rules_file(tmp_path: Path) -> None:
    """It can be read as it stands."""
    example = re.search(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    (tmp_path / "rules.toml").write_text(example[1], encoding="utf-8")
    assert read_rules(tmp_path / "rules.toml").starts.tolist() == [True, False, False, False]


def test_every_kind_of_rule_and_every_bound_is_documented() -> None:
    """Names and numbers are those of the code."""
    text = DOCS.read_text(encoding="utf-8")
    assert all(
        kind in text for kind in (*file.PAIR_KEYS, "starts", "empty", "activities", "source")
    )
    assert f"{allowed.MAX_STATES:,} states or {allowed.MAX_STEPS:,} steps" in text
