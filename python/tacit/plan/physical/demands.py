"""In which representations the columns of each relation are needed, from the root down.

The demands of all uses of equal subtrees are united before anything is placed, so that a CTE used twice is computed
once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tacit.plan.algebra.civil import in_numbers
from tacit.plan.algebra.divisions import is_exact
from tacit.plan.algebra.relations import (
    Aggregate,
    Aggregation,
    Broadcast,
    Call,
    ColumnRef,
    Constants,
    Expr,
    Filter,
    FullJoin,
    Join,
    KeptScan,
    Limit,
    Literal,
    Mark,
    Match,
    Opened,
    Pairs,
    Project,
    Relation,
    Scan,
    Slice,
    Sort,
    Union,
    Window,
    WindowOutput,
)
from tacit.plan.algebra.trees import children
from tacit.plan.algebra.types import Double
from tacit.plan.facts.fields import aggregation_field, field_of, names
from tacit.plan.facts.kinds import RINGS, Hashes, Rep, equality_rep, order_rep, ring_of
from tacit.plan.physical.divisions import operands as divided

Want = Mapping[str, frozenset[Rep]]


class Demands:
    """The united demands. stops: whether a relation is computed locally (its inputs are then no concern of MPC)."""

    def __init__(self, hashed: Hashes, stops: Callable[[Relation], bool]) -> None:
        self.hashed = hashed
        self.stops = stops
        self.found: dict[Relation, dict[str, frozenset[Rep]]] = {}

    def add(self, relation: Relation, want: Want) -> None:
        """Add the demand of one use of a relation, here and beneath."""
        known = self.found.get(relation)
        merged = merge(known or {}, want)
        if known is not None and merged == known:
            return
        self.found[relation] = merged
        if not self.stops(relation):
            for child, its in self.beneath(relation, merged):
                self.add(child, its)

    def readers(self, relation: Relation) -> int:
        """How many relations that are placed take a relation's rows."""
        return sum(relation in children(each) for each in self.found if not self.stops(each))

    def beneath(self, relation: Relation, want: Want) -> list[tuple[Relation, Want]]:
        """What a relation needs of its inputs to meet a demand."""
        match relation:
            case Scan() | KeptScan() | Constants() | Opened():
                return []
            case Filter(input, predicate):
                return [(input, merge(want, self.of(predicate, "bits")))]
            case Project(input, outputs):
                return [(input, merge(*(self.of(e, rep) for name, e in outputs for rep in want.get(name, ()))))]
            case Union(inputs):
                return [(each, want) for each in inputs]
            case Join(left, right, left_keys, right_keys):
                return [
                    (left, merge(part(want, left), self.equal(left, left_keys))),
                    (right, merge(part(want, right), self.equal(right, right_keys))),
                ]
            case Mark(input, choices, input_keys, choice_keys):
                return [
                    (input, merge(part(want, input), self.equal(input, input_keys))),
                    (choices, self.equal(choices, choice_keys)),
                ]
            case FullJoin(left, right) | Match(left, right) | Pairs(left, right):
                return [(left, part(want, left)), (right, part(want, right))]
            case Broadcast(input, scalar):
                return [(input, part(want, input)), (scalar, part(want, scalar))]
            case Aggregate(input, _, aggregations, carried=carried):
                strings = {key: want[key] & {"bytes"} for key in relation.determining if key in want}
                values = {key: want[key] for key in carried if key in want}
                arguments = (self.argument(each, relation) for each in aggregations)
                return [(input, merge(self.equal(input, relation.determining), strings, values, *arguments))]
            case Window(input, partition):
                return [(input, merge(part(want, input), self.equal(input, partition), *self.windowed(relation, want)))]
            case Sort(input, keys):
                order = {key.column: frozenset({order_rep(field_of(input, key.column).type)}) for key in keys}
                return [(input, merge(want, order))]
            case Limit(input, _, _):
                return [(input, want)]
            case Slice():
                raise AssertionError("a slice is always local")

    def equal(self, relation: Relation, columns: tuple[str, ...]) -> Want:
        """The demand of grouping or joining by columns."""
        return {name: frozenset({equality_rep(field_of(relation, name).type, self.hashed)}) for name in columns}

    def argument(self, aggregation: Aggregation, relation: Aggregate) -> Want:
        """The demand of one aggregate."""
        if aggregation.column is None:
            return {}
        return {aggregation.column: frozenset({self.argument_rep(aggregation, relation)})}

    def windowed(self, relation: Window, want: Want) -> list[Want]:
        """What the order and the outputs of a window take of its input's columns."""
        input, found = relation.input, list[Want]()
        for key in relation.order:
            found.append({key.column: frozenset({order_rep(field_of(input, key.column).type)})})
        for each in relation.outputs:
            reps = window_reps(each, relation, want)
            found += [{name: reps} for name in (each.column, each.default) if name is not None]
        return found

    def argument_rep(self, aggregation: Aggregation, relation: Aggregate) -> Rep:
        """The representation in which an aggregate takes its argument."""
        assert aggregation.column is not None
        found = field_of(relation.input, aggregation.column).type
        match aggregation.function:
            case "sum":
                return ring_of(aggregation_field(aggregation, relation.input, bool(relation.keys)).type)
            case "min" | "max" | "middle" | "ranked" | "sum_distinct":
                return order_rep(found)
            case "count_distinct":
                return equality_rep(found, self.hashed)
            case _:
                return "any"

    def of(self, expr: Expr, rep: Rep) -> Want:
        """What an expression needs of its columns when its value is wanted in a representation."""
        expr = in_numbers(expr) or expr
        match expr:
            case ColumnRef(name):
                return {name: frozenset({rep})}
            case Literal():
                return {}
            case Call():
                return merge(*(self.of(arg, its) for arg, its in operands(expr, rep, self.hashed)))


