"""Rules from process models: one function for files of any format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import Argument, SettingError, Statement, advised, refuse_given
from ..file import read_rules
from ..provenance import FromModel
from ..reading import RefusedError, decode, read_file, refusing
from ..rules import KINDS, MAX_ACTIVITIES, Rules
from .automaton import (
    Graph,
    ModelRules,
    TooManyStatesError,
    determinize,
    rules_of_graph,
)
from .names import check_names
from .net import MAX_STATES, Net, explore

MODELS = (".bpmn", ".bpmn2", ".xml", ".pnml", ".decl")
"""Suffixes of model files."""
MAX_BYTES = 1 << 24
"""Maximum size of a model; the models of editors have a few hundred kilobytes."""
MAX_DEVIATIONS = 10


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """How to turn a process model into rules.

    Attributes:
        names: File that maps names of the model to names of the log, as `sacofa rules --match`
            writes it.
        deviations: Use the whole language of the model. Cases may differ from it in up to this many
            events.
        closed: Activities that are not in the model never happen.
        source: Origin of the model. The certificate repeats it.
    """

    names: Mapping[str, str] | None = None
    deviations: int | None = None
    closed: bool = False
    source: str | None = None

    def __post_init__(self) -> None:
        if self.deviations is not None and not 0 <= self.deviations <= MAX_DEVIATIONS:
            what = Statement("must.whole_between", low=0, high=MAX_DEVIATIONS)
            raise SettingError("deviations", self.deviations, what)


DEFAULT_OPTIONS = ModelOptions()


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model of a process, as it was read from a file.

    Attributes:
        path: The file.
        names: The names of its activities.
        notes: Elements that were ignored, merged or assumed.
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
            options: How to turn the model into rules.
            activities: Declared activities. A name of the model that is not among them is refused.
                In a closed model, those that it lacks never happen.
            name: The name of the file in the certificate.
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
            names = check_names(self.names, options.names, activities)
            if self.net is None:
                assert self.declared is not None
                rules = _declared_rules(self.declared, names, source)
            else:
                graph = explore(self.net.renamed(names), max_states)
                if source.deviations is not None:
                    return _language(graph, source.deviations, source, closed)
                rules = rules_of_graph(graph, source)
        # Declared activities that the rules do not mention never happen.
        return rules if closed is None else rules.project_onto(closed, closed=True)


def _declared_rules(rules: Rules, names: Mapping[str, str], source: FromModel) -> Rules:
    """Rename the activities of a Declare file to those of a log."""
    if source.deviations is not None:
        raise SettingError("deviations", source.deviations, Statement("must.left_out_declare"))
    kept = [name for name in rules.activities if names[name]]
    new = tuple(map(names.__getitem__, kept))
    for name, count in Counter(new).items():
        if count > 1:
            raise RefusedError("model.declare.merged", None, name=name)
    left = rules.project_onto(kept)
    freed = {}
    for kind in KINDS:
        # An allowed activity that is not in the log could precede (or follow) any other.
        fewer = left.tables[kind.name].sum() < rules.tables[kind.name].sum()
        if not kind.of_pairs and fewer:
            freed[kind.name] = kind.free_table(len(new))
    empty = rules.empty or not new
    return replace(left, activities=new, empty=empty, source=source, **freed)


def _language(
    graph: Graph, deviations: int, source: FromModel, closed: Sequence[str] | None
) -> Rules:
    """Return the language of a graph as rules."""
    try:
        model = determinize(graph)
        if closed is not None:
            model = model.project_onto(closed, closed=True)
        return ModelRules.of(model, deviations, source)
    except TooManyStatesError:
        raise RefusedError("model.language_too_large", None, deviations=deviations) from None


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
    # Readers are imported only if there is a model to read, which is rare.
    with refusing(path):
        if not content.strip():
            raise RefusedError("file.empty", None)
        if suffix == ".decl":
            from .declare import read_declare

            rules, notes = read_declare(decode(content))
            return Model(path=path, names=rules.activities, notes=notes, declared=rules)
        net = _read_net(content)
        net.note_merged()
        if not net.labels:
            raise RefusedError("model.no_names", None)
        if len(net.labels) > MAX_ACTIVITIES:
            raise RefusedError("rules.too_many_activities", None, limit=MAX_ACTIVITIES)
        return Model(path=path, names=net.labels, notes=tuple(net.notes), net=net)


def _read_net(content: bytes) -> Net:
    from .bpmn import read_bpmn
    from .bpmn_net import net_of_bpmn
    from .pnml import net_of_pnml
    from .xml import parse

    root = parse(content)
    if root.kind == "definitions":
        return net_of_bpmn(*read_bpmn(root))
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
        options: How to turn a model into rules.
        activities: Declared activities.
        name: The name of the file in the certificate.
        notify: Receives notes about elements that were ignored, merged or assumed.

    Returns:
        The rules.
    """
    if Path(path).suffix.lower() not in MODELS:
        refuse_given(options, Statement("must.left_out_no_model"))
        return read_rules(path)
    model = read_model(path)
    rules = model.rules(options, activities=activities, name=name)
    for note in model.notes:
        notify(note)
    if options.source is None:
        notify(Statement("model.note.assumed_public"))
    return rules
