"""Which conditions can be TRUE together in one row, by what they compare columns with.

Each column takes the values that matter: constants that it is compared with, their neighbours, the ends of its range.
An expression that is no column compared with a constant may be TRUE or not, whatever the rest. So a combination that
is possible is never missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import floor, prod
from typing import Final

from tacit.plan.algebra import bounds
from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Literal, Operator
from tacit.plan.algebra.types import Boolean, Double, Type, Varchar
from tacit.plan.policy.constants import FLIPPED, Constant, NotConstant, constant, unchanged, unit

MOST = 100_000
"""Evaluations of conditions and their parts."""

STRICT: Final = ("add", "sub", "mul", "neg")
"""Operators whose result is NULL where an operand is, and nowhere else."""

ORDERS: Final[Mapping[Operator, tuple[int, ...]]] = {
    "eq": (0,), "ne": (-1, 1), "lt": (-1,), "le": (-1, 0), "gt": (1,), "ge": (0, 1),
}  # fmt: skip
"""How the operands of a comparison that holds are ordered: as -1 and 0, as 0 and 0, or as 1 and 0."""

MOST_PARTS = 10_000
"""Of one condition."""

Value = Fraction | str | bool | None
Row = tuple[Value, ...]
Truth = Callable[[Row], bool | None]
"""A condition's value in a row, None for NULL."""

Outcomes = frozenset[tuple[bool, ...]]
"""Of several conditions: which of them are TRUE."""

ByOutcome = frozenset[tuple[tuple[bool, ...], frozenset[Row]]]
"""Each outcome, and the rows that have it."""


def outcomes(conditions: Sequence[Expr], holds: Sequence[Expr]) -> Outcomes | None:
    """The combinations that a row can have for which ``holds`` are TRUE; None where there are too many values."""
    if not all(map(is_small, conditions)):
        return None
    for given in (_related(conditions, [each for each in holds if is_small(each)]), ()):
        reader = _Reader()
        tests, held = [reader.truth(each) for each in conditions], [reader.truth(each) for each in given]
        candidates = reader.candidates()
        if prod(map(len, candidates)) * reader.size <= MOST:
            rows = (row for row in product(*candidates) if all(each(row) is True for each in held))
            return frozenset(tuple(each(row) is True for each in tests) for row in rows)
    return None


def outcomes_by(
    conditions: Sequence[Expr], is_given: Callable[[Expr], bool], is_both: Callable[[Expr], bool]
) -> frozenset[ByOutcome] | None:
    """For each combination of values of what is given, those of all else by outcome.

    None if there are too many, or if a part that is not looked into is computed of what is given and of all else.
    """
    reader = _Reader()
    tests = [reader.truth(each) for each in conditions if is_small(each)]
    candidates = reader.candidates()
    if len(tests) < len(conditions) or prod(map(len, candidates)) * reader.size > MOST:
        return None
    if any(map(is_both, reader.places)):
        return None
    given = [is_given(each) for each in reader.places]
    found: dict[Row, dict[tuple[bool, ...], set[Row]]] = {}
    for row in product(*candidates):
        known = tuple(value for value, each in zip(row, given, strict=True) if each)
        others = tuple(value for value, each in zip(row, given, strict=True) if not each)
        outcome = tuple(each(row) is True for each in tests)
        found.setdefault(known, {}).setdefault(outcome, set()).add(others)
    return frozenset(frozenset((each, frozenset(rows)) for each, rows in one.items()) for one in found.values())


def is_small(expr: Expr) -> bool:
    """Whether an expression has few parts, counted as often as they occur: it may name one part very often."""
    return _size(expr, {}) <= MOST_PARTS


def _size(expr: Expr, known: dict[int, int]) -> int:
    """known: of parts by identity, as expressions that are in an expression stay where they are."""
    if not isinstance(expr, Call):
        return 1
    if id(expr) not in known:
        known[id(expr)] = 1 + sum(_size(each, known) for each in expr.args)
    return known[id(expr)]


def _related(conditions: Sequence[Expr], holds: Sequence[Expr]) -> tuple[Expr, ...]:
    """Those that read what conditions read, or what another one of them reads that does."""
    known = set[Expr]().union(*map(_read, conditions))
    found: list[Expr] = []
    while new := [each for each in holds if each not in found and known & _read(each)]:
        known = known.union(*map(_read, new))
        found += new
    return tuple(found)


def _read(condition: Expr) -> set[Expr]:
    reader = _Reader()
    reader.truth(condition)
    return set(reader.places)


