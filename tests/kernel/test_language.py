"""Counting, numbering and drawing words, against listing them all."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from sacofa.errors import SettingError
from sacofa.kernel import language
from sacofa.kernel.language import Language, Word
from sacofa.kernel.variants import VariantCounts
from sacofa.rules.allowed import (
    Steps,
    all_sequences,
    sequences_of_steps,
    sequences_within_rules,
)
from sacofa.rules.rules import Rules

from ..rules import oracle
from ..rules.cases import random_rules


def every_word(size: int, max_length: int) -> Iterator[Word]:
    """List all sequences, one after the other."""
    for length in range(max_length + 1):
        for word in product(range(size), repeat=length):
            yield word, True
            if length == max_length:
                yield word, False


def takes_steps(steps: Steps, word: Word) -> bool:
    """Check a word step by step."""
    sequence, finished = word
    if not sequence:
        return steps.empty or not finished
    return bool(
        steps.starts[sequence[0]]
        and all(steps.follows[a, b] for a, b in pairwise(sequence))
        and (steps.ends[sequence[-1]] or not finished)
    )


def random_steps(rng: np.random.Generator, size: int) -> Steps:
    """Steps at random."""
    return Steps(
        activities=tuple(map(str, range(size))),
        starts=rng.random(size) < 0.6,
        follows=rng.random((size, size)) < 0.5,
        ends=rng.random(size) < 0.5,
        empty=bool(rng.random() < 0.3),
    )


def agree(found: Language, words: set[Word], universe: list[Word]) -> None:
    """Check size, membership and numbering of a language whose words are known."""
    assert found.size == len(words)
    assert {found.word(number) for number in range(found.size)} == words
    variants = VariantCounts.from_arrays(
        found.activities,
        [a for word, _ in universe for a in word],
        [len(word) for word, _ in universe],
        [1] * len(universe),
        [finished for _, finished in universe],
    )
    listed = zip(variants.sequences(), variants.complete.tolist(), strict=True)
    held = {word for word, fine in zip(listed, found.holds(variants).tolist(), strict=True) if fine}
    assert held == words
    for word in universe[::17]:
        assert found.contains(*word) == (word in words)


@pytest.mark.parametrize(("size", "max_length"), [(0, 2), (1, 1), (1, 6), (2, 5), (3, 4), (5, 3)])
def test_all_sequences_are_as_many_as_listed(size: int, max_length: int) -> None:
    """The cells of the whole histogram."""
    universe = list(every_word(size, max_length))
    agree(all_sequences(tuple(map(str, range(size))), max_length), set(universe), universe)


@pytest.mark.parametrize("seed", range(30))
def test_sequences_of_steps_are_as_many_as_listed(seed: int) -> None:
    """Random steps, dead ends and unreachable activities among them."""
    rng = np.random.default_rng(seed)
    size, max_length = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    steps = random_steps(rng, size)
    universe = list(every_word(size, max_length))
    words = {word for word in universe if takes_steps(steps, word)}
    agree(sequences_of_steps(steps, max_length), words, universe)


@pytest.mark.parametrize("seed", range(30))
def test_sequences_within_rules_are_as_many_as_listed(seed: int) -> None:
    """A word takes allowed steps and breaks no rule."""
    rng = np.random.default_rng(seed)
    size, max_length = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    steps = random_steps(rng, size) if seed % 3 else Steps.every(tuple(map(str, range(size))))
    rules = random_rules(rng, size, 0.15)
    universe = list(every_word(size, max_length))
    words = {
        word for word in universe if takes_steps(steps, word) and not oracle.broken(rules, *word)
    }
    found = sequences_within_rules(steps, rules, max_length)
    assert found.keeps_rules
    agree(found, words, universe)


def test_words_that_do_not_fit_are_no_words() -> None:
    """Too long, or unfinished before the cut; activities must be the same."""
    found = all_sequences(("a", "b"), 2)
    assert not found.contains((0, 0, 0), True)
    assert not found.contains((0, 0, 0), False)
    assert not found.contains((0,), False)
    with pytest.raises(ValueError, match="different activities"):
        found.holds(VariantCounts.of({("a",): 1}))
    for number in (-1, found.size):
        with pytest.raises(IndexError):
            found.word(number)


def test_past_its_bound_the_automaton_is_given_up_for_the_steps() -> None:
    """And the language says that it does not keep the rules."""
    rng = np.random.default_rng(5)
    steps = Steps.every(tuple(map(str, range(12))))
    rules = Rules(**{**vars(Rules.free(steps.activities)), "never_follows": np.eye(12, dtype=bool)})
    for bounds in ({"max_states": 100}, {"max_steps": 100}):
        found = sequences_within_rules(steps, rules, 4, **bounds)
        assert not found.keeps_rules
        assert found.size == sequences_of_steps(steps, 4).size
        assert found.word(int(rng.integers(found.size))) is not None
    assert sequences_within_rules(steps, rules, 4, max_states=10**6).keeps_rules


def test_rules_that_say_nothing_cost_no_states() -> None:
    """Forty free activities do not make two to the power of forty states."""
    names = tuple(map(str, range(40)))
    found = sequences_within_rules(Steps.every(names), Rules.free(names), 6)
    assert found.keeps_rules and found.states == 41
    assert found.size == all_sequences(names, 6).size


def test_large_languages_are_counted_exactly() -> None:
    """Numbers of hundreds of digits, by the closed form; in small blocks too."""
    names = tuple(map(str, range(60)))
    words = sum(60**n for n in range(81)) + 60**80
    assert all_sequences(names, 80).size == words
    assert sequences_of_steps(Steps.every(names), 80).size == words
    # Two activities, and a carry that runs through every digit: 2 ** 65 − 1 + 2 ** 64 words.
    assert all_sequences(("a", "b"), 64).size == 2**65 - 1 + 2**64
    assert all_sequences(("a",), 2000).size == 2002


def test_adding_up_in_small_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds on memory are not part of the meaning."""
    steps = random_steps(np.random.default_rng(6), 9)
    whole = sequences_of_steps(steps, 30)
    monkeypatch.setattr(language, "BLOCK", 3)
    monkeypatch.setattr(language, "ROOM", 500)
    parts = sequences_of_steps(steps, 30)
    assert whole.size == parts.size > 2**32
    for number in range(0, whole.size, whole.size // 50):
        assert whole.word(number) == parts.word(number)
        assert whole.contains(*whole.word(number))


def fit(found: Language, draw: Callable[[Callable[[int], int]], Word], number: int) -> float:
    """How well drawn words fit the uniform distribution: the chi-square test's p-value."""
    source = random.Random(8)
    times = Counter(draw(source.randrange) for _ in range(number))
    assert set(times) <= {found.word(i) for i in range(found.size)}
    return float(chisquare([times[found.word(i)] for i in range(found.size)]).pvalue)


def test_words_are_drawn_uniformly_and_a_bias_would_show() -> None:
    """Step-by-step drawing, which favours short words, is rejected by the same test."""
    rules = random_rules(np.random.default_rng(4), 4, 0.1)
    steps = Steps.every(rules.activities)
    found = sequences_within_rules(steps, rules, 4)
    assert 50 < found.size < 400

    words = [found.word(number) for number in range(found.size)]
    begun = {word[:n] for word, _ in words for n in range(len(word) + 1)}

    @cache
    def nexts(word: tuple[int, ...]) -> list[Word | tuple[int, ...]]:
        longer = [(*word, a) for a in range(4) if (*word, a) in begun]
        return [*longer, *((word, flag) for flag in (True, False) if (word, flag) in words)]

    def step_by_step(below: Callable[[int], int]) -> Word:
        word: Any = ()
        while word not in words:
            word = nexts(word)[below(len(nexts(word)))]
        return word

    assert fit(found, lambda below: found.word(below(found.size)), 40 * found.size) > 1e-4
    assert fit(found, step_by_step, 40 * found.size) < 1e-9
    # A bias of a few words' worth shows too.
    assert fit(found, lambda below: found.word(below(found.size - 9)), 40 * found.size) < 1e-9


def test_steps_that_do_not_fit_the_activities_are_refused() -> None:
    """A matrix of another size is named."""
    with pytest.raises(SettingError, match="follows"):
        Steps(
            activities=("a",),
            starts=np.ones(1, dtype=bool),
            follows=np.ones((2, 2), dtype=bool),
            ends=np.ones(1, dtype=bool),
        )


def test_steps_are_equal_where_all_their_parts_are() -> None:
    """So that what was made of some steps can be found again by equal ones."""
    rng = np.random.default_rng(5)
    parts: dict[str, Any] = {
        "activities": ("x", "y"),
        "starts": rng.random(2) < 0.5,
        "follows": rng.random((2, 2)) < 0.5,
        "ends": rng.random(2) < 0.5,
        "empty": False,
    }
    steps = Steps(**parts)
    assert steps == Steps(**parts) and hash(steps) == hash(Steps(**parts))
    for name in ("starts", "follows", "ends"):
        assert steps != Steps(**{**parts, name: ~parts[name]})
    assert steps != Steps(**{**parts, "empty": True})
    assert steps != Steps(**{**parts, "activities": ("x", "z")})
    assert steps != parts
