"""Normal form of projections and unions.

Projections that only rename merge into what is beneath them. Projections of unions become unions of projections (so
that each owner computes its own part), and unions of unions become one. The result means the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from dataclasses import replace

from tacit.plan.algebra.expressions import subexpressions, substitute
from tacit.plan.algebra.relations import (
    Aggregate,
    ColumnRef,
    Expr,
    KeptScan,
    Limit,
    Literal,
    Project,
    Relation,
    Scan,
    Sort,
    Union,
)
from tacit.plan.algebra.trees import children, over_children
from tacit.plan.facts.fields import names, row_bound

Outputs = tuple[tuple[str, Expr], ...]


def simplify(relation: Relation) -> Relation:
    """The normal form of a tree."""
    return _Simplifying(shared(relation)).of(relation)


class _Simplifying:
    """One tree's normal form. shared: subtrees that several others read; what these compute is computed once."""

    def __init__(self, shared: frozenset[Relation]) -> None:
        self.shared = shared
        self.known: dict[Relation, Relation] = {}
        self.apart: set[Relation] = set()

    def of(self, relation: Relation) -> Relation:
        """A subtree's normal form."""
        if relation not in self.known:
            found = self._of(over_children(relation, self.of))
            self.known[relation] = found
            if relation in self.shared:
                self.apart.add(found)
        return self.known[relation]

    def _of(self, relation: Relation) -> Relation:
        match relation:
            case Project(input, outputs):
                return projected(input, outputs, self.apart)
            case Union(inputs):
                parts = tuple(part for each in inputs for part in (each.inputs if isinstance(each, Union) else (each,)))
                known = any(isinstance(each, Union) and each.most is not None for each in (relation, *inputs))
                return Union(parts, row_bound(relation) if known else None)
            case _:
                return relation


def shared(relation: Relation) -> frozenset[Relation]:
    """The subtrees that several others read."""
    readers: Counter[Relation] = Counter()
    met: set[Relation] = set()

    def read(each: Relation) -> None:
        if each not in met:
            met.add(each)
            readers.update(children(each))
            for child in children(each):
                read(child)

    read(relation)
    return frozenset(each for each, number in readers.items() if number > 1)


def named(relation: Relation) -> Relation:
    """A query's final aggregation with its aggregates under their output names, so that nothing need be renamed."""
    match relation:
        case Sort() | Limit():
            return replace(relation, input=named(relation.input))
        case Project(Aggregate() as aggregate, outputs):
            return _named(aggregate, outputs) or relation
        case _:
            return relation


def _named(aggregate: Aggregate, outputs: Outputs) -> Relation | None:
    shown = {each.name: name for name, each in outputs if isinstance(each, ColumnRef)}
    keys_stay = all(shown.get(key, key) == key for key in aggregate.keys)
    new = [shown.get(each.name, each.name) for each in aggregate.aggregations]
    if len(shown) < len(outputs) or not keys_stay or len({*aggregate.keys, *new}) < len(aggregate.keys) + len(new):
        return None
    renamed = tuple(
        replace(each, name=name, known=None if each.known is None else replace(each.known, name=name))
        for each, name in zip(aggregate.aggregations, new, strict=True)
    )
    columns = tuple((name, replace(each, name=name)) for name, each in outputs if isinstance(each, ColumnRef))
    return projected(replace(aggregate, aggregations=renamed), columns)


def projected(input: Relation, outputs: Outputs, apart: Container[Relation] = ()) -> Relation:
    """A projection of an input that is in normal form already. apart: what is computed for others, too."""
    if _is_identity(input, outputs):
        return input
    match input:
        case Union(inputs):
            return replace(input, inputs=tuple(projected(each, outputs, apart) for each in inputs))
        case Project(inner, columns) if _mergeable(columns, outputs, once=input not in apart):
            found = dict(columns)
            return projected(inner, tuple((name, substitute(each, found)) for name, each in outputs), apart)
        case Scan() | KeptScan() if all(isinstance(each, ColumnRef) for _, each in outputs):
            return _renamed(input, outputs)
        case _:
            return Project(input, outputs)


def _is_identity(input: Relation, outputs: Outputs) -> bool:
    same = all(isinstance(each, ColumnRef) and each.name == name for name, each in outputs)
    return same and tuple(name for name, _ in outputs) == names(input)


def _mergeable(columns: Outputs, outputs: Outputs, *, once: bool) -> bool:
    """Whether merging computes nothing twice. once: nobody else reads these columns."""
    uses = [each.name for _, e in outputs for each in subexpressions(e) if isinstance(each, ColumnRef)]
    return all(isinstance(each, ColumnRef | Literal) or uses.count(name) <= once for name, each in columns)


def _renamed(scan: Scan | KeptScan, outputs: Outputs) -> Scan | KeptScan:
    sources, fields = dict(scan.columns), {each.name: each for each in scan.fields}
    found = [(name, each.name) for name, each in outputs if isinstance(each, ColumnRef)]
    columns = tuple((name, sources[old]) for name, old in found)
    renamed = tuple(type(fields[old])(name, fields[old].type, fields[old].nullable) for name, old in found)
    return replace(scan, columns=columns, fields=renamed)
