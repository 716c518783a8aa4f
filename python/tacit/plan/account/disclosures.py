"""The account: one disclosure for everything that any party learns besides its own input.

The permits that follow from the disclosures are exactly what a run may open. Padded sizes and declared bounds are
public before the run and disclose nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from tacit.plan.algebra.relations import Aggregate, FullJoin, Match, Project, Relation, Slice
from tacit.plan.algebra.trees import owner, scans, slices
from tacit.plan.facts.catalog import Catalog, DisclosureRule
from tacit.plan.facts.fields import fields
from tacit.plan.facts.floors import least_rows
from tacit.plan.facts.lineage import grafted, lineage
from tacit.plan.facts.sizes import most_ids, most_matches
from tacit.plan.facts.sources import Source, Use, Uses, ordered, passed
from tacit.plan.physical.disclosure import (
    AnnouncedRows,
    CountedRows,
    Derivation,
    Disclosure,
    KeptRows,
    KeyValues,
    Matched,
    MatchingRows,
    NumberOfIds,
    NumberOfMatches,
    OpenedColumns,
    OpenedRows,
    SeenKeys,
    Shown,
    Site,
)
from tacit.plan.physical.lower_input import Announcement
from tacit.plan.physical.lower_keys import OpenedKeys
from tacit.plan.physical.lower_resize import ShownCount
from tacit.plan.physical.operators import Named, Psi, UniversalIds
from tacit.plan.physical.placed import KeepStep, ReleaseStep, Step
from tacit.plan.physical.tables import Rows, SharedTable
from tacit.plan.physical.trusted import ShownKeys
from tacit.plan.rules.matching import permission
from tacit.plan.rules.push_up import Beyond


def size_disclosures(announced: Iterable[Announcement], catalog: Catalog) -> tuple[Disclosure, ...]:
    """The sizes that are announced to all nodes."""
    return tuple(
        Disclosure(
            catalog.nodes,
            each.site,
            AnnouncedRows(_owner(each.relation), each.size.counted),
            Derivation((), _counted(each, catalog), each.size.most),
            each.size.rules,
        )
        for each in announced
    )


def count_disclosures(shown: Iterable[ShownCount], catalog: Catalog) -> tuple[Disclosure, ...]:
    """The numbers of valid rows that are opened to all nodes."""
    return tuple(
        Disclosure(
            catalog.nodes,
            each.site,
            CountedRows(each.step, each.op, _sides(each.relation)),
            Derivation((), ordered(lineage(each.relation, catalog).presence), each.most),
            (DisclosureRule.SIZES_CONSENT,),
        )
        for each in shown
    )


def _sides(relation: Relation) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The owners of the tables beneath a relation, each with these."""
    found: dict[str, dict[str, None]] = {}
    for scan in scans(relation):
        found.setdefault(scan.owner, {})[scan.table] = None
    return tuple((party, tuple(tables)) for party, tables in found.items())


def slicing_disclosures(opened: OpenedKeys, catalog: Catalog) -> tuple[Disclosure, ...]:
    """The keys that are opened to other owners, and, to those that are no nodes, how many these are."""
    step, found = opened.step, lineage(opened.relation, catalog)
    values = tuple((each.name, ordered(found.values[each.name])) for each in step.fields)
    keys = tuple(tuple(dict.fromkeys(map(_column, uses))) for _, uses in values)
    site, presence, rules = Site(step.id, step.operator.op), ordered(found.presence), (DisclosureRule.PUBLIC_KEYS,)
    derivation = Derivation(values, presence, opened.most)
    shown = Disclosure(step.operator.to, site, KeyValues(step.owner, opened.columns, keys), derivation, rules)
    outside = tuple(party for party in step.operator.to if party not in catalog.nodes)
    number = Derivation((), presence, opened.most)
    told = (Disclosure(outside, site, AnnouncedRows(step.owner, opened.counted), number, rules),) if outside else ()
    return shown, *told


def _column(use: Use) -> str:
    return f"{use.source.table}.{use.source.column}"


def told_disclosures(
    steps: Iterable[Step], sizes: Iterable[Disclosure], rows: Rows, catalog: Catalog
) -> tuple[Disclosure, ...]:
    """What parties that are no nodes learn of the sizes that nodes know: how many rows are opened to them, or kept, the
    ones that do not count included. It follows from the announced sizes.

    rows: of what is opened or kept. Where they are known by the plan, a description of a kept table tells nothing new.
    """
    presence = ordered(frozenset(use for each in sizes if each.kind == "size" for use in each.derivation.presence))
    found = []
    told: tuple[str, ...]
    shown: Shown
    for step in steps:
        match step:
            case ReleaseStep():
                told, shown = step.operator.to, OpenedRows()
            case KeepStep() if rows.known is None:
                told, shown = catalog.parties, KeptRows(step.operator.table)
            case _:
                continue
        if outside := tuple(party for party in told if party not in catalog.nodes):
            site, derivation = Site(step.id, step.operator.op), Derivation((), presence, rows.most)
            found.append(Disclosure(outside, site, shown, derivation, (DisclosureRule.QUERY,)))
    return tuple(found)