@dataclass
class _Reader:
    """Turns conditions into functions of a row.

    places: of each column, and of each expression of which nothing is known, its value's place in a row. compared: the
    constants that a column is compared with. ordered: columns that are so by order. size: the number of parts.
    """

    places: dict[Expr, int] = field(default_factory=dict)
    compared: dict[Expr, set[Constant]] = field(default_factory=dict)
    ordered: set[Expr] = field(default_factory=set)
    size: int = 0

    def candidates(self) -> list[list[Value]]:
        """The values that matter of each place."""
        return [self._candidates(each) for each in self.places]

    def truth(self, condition: Expr) -> Truth:
        """A condition."""
        self.size += 1
        match unchanged(condition):
            case Literal(value):
                known = None if value is None else bool(value)
                return lambda row: known
            case ColumnRef() as column:
                return self._value(column)
            case Call("and", args):
                parts = [self.truth(each) for each in args]
                return lambda row: _all(each(row) for each in parts)
            case Call("or", args):
                parts = [self.truth(each) for each in args]
                return lambda row: _not(_all(_not(each(row)) for each in parts))
            case Call("not", (inner,)):
                inside = self.truth(inner)
                return lambda row: _not(inside(row))
            case Call("if", (test, then, otherwise)):
                return _chosen(self.truth(test), self.truth(then), self.truth(otherwise))
            case Call("is_null", (value,)):
                return self._null(value)
            case Call(op, (a, b)) as call if op in ORDERS:
                return self._comparison(call, unchanged(a), unchanged(b))
            case other:
                return self._value(other)

    def _null(self, value: Expr) -> Truth:
        match unchanged(value):
            case Literal(known):
                return lambda row: known is None
            case Call("if", (test, then, otherwise)):
                return _chosen(self.truth(test), self._null(then), self._null(otherwise))
            case Call(op, args) if op in STRICT:
                parts = [self._null(each) for each in args]
                return lambda row: any(each(row) for each in parts)
            case Call(_, _, Boolean()) as condition:
                found = self.truth(condition)
                return lambda row: found(row) is None
            case other:
                place = self._place(other)
                return lambda row: row[place] is None

    def _comparison(self, call: Call, a: Expr, b: Expr) -> Truth:
        """Of a choice, it is a choice of comparisons."""
        if _is_constant(a) and not _is_constant(b):
            return self._comparison(Call(FLIPPED[call.op], (b, a), call.type, call.nullable), b, a)
        if not _is_constant(b):
            return self._value(call)
        value, orders = constant(b), ORDERS[call.op]
        match a:
            case Call("if", (test, then, otherwise)):
                sides = (self._comparison(call, unchanged(each), b) for each in (then, otherwise))
                return _chosen(self.truth(test), *sides)
            case ColumnRef(_, type_) if _is_followed(type_, call.op, value):
                place = self._place(a)
                self.compared.setdefault(a, set()).add(value)
                self.ordered |= {a} if call.op not in ("eq", "ne") else set()
                return lambda row: _compared(row[place], value, orders)
            case Call(_, _, Boolean()):
                inside = self.truth(a)
                return lambda row: _compared(inside(row), value, orders)
            case _ if _is_constant(a):
                other = constant(a)
                return lambda row: _compared(other, value, orders)
            case _:
                return self._value(_of_sides(call, a, b))

    def _value(self, free: Expr) -> Truth:
        """A Boolean column, or an expression of which nothing is known."""
        place = self._place(free)
        return lambda row: None if row[place] is None else bool(row[place])

    def _place(self, variable: Expr) -> int:
        return self.places.setdefault(variable, len(self.places))

    def _candidates(self, variable: Expr) -> list[Value]:
        values: list[Value] = [True, False] if isinstance(variable.type, Boolean) else [True]
        if isinstance(variable, ColumnRef) and variable in self.compared:
            values = _values(variable.type, self.compared[variable], ordered=variable in self.ordered)
        return [*values, None] if variable.nullable else values


def _of_sides(call: Call, a: Expr, b: Expr) -> Call:
    """A comparison of other expressions."""
    return Call(call.op, (a, b), call.type, call.nullable)


def _chosen(test: Truth, then: Truth, otherwise: Truth) -> Truth:
    return lambda row: then(row) if test(row) is True else otherwise(row)


def _is_constant(expr: Expr) -> bool:
    try:
        constant(expr)
    except NotConstant:
        return False
    return True


def _is_followed(type_: Type, op: Operator, value: Constant) -> bool:
    """Whether the values of a column that matter follow from the constant."""
    match type_:
        case Double():
            return False
        case Varchar(_, values):
            return value is None or (isinstance(value, str) and (op in ("eq", "ne") or values is not None))
        case _:
            return value is None or isinstance(value, Fraction)


def _values(type_: Type, constants: set[Constant], *, ordered: bool) -> list[Value]:
    match type_:
        case Boolean():
            return [True, False]
        case Varchar(_, None):
            named = sorted(each for each in constants if isinstance(each, str))
            return [*named, "".join(named) + "?"]
        case Varchar(_, tuple() as values):
            named = [each for each in values if ordered or each in constants]
            return [*named, *[each for each in values if each not in named][:1]]
        case _:
            return [*_numbers(type_, [each for each in constants if isinstance(each, Fraction)])]


def _numbers(type_: Type, constants: Sequence[Fraction]) -> list[Fraction]:
    """Constants and their neighbours within the range of a type, and its ends."""
    one = unit(type_)
    low, high = bounds.range_of(type_)
    near = {floor(each * one) + step for each in constants for step in (-1, 0, 1)}
    return [Fraction(each, one) for each in sorted({low, high, *near}) if low <= each <= high]


def _compared(one: Value, other: Value, orders: tuple[int, ...]) -> bool | None:
    if one is None or other is None:
        return None
    return (one > other) - (one < other) in orders  # type: ignore[operator]  # both are numbers, or both strings


def _all(parts: Iterable[bool | None]) -> bool | None:
    found = list(parts)
    return False if False in found else None if None in found else True


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value
