"""Rules from the models that people have: one function for files of any kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...errors import ReadError, RulesError, SettingError, nearest
from ..file import MAX_ACTIVITIES, read_rules
from ..provenance import FromModel, Provenance, Stated
from ..rules import KINDS, Rules, rules_of_graph
from .automaton import TooManyStatesError, determinize
from .language import ModelRules
from .names import check_names
from .net import Net
from .options import ModelOptions
from .reachability import MAX_STATES, explore
from .reduce import reduce_net
from .xml import kind, parse, read_bytes

MODELS = (".bpmn", ".bpmn2", ".xml", ".pnml", ".decl")
"""What the names of model files end with."""
AS_IT_IS = ModelOptions()
ASSUMED = (
    "Nobody says where the model comes from (its source): it is assumed to be public. A model that "
    "was mined from the log you protect is not: its rules tell about the cases."
)


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model of a process, as it was read from a file."""

    path: str | Path
    """The file."""
    names: tuple[str, ...]
    """Its activities, as the model calls them."""
    notes: tuple[str, ...]
    """What was passed over, merged or assumed."""
    net: Net | None = None
    """The behaviour, of BPMN and PNML."""
    declared: Rules | None = None
    """The rules, of Declare."""

    def rules(
        self,
        options: ModelOptions = AS_IT_IS,
        *,
        activities: Sequence[str] | None = None,
        name: str | None = None,
        max_states: int = MAX_STATES,
    ) -> Rules:
        """Read off the rules that all cases of the model keep.

        The map of names gives names of the model their activities, and "" to those that no log
        records; a name that is in neither the map nor the declared `activities` is refused. With
        deviations, the language itself is kept. A closed model names everything that happens:
        declared activities that it lacks never do. `name` says what the file is called.
        """
        if options.closed and activities is None:
            raise SettingError("closed", True, "given with the names of all activities")
        declared = activities if options.closed else None
        moved = check_names(self.path, self.names, options.names, activities)
        name, deviations = name or Path(self.path).name, options.deviations
        source = FromModel(name, options.source, deviations)
        if self.declared is not None:
            if deviations is not None:
                what = "left out: a Declare file has rules, and no language of its own"
                raise SettingError("deviations", deviations, what)
            return _closed(_renamed(self.path, self.declared, moved, source), declared)
        assert self.net is not None
        graph = explore(reduce_net(self.net.renamed(moved)), max_states)
        if deviations is None:
            return _closed(rules_of_graph(graph, source), declared)
        try:
            model = determinize(graph)
            if declared is not None:
                model = model.project_onto(declared, closed=True)
            return ModelRules.of(model, deviations, source)
        except TooManyStatesError:
            what = f"its language is too large with {deviations} deviations: allow fewer, or none"
            raise RulesError(
                self.path, None, f"{what} (without the setting, rules take its place)"
            ) from None


def read_model(path: str | Path) -> Model:
    """Read a model: BPMN, PNML or Declare."""
    suffix = Path(path).suffix.lower()
    if suffix not in MODELS:
        raise SettingError("model", path, f"one of {', '.join(MODELS)}.{nearest(suffix, MODELS)}")
    content = read_bytes(path)
    # Readers are loaded when there is a model to read: few runs have one.
    if suffix == ".decl":
        from .declare import read_declare

        rules, notes = read_declare(path, content, Stated(""))
        return Model(path=path, names=rules.activities, notes=notes, declared=rules)
    root = parse(path, content)
    if kind(root) == "definitions":
        from .bpmn import read_bpmn
        from .bpmn_net import net_of_bpmn

        net = net_of_bpmn(read_bpmn(path, root))
    elif kind(root) == "pnml":
        from .pnml import net_of_pnml

        net = net_of_pnml(path, root)
    else:
        raise ReadError(path, f"neither BPMN nor PNML: it begins with <{kind(root)}>")
    if not net.labels:
        raise ReadError(path, "no task in it has a name, so there are no activities")
    if len(net.labels) > MAX_ACTIVITIES:
        raise ReadError(path, f"more than {MAX_ACTIVITIES:,} activities")
    return Model(path=path, names=net.labels, notes=net.notes, net=net)


def open_rules(
    path: str | Path,
    options: ModelOptions = AS_IT_IS,
    *,
    activities: Sequence[str] | None = None,
    name: str | None = None,
    notify: Callable[[str], None] = lambda note: None,
) -> Rules:
    """Read rules from a rules file or from a model, by what the name of the file ends with.

    `notify` is told what was passed over in a model, merged or assumed.
    """
    if Path(path).suffix.lower() not in MODELS:
        options.refuse_given("it is for model files")
        return read_rules(path)
    model = read_model(path)
    rules = model.rules(options, activities=activities, name=name)
    for note in model.notes:
        notify(note)
    if options.source is None:
        notify(ASSUMED)
    return rules


def _renamed(path: str | Path, rules: Rules, names: Mapping[str, str], source: Provenance) -> Rules:
    """Give activities of a Declare file the names of a log."""
    kept = np.array([i for i, n in enumerate(rules.activities) if names[n]], dtype=np.int64)
    new = [names[rules.activities[i]] for i in kept.tolist()]
    for name in new:
        if new.count(name) > 1:
            what = f'two activities would be "{name}": those of a Declare file cannot be merged'
            raise ReadError(path, what)
    tables = {}
    for each in KINDS:
        table = rules.tables[each.name]
        if each.of_pairs:
            tables[each.name] = table[np.ix_(kept, kept)]
            continue
        allowed = table[kept]
        # An allowed activity that no log records could stand before (or after) any other.
        none_lost = allowed.any() and allowed.sum() == table.sum()
        tables[each.name] = allowed if none_lost else each.free_table(len(kept))
    empty = rules.empty or not len(new)
    return Rules(activities=tuple(new), **tables, empty=empty, source=source)


def _closed(rules: Rules, activities: Sequence[str] | None) -> Rules:
    """Add declared activities that the rules do not know: they never happen."""
    return rules if activities is None else rules.project_onto(activities, closed=True)
