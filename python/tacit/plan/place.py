"""The way from a bound query to its placed plan: the passes in their order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tacit.plan.account.disclosures import (
    match_disclosures,
    release_disclosure,
    size_disclosures,
    told_disclosures,
)
from tacit.plan.algebra.refusals import QueryError, UnsupportedSQL
from tacit.plan.algebra.relations import Relation
from tacit.plan.algebra.trees import kept_scans, owner, scans
from tacit.plan.algebra.types import Double, Varchar
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.deliveries import approving
from tacit.plan.facts.fields import fields
from tacit.plan.facts.kinds import Rep, hash_width, kind_of_field
from tacit.plan.physical.cost import predict, total
from tacit.plan.physical.demands import Demands
from tacit.plan.physical.disclosure import Disclosure
from tacit.plan.physical.engines import NODES, alternatives
from tacit.plan.physical.kept import about
from tacit.plan.physical.lower import Lowering
from tacit.plan.physical.merging import choose_merged
from tacit.plan.physical.operators import Keep, Release
from tacit.plan.physical.placed import KeepStep, PlacedPlan, ReleaseStep, Step, TailStep
from tacit.plan.physical.secure_expressions import SecureColumn
from tacit.plan.physical.tables import SharedTable
from tacit.plan.rules.matching import Reasons, choose_matches
from tacit.plan.rules.push_down import is_local
from tacit.plan.rules.push_up import Split, opened_by, push_up
from tacit.plan.rules.sequence import NORMAL, RULES, Trace, applied, ignore


@dataclass(frozen=True)
class KeptAs:
    """How a table is kept: its name, whether another one of that name gives way, whether it is exactly one row.

    declared: of a delivery, the hash of what is declared of the table.
    """

    name: str
    replace: bool
    single: bool
    declared: str | None = None


def place(
    relation: Relation, catalog: Catalog, recipients: tuple[str, ...], query: str, trace: Trace = ignore
) -> PlacedPlan:
    """The placed plan that answers a bound query to the recipients. Raises QueryError where there is none."""
    trace("query", relation)
    if not recipients:
        raise QueryError("the query has no recipient; name at least one party that gets the answer.")
    catalog = _check(relation, catalog, recipients)
    if len(recipients) == 1 and {owner(relation)} == set(recipients):
        tail = TailStep(1, recipients, applied(NORMAL, relation, catalog, trace), fields(relation))
        return PlacedPlan(query, catalog.engine, catalog.nodes, recipients, (tail,), (), catalog)
    split = push_up(relation)
    trace("push_up, at the recipient", split.tail)
    trace("push_up, before it", split.core)

    def end(core: Relation, table: SharedTable, lowering: Lowering) -> _End:
        return _answered(split, recipients, core, table, lowering)

    return _fastest(split.core, catalog, recipients, query, end, trace)


def place_kept(relation: Relation, catalog: Catalog, kept: KeptAs, query: str, trace: Trace = ignore) -> PlacedPlan:
    """The placed plan by which the nodes keep a bound query's rows. Raises QueryError where there is none."""
    trace("query", relation)
    catalog = _check(relation, catalog, ())
    for each in fields(relation):
        if isinstance(each.type, Double):
            instead = "keep SUM and COUNT, and divide in the query that reads the table"
            raise UnsupportedSQL("a DOUBLE in a kept table", instead).at(None, each.name)

    def end(core: Relation, table: SharedTable, lowering: Lowering) -> _End:
        return _kept(core, table, lowering, kept)

    return _fastest(relation, catalog, (), query, end, trace)


_End = tuple[tuple[Step, ...], tuple[Disclosure, ...]]
"""The last steps of a plan, and what they disclose."""

_Ending = Callable[[Relation, SharedTable, Lowering], _End]


def _fastest(
    core: Relation, catalog: Catalog, recipients: tuple[str, ...], query: str, end: _Ending, trace: Trace
) -> PlacedPlan:
    """The plan of a core with its joins done in the fastest way."""
    core = applied(RULES, core, catalog, trace)

    def merged(tree: Relation) -> tuple[frozenset[Relation], float]:
        """Which joins of a tree are best merged, and the time of all."""

        def seconds(joins: frozenset[Relation]) -> float:
            return total(predict(_placed(tree, {}, catalog, recipients, query, end, joins)[0])).seconds

        _, lowering = _placed(tree, {}, catalog, recipients, query, end)
        return choose_merged(lowering.mergeable, seconds)

    core, why = choose_matches(core, catalog, lambda tree: merged(tree)[1])
    trace("matching", core)
    plan, lowering = _placed(core, why, catalog, recipients, query, end)
    if not lowering.mergeable:
        return plan
    return _placed(core, why, catalog, recipients, query, end, merged(core)[0])[0]


