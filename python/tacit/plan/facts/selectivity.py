"""How many rows of a relation are expected to be valid: a guess, by which plans are chosen.

Conditions are guessed as System R did: by public bounds of columns where there are any, else by fixed shares. (Selinger
et al., *Access Path Selection in a Relational Database Management System*, SIGMOD 1979.) A join of foreign
keys keeps as large a share of the rows of one side as conditions leave of the other.
"""

from __future__ import annotations

from functools import reduce
from math import fsum

from tacit.plan.algebra.bounds import domain_size, encoded_range
from tacit.plan.algebra.once import once
from tacit.plan.algebra.relations import (
    Aggregate,
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
)
from tacit.plan.algebra.trees import owner
from tacit.plan.facts.expected import ASSUMED_ROWS, expected_rows
from tacit.plan.facts.groups import most_groups

EQUAL = 0.1
"""The share of rows in which a column without public bounds is equal to something."""

RANGE = 1 / 3
"""The share of rows in which a column is less than something, where bounds do not say."""

OTHER = 0.5
"""The share of rows that any other condition leaves."""

SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq"}


@once
def expected_valid(relation: Relation) -> float:
    """The number of rows that are taken to be valid. What an owner computes alone is priced with no more by itself."""
    found = _by_operator(relation)
    return found if owner(relation) is None else min(found, ASSUMED_ROWS)


def _by_operator(relation: Relation) -> float:
    match relation:
        case Scan() | KeptScan() | Constants() | Opened() | Slice():
            return float(expected_rows(relation))
        case Filter(input, predicate):
            return expected_valid(input) * selectivity(predicate)
        case Project() | Sort() | Broadcast() | Mark() | Window():
            return expected_valid(relation.input)
        case Union(inputs):
            # Rounded once: sum() rounds otherwise from Python 3.12 on, and all parties need one plan.
            return fsum(map(expected_valid, inputs))
        case Join(left, right) | Match(left, right):
            return _joined(relation)
        case FullJoin(left, right):
            return expected_valid(left) + expected_valid(right)
        case Pairs(left, right):
            return expected_valid(left) * expected_valid(right)
        case Aggregate(input, keys):
            most = most_groups(relation)
            return min(expected_valid(input), float("inf") if most is None else most) if keys else 1.0
        case Limit(input, count):
            return expected_valid(input) if count is None else min(count, expected_valid(input))


def _joined(join: Join | Match) -> float:
    """Right rows of which the left one is there, and rows that stay without a match."""
    right, share = expected_valid(join.right), _share(join.left)
    if isinstance(join, Match):
        return right * share
    found = right if join.keeps_right else right * share
    return found + expected_valid(join.left) if join.keeps_left else found


def _share(relation: Relation) -> float:
    """The share of a relation's rows that conditions leave."""
    rows = expected_rows(relation)
    return min(1.0, expected_valid(relation) / rows) if rows else 1.0


def selectivity(condition: Expr) -> float:
    """The share of rows in which a condition is taken to hold."""
    match condition:
        case Call("and", args):
            return reduce(lambda share, each: share * selectivity(each), args, 1.0)
        case Call("or", args):
            return 1 - reduce(lambda share, each: share * (1 - selectivity(each)), args, 1.0)
        case Call("not", (arg,)):
            return 1 - selectivity(arg)
        case Call("eq" | "lt" | "le" | "gt" | "ge" as op, (ColumnRef() as column, Literal(int(number)))):
            return _compared(op, column, number)
        case Call("eq" | "lt" | "le" | "gt" | "ge" as op, (Literal(int(number)), ColumnRef() as column)):
            return _compared(SWAPPED[op], column, number)
        case Call("eq", (ColumnRef() as column, Literal(str()))):
            return _equal(column)
        case Call("eq" | "is_null"):
            return EQUAL
        case Call("ne", args):
            return 1 - selectivity(Call("eq", args, condition.type, condition.nullable))
        case Call("lt" | "le" | "gt" | "ge"):
            return RANGE
        case Literal(bool(holds)):
            return float(holds)
        case _:
            return OTHER


def _equal(column: ColumnRef) -> float:
    """A value of as many as a column can have, all alike."""
    values = domain_size(column.type, False)
    return EQUAL if not values else 1 / values


def _compared(op: str, column: ColumnRef, number: int) -> float:
    """The share of a column's public range on one side of a number."""
    bounds = encoded_range(column.type)
    if op == "eq":
        return _equal(column)
    if bounds is None or bounds[1] <= bounds[0]:
        return RANGE
    below = min(1.0, max(0.0, (number - bounds[0]) / (bounds[1] - bounds[0])))
    return below if op in ("lt", "le") else 1 - below
