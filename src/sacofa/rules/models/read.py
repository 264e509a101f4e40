"""Rules from the models that people have: one function for files of any kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import Argument, SettingError, Statement, advised
from ..file import ACTIVITY_KINDS, read_rules
from ..graph import Graph
from ..provenance import FromModel
from ..refusal import RefusedError, decode, read_file, refusing
from ..rules import MAX_ACTIVITIES, Rules, rules_of_graph
from .automaton import TooManyStatesError, determinize
from .language import ModelRules
from .names import check_names
from .net import Net
from .options import ModelOptions
from .reachability import MAX_STATES, explore
from .reduce import reduce_net

MODELS = (".bpmn", ".bpmn2", ".xml", ".pnml", ".decl")
"""Suffixes of model files."""
MAX_BYTES = 1 << 24
"""A model larger than that is refused: the models of editors take a few hundred kilobytes."""
DEFAULT_OPTIONS = ModelOptions()
Activities = Sequence[str] | None
"""Declared activities that a closed model is expressed over; None for an open one."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model of a process, as it was read from a file.

    Attributes:
        path: The file.
        names: Its activities, as the model calls them.
        notes: What was passed over, merged or assumed.
        net: The behaviour, of BPMN and PNML.
        declared: The rules, of Declare.
    """

    path: str | Path
    names: tuple[str, ...]
    notes: tuple[Statement, ...]
    net: Net | None = None
    declared: Rules | None = None

    def rules(
        self,
        options: ModelOptions = DEFAULT_OPTIONS,
        *,
        activities: Sequence[str] | None = None,
        name: str | None = None,
        max_states: int = MAX_STATES,
    ) -> Rules:
        """Return the rules that all cases of the model keep; with deviations, its language.

        Args:
            options: What a person says about the model.
            activities: Declared activities. A name of the model that is not among them is refused.
                In a closed model, those that it lacks never happen.
            name: What the file is called.
            max_states: Upper bound on the states of the model.

        Returns:
            The rules.

        Raises:
            SettingError: If the options do not fit the model.
            RulesError: If the model is not sound, too large, or has names without activity.
        """
        if options.closed and activities is None:
            what = Statement("must.given_with", argument=Argument("activities"))
            raise SettingError("closed", True, what)
        closed = activities if options.closed else None
        source = FromModel(name or Path(self.path).name, options.source, options.deviations)
        with refusing(self.path):
            moved = check_names(self.names, options.names, activities)
            if self.declared is not None:
                return self._declared_rules(self.declared, moved, source, closed)
            assert self.net is not None
            graph = explore(reduce_net(self.net.renamed(moved)), max_states)
            if source.deviations is None:
                return _closed(rules_of_graph(graph, source), closed)
            return _language(graph, source.deviations, source, closed)

    def _declared_rules(
        self, rules: Rules, names: Mapping[str, str], source: FromModel, closed: Activities
    ) -> Rules:
        """Give the activities of a Declare file the names of a log."""
        if source.deviations is not None:
            raise SettingError("deviations", source.deviations, Statement("must.left_out_declare"))
        kept = [name for name in rules.activities if names[name]]
        new = list(map(names.__getitem__, kept))
        if twice := [name for name in new if new.count(name) > 1]:
            raise RefusedError("model.declare.merged", None, name=twice[0])
        left = rules.project_onto(kept)
        # An allowed activity that no log records could stand before (or after) any other.
        freed = {
            kind.name: kind.free_table(len(new))
            for kind in ACTIVITY_KINDS.values()
            if left.tables[kind.name].sum() < rules.tables[kind.name].sum()
        }
        empty = rules.empty or not new
        moved = replace(left, activities=tuple(new), empty=empty, source=source, **freed)
        return _closed(moved, closed)


def read_model(path: str | Path) -> Model:
    """Read a model: BPMN, PNML or Declare.

    Args:
        path: The file.

    Returns:
        The model.

    Raises:
        SettingError: If the suffix is not one of `MODELS`.
        ReadError: If the file cannot be read, or is not such a model.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in MODELS:
        what = Statement("must.one_of", choices=MODELS)
        raise SettingError("model", path, advised(what, suffix, MODELS))
    content = read_file(path, MAX_BYTES)
    # Readers are loaded when there is a model to read: few runs have one.
    with refusing(path):
        if not content.strip():
            raise RefusedError("file.empty", None)
        if suffix == ".decl":
            from .declare import read_declare

            rules, notes = read_declare(decode(content))
            return Model(path=path, names=rules.activities, notes=notes, declared=rules)
        net = _read_net(content)
        if not net.labels:
            raise RefusedError("model.no_names", None)
        if len(net.labels) > MAX_ACTIVITIES:
            raise RefusedError("rules.too_many_activities", None, limit=MAX_ACTIVITIES)
        return Model(path=path, names=net.labels, notes=net.notes, net=net)


def _read_net(content: bytes) -> Net:
    from .bpmn import read_bpmn
    from .bpmn_net import net_of_bpmn
    from .pnml import net_of_pnml
    from .xml import parse

    root = parse(content)
    if root.kind == "definitions":
        return net_of_bpmn(read_bpmn(root))
    if root.kind == "pnml":
        return net_of_pnml(root)
    raise RefusedError("model.not_a_model", root.line, kind=root.kind)


def open_rules(
    path: str | Path,
    options: ModelOptions = DEFAULT_OPTIONS,
    *,
    activities: Sequence[str] | None = None,
    name: str | None = None,
    notify: Callable[[Statement], None] = lambda note: None,
) -> Rules:
    """Read rules from a rules file or from a model, by the suffix of the file.

    Args:
        path: The file.
        options: What a person says about a model.
        activities: Declared activities.
        name: What the file is called.
        notify: Receives what was passed over in a model, merged or assumed.

    Returns:
        The rules.
    """
    if Path(path).suffix.lower() not in MODELS:
        options.refuse_given(Statement("must.left_out_no_model"))
        return read_rules(path)
    model = read_model(path)
    rules = model.rules(options, activities=activities, name=name)
    for note in model.notes:
        notify(note)
    if options.source is None:
        notify(Statement("model.note.assumed_public"))
    return rules


def _language(graph: Graph, deviations: int, source: FromModel, closed: Activities) -> Rules:
    """Return the language of a graph as rules."""
    try:
        model = determinize(graph)
        if closed is not None:
            model = model.project_onto(closed, closed=True)
        return ModelRules.of(model, deviations, source)
    except TooManyStatesError:
        raise RefusedError("model.language_too_large", None, deviations=deviations) from None


def _closed(rules: Rules, activities: Activities) -> Rules:
    """Add declared activities that the rules do not know: they never happen."""
    return rules if activities is None else rules.project_onto(activities, closed=True)
