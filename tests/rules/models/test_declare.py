"""Declare: the strongest rules that follow from each template, and nothing more."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from sacofa.errors import RulesError
from sacofa.kernel.variants import VariantCounts
from sacofa.rules import learn_rules
from sacofa.rules.models import read_model

NAMES = ("A", "B", "C")
WORDS = [word for n in range(6) for word in product(NAMES, repeat=n)]


def follows(word: tuple[str, ...], a: str, b: str) -> bool:
    """Every a is followed by a b."""
    return all(b in word[i + 1 :] for i, x in enumerate(word) if x == a)


def precedes(word: tuple[str, ...], a: str, b: str) -> bool:
    """Every b is preceded by an a."""
    return all(a in word[:i] for i, x in enumerate(word) if x == b)


def alternates(word: tuple[str, ...], a: str, b: str) -> bool:
    """Every a is followed by a b before the next a."""
    between = "".join(x for x in word if x in (a, b))
    return not between or (a + a not in between and not between.endswith(a))


def chained(word: tuple[str, ...], a: str, b: str) -> bool:
    """A b comes directly after every a."""
    return all(word[i + 1 : i + 2] == (b,) for i, x in enumerate(word) if x == a)


MEANINGS: dict[str, Callable[[tuple[str, ...]], bool]] = {
    "Response[A, B]": lambda w: follows(w, "A", "B"),
    "Alternate Response[A, B]": lambda w: alternates(w, "A", "B"),
    "Chain Response[A, B]": lambda w: chained(w, "A", "B"),
    "Precedence[A, B]": lambda w: precedes(w, "A", "B"),
    "Chain Precedence[A, B]": lambda w: chained(w[::-1], "B", "A"),
    "Alternate Precedence[A, B]": lambda w: alternates(w[::-1], "B", "A"),
    "Succession[A, B]": lambda w: follows(w, "A", "B") and precedes(w, "A", "B"),
    "Not Response[A, B]": lambda w: "B" not in w[w.index("A") :] if "A" in w else True,
    "Not Succession[A, B]": lambda w: "B" not in w[w.index("A") :] if "A" in w else True,
    "Not Precedence[A, B]": lambda w: "B" not in w[w.index("A") :] if "A" in w else True,
    "Not Co-Existence[A, B]": lambda w: not {"A", "B"} <= set(w),
    "Not Responded Existence[A, B]": lambda w: not {"A", "B"} <= set(w),
    "Responded Existence[A, B]": lambda w: "A" not in w or "B" in w,
    "Co-Existence[A, B]": lambda w: ("A" in w) == ("B" in w),
    "Choice[A, B]": lambda w: "A" in w or "B" in w or not w,
    "Not Chain Succession[A, B]": lambda w: "AB" not in "".join(w),
    "Init[A]": lambda w: w[:1] in ((), ("A",)),
    "End[A]": lambda w: w[-1:] in ((), ("A",)),
    "Existence[A]": lambda w: "A" in w,
    "Existence2[A]": lambda w: w.count("A") >= 2,
    "Absence[A]": lambda w: "A" not in w,
    "Absence2[A]": lambda w: w.count("A") < 2,
    "Absence3[A]": lambda w: w.count("A") < 3,
    "Existence0[A]": lambda w: True,
    "Exactly0[A]": lambda w: "A" not in w,
    "Exactly1[A]": lambda w: w.count("A") == 1,
    "Exactly2[A]": lambda w: w.count("A") == 2,
}


OTHERS: dict[str, Callable[[tuple[str, ...]], bool]] = {
    "Existence[B]": lambda w: "B" in w,
    "End[C]": lambda w: w[-1:] in ((), ("C",)),
    "Absence2[C]": lambda w: w.count("C") < 2,
}


def declare(folder: Path, *constraints: str) -> Path:
    """A file with constraints on A, B and C."""
    path = folder / "model.decl"
    lines = [*(f"activity {name}" for name in NAMES), *(f"{line} | | |" for line in constraints)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("constraint", MEANINGS)
def test_a_template_gives_the_rules_that_follow_and_no_others(
    constraint: str, tmp_path: Path
) -> None:
    """They are the rules of all words that keep it."""
    found = read_model(declare(tmp_path, constraint)).rules()
    kept = [word for word in WORDS if MEANINGS[constraint](word)]
    assert found == learn_rules(VariantCounts.of(dict.fromkeys(kept, 1), NAMES), found.source)


@pytest.mark.parametrize(
    "pair", [("Init[A]", "Existence[B]"), ("End[C]", "Absence2[C]"), ("Init[A]", "Exactly1[A]")]
)
def test_together_they_hold_where_both_do(pair: tuple[str, str], tmp_path: Path) -> None:
    """Every word that keeps both keeps the rules; what must occur follows what begins."""
    found = read_model(declare(tmp_path, *pair)).rules()
    kept = [w for w in WORDS if all((MEANINGS | OTHERS)[c](w) for c in pair)]
    whole = learn_rules(VariantCounts.of(dict.fromkeys(kept, 1), NAMES), found.source)
    for part in ("never_follows", "always_follows", "always_precedes"):
        assert not (getattr(found, part) & ~getattr(whole, part)).any()
    if pair == ("Init[A]", "Existence[B]"):
        assert found.always_follows[0, 1]


@pytest.mark.parametrize(
    ("lines", "line", "words"),
    [
        (["Respnse[A, B]"], 4, 'Did you mean "response"'),
        (["Response[A, D]"], 4, '"D" is not among'),
        (["Response[A]"], 4, "two activities"),
        (["Init[A]", "Init[B]"], 5, "another Init"),
        (["Init[A]", "Absence[A]"], None, "no activity could begin"),
        (["Response[A, B]", "Not Response[A, B]"], 4, "line 5 says never"),
        (["Precedence[A, A]"], 4, "cannot occur"),
    ],
)
def test_mistakes_are_told_with_their_line(
    tmp_path: Path, lines: list[str], line: int | None, words: str
) -> None:
    """And with the nearest valid name."""
    with pytest.raises(RulesError) as caught:
        read_model(declare(tmp_path, *lines))
    assert caught.value.line == line
    assert words in str(caught.value)


def test_names_may_hold_commas_and_brackets(tmp_path: Path) -> None:
    """As long as they are declared."""
    path = tmp_path / "model.decl"
    path.write_text(
        "activity Check [again], twice\nactivity B\nResponse[Check [again], twice, B]\n"
    )
    rules = read_model(path).rules()
    assert rules.activities == ("Check [again], twice", "B")
    assert rules.always_follows[0, 1]
