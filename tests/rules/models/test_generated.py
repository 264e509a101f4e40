"""Models at random: exact against languages written out, and against pm4py's own eyes."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sacofa.kernel.variants import VariantCounts
from sacofa.rules import learn_rules
from sacofa.rules.models import net as nets
from sacofa.rules.models import read_model
from sacofa.rules.models.automaton import rules_of_graph
from sacofa.rules.models.net import explore
from sacofa.rules.rules import Rules
from sacofa.rules.semantics import RuleStates

from .words import Tree, automaton_of, equal, words_of_automaton, words_of_tree

pm4py = pytest.importorskip("pm4py", reason="pip install 'sacofa[evaluate]'")

LETTERS = "abcdef"
LONGEST = 7
SEEDS = range(60)


def random_tree(rng: np.random.Generator, letters: list[str], loops: bool) -> Tree:
    """A process tree over some letters; now and then a leaf is silent or repeats a letter."""
    if len(letters) == 1:
        leaf = letters[0]
        if rng.random() < 0.25:
            return ("xor", leaf, "")
        return ("loop", leaf, "") if loops and rng.random() < 0.15 else leaf
    cut = int(rng.integers(1, len(letters)))
    parts = [random_tree(rng, letters[:cut], loops), random_tree(rng, letters[cut:], loops)]
    operators = ["seq", "seq", "xor", "and", "or"] + ["loop"] * loops
    return (operators[int(rng.integers(len(operators)))], *parts)


def a_tree(seed: int, loops: bool) -> Tree:
    """The tree of a seed."""
    rng = np.random.default_rng(seed)
    letters = [LETTERS[i] for i in rng.integers(0, len(LETTERS), rng.integers(2, 6))]
    return random_tree(rng, letters, loops)


def pm4py_tree(tree: Tree) -> Any:
    """The same tree as pm4py has it."""
    objects = pm4py.objects.process_tree.obj
    if isinstance(tree, str):
        return objects.ProcessTree(label=tree or None)
    names = {"seq": "SEQUENCE", "xor": "XOR", "and": "PARALLEL", "or": "OR", "loop": "LOOP"}
    made = objects.ProcessTree(operator=objects.Operator[names[tree[0]]])
    for child in tree[1:]:
        part = pm4py_tree(child)
        part.parent = made
        made.children.append(part)
    return made


def files(tree: Tree, folder: Path) -> tuple[Path, Path]:
    """The tree as PNML and as BPMN, both written by pm4py."""
    made = pm4py_tree(tree)
    pnml, bpmn = folder / "model.pnml", folder / "model.bpmn"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pm4py.write_pnml(*pm4py.convert_to_petri_net(made), os.fspath(pnml))
        pm4py.write_bpmn(pm4py.convert_to_bpmn(made), os.fspath(bpmn), auto_layout=False)
    return pnml, bpmn


def of_words(words: set[tuple[str, ...]], names: tuple[str, ...]) -> VariantCounts:
    """A log of words."""
    return VariantCounts.of(dict.fromkeys(words, 1), names)


@pytest.mark.parametrize("seed", SEEDS)
def test_languages_are_exact(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PNML and BPMN of a tree have just its words, also if every order of steps is explored."""
    tree = a_tree(seed, loops=True)
    if not any(words_of_tree(tree, LONGEST)):
        return
    automata = []
    for path in files(tree, tmp_path):
        net = read_model(path).net
        assert net is not None
        small = automaton_of(net)
        with monkeypatch.context() as patch:
            patch.setattr(nets, "free_places", lambda net: 0)
            assert equal(small, automaton_of(net))
        automata.append(small)
    assert equal(*automata)
    longest = 5 if len(str(tree)) > 60 else LONGEST
    assert words_of_automaton(automata[0], longest) == words_of_tree(tree, longest)


@pytest.mark.parametrize("seed", SEEDS)
def test_rules_are_those_that_all_cases_keep_and_no_others(seed: int, tmp_path: Path) -> None:
    """Without loops all words can be written out; their rules are the model's."""
    tree = a_tree(seed, loops=False)
    words = words_of_tree(tree, 20)
    if not any(words):
        return
    pnml, _ = files(tree, tmp_path)
    found = read_model(pnml).rules()
    assert found == learn_rules(of_words(words, found.activities), found.source)


def rules_of(tree: Tree, folder: Path) -> tuple[Rules, Any]:
    """The rules of a tree's BPMN, and pm4py's net of it."""
    pnml, bpmn = files(tree, folder)
    return read_model(bpmn).rules(), pm4py.read_pnml(os.fspath(pnml))


@pytest.mark.parametrize("seed", range(100, 115))
def test_simulated_cases_keep_the_rules_and_mutated_ones_break_each(
    seed: int, tmp_path: Path
) -> None:
    """pm4py plays out the net; for every rule some case, changed a little, breaks just that."""
    tree = a_tree(seed, loops=True)
    if not any(words_of_tree(tree, LONGEST)):
        return
    rules, net = rules_of(tree, tmp_path)
    ids = {name: i for i, name in enumerate(rules.activities)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        played = pm4py.play_out(*net, parameters={"noTraces": 300})
    cases = sorted({tuple(ids[event["concept:name"]] for event in trace) for trace in played})
    broken = RuleStates(rules)
    assert not any(broken.violations(case, True) for case in cases)
    for a, b in np.argwhere(rules.never_follows).tolist():
        case = next(case for case in cases if a in case)
        assert broken.violations([*case, b], False)
    for a, b in np.argwhere(rules.always_follows).tolist():
        case = next(case for case in cases if a in case)
        changed = [x for i, x in enumerate(case) if x != b or i == case.index(a)]
        assert broken.violations(changed, True)
    for a, b in np.argwhere(rules.always_precedes).tolist():
        case = next(case for case in cases if a in case)
        assert broken.violations([x for x in case if x != b], False)
    for a in np.flatnonzero(~rules.starts).tolist():
        assert broken.violations([a], False)
    assert bool(broken.violations([], True)) != rules.empty


@pytest.mark.parametrize("seed", range(200, 215))
def test_rules_agree_with_footprints(seed: int, tmp_path: Path) -> None:
    """What pm4py finds directly after one another is not barred; what it finds first may begin."""
    tree = a_tree(seed, loops=True)
    if not any(words_of_tree(tree, LONGEST)):
        return
    rules, net = rules_of(tree, tmp_path)
    ids = {name: i for i, name in enumerate(rules.activities)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prints = pm4py.discover_footprints(*net)
    for kind in ("sequence", "parallel"):
        for a, b in prints[kind]:
            assert not rules.never_follows[ids[a], ids[b]]
    assert {name for name in ids if rules.starts[ids[name]]} == set(prints["start_activities"])


def test_the_tests_would_notice_a_rule_too_many(tmp_path: Path) -> None:
    """A profile that forgets silent ways is caught by the words written out."""
    tree: Tree = ("seq", "a", ("xor", "b", ""), "c")
    pnml, _ = files(tree, tmp_path)
    net = read_model(pnml).net
    assert net is not None
    graph = explore(net)
    honest = rules_of_graph(graph, "test")
    words = words_of_tree(tree, 9)
    assert honest == learn_rules(of_words(words, honest.activities), "test")
    only = learn_rules(of_words({("a", "b", "c")}, honest.activities), "test")
    assert honest != only