def _counted(announced: Announcement, catalog: Catalog) -> tuple[Use, ...]:
    """What the number of rows derives from: where it is that before any filter, the tables' rows alone."""
    if not announced.size.source:
        return ordered(lineage(announced.relation, catalog).presence)
    tables = {table for each in announced.size.counted for table in each.tables}
    rows = frozenset(Use(Source(_owner(announced.relation), table, None)) for table in tables)
    return ordered(rows.union(*(_slicing(each, catalog) for each in slices(announced.relation))))


def _slicing(sliced: Slice, catalog: Catalog) -> Uses:
    """What decides which rows a slice has: those of its input, and the keys of all owners."""
    own, others = lineage(sliced.input, catalog), [lineage(each, catalog) for each in sliced.others]
    keys = frozenset[Use]().union(
        *(own.values[key] for key in sliced.keys), *(uses for each in others for uses in each.values.values())
    )
    return own.presence.union(passed(keys, "join"), *(each.presence for each in others))


def match_disclosures(step: int, match_: Match | FullJoin, catalog: Catalog) -> tuple[Disclosure, ...]:
    """What a Match shows: both owners which rows match, the left one how often, and all nodes how many there are.

    A full join shows all nodes how many rows it has.
    """
    left, right = _matched(match_.left), _matched(match_.right)
    keys = tuple(zip(match_.left_keys, match_.right_keys, strict=True))
    rules, presence = permission(match_, catalog), ordered(lineage(match_, catalog).presence)
    if isinstance(match_, FullJoin):
        derivation = Derivation((), presence, most_ids(match_, catalog))
        site = Site(step, UniversalIds.op)
        return (Disclosure(catalog.nodes, site, NumberOfIds(left, right, keys), derivation, rules),)
    site = Site(step, Psi.op)
    pattern, number = Derivation((), presence, None), Derivation((), presence, most_matches(match_, catalog))
    of_left = MatchingRows(left, right, keys, repeats=not match_.right_unique)
    of_right = MatchingRows(right, left, keys, repeats=False)
    return (
        Disclosure((left.owner,), site, of_left, pattern, rules),
        Disclosure((right.owner,), site, of_right, pattern, rules),
        Disclosure(catalog.nodes, site, NumberOfMatches(right, left, keys), number, rules),
    )


def _matched(side: Relation) -> Matched:
    tables = tuple(dict.fromkeys(scan.table for scan in scans(side)))
    return Matched(_owner(side), tables, _grouped(side))


def _grouped(side: Relation) -> int:
    """How often the rows of a side are grouped."""
    match side:
        case Project(input, _):
            return _grouped(input)
        case Aggregate(input, _, _):
            return _grouped(input) + 1
        case _:
            return 0


def _owner(relation: Relation) -> str:
    party = owner(relation)
    assert party is not None, "what is computed alone has one owner"
    return party


def key_disclosures(shown: Iterable[ShownKeys], catalog: Catalog) -> tuple[Disclosure, ...]:
    """What a trusted party sees of the keys of joins and groups."""
    return tuple(_seen(each, catalog) for each in shown)


def _seen(shown: ShownKeys, catalog: Catalog) -> Disclosure:
    found = [(lineage(side, catalog), keys) for side, keys in shown.sides]
    values = tuple((key, ordered(side.values[key])) for side, keys in found for key in keys)
    presence = ordered(frozenset(use for side, _ in found for use in side.presence))
    others = any(use.source.owner != shown.party for use in (*presence, *(use for _, uses in values for use in uses)))
    rule = DisclosureRule.TRUSTED_KEYS if others else DisclosureRule.QUERY
    seen = SeenKeys(shown.columns, tuple(len(keys) for _, keys in shown.sides))
    return Disclosure((shown.party,), shown.site, seen, Derivation(values, presence, shown.rows.most), (rule,))


def release_disclosure(
    release: ReleaseStep,
    tail: Relation,
    beyond: tuple[Beyond, ...],
    core: Relation,
    table: SharedTable,
    catalog: Catalog,
) -> Disclosure:
    """What the recipients see: the answer, and whatever operands of quotients the answer does not imply.

    core: what is opened. tail: the answer, computed from it. table: the core shared, each column under its own name.
    """
    found, least = lineage(core, catalog), least_rows(core)
    answer = lineage(grafted(tail, core), catalog)
    outputs = tuple(each.name for each in fields(tail))
    columns = tuple(Named(each.name, table.columns[each.name][0].kind) for each in release.fields)
    values = tuple((each.name, ordered(found.values[each.name])) for each in release.fields)
    return Disclosure(
        release.operator.to,
        Site(release.id, release.operator.op),
        OpenedColumns(columns, outputs, beyond, table.rows.text),
        Derivation(
            values,
            ordered(found.presence),
            table.rows.most,
            least if least > 1 else None,
            tuple((name, ordered(answer.values[name])) for name in outputs),
        ),
        (DisclosureRule.QUERY,),
    )
