"""The language of a model in the place of rules, with and without deviations."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from sacofa import Certified, Sacofa
from sacofa.errors import RulesError, SettingError
from sacofa.examples import hospital, hospital_model
from sacofa.kernel import Noise
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import Cases
from sacofa.kernel.unit import ONE_CASE
from sacofa.mechanisms import ADMIT_NONE
from sacofa.mechanisms.protocol import perform
from sacofa.rules import ModelOptions, ModelRules, read_model, scorer_of, sequences_within_rules
from sacofa.rules.allowed import Steps
from sacofa.rules.models.automaton import Automaton

from .drawings import draw
from .words import automaton_of, words_of_automaton

NAMES = "ABC"
LONGEST = 5


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A, then any number of B, then C or nothing."""
    nodes = "start s\nend e\ntask A\ntask B\ntask C\nxor m\nxor x\nxor j"
    flows = "s > A > m > x > B > m\nx > C > j > e\nx > j"
    return draw(tmp_path, nodes, flows)


def distance(word: tuple[int, ...], other: tuple[int, ...]) -> int:
    """How many events have to be taken out and put in to make one word of the other."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(word, start=1):
        new = [i]
        for j, b in enumerate(other, start=1):
            new.append(row[j - 1] if a == b else 1 + min(row[j], new[-1]))
        row = new
    return row[-1]


@pytest.fixture
def language(model: Path) -> list[tuple[int, ...]]:
    """The words of the model, longer than any that is looked at."""
    net = read_model(model).net
    assert net is not None
    words = words_of_automaton(automaton_of(net), LONGEST + 3)
    return [tuple(NAMES.index(name) for name in word) for word in words]


@pytest.mark.parametrize("deviations", [0, 1, 2])
def test_violations_are_the_distance_from_the_model(
    deviations: int, model: Path, language: list[tuple[int, ...]]
) -> None:
    """Beyond what is allowed; harmless is what has none, and every step says so in time."""
    rules = read_model(model).rules(ModelOptions(deviations=deviations))
    states = scorer_of(rules)
    begun = {word[:n] for word in language for n in range(len(word) + 1)}
    for length in range(LONGEST + 1):
        for word in product(range(3), repeat=length):
            whole = min(distance(word, other) for other in language)
            so_far = min(distance(word, prefix) for prefix in begun)
            assert states.violations(word, True) == max(0, whole - deviations)
            assert states.violations(word, False) == max(0, so_far - deviations)
            state, alive = np.array([states.start()]), True
            for activity in word:
                alive = alive and bool(states.harmless(state)[0, activity])
                state = states.step(state, np.array([activity]))
            assert alive == (so_far <= deviations)
            assert bool(states.harmless(state)[0, -1]) == (whole <= deviations)


def test_nothing_is_harmless_after_harm(model: Path) -> None:
    """As with rules."""
    states = scorer_of(read_model(model).rules(ModelOptions(deviations=0)))
    state = states.step(np.array([states.start()]), np.array([1]))
    assert not states.harmless(state).any()
    assert not states.harmless(states.step(state, np.array([0]))).any()


def test_facts_are_those_of_the_allowed_language(model: Path) -> None:
    """Without deviations the rules of the model; one deviation makes everything possible."""
    plain, exact = read_model(model).rules(), read_model(model).rules(ModelOptions(deviations=0))
    for part in ("never_follows", "always_follows", "always_precedes", "starts"):
        assert (getattr(plain, part) == getattr(exact, part)).all()
    loose = read_model(model).rules(ModelOptions(deviations=1))
    assert not loose.never_follows.any() and loose.starts.all() and loose.empty


def test_steps_that_are_possible(model: Path) -> None:
    """Directly after one another: sharper than the rules."""
    rules = read_model(model).rules(ModelOptions(deviations=0))
    possible = rules.possible_steps()
    expected = {"AB", "AC", "BB", "BC", "A.", "B.", "C.", ".A"}
    letters = [*NAMES, "."]
    assert {letters[a] + letters[b] for a, b in np.argwhere(possible)} == expected
    assert (possible <= read_model(model).rules().possible_steps()).all()


def test_projected_onto_other_activities(model: Path) -> None:
    """What a log lacks is silent, what the model does not know is free."""
    rules = read_model(model).rules(ModelOptions(deviations=0)).project_onto(("B", "X"))
    assert isinstance(rules, ModelRules)
    states = scorer_of(rules)
    assert states.violations([0, 1, 0], True) == 0
    fewer = read_model(model).rules(ModelOptions(deviations=0)).project_onto(("C", "A"))
    assert scorer_of(fewer).violations([1, 0], True) == 0
    assert scorer_of(fewer).violations([0, 1], True) > 0


def test_a_language_that_is_too_large_is_refused_or_left_to_rules(tmp_path: Path) -> None:
    """Refused where it is asked for; where only a log's names make it so, rules take its place."""
    tasks = [f"A{n}" for n in range(15)]
    nodes = "start s\nend e\nand f\nand j\n" + "\n".join(f"task {name}" for name in tasks)
    flows = "s > f\nj > e\n" + "\n".join(f"f > {name} > j" for name in tasks)
    path = draw(tmp_path, nodes, flows)
    assert read_model(path).rules().never_follows.sum() == 15
    with pytest.raises(RulesError, match="too large"):
        read_model(path).rules(ModelOptions(deviations=0))
    # The twentieth letter from the end is an a: a million states once the mark is not seen.
    size = 22
    after = np.full((size, 3), -1)
    after[0] = [0, 0, 1]
    after[1, 0] = 2
    for state in range(2, size - 1):
        after[state, :2] = state + 1
    marked = Automaton(activities=("a", "b", "mark"), after=after, ends=np.arange(size) == 21)
    whole = ModelRules.of(marked, 0, "test")
    assert isinstance(whole.project_onto(("mark", "b", "a")), ModelRules)
    assert not isinstance(whole.project_onto(("a", "b")), ModelRules)


