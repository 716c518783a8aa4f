"""Typed expressions to values that the native session computes, each in the representation where it is cheapest."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal as OneOf

from tacit.plan.algebra import moments
from tacit.plan.algebra.civil import in_numbers
from tacit.plan.algebra.divisions import is_exact
from tacit.plan.algebra.expressions import subexpressions
from tacit.plan.algebra.fractions import excludes_zero, rounding
from tacit.plan.algebra.functions import FUNCTIONS
from tacit.plan.algebra.refusals import QueryError, UnsupportedSQL
from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Literal
from tacit.plan.algebra.types import Boolean, Decimal, Double, Integer, Timestamp, Type, Varchar
from tacit.plan.facts.kinds import RINGS, Hashes, Kind, Rep, equality_rep, kind_of, ring_of, width_of
from tacit.plan.physical import divisions, values
from tacit.plan.physical.demands import operands, subject
from tacit.plan.physical.values import Function, Value


@dataclass(frozen=True)
class SecureColumn:
    """A physical column under MPC."""

    name: str
    kind: Kind


Comparison = OneOf["eq", "ne", "lt", "le", "gt", "ge"]
TURNED: Mapping[Comparison, Comparison] = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
"""A comparison with its sides exchanged."""
ROUND_IT = "round it, such as ROUND(a / NULLIF(b, 0), 2), or compare products: SUM(x) > 5 * COUNT(x)"
DIVIDE_LATER = (
    "divide in the outermost SELECT, CAST the quotient to a DECIMAL, or compare products: SUM(x) > 5 * COUNT(x)"
)
OF_CUT: Mapping[Comparison, Comparison] = {"lt": "le", "ge": "gt"}
"""A comparison with a longer string as one with its first bytes."""

Columns = Mapping[str, tuple[SecureColumn, ...]]


class WithoutHash(Exception):
    """A string is needed as its hash, which its owner makes, and MPC made the string: it has bytes alone."""


def has_encoding(kind: Kind, rep: Rep) -> None:
    """Raise WithoutHash where a string has another encoding than the wanted one: MPC converts none into the other."""
    if {kind.rep, rep} == {"hash", "bytes"}:
        raise WithoutHash


def pick(found: tuple[SecureColumn, ...], rep: Rep) -> SecureColumn:
    """Of the physical columns of one logical column, the best for a representation; the caller converts if it must."""
    wanted: dict[Rep, int] = {rep: 0, "ring128": 1} if rep == "ring64" else {rep: 0}
    return min(found, key=lambda column: wanted.get(column.kind.rep, 2))


class SecureExpressions:
    """Writes expressions over the columns of one shared table. hashed: how strings are compared."""

    def __init__(self, columns: Columns, hashed: Hashes) -> None:
        self.columns = columns
        self.hashed = hashed

    def write(self, expr: Expr, rep: Rep) -> tuple[Value, Kind]:
        """The expression in a wanted representation ("any": whichever is cheapest), with its kind."""
        found, kind = self._write(expr, rep, expr.type)
        if rep in ("any", kind.rep) or (rep in RINGS and kind.repr == "ring128"):
            return found, kind
        wanted = kind_of(expr.type, kind.nullable, rep, self.hashed)
        if wanted.rep == kind.rep:
            return found, kind
        has_encoding(kind, wanted.rep)
        return values.Call("convert", (found,), wanted), wanted

    def _write(self, expr: Expr, rep: Rep, type_: Type) -> tuple[Value, Kind]:
        """The expression in its best representation near the wanted one. type_: what a constant is encoded as."""
        if isinstance(expr, ColumnRef):
            column = pick(self.columns[expr.name], rep)
            has_encoding(column.kind, rep)
            return values.Column(column.name), column.kind
        try:
            return self._computed(expr, rep, type_)
        except QueryError as error:
            raise error.at(expr.position if isinstance(expr, Call) else None) from None

    def _computed(self, expr: Literal | Call, rep: Rep, type_: Type) -> tuple[Value, Kind]:
        match expr:
            case Literal():
                return self._constant(expr, rep, type_)
            case Call() if (civil := in_numbers(expr)) is not None:
                return self._write(civil, rep, type_)
            case Call() if is_exact(expr):
                args = [self._write(arg, its, arg.type)[0] for arg, its in operands(expr, rep, self.hashed)]
                return divisions.written(expr, args, self.hashed)
            case Call() if (found := rounding(expr)) is not None:
                raise _unrounded(expr, found.value)
            case Call("rescale" | "cast"):
                return self._retyped(expr, rep)
            case Call(("eq" | "ne" | "lt" | "le" | "gt" | "ge") as op):
                return self._comparison(expr, op)
            case Call("covariance" | "root"):
                raise UnsupportedSQL(
                    "a variance, or what is made of one, under MPC", "select it in the outermost SELECT", expr.position
                )
            case Call("interpolate" | "half"):
                raise UnsupportedSQL(
                    "a quantile between two values under MPC", "use QUANTILE_DISC, which is a value", expr.position
                )
            case Call("div" | "average" | "numerator" | "denominator"):
                raise UnsupportedSQL("a quotient under MPC", ROUND_IT, expr.position)
            case Call(op) if op in FUNCTIONS:
                raise self._clear_only(op, expr)
            case Call(_, _, Double()):
                raise UnsupportedSQL("DOUBLE arithmetic under MPC", DIVIDE_LATER, expr.position)
            case Call(("add" | "sub" | "mul" | "neg" | "and" | "or" | "not" | "is_null" | "if") as op, _, _, nullable):
                return self._call(expr, self._best(expr, rep), op, nullable)
            case Call(op):
                raise AssertionError(f"{op} is handled above")

    def _clear_only(self, op: str, expr: Call) -> UnsupportedSQL:
        """A function of what no single party has."""
        said = FUNCTIONS[op].said
        instead = (
            f"write it over columns of one table, or of one owner's, so that the owner computes it, or use {said} "
            "in the outermost SELECT"
        )
        return UnsupportedSQL(f"{said} under MPC", instead, expr.position)

    def _best(self, call: Call, rep: Rep) -> Rep:
        """The representation in which a call computes its value."""
        if call.op == "mul":
            return ring_of(call.type)
        if call.op == "if" and isinstance(call.type, Varchar):
            return equality_rep(call.type, self.hashed) if rep == "any" else rep
        return rep if rep in RINGS and call.op in ("add", "sub", "neg", "if") else "bits"

    def _call(self, call: Call, rep: Rep, op: Function, nullable: bool) -> tuple[Value, Kind]:
        kind = kind_of(call.type, nullable, rep, self.hashed)
        args = [
            self._write(arg, its, self._constant_type(call, arg))[0] for arg, its in operands(call, rep, self.hashed)
        ]
        return values.Call(op, _flat(op, args), kind), kind

    def _constant_type(self, call: Call, arg: Expr) -> Type:
        """Constants among the branches of a choice are encoded as its result. Its condition may be one, too."""
        branch = call.op == "if" and not isinstance(arg.type, Boolean)
        return call.type if branch and isinstance(call.type, Varchar) else arg.type

    def _retyped(self, call: Call, rep: Rep) -> tuple[Value, Kind]:
        """A change of type: the same encoding, or a multiple of it."""
        (inner,) = call.args
        if call.op == "rescale":
            ring = ring_of(call.type)
            kind = kind_of(call.type, call.nullable, ring, self.hashed)
            return values.Call(
                "scale", (self._write(inner, ring, inner.type)[0],), kind, by=_multiple(inner.type, call.type)
            ), kind
        if isinstance(call.type, Double):
            raise UnsupportedSQL("DOUBLE arithmetic under MPC", DIVIDE_LATER, call.position)
        if not self._same_encoding(inner.type, call.type):
            raise UnsupportedSQL(
                "a change of a string's type or dictionary under MPC",
                "declare the same max_length or the same values for the columns that meet",
                call.position,
            )
        return self._write(inner, rep, call.type)

    def _same_encoding(self, source: Type, target: Type) -> bool:
        match source, target:
            case (Varchar(), Varchar()):
                reps = [equality_rep(each, self.hashed) for each in (source, target)]
                same = isinstance(source, Varchar) and isinstance(target, Varchar) and source.values == target.values
                return same and (reps == ["hash", "hash"] or source == target)
            case (_, Double()):
                return False
            case (Integer() | Boolean(), Integer()) | (Integer(), Decimal(_, 0)):
                return True
            case (Decimal(_, a), Decimal(_, b)):
                return a == b
            case _:
                return source == target

    def _comparison(self, call: Call, op: Comparison) -> tuple[Value, Kind]:
        kind = kind_of(Boolean(), call.nullable, "bits", self.hashed)
        its = subject(call.args).type
        if isinstance(its, Varchar) and any(isinstance(arg, Literal) for arg in call.args):
            return self._with_text(call, op, its, kind)
        args = tuple(self._write(arg, rep, arg.type)[0] for arg, rep in operands(call, "bits", self.hashed))
        return values.Call(op, args, kind), kind

    def _with_text(self, call: Call, op: Comparison, type_: Varchar, kind: Kind) -> tuple[Value, Kind]:
        """A column against a constant string, turned so that the column comes first."""
        a, b = call.args
        if isinstance(a, Literal):
            a, b, op = b, a, TURNED.get(op, op)
        assert isinstance(b, Literal)
        rep = operands(call, "bits", self.hashed)[0][1]
        column = self._write(a, rep, a.type)[0]
        if not isinstance(b.value, str):
            constant = self._constant(b, rep, type_)[0]
        elif type_.values is not None:
            op, constant = _position(op, b.value, type_.values)
        else:
            op, constant = self._text(op, b.value, type_, rep)
        return values.Call(op, (column, constant), kind), kind

    def _text(self, op: Comparison, value: str, type_: Varchar, rep: Rep) -> tuple[Comparison, Value]:
        """A constant string as bytes or hash. One longer than the column's bytes is cut, and the comparison adapted."""
        kind = kind_of(type_, False, rep, self.hashed)
        encoded = value.encode()
        if kind.encode == "bytes" and 8 * len(encoded) > kind.width:
            if op in ("eq", "ne"):
                # Longer than any value of the column; the all-ones string, which is not UTF-8, equals none of them.
                return op, values.Integer((1 << kind.width) - 1, kind)
            cut = int.from_bytes(encoded[: kind.width // 8])
            return OF_CUT.get(op, op), values.Integer(cut, kind)
        return op, values.Text(value, kind.encode, kind)

    def _constant(self, literal: Literal, rep: Rep, type_: Type) -> tuple[Value, Kind]:
        if literal.value is None:
            kind = kind_of(type_, True, rep, self.hashed)
            return values.Null(kind), kind
        if isinstance(type_, Varchar):
            value = str(literal.value)
            if type_.values is not None:
                kind = kind_of(type_, False, "bits", self.hashed)
                return values.Integer(type_.values.index(value), kind), kind
            kind = kind_of(type_, False, equality_rep(type_, self.hashed) if rep == "any" else rep, self.hashed)
            return values.Text(value, kind.encode, kind), kind
        kind = kind_of(literal.type, False, "bits" if rep == "any" else rep, self.hashed)
        return values.Integer(int(literal.value), kind), kind


def _unrounded(expr: Call, value: Expr) -> UnsupportedSQL:
    """A rounding of a DOUBLE that is no fraction."""
    divisors = [each.args[1] for each in subexpressions(value) if isinstance(each, Call) and each.op == "div"]
    if not all(map(excludes_zero, divisors)):
        what = "a rounded quotient under MPC whose divisor may be 0"
        return UnsupportedSQL(what, "divide by NULLIF(b, 0)", expr.position)
    instead = "round an average or quotient of exact numbers of at most 126 bits, or round in the outermost SELECT"
    return UnsupportedSQL("a rounding under MPC of such a DOUBLE", instead, expr.position)


def _multiple(inner: Type, outer: Type) -> int:
    """By what a number of a larger scale is encoded, or the first moment of a day."""
    if isinstance(outer, Timestamp):
        return moments.DAY
    assert isinstance(outer, Decimal)
    return int(10 ** (outer.scale - (inner.scale if isinstance(inner, Decimal) else 0)))


def _position(op: Comparison, value: str, words: tuple[str, ...]) -> tuple[Comparison, Value]:
    """A comparison with a constant as one with a dictionary position; a string that is not in it equals no position."""
    keys = [each.encode() for each in words]
    left, right = bisect_left(keys, value.encode()), bisect_right(keys, value.encode())
    match op:
        case "eq" | "ne":
            place = left if left < right else len(words)
        case "lt" | "ge":
            place = left
        case _:
            op, place = ("lt", right) if op == "le" else ("ge", right)
    width = width_of((0, place))
    return op, values.Integer(place, Kind("bits", width, False, False))


def _flat(op: Function, args: list[Value]) -> tuple[Value, ...]:
    """The arguments with those of nested conjunctions (or disjunctions) in place: a long IN list is one flat "or"."""
    if op not in ("and", "or"):
        return tuple(args)
    nested = [arg.args if isinstance(arg, values.Call) and arg.function == op else (arg,) for arg in args]
    return tuple(inner for each in nested for inner in each)
