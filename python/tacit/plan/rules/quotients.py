"""DOUBLEs of subqueries are computed where they are used: what they are made of comes up in their place.

Nodes hold no DOUBLE. So an AVG or a quotient that a subquery computes stays apart: its sum and its count are columns.
Whatever reads the DOUBLE, above joins and conditions, computes it from them. There the recipient can, or a comparison
needs no division.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from tacit.plan.algebra.expressions import is_clear_only, reference, substitute
from tacit.plan.algebra.relations import Broadcast, Call, ColumnRef, Expr, Filter, Join, Literal, Project, Relation
from tacit.plan.algebra.trees import over_children
from tacit.plan.algebra.types import Double
from tacit.plan.facts.fields import fields

Parts = Mapping[str, Expr]
"""DOUBLE columns, each as an expression over the relation's columns."""


def with_quotients_above(relation: Relation) -> Relation:
    """The tree whose DOUBLEs are computed as high as they can be; with the same columns."""
    return _Lifting().whole(relation)


@dataclass
class _Lifting:
    names: set[str] = field(default_factory=set)

    def whole(self, relation: Relation) -> Relation:
        """The relation with its own columns."""
        found, parts = self.of(relation)
        if not parts:
            return found
        shown = tuple((each.name, parts.get(each.name, reference(each))) for each in fields(relation))
        return Project(found, shown)

    def of(self, relation: Relation) -> tuple[Relation, Parts]:
        """The relation with what its DOUBLEs are made of in their place."""
        match relation:
            case Project(input, outputs):
                below, parts = self.of(input)
                return self._projected(below, tuple((name, substitute(each, parts)) for name, each in outputs))
            case Filter(input, predicate):
                below, parts = self.of(input)
                return Filter(below, substitute(predicate, parts)), parts
            case Join(left, right):
                (a, of_a), (b, of_b) = self.of(left), self.of(right)
                if {*relation.left_keys, *relation.right_keys} & {*of_a, *of_b}:
                    return over_children(relation, self.whole), {}
                return replace(relation, left=a, right=b), {**of_a, **of_b}
            case Broadcast(input, scalar):
                (a, of_a), (b, of_b) = self.of(input), self.of(scalar)
                return Broadcast(a, b), {**of_a, **of_b}
            case _:
                return over_children(relation, self.whole), {}

    def _projected(self, input: Relation, outputs: tuple[tuple[str, Expr], ...]) -> tuple[Relation, Parts]:
        kept = {name: each for name, each in outputs if not _is_quotient(each)}
        parts: dict[str, Expr] = {}
        for name, each in outputs:
            if _is_quotient(each):
                columns: dict[Expr, str] = {}
                parts[name] = self._over(each, name, columns, {*kept, *(name for name, _ in outputs)})
                kept |= {column: part for part, column in columns.items()}
        return Project(input, tuple(kept.items())), parts

    def _over(self, expr: Expr, name: str, columns: dict[Expr, str], taken: set[str]) -> Expr:
        """The expression over columns for its parts that nodes can compute. columns: those parts, by their names."""
        if isinstance(expr, Literal):
            return expr
        if not isinstance(expr, Call) or not is_clear_only(expr):
            if expr not in columns:
                columns[expr] = self._fresh(name, taken)
            return ColumnRef(columns[expr], expr.type, expr.nullable)
        return replace(expr, args=tuple(self._over(each, name, columns, taken) for each in expr.args))

    def _fresh(self, name: str, taken: set[str]) -> str:
        found = next(each for each in (f"{name}_part{n}" for n in count(1)) if each not in self.names | taken)
        self.names.add(found)
        return found


def _is_quotient(expr: Expr) -> bool:
    return isinstance(expr, Call) and isinstance(expr.type, Double)
