"""The attributes of a log that are read, and their domains, settled before a case is read.

Identifiers are never read. A columns file declares domains. Where it does not, the type that the
form of the log declares decides: numbers and dates get public bins, and the categories of texts are
those of the log. The certificate names them as an assumption, and so it does with types that follow
from cases: in XES files without a global of that name, in logs in memory, and in frames.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from ..base.cells import OTHER, cells_of
from ..base.domains import (
    COLLAPSED,
    IDS,
    RESOURCES,
    bare_name,
    column_names,
    found_domain,
    is_of_case,
    kind_of,
    kind_of_type,
    plain_name,
    with_domain,
)
from ..errors import Argument, ColumnsError, ReadError, SettingError
from ..kernel.attributes import Attribute, Domain
from ..kernel.statements import Statement
from .columns import Columns
from .columns_file import Declared, DeclaredColumns, read_columns
from .notices import Notify
from .options import ReadOptions
from .personal import named, personal_by_name, personal_by_values

MAX_FOUND_VALUES = 200
"""An undeclared text column with more distinct values releases none of them."""
MOST_SHOWN, LONGEST_SHOWN = 5, 40
"""Number of values, and of characters of each, that the holder of a log sees."""
MAX_PAIR_CELLS = 200_000
"""No declared pair has more cells."""


@dataclass(frozen=True, kw_only=True)
class Present:
    """An attribute as the form of a log has it."""

    of_case: bool
    """Whether it is an attribute of cases, not of events."""
    kind: str = "string"
    """Its type: string, int, float, boolean or date."""
    taken: bool = False
    """Whether its type was inferred from cases because the log does not declare it."""
    level_taken: bool = False
    """Whether it was inferred from cases that it belongs to cases, or to events."""


class Sightings:
    """The levels and types at which attributes were seen in the cases of a log, in no order.

    A single case can change this result, so the certificate names conclusions from it as
    assumptions.
    """

    def __init__(self) -> None:
        self._seen: defaultdict[str, set[tuple[bool, str]]] = defaultdict(set)

    def add(self, name: str, *, of_case: bool, kind: str) -> None:
        """Remember that a case, or an event of it, has an attribute."""
        self._seen[name].add((of_case, kind))

    def __contains__(self, name: object) -> bool:
        return name in self._seen

    def present(self, name: str) -> Present | None:
        """Settle an attribute: of cases if any case has it, and of one type if all values agree on
        it.

        If a case lacks an attribute of cases, the first value of its events is used, so that no
        value is lost. Values of several types are text.
        """
        if name not in self._seen:
            return None
        kinds = {kind for _, kind in self._seen[name]}
        if kinds == {"int", "float"}:
            kinds = {"float"}
        return Present(
            of_case=any(of_case for of_case, _ in self._seen[name]),
            kind=kinds.pop() if len(kinds) == 1 else "string",
            taken=True,
            level_taken=True,
        )


Lookup = Callable[[str], Present | None]
"""Finds an attribute by its name; `case:` before it asks for one of cases."""


def with_attributes(
    columns: Columns, source: str, options: ReadOptions, lookup: Lookup, present: Sequence[str]
) -> Columns:
    """Settle the attributes that are read next to these columns, and name the facts taken from
    cases.

    Args:
        columns: The columns with other roles.
        source: The name of the log.
        options: Names the attributes and the file that declares them.
        lookup: Finds an attribute of the log.
        present: The columns of the log.
    """
    declared, taken, found = read_columns(options.columns), [*columns.taken], list[Attribute]()
    # Whether cases or events have it: a person is a person.
    person = options.person and bare_name(options.person)
    for asked in options.attribute:
        if asked in columns.roles or bare_name(asked) == person:
            raise _is_id(asked)
        there = lookup(asked)
        if there is None:
            raise ColumnsError(source, ["attribute"], present, asked)
        found.append(_attribute(asked, there, declared, options))
        # A name may leave out `case:`, and mean an id.
        if column_of(found[-1], present) in columns.roles:
            raise _is_id(asked)
        taken += _facts_taken(asked, there, declared)
        _check_size(found[-1], declared.cases)
    names = [attribute.key for attribute in found]
    if len(set(names)) < len(names):
        raise SettingError("attribute", ", ".join(names), Statement("must.read.different"))
    pairs_of(found, options.pair)
    return replace(columns, attributes=tuple(found), taken=tuple(taken))


def _check_size(attribute: Attribute, cases: int | None) -> None:
    size = 0 if attribute.domain is None else attribute.domain.values
    if cases is not None and 2 * size > cases:
        must = Statement("must.attribute.small_domain", most=cases // 2)
        raise SettingError(attribute.key, f"{size:,}", must)


def _facts_taken(asked: str, there: Present, declared: DeclaredColumns) -> list[Statement]:
    """List the undeclared facts about an attribute that were taken from the cases of a log."""
    facts = []
    if there.level_taken and not is_of_case(asked) and not declared.settles(asked):
        facts.append(Statement("fact.of_cases" if there.of_case else "fact.of_events"))
    if there.taken and declared.of(asked) is None:
        facts.append(kind_of_type(there.kind).fact)
    code = "assumption.attribute_facts_from_log"
    return [Statement(code, attribute=asked, facts=facts)] if facts else []


def declared_attributes(
    options: ReadOptions, *, kinds: Mapping[str, str] | None = None, assumed: Domain | None = None
) -> tuple[Attribute, ...]:
    """Return the requested attributes as a columns file declares them; no log is read.

    `kinds` are the known types of columns. `assumed` replaces domains that would be read from a
    log; without it, all must be declared.
    """
    declared, found = read_columns(options.columns), []
    for asked in options.attribute:
        there = Present(of_case=is_of_case(asked), kind=(kinds or {}).get(asked, "string"))
        attribute = _attribute(asked, there, declared, options)
        if attribute.domain is None:
            if assumed is None:
                raise SettingError("attribute", asked, Statement("must.attribute.declared"))
            attribute = with_domain(attribute, assumed)
        found.append(attribute)
    return tuple(found)


def _is_id(asked: str) -> SettingError:
    return SettingError("attribute", asked, Statement("must.attribute.no_identifier"))


def _attribute(
    asked: str, there: Present, declared: DeclaredColumns, options: ReadOptions
) -> Attribute:
    plain, bare = plain_name(asked), bare_name(asked)
    if {plain, asked} & IDS:
        raise _is_id(asked)
    known = declared.of(asked) or Declared(domain=kind_of_type(there.kind).public)
    if plain in RESOURCES and not (known.grouped or options.employees):
        must = Statement("must.attribute.group", employees=Argument("employees", True))
        raise SettingError("attribute", asked, must)
    personal = None if known.is_public else personal_by_name(asked)
    if personal is not None and not options.personal:
        raise SettingError("attribute", asked, _harmless(personal))
    of_case = there.of_case if known.of_case is None else known.of_case
    return Attribute(name=bare, of_case=of_case, domain=known.domain, personal=personal)


def _harmless(personal: str) -> Statement:
    insist = Argument("personal", True)
    return Statement("must.attribute.harmless", kind=named(personal), personal=insist)


def check_values(name: str, attributes: Sequence[Attribute], options: ReadOptions) -> None:
    """Refuse values of the log that should not be released, before any ε is spent.

    The check depends on the set of distinct values only, which the certificate names as public.

    Raises:
        ReadError: A column has too many distinct values, or its values look like personal data, and
            no option allows it.
    """
    for attribute in attributes:
        if attribute.collapsed and not options.accept_other:
            values = {"attribute": attribute.key, "most": MAX_FOUND_VALUES, "other": OTHER}
            accept = Argument("accept_other", True)
            what = Statement("read.attribute.too_many_values", **values, accept_other=accept)
            raise ReadError(name, what)
        if attribute.personal is not None and not attribute.collapsed and not options.personal:
            must = _harmless(attribute.personal)
            what = Statement("read.attribute.values_must", attribute=attribute.key, must=must)
            raise ReadError(name, what)


def pairs_of(
    attributes: Sequence[Attribute], pairs: Sequence[tuple[str, str]]
) -> tuple[tuple[int, int], ...]:
    """The places of declared pairs among the attributes that are read."""
    places = {each.name: i for i, each in enumerate(attributes)}
    places |= {each.key: i for i, each in enumerate(attributes)}
    found: list[tuple[int, int]] = []
    for pair in pairs:
        for name in pair:
            if name not in places:
                must = Statement("must.attribute.pair_of_attributes", name=name)
                raise SettingError("pair", ",".join(pair), must)
        one, other = sorted(map(places.__getitem__, pair))
        if one == other:
            raise SettingError("pair", ",".join(pair), Statement("must.read.different"))
        domains = (attributes[place].domain for place in (one, other))
        if prod(map(cells_of, filter(None, domains))) > MAX_PAIR_CELLS:
            must = Statement("must.attribute.small_pair", most=MAX_PAIR_CELLS)
            raise SettingError("pair", ",".join(pair), must)
        found.append((one, other))
    if len(set(found)) < len(found):
        listed = "; ".join(map(",".join, pairs))
        raise SettingError("pair", listed, Statement("must.read.different"))
    return tuple(found)


def tell_unnamed(
    attributes: Sequence[Attribute], outside: Mapping[str, Sequence[str]], notify: Notify
) -> None:
    """Report attributes and values that a release does not name to the holder of the log."""
    for attribute in attributes:
        name = attribute.key
        if attribute.recognized:
            fact = kind_of(attribute.known).fact
            notify(Statement("notice.attribute.recognized", attribute=name, fact=fact))
        elif texts := outside.get(name, ()):
            listed: list[str | Statement] = [f'"{t[:LONGEST_SHOWN]}"' for t in texts[:MOST_SHOWN]]
            if len(texts) > MOST_SHOWN:
                listed.append(Statement("notice.attribute.more", number=len(texts) - MOST_SHOWN))
            outcome = "as_other" if attribute.known.kind == "string" else "left_out"
            code = f"notice.attribute.{outcome}"
            notify(Statement(code, attribute=name, values=listed, other=OTHER))


def table_lookup(columns: Mapping[str, str], *, taken: bool = False) -> Lookup:
    """Make a function that finds attributes among the columns of a table, by name and type.

    Types that follow from the values, as in a frame, are `taken` from the log. Requesting `case:X`
    from a table with a column `X` declares that a case has one value of it.
    """

    def lookup(name: str) -> Present | None:
        names = (name, *column_names(bare_name(name), of_case=is_of_case(name)))
        column = next((each for each in names if each in columns), None)
        if column is None:
            return None
        of_case = is_of_case(column) or is_of_case(name)
        return Present(of_case=of_case, kind=columns[column], taken=taken)

    return lookup


def column_of(attribute: Attribute, columns: Sequence[str] | Mapping[str, object]) -> str:
    """Return the column of the table for an attribute."""
    names = column_names(attribute.name, of_case=attribute.of_case)
    return next((name for name in names if name in columns), attribute.key)


def found_attribute(attribute: Attribute, texts: Sequence[str]) -> Attribute:
    """The attribute with the domain that its distinct texts in the log make up."""
    found = with_domain(attribute, found_domain(texts, MAX_FOUND_VALUES))
    return replace(
        found,
        personal=found.personal or personal_by_values(texts),
        collapsed=found.domain == COLLAPSED and len(set(texts)) > 1,
    )
