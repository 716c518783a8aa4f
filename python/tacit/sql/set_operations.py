"""UNION, INTERSECT and EXCEPT: both sides under the left one's names, with common types.

INTERSECT and EXCEPT are groups of both sides together by all columns, in which NULLs are equal: those with rows of both
sides, or of none of the right one. With ALL the rows of each side that are equal are numbered first: the number is one
more column, so that each row meets one of the other side.
"""

from __future__ import annotations

from sqlglot import exp

from tacit.plan.algebra.expressions import conjunction, reference
from tacit.plan.algebra.relations import (
    Aggregate,
    Aggregation,
    Call,
    Expr,
    Filter,
    Literal,
    Operator,
    Project,
    Relation,
    Union,
    Window,
    WindowOutput,
)
from tacit.plan.algebra.types import Boolean, Integer
from tacit.plan.facts.fields import column, fields, names
from tacit.sql.coercion import Mismatch, coerce, common_type
from tacit.sql.scope import fresh
from tacit.sql.text import Text, only

PARTS = {"this", "expression", "distinct", "with_", "order", "limit", "offset"}


def check_set_operation(node: exp.SetOperation, text: Text) -> None:
    """Refuse what a set operation may not have."""
    word = type(node).__name__.upper()
    if node.args.get("by_name"):
        raise text.unsupported(node.expression, f"{word} BY NAME", "list the columns of both sides in one order")
    only(node, text, PARTS, word)


def set_operation(left: Relation, right: Relation, node: exp.SetOperation, text: Text) -> Relation:
    """The rows of the operation, without its order."""
    word = type(node).__name__.upper()
    if len(names(left)) != len(names(right)):
        sizes = f"{len(names(left))} and {len(names(right))}"
        raise text.invalid(node.expression, f"the sides of the {word} have {sizes} columns; select as many in each.")
    sides = _aligned(left, right, node, text)
    if isinstance(node, exp.Union):
        whole = Union(tuple(part for side in sides for part in _parts(side)))
        return Aggregate(whole, names(whole), ()) if node.args.get("distinct") else whole
    common, columns = isinstance(node, exp.Intersect), names(left)
    if not node.args.get("distinct"):
        number = fresh("number", "set", {each.lower() for each in columns})
        sides = [_numbered(side, number) for side in sides]
    return _of_both(sides[0], sides[1], columns, common=common)


def _parts(side: Relation) -> tuple[Relation, ...]:
    return side.inputs if isinstance(side, Union) else (side,)


def _aligned(left: Relation, right: Relation, node: exp.SetOperation, text: Text) -> list[Relation]:
    """Both sides with the left's names and common types."""
    outputs: tuple[list[tuple[str, Expr]], list[tuple[str, Expr]]] = ([], [])
    for mine, its in zip(fields(left), fields(right), strict=True):
        a, b = reference(mine), reference(its)
        try:
            target = common_type(a, b)
            outputs[0].append((mine.name, coerce(a, target)))
            outputs[1].append((mine.name, coerce(b, target)))
        except Mismatch as error:
            word = type(node).__name__.upper()
            raise text.invalid(node.expression, f"in {word}, column {mine.name!r}: {error}.") from None
    return [_projected(side, tuple(out)) for side, out in zip((left, right), outputs, strict=True)]


def _numbered(side: Relation, number: str) -> Relation:
    """The rows, of which those that are equal have numbers from 1."""
    return Window(side, names(side), (), (WindowOutput(number, "row_number"),))


def _of_both(left: Relation, right: Relation, shown: tuple[str, ...], *, common: bool) -> Relation:
    """The distinct rows of the left side that the right one has, or has not. shown: the columns that stay."""
    columns = names(left)
    taken = {each.lower() for each in columns}
    mine, its = fresh("left_rows", "set", taken), fresh("right_rows", "set", taken)
    both = Union((_marked(left, (mine, 1), (its, 0)), _marked(right, (mine, 0), (its, 1))))
    counted = Aggregate(both, columns, (Aggregation(mine, "sum", mine), Aggregation(its, "sum", its)))
    of_both = [_compared("gt", counted, mine), _compared("gt", counted, its)]
    tests = of_both if common else [_compared("eq", counted, its)]
    kept = Filter(counted, conjunction(tests))
    return Project(kept, tuple((name, column(kept, name)) for name in shown))


def _marked(side: Relation, *marks: tuple[str, int]) -> Relation:
    own = tuple((each.name, reference(each)) for each in fields(side))
    return Project(side, (*own, *((name, Literal(value, Integer(value, value, "INTEGER"))) for name, value in marks)))


def _compared(op: Operator, relation: Relation, name: str) -> Expr:
    number = column(relation, name)
    return Call(op, (number, Literal(0, Integer(0, 0, "HUGEINT"))), Boolean(), number.nullable)


def _projected(relation: Relation, outputs: tuple[tuple[str, Expr], ...]) -> Relation:
    """A projection, left out where it changes nothing."""
    same = tuple((each.name, reference(each)) for each in fields(relation))
    return relation if outputs == same else Project(relation, outputs)