def test_deviations_have_bounds(model: Path) -> None:
    """Nobody needs more, and each makes the language much larger."""
    for number in (-1, 11):
        with pytest.raises(SettingError, match="deviations"):
            read_model(model).rules(ModelOptions(deviations=number))


def test_deviating_by_nothing_changes_nothing(model: Path) -> None:
    """The automaton is the same."""
    rules = read_model(model).rules(ModelOptions(deviations=0))
    assert isinstance(rules, ModelRules)
    assert rules.allowed is rules.model


@pytest.fixture(scope="module")
def hospital_rules(tmp_path_factory: pytest.TempPathFactory) -> dict[int, ModelRules]:
    """The embedded model, by how many deviations are allowed."""
    path = tmp_path_factory.mktemp("model") / "hospital.bpmn"
    path.write_bytes(hospital_model())
    found = {}
    for deviations in (0, 1):
        rules = read_model(path).rules(ModelOptions(deviations=deviations))
        assert isinstance(rules, ModelRules)
        found[deviations] = rules
    return found


def test_words_are_counted_within_the_language(hospital_rules: dict[int, ModelRules]) -> None:
    """As within rules: so names can be shown above a threshold by meaning."""
    rules = hospital_rules[0]
    language = sequences_within_rules(Steps.every(rules.activities), rules, 8)
    assert language.keeps_rules
    states = scorer_of(rules)
    for number in range(0, language.size, max(1, language.size // 200)):
        ids, finished = language.word(number)
        assert states.violations(ids, finished) == 0


@pytest.mark.parametrize("deviations", [0, 1])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "20"])
def test_certified_releases_words_of_the_language(
    deviations: int, epsilon: str, hospital_rules: dict[int, ModelRules]
) -> None:
    """Whatever the noise: every released case is within so many deviations."""
    rules = hospital_rules[deviations]
    mechanism = Certified(epsilon=epsilon, rules=rules)  # type: ignore[arg-type]
    for seed in range(2):
        released = perform(
            mechanism, Cases(variants=hospital()), Noise(SeededBits(seed))
        ).log.variants
        states = scorer_of(rules.project_onto(released.activities))
        assert released.cases
        for ids, finished in zip(released.sequences(), released.complete.tolist(), strict=True):
            assert states.violations(ids, finished) == 0


def test_sacofa_admits_nothing_outside_the_language(hospital_rules: dict[int, ModelRules]) -> None:
    """Where harmful prefixes are not admitted; and its certificate names the model."""
    rules = hospital_rules[0]
    mechanism = Sacofa(
        level_epsilon="1",  # type: ignore[arg-type]
        max_length=6,
        prune_harmless=20,
        prune_harmful=ADMIT_NONE,
        rules=rules,
    )
    released = perform(mechanism, Cases(variants=hospital()), Noise(SeededBits(1))).log.variants
    states = scorer_of(rules.project_onto(released.activities))
    assert released.cases
    for ids, finished in zip(released.sequences(), released.complete.tolist(), strict=True):
        assert states.violations(ids, finished) == 0
    assert "hospital.bpmn" in " ".join(map(str, mechanism.promise(ONE_CASE).assumptions))