def _placed(
    core: Relation,
    why: Reasons,
    catalog: Catalog,
    recipients: tuple[str, ...],
    query: str,
    end: _Ending,
    merged: frozenset[Relation] = frozenset(),
) -> tuple[PlacedPlan, Lowering]:
    """The plan that merges some of the joins, and what is known of it from lowering."""
    hashed = hash_width(core)
    demands = Demands(hashed, lambda each: is_local(each, catalog))
    demands.add(core, {each.name: frozenset({_opened_rep(each.type)}) for each in fields(core)})
    lowering = Lowering(catalog, demands, merged)
    last, disclosed = end(core, lowering.place(core), lowering)
    sizes = size_disclosures(lowering.announced, catalog)
    matches = [each for step, found in lowering.matches.items() for each in match_disclosures(step, found, catalog)]
    joins = tuple(
        f"step {lowering.placed[relation].step} is {reason}"
        for relation, reason in why.items()
        if relation in lowering.placed
    )
    told = told_disclosures(last, (*sizes, *matches), disclosed, catalog)
    steps, shown = (*lowering.emit.steps, *last), (*sizes, *matches, *told, *disclosed)
    return PlacedPlan(query, catalog.engine, catalog.nodes, recipients, steps, shown, catalog, joins), lowering


def _answered(
    split: Split, recipients: tuple[str, ...], core: Relation, table: SharedTable, lowering: Lowering
) -> _End:
    """The release, the recipients' tail, and the answer."""
    release, table = _release(core, table, split, recipients, lowering)
    tail = TailStep(release.id + 1, recipients, opened_by(split.tail, release.id, fields(core)), fields(split.tail))
    outputs = tuple(each.name for each in fields(split.tail))
    return (release, tail), (release_disclosure(release, outputs, split.beyond, core, table, lowering.catalog),)


def _kept(core: Relation, table: SharedTable, lowering: Lowering, kept: KeptAs) -> _End:
    """The step that keeps the table. It discloses nothing."""
    table, step = _shown(core, table, lowering), lowering.emit.next
    operator = Keep(step, table.step, kept.name, tuple(each.name for each in fields(core)))
    facts = about(core, kept.single, kept.declared, lowering.catalog)
    keep = KeepStep(operator, kept.replace, fields(core), facts, table.rows.text)
    return (keep,), ()


def _opened_rep(type_: object) -> Rep:
    """Strings are opened as bytes; numbers in whichever representation they have."""
    return "bytes" if isinstance(type_, Varchar) and type_.values is None else "any"


def _release(
    core: Relation, table: SharedTable, split: Split, recipients: tuple[str, ...], lowering: Lowering
) -> tuple[ReleaseStep, SharedTable]:
    """The release, with columns under the names that the tail knows."""
    table = _shown(core, table, lowering)
    names = tuple(each.name for each in fields(core))
    nullable = tuple(name for name in names if table.columns[name][0].kind.nullable)
    operator = Release(lowering.emit.next, table.step, recipients, names, nullable, split.ordered)
    return ReleaseStep(operator, fields(core)), table


def _shown(core: Relation, table: SharedTable, lowering: Lowering) -> SharedTable:
    """The table with one physical column for each of the core's, under its name."""
    columns = {}
    for each in fields(core):
        source = table.column(each.name, _opened_rep(each.type))
        kind = source.kind if _opened_rep(each.type) == "any" else kind_of_field(each, "bytes", lowering.hashed)
        # A column that is in its representation already keeps its kind.
        columns[each.name] = (SecureColumn(each.name, source.kind if source.kind.rep == kind.rep else kind),)
    return lowering.emit.shaped(table, core, columns)


def _check(relation: Relation, catalog: Catalog, recipients: tuple[str, ...]) -> Catalog:
    """What the engine can serve at present. Returns the catalog with those kept tables that the query reads."""
    if len(catalog.nodes) != NODES.get(catalog.engine):
        raise QueryError(
            f"the engine {catalog.engine!r} with {len(catalog.nodes)} nodes is not available; "
            f"use {alternatives()} nodes."
        )
    for party in dict.fromkeys([*recipients, *(scan.owner for scan in scans(relation))]):
        if party not in catalog.parties:
            role = "recipient" if party in recipients else "owner"
            raise QueryError(f"the {role} {party!r} is not one of the parties {', '.join(catalog.parties)}.")
    read = {scan.table for scan in kept_scans(relation)}
    kept = tuple(table for table in catalog.kept if table.name in read)
    for table in kept:
        for party in approving(table.owners, table.declared, catalog.nodes):
            if party not in catalog.parties:
                raise QueryError(
                    f"the kept table {table.name!r} has data of {party!r}, which would have to approve the query and "
                    f"is not one of the parties {', '.join(catalog.parties)}; DROP TABLE {table.name}."
                )
    return replace(catalog, kept=kept, broken=())
