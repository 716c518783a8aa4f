"""An owner's part of a query: the local step that computes it and the input step that shares it."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.plan.algebra.expressions import reference
from tacit.plan.algebra.relations import Limit, Project, Relation, Scan, Slice, Sort, Union, Window
from tacit.plan.algebra.trees import owner, slices
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.expected import expected_rows
from tacit.plan.facts.fields import fields, names
from tacit.plan.facts.kinds import Hashes, kind_of_field
from tacit.plan.facts.sizes import Announced, Padded, SizeRule, size_rule
from tacit.plan.physical.demands import Want
from tacit.plan.physical.disclosure import Site
from tacit.plan.physical.emitter import Emitter
from tacit.plan.physical.operators import Input, Shared
from tacit.plan.physical.placed import InputStep, LocalStep
from tacit.plan.physical.secure_expressions import Columns, SecureColumn
from tacit.plan.physical.tables import Rows, SharedTable, exactly, physical_name, physical_of
from tacit.plan.rules.simplify import projected


@dataclass(frozen=True)
class Announcement:
    """At a site the size of a local relation is shown to all nodes."""

    site: Site
    relation: Relation
    size: Announced


def place_input(
    relation: Relation, want: Want, catalog: Catalog, emit: Emitter
) -> tuple[SharedTable, tuple[Announcement, ...]]:
    """Append both steps. Returns the shared table, and its size if that is announced."""
    party, rule = owner(relation), size_rule(relation, catalog)
    assert party is not None and rule is not None, "is_local holds"
    shown = projected(relation, tuple((each.name, reference(each)) for each in fields(relation) if each.name in want))
    local = emit.resolved(shown)
    columns, physical = entering(local, want, emit.hashed, set())
    emit.steps.append(LocalStep(emit.next, party, local, fields(local)))
    step = emit.next
    rows = rule.rows if isinstance(rule, Padded) else None
    pad_to_source = isinstance(rule, Announced) and rule.source and not keeps_rows(relation)
    operator = Input(step, party, physical, rows, pad_to_source, ordered=in_order(local))
    expected = expected_rows(relation) if rows is None and slices(relation) else None
    emit.steps.append(InputStep(step - 1, operator, emit.readable(relation, columns), expected))
    count = rule_rows(rule, f"rows({step})")
    return SharedTable(step, columns, physical_of(columns), count), announcements(
        Site(step, operator.op), relation, rule
    )


def announcements(site: Site, relation: Relation, rule: SizeRule) -> tuple[Announcement, ...]:
    """What a size rule shows at a site."""
    return (Announcement(site, relation, rule),) if isinstance(rule, Announced) else ()


def rule_rows(rule: SizeRule, text: str) -> Rows:
    """The number of rows that a size rule gives. text: the formula, where it is announced."""
    return exactly(rule.rows) if isinstance(rule, Padded) else Rows(None, text, rule.most)


def entering(local: Relation, want: Want, hashed: Hashes, taken: set[str]) -> tuple[Columns, tuple[Shared, ...]]:
    """Every column in each representation that is demanded. taken: names of other columns, to which these are added."""
    columns: dict[str, tuple[SecureColumn, ...]] = {}
    physical: list[Shared] = []
    taken.update(names(local))
    for each in fields(local):
        if each.name not in want:
            continue
        kinds = dict.fromkeys(kind_of_field(each, rep, hashed) for rep in sorted(want[each.name]))
        group: list[SecureColumn] = []
        for kind in kinds:
            name = physical_name(each.name, kind.rep, taken) if group else each.name
            taken.add(name)
            group.append(SecureColumn(name, kind))
            physical.append(Shared(name, each.name, kind.encode, kind))
        columns[each.name] = tuple(group)
    return columns, tuple(physical)


def in_order(relation: Relation) -> bool:
    """Whether the rows of a result come in an order that the query asks for."""
    match relation:
        case Sort():
            return True
        case Project(input, _) | Limit(input, _, _):
            return in_order(input)
        case _:
            return False


def keeps_rows(relation: Relation) -> bool:
    """Whether a result has exactly as many rows as its tables."""
    match relation:
        case Scan() | Slice():
            return True
        case Project(input) | Window(input) | Sort(input):
            return keeps_rows(input)
        case Union(inputs):
            return all(map(keeps_rows, inputs))
        case _:
            return False