def window_reps(output: WindowOutput, relation: Window, want: Want) -> frozenset[Rep]:
    """The representations in which a window's function takes its column, and in which the values of others come."""
    match output.function:
        case "sum":
            return frozenset({ring_of(field_of(relation, output.name).type)})
        case "min" | "max":
            return frozenset({order_rep(field_of(relation, output.name).type)})
        case "lag" | "lead" | "first_value" | "last_value":
            return want.get(output.name, frozenset())
        case _:
            return frozenset({"any"})


def operands(call: Call, rep: Rep, hashed: Hashes) -> list[tuple[Expr, Rep]]:
    """The arguments of a call with the representation each is best in."""
    args = call.args
    if is_exact(call):
        return divided(call)
    match call.op:
        case "mul" | "rescale" if not isinstance(call.type, Double):
            return [(arg, ring_of(call.type)) for arg in args]
        case "add" | "sub" | "neg":
            return [(arg, rep if rep in RINGS else "bits") for arg in args]
        case "eq" | "ne":
            return [(arg, equality_rep(subject(args).type, hashed)) for arg in args]
        case "lt" | "le" | "gt" | "ge":
            return [(arg, order_rep(subject(args).type)) for arg in args]
        case "is_null":
            return [(args[0], "any")]
        case "if":
            return [(args[0], "bits"), (args[1], rep), (args[2], rep)]
        case "and" | "or" | "not":
            return [(arg, "bits") for arg in args]
        case _:  # a cast, or what only clear computation gives
            return [(arg, rep) for arg in args]


def subject(args: tuple[Expr, ...]) -> Expr:
    """The side of a comparison whose encoding a constant on the other side follows."""
    return next((arg for arg in args if not isinstance(arg, Literal)), args[0])


def part(want: Want, relation: Relation) -> Want:
    """The demand on the columns of one input."""
    mine = set(names(relation))
    return {name: reps for name, reps in want.items() if name in mine}


def merge(*wants: Want) -> dict[str, frozenset[Rep]]:
    """All demands together. ring128 also serves ring64, and any representation serves "any"."""
    found: dict[str, frozenset[Rep]] = {}
    for want in wants:
        for name, reps in want.items():
            found[name] = found.get(name, frozenset()) | reps
    return {name: _least(reps) for name, reps in found.items() if reps}


def _least(reps: frozenset[Rep]) -> frozenset[Rep]:
    if "ring128" in reps:
        reps = reps - {"ring64"}
    return reps - {"any"} if len(reps) > 1 else reps
