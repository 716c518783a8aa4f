"""DOUBLEs of subqueries are computed where they are used: what they are made of comes up in their place.

Nodes hold no DOUBLE. So an AVG or a quotient that a subquery computes stays apart: its sum and its count are columns.
Whatever reads the DOUBLE, above joins and conditions, computes it from them. There the recipient can, or a comparison
needs no division. Beside rows that an outer join keeps, what it is made of is NULL. There a DOUBLE is NULL, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from tacit.plan.algebra import bounds
from tacit.plan.algebra.expressions import is_clear_only, reference, substitute, with_nulls
from tacit.plan.algebra.fractions import null_if_zero, with_null_for_zero
from tacit.plan.algebra.functions import is_strict
from tacit.plan.algebra.quotient_keys import quotient_key
from tacit.plan.algebra.quotient_orders import in_order
from tacit.plan.algebra.relations import (
    Aggregate,
    Broadcast,
    Call,
    ColumnRef,
    Expr,
    Filter,
    FullJoin,
    Join,
    Limit,
    Literal,
    Mark,
    Pairs,
    Project,
    Relation,
    Sort,
    Union,
    Window,
)
from tacit.plan.algebra.trees import over_children
from tacit.plan.algebra.types import Boolean, Double
from tacit.plan.facts.fields import fields, names
from tacit.plan.rules.push_up import is_divisor
from tacit.plan.rules.roundings import exactly, means_of
from tacit.plan.rules.united_quotients import united

TRUE = Literal(True, Boolean())

Parts = Mapping[str, Expr]
"""DOUBLE columns, each as an expression over the relation's columns."""


def with_quotients_above(relation: Relation, *, exact: bool = True) -> Relation:
    """The tree whose DOUBLEs are computed as high as they can be; with the same columns.

    exact: averages and quotients are rounded exactly, so that nodes can. Else DuckDB rounds DOUBLEs.
    """
    return _Lifting(exact).whole(relation)


