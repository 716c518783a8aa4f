"""Relations in words, close to SQL: on one line from the inside out, or as a tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Protocol

from tacit.plan.algebra import moments
from tacit.plan.algebra.expressions import is_rounding
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
    Rank,
    Relation,
    Scan,
    Slice,
    Sort,
    SortKey,
    Union,
    Window,
    WindowOutput,
)
from tacit.plan.algebra.trees import children
from tacit.plan.algebra.types import Boolean, Date, Decimal, Timestamp, sql_name


class FrameBounds(Protocol):
    """The frame of a relation's window, or of an operator's."""

    @property
    def unit(self) -> str:
        """Rows or range."""

    @property
    def start(self) -> int | None:
        """The first row."""

    @property
    def end(self) -> int | None:
        """The last row."""


SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "average": "/",
    "eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and": "AND", "or": "OR",
}  # fmt: skip

_JOINS = {"none": "join", "left": "left join", "right": "right join", "both": "full join"}


def relation_text(relation: Relation) -> str:
    """A relation from the inside out, for what one party computes."""
    below = " + ".join(relation_text(each) for each in children(relation))
    match relation:
        case Scan() | KeptScan() | Constants() | Opened():
            return clause(relation)
        case Union() | Broadcast():
            return f"({below})"
        case Pairs():
            return f"({below})"
        case Join() if relation.kept != "none":
            return f"({below}) | {_JOINS[relation.kept]} {clause(relation)}"
        case Join() | FullJoin() | Match() | Mark():
            return f"({below}) | {clause(relation)}"
        case Filter() | Project() | Aggregate() | Window() | Sort() | Limit() | Slice():
            return f"{below} | {clause(relation)}"


def tree_text(relation: Relation, how: Mapping[Relation, str] = MappingProxyType({})) -> str:
    """A relation as a tree: an operator a line, with its inputs indented beneath it. how: some are done."""
    return "\n".join(_lines(relation, how, ""))


def _lines(relation: Relation, how: Mapping[Relation, str], indent: str) -> list[str]:
    below = [line for each in children(relation) for line in _lines(each, how, indent + "  ")]
    done = f", {how[relation]}" if relation in how else ""
    return [f"{indent}{_operator(relation)}{done}", *below]


def _operator(relation: Relation) -> str:
    """An operator with its name."""
    match relation:
        case Scan(_, owner, columns):
            return f"{owner}: {clause(relation)} ({_columns(columns)})"
        case KeptScan(_, columns):
            return f"kept: {clause(relation)} ({_columns(columns)})"
        case Constants() | Opened():
            return clause(relation)
        case Filter():
            return f"filter {clause(relation)}"
        case Slice():
            return f"slice {clause(relation)}"
        case Project():
            return f"project {clause(relation)}"
        case Union():
            return "union"
        case Join():
            return f"{_JOINS[relation.kept]} {clause(relation)}"
        case Mark():
            return f"mark {clause(relation)}"
        case Pairs():
            return "pair every row of the first input with every row of the second"
        case FullJoin():
            return f"full join {clause(relation)}"
        case Match():
            return f"{'circuit-psi' if relation.hidden else 'psi'} {clause(relation)}"
        case Broadcast():
            return "broadcast the one row of the second input"
        case Aggregate():
            return f"aggregate {clause(relation)}".rstrip()
        case Window():
            return f"window {clause(relation)}"
        case Sort():
            return f"sort {clause(relation)}"
        case Limit():
            return f"limit {clause(relation)}"


def _columns(columns: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(source if name == source else f"{name} = {source}" for name, source in columns)


def clause(relation: Relation) -> str:
    """What an operator does with its inputs."""
    match relation:
        case Scan(table) | KeptScan(table):
            return table
        case Constants(rows):
            return f"{len(rows):,} rows of constants"
        case Opened(step):
            return f"opened {step}"
        case Slice(_, keys, _, shared):
            return f"{', '.join(keys)} {'also at another' if shared else 'at no other'} owner"
        case Filter(_, predicate):
            return f"where {expr_text(predicate)}"
        case Project(_, outputs):
            return ", ".join(_output(name, each) for name, each in outputs)
        case (
            Join(_, _, left_keys, right_keys)
            | FullJoin(_, _, left_keys, right_keys)
            | Match(_, _, left_keys, right_keys)
        ):
            return "on " + " and ".join(f"{a} = {b}" for a, b in zip(left_keys, right_keys, strict=True))
        case Mark(_, _, input_keys, choice_keys, name):
            return f"{name} = " + " and ".join(f"{a} in {b}" for a, b in zip(input_keys, choice_keys, strict=True))
        case Aggregate(_, keys, aggregations, carried=carried):
            shown = [", ".join(map(_aggregation, aggregations))]
            shown += [f"by {', '.join(relation.determining)}"] if keys else []
            shown += [f"carrying {', '.join(carried)}"] if carried else []
            return " ".join(part for part in shown if part)
        case Window(_, partition, order, outputs):
            by = [f"partition by {', '.join(partition)}"] if partition else []
            by += [f"order by {', '.join(map(_sort_key, order))}"] if order else []
            return f"{', '.join(map(_windowed, outputs))} over ({' '.join(by)})"
        case Sort(_, keys):
            return f"order by {', '.join(map(_sort_key, keys))}"
        case Limit(_, count, offset):
            return f"first {count}" + (f" after {offset}" if offset else "")
        case Union() | Broadcast() | Pairs():
            return ""


def expr_text(expr: Expr) -> str:
    """A clear expression, close to SQL."""
    match expr:
        case ColumnRef(column):
            return column
        case Literal(value, type_):
            return _constant(value, type_)
        case Call("cast", (arg,), type_) if is_rounding(expr):
            return f"cast({expr_text(arg)} as {sql_name(type_)})"
        case Call("cast" | "rescale", (arg,)):
            return expr_text(arg)
        case Call(op, (a, b)) if op in SIGNS:
            return f"({expr_text(a)} {SIGNS[op]} {expr_text(b)})"
        case Call(op, args):
            return f"{op}({', '.join(map(expr_text, args))})"


def _constant(value: object, type_: object) -> str:
    match value, type_:
        case None, _:
            return "NULL"
        case str(), _:
            return f"'{value}'"
        case int(), Decimal(_, scale) if scale:
            return f"{value / 10**scale:.{scale}f}"
        case int(), Date():
            return f"'{moments.day_text(value)}'"
        case int(), Timestamp():
            return f"'{moments.moment_text(value)}'"
        case int(), Boolean():
            return str(bool(value)).upper()
        case _:
            return str(value)


def _output(name: str, expr: Expr) -> str:
    text = expr_text(expr)
    return text if text == name else f"{name} = {text}"


def _aggregation(each: Aggregation) -> str:
    at = "" if each.rank is None else f" at {_position(each.rank)}"
    return f"{each.name} = {each.function}({each.column or ''}{at})"


def _position(rank: Rank) -> str:
    shift = f" {'+' if rank.shift > 0 else '-'} {abs(rank.shift)}" if rank.shift else ""
    return f"({rank.numerator} n{shift}) / {rank.denominator}"


def _windowed(each: WindowOutput) -> str:
    return f"{each.name} = {window_call(each.function, (each.column, each.number, each.default), each.frame)}"


def window_call(function: str, arguments: Iterable[object], frame: FrameBounds) -> str:
    """A window function of its arguments, of which those that are missing are None, over a frame."""
    given = ", ".join(str(each) for each in arguments if each is not None)
    whole = frame.start is None and frame.end is None
    return f"{function}({given})" + ("" if whole else f" {frame_text(frame)}")


def frame_text(frame: FrameBounds) -> str:
    """A frame, as SQL has it."""
    first = "unbounded preceding" if frame.start is None else _bound(frame.start)
    last = "unbounded following" if frame.end is None else _bound(frame.end)
    return f"{frame.unit} between {first} and {last}"


def _bound(distance: int) -> str:
    if distance == 0:
        return "current row"
    return f"{abs(distance)} {'preceding' if distance < 0 else 'following'}"


def _sort_key(key: SortKey) -> str:
    return f"{key.column}{' desc' if key.descending else ''}"
