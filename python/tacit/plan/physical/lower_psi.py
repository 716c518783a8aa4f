"""A join of two owners by their keys: both owners' local steps, and the step that matches them and shares the rows.

A psi has one row for each match. A circuit_psi has rows, of which those that match are valid. universal_ids have one
row for each row of either side, and one for both where they match.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from tacit.plan.algebra.expressions import reference
from tacit.plan.algebra.relations import ColumnRef, FullJoin, Match, Project, Relation
from tacit.plan.algebra.trees import owner
from tacit.plan.algebra.types import Type, Varchar
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import fields, row_bound
from tacit.plan.facts.sizes import Announced, Padded, SizeRule, most_ids, most_matches, size_rule
from tacit.plan.physical.demands import Want
from tacit.plan.physical.disclosure import Site
from tacit.plan.physical.emitter import Emitter
from tacit.plan.physical.lower_input import Announcement, announcements, entering, keeps_rows
from tacit.plan.physical.operators import CircuitPsi, Key, Matching, Psi, Side, UniversalIds
from tacit.plan.physical.placed import LocalStep, PsiStep
from tacit.plan.physical.secure_expressions import Columns
from tacit.plan.physical.tables import Rows, SharedTable, exactly, physical_of
from tacit.plan.rules.simplify import projected


@dataclass(frozen=True)
class _Placed:
    """One side after its local step. size: how its size is treated."""

    side: Side
    columns: Columns
    size: SizeRule


def place_match(
    relation: Match | FullJoin, want: Want, catalog: Catalog, emit: Emitter
) -> tuple[SharedTable, tuple[Announcement, ...]]:
    """Append the steps. Returns the join as a shared table, and the sizes of its sides that are announced."""
    taken: set[str] = set()
    full = isinstance(relation, FullJoin)
    left = _place_side(relation.left, relation.left_keys, want, catalog, emit, taken, full)
    right = _place_side(relation.right, relation.right_keys, want, catalog, emit, taken, full)
    step, operator, known = emit.next, _operator(relation, emit.next, left.side, right.side), None
    match operator:
        case CircuitPsi():
            known = _circuit_rows(left.side.rows, right.side.rows)
            most = _circuit_rows(left.size.most, right.size.most)
        case _:
            most = most_ids(relation, catalog) if isinstance(relation, FullJoin) else most_matches(relation, catalog)
    assert most is not None, "both sides have a bound"
    columns = {**left.columns, **right.columns}
    readers = emit.readable(relation, columns)
    bound = known if isinstance(operator, CircuitPsi) else row_bound(relation)
    emit.steps.append(PsiStep(operator, bound, readers))
    announced = announcements(Site(step, operator.op, "left"), relation.left, left.size)
    announced += announcements(Site(step, operator.op, "right"), relation.right, right.size)
    rows = Rows(None, f"rows({step})", most) if known is None else exactly(known)
    return SharedTable(step, columns, physical_of(columns), rows), announced


def _operator(relation: Match | FullJoin, step: int, left: Side, right: Side) -> Matching:
    match relation:
        case FullJoin():
            return UniversalIds(step, left, right)
        case Match(hidden=True):
            return CircuitPsi(step, left, right)
        case Match():
            return Psi(step, left, right, relation.right_unique)


def _circuit_rows(left: int | None, right: int | None) -> int | None:
    """The rows of a circuit_psi of sides of these sizes, if both are known."""
    if left is None or right is None:
        return None
    from tacit._native import circuit_psi_rows

    return circuit_psi_rows(left, right)


def _place_side(
    relation: Relation,
    keys: tuple[str, ...],
    want: Want,
    catalog: Catalog,
    emit: Emitter,
    taken: set[str],
    nullable: bool,
) -> _Placed:
    """Append a side's local step. taken: physical names of the other side, to which this one's are added. nullable: the
    columns may be NULL in the join, whatever they are in the side."""
    party, rule = owner(relation), size_rule(relation, catalog)
    assert party is not None and rule is not None, "a Match has sides that its owners compute alone"
    local = projected(
        relation, tuple((each.name, reference(each)) for each in fields(relation) if each.name in {*want, *keys})
    )
    types = {each.name: each.type for each in fields(local)}
    local = emit.resolved(local)
    columns, physical = entering(_nullable(local) if nullable else local, want, emit.hashed, taken)
    emit.steps.append(LocalStep(emit.next, party, local, fields(local)))
    step = emit.next - 1
    rows = rule.rows if isinstance(rule, Padded) else None
    pad_to_source = isinstance(rule, Announced) and rule.source and not keeps_rows(relation)
    matched = tuple(Key(key, _key_encoding(types[key])) for key in keys)
    side = Side(step, party, rows, pad_to_source, matched, physical)
    return _Placed(side, columns, rule)


def _nullable(local: Relation) -> Relation:
    """The same columns, as they may be in a full join."""
    return Project(local, tuple((each.name, ColumnRef(each.name, each.type, True)) for each in fields(local)))


def _key_encoding(type_: Type) -> OneOf["int", "hash"]:
    """Numbers match by their encoding, strings without a dictionary by themselves."""
    return "hash" if isinstance(type_, Varchar) and type_.values is None else "int"
