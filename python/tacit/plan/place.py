"""The way from a bound query to its placed plan: the passes in their order."""

from __future__ import annotations

from tacit.plan.algebra import Relation
from tacit.plan.catalog import ENGINES, Catalog
from tacit.plan.cost import predict, total
from tacit.plan.demands import Demands
from tacit.plan.disclosures import match_disclosures, release_disclosure, size_disclosures
from tacit.plan.distinct import drop_redundant
from tacit.plan.fields import fields
from tacit.plan.kinds import Kind, Rep, hash_width, kind_of_field
from tacit.plan.lower import Lowering
from tacit.plan.matching import Reasons, choose_matches
from tacit.plan.placed import PlacedPlan, ReleaseStep, Step, TailStep
from tacit.plan.predicates import push_predicates
from tacit.plan.prune import prune
from tacit.plan.push_down import is_local, push_down
from tacit.plan.push_up import Split, opened_by, push_up
from tacit.plan.refusals import QueryError
from tacit.plan.secure_expressions import SecureColumn
from tacit.plan.simplify import named, simplify
from tacit.plan.tables import SharedTable
from tacit.plan.trees import scans
from tacit.plan.types import Varchar


def place(relation: Relation, catalog: Catalog, recipients: tuple[str, ...], query: str) -> PlacedPlan:
    """The placed plan that answers a bound query to the recipients. Raises QueryError where there is none."""
    _check(relation, catalog, recipients)
    if len(recipients) == 1 and {scan.owner for scan in scans(relation)} == set(recipients):
        tail = TailStep(1, recipients, prune(_normal(relation, catalog)), fields(relation))
        return PlacedPlan(query, catalog.engine, catalog.nodes, recipients, (tail,), (), catalog)
    split = push_up(relation)
    core = named(simplify(push_down(prune(_normal(split.core, catalog)), catalog)))

    def seconds(tree: Relation) -> float:
        return total(predict(_placed(tree, {}, split, catalog, recipients, query))).seconds

    core, why = choose_matches(core, catalog, seconds)
    return _placed(core, why, split, catalog, recipients, query)


def _normal(relation: Relation, catalog: Catalog) -> Relation:
    """The same relation with its filters low, its projections merged and its redundant operators gone."""
    return simplify(drop_redundant(simplify(push_predicates(simplify(relation))), catalog))


def _placed(
    core: Relation, why: Reasons, split: Split, catalog: Catalog, recipients: tuple[str, ...], query: str
) -> PlacedPlan:
    hashed = hash_width(core)
    demands = Demands(hashed, lambda each: is_local(each, catalog))
    demands.add(core, {each.name: frozenset({_opened_rep(each.type)}) for each in fields(core)})
    lowering = Lowering(catalog, demands)
    table = lowering.place(core)
    release, table = _release(core, table, split, recipients, lowering)
    found = fields(core)
    steps: list[Step] = [*lowering.emit.steps, release]
    steps.append(TailStep(release.id + 1, recipients, opened_by(split.tail, release.id, found), fields(split.tail)))
    sizes = size_disclosures(lowering.announced, catalog)
    matches = [each for step, found in lowering.matches.items() for each in match_disclosures(step, found, catalog)]
    joins = tuple(
        f"step {lowering.placed[relation].step} is {reason}"
        for relation, reason in why.items()
        if relation in lowering.placed
    )
    outputs = tuple(each.name for each in fields(split.tail))
    answer = release_disclosure(release, outputs, split.beyond, table.rows.text)
    shown = (*sizes, *matches, answer)
    return PlacedPlan(query, catalog.engine, catalog.nodes, recipients, tuple(steps), shown, catalog, joins)


def _opened_rep(type_: object) -> Rep:
    """Strings are opened as bytes; numbers in whichever representation they have."""
    return "bytes" if isinstance(type_, Varchar) and type_.values is None else "any"


def _release(
    core: Relation, table: SharedTable, split: Split, recipients: tuple[str, ...], lowering: Lowering
) -> tuple[ReleaseStep, SharedTable]:
    """The release, with columns under the names that the tail knows."""
    columns = {}
    for each in fields(core):
        source = table.column(each.name, _opened_rep(each.type))
        kind = source.kind if _opened_rep(each.type) == "any" else kind_of_field(each, "bytes", lowering.hashed)
        columns[each.name] = (
            SecureColumn(each.name, Kind(kind.repr, kind.width, kind.signed, kind.nullable, kind.encode)),
        )
    table = lowering.emit.shaped(table, core, columns)
    operator = {
        "id": lowering.emit.next,
        "op": "release",
        "input": table.step,
        "to": list(recipients),
        "columns": [each.name for each in fields(core)],
        "ordered": split.ordered,
    }
    return ReleaseStep(lowering.emit.next, table.step, recipients, operator, fields(core)), table


def _check(relation: Relation, catalog: Catalog, recipients: tuple[str, ...]) -> None:
    """What the engine can serve at present."""
    if len(catalog.nodes) != ENGINES.get(catalog.engine):
        available = " or ".join(f"{engine!r} with {nodes}" for engine, nodes in ENGINES.items())
        raise QueryError(
            f"the engine {catalog.engine!r} with {len(catalog.nodes)} nodes is not available; use {available} nodes."
        )
    if not recipients:
        raise QueryError("the query has no recipient; name at least one party that gets the answer.")
    for party in dict.fromkeys([*recipients, *(scan.owner for scan in scans(relation))]):
        if party not in catalog.nodes:
            role = "recipient" if party in recipients else "owner"
            raise QueryError(
                f"the {role} {party!r} is not one of the nodes {', '.join(catalog.nodes)}; "
                "owners and recipients must be nodes."
            )
