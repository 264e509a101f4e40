"""Languages written out: all words up to a length, of trees and of what was read from a file."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from unittest.mock import patch

from sacofa.rules.models import net as nets
from sacofa.rules.models import read_model
from sacofa.rules.models.automaton import NOWHERE, Automaton, determinize
from sacofa.rules.models.net import Net, explore

Word = tuple[str, ...]
Tree = str | tuple
"""A leaf ("a", or "" for a silent one), or an operator and its children: ("seq", "a", "b")."""


def words_of_tree(tree: Tree, longest: int) -> set[Word]:
    """All words of a process tree up to a length, straight from what its operators mean."""
    if isinstance(tree, str):
        return {(tree,) if tree else ()}
    operator, *children = tree
    parts = [words_of_tree(child, longest) for child in children]
    if operator == "xor":
        return set().union(*parts)
    if operator == "seq":
        return _folded(_joined, parts, longest)
    if operator == "and":
        return _folded(_shuffled, parts, longest)
    if operator == "or":
        chosen = [some for n in range(1, len(parts) + 1) for some in combinations(parts, n)]
        return set().union(*(_folded(_shuffled, list(some), longest) for some in chosen))
    assert operator == "loop"
    do, redo = parts
    found, new = set(do), set(do)
    while new:
        new = _joined(_joined(new, redo, longest), do, longest) - found
        found |= new
    return found


def _folded(join, parts: list[set[Word]], longest: int) -> set[Word]:  # type: ignore[no-untyped-def]
    found: set[Word] = {()}
    for part in parts:
        found = join(found, part, longest)
    return found


def _joined(left: set[Word], right: set[Word], longest: int) -> set[Word]:
    return {a + b for a in left for b in right if len(a + b) <= longest}


def _shuffled(left: set[Word], right: set[Word], longest: int) -> set[Word]:
    return {w for a in left for b in right if len(a + b) <= longest for w in _interleaved(a, b)}


def _interleaved(a: Word, b: Word) -> set[Word]:
    if not a or not b:
        return {a + b}
    first = {(a[0], *rest) for rest in _interleaved(a[1:], b)}
    return first | {(b[0], *rest) for rest in _interleaved(a, b[1:])}


def words_of_automaton(automaton: Automaton, longest: int) -> set[Word]:
    """All words of an automaton up to a length."""
    found, layer = set(), [((), 0)]
    for _ in range(longest + 1):
        found |= {word for word, state in layer if automaton.ends[state]}
        layer = [
            ((*word, name), int(automaton.after[state, a]))
            for word, state in layer
            for a, name in enumerate(automaton.activities)
            if automaton.after[state, a] != NOWHERE
        ]
    return found


def automaton_of(net: Net) -> Automaton:
    """The language of a net."""
    return determinize(explore(net))


def words_of_file(path: Path, longest: int = 6) -> set[str]:
    """All words of a model up to a length; names of one letter each make them easy to read.

    They are the same if every order of steps is explored.
    """
    net = read_model(path).net
    assert net is not None
    automaton = automaton_of(net)
    with patch.object(nets, "free_places", return_value=0):
        assert equal(automaton, automaton_of(net))
    return {"".join(word) for word in words_of_automaton(automaton, longest)}


def equal(one: Automaton, other: Automaton) -> bool:
    """Whether two automata have the same language; both are as small as can be."""
    return (
        one.activities == other.activities
        and one.after.tolist() == other.after.tolist()
        and one.ends.tolist() == other.ends.tolist()
    )