@dataclass
class _Lifting:
    exact: bool
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
                over = self._over_parts(below, parts)
                return self._projected(below, tuple((name, over(each)) for name, each in outputs))
            case Filter(input, predicate):
                below, parts = self.of(input)
                return Filter(below, self._over_parts(below, parts)(predicate)), parts
            case Aggregate():
                return self._grouped(relation)
            case Join() | FullJoin():
                return self._joined(relation)
            case Pairs(left, right):
                (a, of_a), (b, of_b) = self.of(left), self.of(right)
                return replace(relation, left=a, right=b), {**of_a, **of_b}
            case Broadcast(input, scalar):
                (a, of_a), (b, of_b) = self.of(input), self.of(scalar)
                return Broadcast(a, b), {**of_a, **of_b}
            case Mark() | Window() | Sort() | Limit():
                return self._passed(relation)
            case Union():
                return self._united(relation)
            case _:
                return over_children(relation, self.whole), {}

    def _over_parts(self, input: Relation, parts: Parts) -> Callable[[Expr], Expr]:
        """What an expression is over an input without its DOUBLEs."""
        if not self.exact:
            return lambda expr: substitute(expr, parts)
        means = means_of(input)
        return lambda expr: exactly(substitute(expr, parts), means)

    def _grouped(self, relation: Aggregate) -> tuple[Relation, Parts]:
        """Groups by exact numbers in place of DOUBLEs that are different where these are."""
        below, parts = self.of(relation.input)
        aggregated = {each.column for each in relation.aggregations if each.column is not None}
        used = {*relation.keys, *aggregated} & parts.keys()
        found = self._numbered(below, {name: parts[name] for name in used if name in relation.keys})
        if not used or not used <= {*relation.keys} or found is None:
            return over_children(relation, self.whole), {}
        below, names, doubles = found
        keys, carried = (tuple(names.get(key, key) for key in each) for each in (relation.keys, relation.carried))
        return replace(relation, input=below, keys=keys, carried=carried), doubles

    def _numbered(self, below: Relation, parts: Parts) -> tuple[Relation, dict[str, str], dict[str, Expr]] | None:
        """The relation with an exact number for each DOUBLE; these columns' names, and the DOUBLEs that they tell.

        None where one has none of which different numbers are different DOUBLEs.
        """
        columns: dict[str, Expr] = {}
        chosen: dict[str, str] = {}
        doubles: dict[str, Expr] = {}
        for name, part in parts.items():
            if (column := _told_apart(part)) is not None:
                chosen[name], doubles[name] = column.name, part
                continue
            key = quotient_key(part) if self.exact else None
            if key is None or not key.is_told:
                return None
            chosen[name] = self._fresh(name, {*names(below), *columns})
            columns[chosen[name]] = key.number
            doubles[name] = key.of(ColumnRef(chosen[name], key.number.type, key.number.nullable))
        if columns:
            kept = tuple((each.name, reference(each)) for each in fields(below))
            below = Project(below, (*kept, *columns.items()))
        return below, chosen, doubles

    def _projected(self, input: Relation, outputs: tuple[tuple[str, Expr], ...]) -> tuple[Relation, Parts]:
        kept = {name: each for name, each in outputs if not _is_quotient(each)}
        parts: dict[str, Expr] = {}
        for name, each in outputs:
            if _is_quotient(each):
                columns: dict[Expr, str] = {}
                parts[name] = self._over(each, name, columns, {*kept, *(name for name, _ in outputs)})
                kept |= {column: part for part, column in columns.items()}
        return Project(input, tuple(kept.items())), parts

    def _joined(self, join: Join | FullJoin) -> tuple[Relation, Parts]:
        (a, of_a), (b, of_b) = self.of(join.left), self.of(join.right)
        if {*join.left_keys, *join.right_keys} & {*of_a, *of_b}:
            return over_children(join, self.whole), {}
        a, of_a = self._beside_null(a, of_a) if isinstance(join, FullJoin) or join.keeps_right else (a, of_a)
        b, of_b = self._beside_null(b, of_b) if isinstance(join, FullJoin) or join.keeps_left else (b, of_b)
        return replace(join, left=a, right=b), {**of_a, **of_b}

    def _united(self, union: Union) -> tuple[Relation, Parts]:
        sides = [self.of(each) for each in union.inputs]
        if not any(parts for _, parts in sides):
            return over_children(union, self.whole), {}
        taken = {name for side, _ in sides for name in names(side)} | set(names(union))
        found = united(union, sides, lambda name: self._fresh(name, taken))
        return (over_children(union, self.whole), {}) if found is None else found

    def _passed(self, relation: Mark | Window | Sort | Limit) -> tuple[Relation, Parts]:
        """What has the rows of its input, where it does not use their DOUBLEs."""
        below, parts = self.of(relation.input)
        if isinstance(relation, Window) and self.exact and _used(relation) & parts.keys():
            return self._ordered(relation, below, parts)
        if _used(relation) & parts.keys():
            return over_children(relation, self.whole), {}
        if isinstance(relation, Mark):
            return replace(relation, input=below, choices=self.whole(relation.choices)), parts
        return replace(relation, input=below), parts

    def _ordered(self, window: Window, below: Relation, parts: Parts) -> tuple[Relation, Parts]:
        """Partitions and orders by exact numbers in place of DOUBLEs."""
        apart = self._numbered(below, {name: parts[name] for name in window.partition if name in parts})
        ordered = {key.column: parts[key.column] for key in window.order if key.column in parts}
        in_order = None if apart is None else self._in_order(apart[0], ordered)
        if apart is None or in_order is None or _arguments(window) & parts.keys():
            return over_children(window, self.whole), {}
        below, chosen = in_order
        partition = tuple(apart[1].get(name, name) for name in window.partition)
        order = tuple(replace(key, column=chosen.get(key.column, key.column)) for key in window.order)
        return replace(window, input=below, partition=partition, order=order), parts

    def _in_order(self, below: Relation, parts: Parts) -> tuple[Relation, dict[str, str]] | None:
        """The relation with a number in the order of each DOUBLE, and these columns' names; None where one has none."""
        found = {name: in_order(part) for name, part in parts.items()}
        if any(isinstance(each.type, Double) for each in found.values()):
            return None
        chosen = {name: each.name for name, each in found.items() if isinstance(each, ColumnRef)}
        columns: dict[str, Expr] = {}
        for name, each in found.items():
            if name not in chosen:
                chosen[name] = self._fresh(name, {*names(below), *columns})
                columns[chosen[name]] = each
        kept = tuple((each.name, reference(each)) for each in fields(below))
        return (Project(below, (*kept, *columns.items())) if columns else below), chosen

    def _beside_null(self, side: Relation, parts: Parts) -> tuple[Relation, Parts]:
        """A side of a join that may be absent, and its DOUBLEs, which are NULL then."""
        found = {name: with_nulls(each) for name, each in parts.items()}
        if all(map(is_strict, found.values())):
            return side, found
        present = self._fresh("present", set(names(side)))
        columns = tuple((each.name, reference(each)) for each in fields(side))
        guarded = {name: each if is_strict(each) else _where(present, each) for name, each in found.items()}
        return Project(side, (*columns, (present, TRUE))), guarded

    def _over(self, expr: Expr, name: str, columns: dict[Expr, str], taken: set[str]) -> Expr:
        """The expression over columns for its parts that nodes can compute. columns: those parts, by their names."""
        if isinstance(expr, Literal):
            return expr
        if (divisor := null_if_zero(expr)) is not None:
            return with_null_for_zero(self._over(divisor, name, columns, taken))
        if not isinstance(expr, Call) or not is_clear_only(expr):
            if expr not in columns:
                columns[expr] = self._fresh(name, taken)
            return ColumnRef(columns[expr], expr.type, expr.nullable)
        return replace(expr, args=tuple(self._over(each, name, columns, taken) for each in expr.args))

    def _fresh(self, name: str, taken: set[str]) -> str:
        found = next(each for each in (f"{name}_part{n}" for n in count(1)) if each not in self.names | taken)
        self.names.add(found)
        return found


def _told_apart(expr: Expr) -> ColumnRef | None:
    """The column of exact numbers of which a DOUBLE tells all apart, if it is one of such a column."""
    match expr:
        case Call("cast", (ColumnRef() as column,), Double()) if bounds.is_told_by_double(column.type):
            return column
        case Call("div", (Call("cast") as dividend, by)) if is_divisor(by):
            return _told_apart(dividend)
        case _:
            return None


def _where(present: str, value: Expr) -> Call:
    """The value of a row that is there, and NULL beside others."""
    absent = Call("is_null", (ColumnRef(present, Boolean(), True),), Boolean(), False)
    return Call("if", (absent, Literal(None, value.type), value), value.type, True)


def _used(relation: Mark | Window | Sort | Limit) -> set[str]:
    """The columns of its input that a relation computes with."""
    match relation:
        case Mark():
            return set(relation.input_keys)
        case Window(_, partition, order, _):
            return {*partition, *(key.column for key in order), *_arguments(relation)}
        case Sort(_, keys):
            return {key.column for key in keys}
        case Limit():
            return set()


def _arguments(window: Window) -> set[str]:
    """The columns that window functions are of."""
    return {name for each in window.outputs for name in (each.column, each.default) if name is not None}


def _is_quotient(expr: Expr) -> bool:
    return isinstance(expr, Call) and isinstance(expr.type, Double)
