"""Window functions: collecting the calls of a SELECT, each over the partitions that its OVER clause says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from tacit.plan.algebra.expressions import reference
from tacit.plan.algebra.quotient_keys import QuotientKey, quotient_key
from tacit.plan.algebra.refusals import UnknownName
from tacit.plan.algebra.relations import (
    Call,
    ColumnRef,
    Expr,
    Frame,
    Literal,
    Project,
    Relation,
    SortKey,
    Window,
    WindowFunction,
    WindowOutput,
)
from tacit.plan.algebra.types import Boolean, Decimal, Double, Integer, Varchar, sql_name
from tacit.plan.facts.fields import fields, window_field
from tacit.sql.coercion import Mismatch, coerce, common_type, integer_literal, text_in, value_in
from tacit.sql.expressions import constant_integer
from tacit.sql.frames import bound_frame
from tacit.sql.proportional import Proportional, proportional, with_common_denominator
from tacit.sql.scope import fresh
from tacit.sql.text import Text, only

_NUMBERS: dict[type[exp.Expr], WindowFunction] = {
    exp.RowNumber: "row_number",
    exp.Rank: "rank",
    exp.DenseRank: "dense_rank",
}
_VALUES: dict[type[exp.Expr], WindowFunction] = {
    exp.FirstValue: "first_value",
    exp.First: "first_value",
    exp.LastValue: "last_value",
    exp.Last: "last_value",
}
_EXTREMES: dict[type[exp.Expr], WindowFunction] = {exp.Min: "min", exp.Max: "max"}
_SHIFTS: dict[type[exp.Expr], WindowFunction] = {exp.Lag: "lag", exp.Lead: "lead"}
Double_ = Proportional | QuotientKey | None
"""What stands for a DOUBLE; None of other values."""
WHOLE = Frame()
MOST_BUCKETS = 1000
"""Of NTILE: each is a comparison under MPC."""
KNOWN = "ROW_NUMBER, RANK, DENSE_RANK, NTILE, LAG, LEAD, FIRST_VALUE, LAST_VALUE, SUM, COUNT, AVG, MIN and MAX are"


@dataclass(frozen=True)
class _Over:
    """The rows that belong together, and their order."""

    partition: tuple[str, ...]
    order: tuple[SortKey, ...]


class Windows:
    """The window functions of one SELECT. A call is replaced by a column of a Window's output; equal calls share one.

    named: the WINDOW clause. argument: binds what stands in a call or its OVER clause. base: a relation with the rows
    that the windows are over.
    """

    def __init__(
        self,
        named: Mapping[str, exp.Window],
        argument: Callable[[exp.Expr], Expr],
        base: Callable[[], Relation],
        taken: set[str],
        text: Text,
    ) -> None:
        self.named = named
        self.argument = argument
        self.base = base
        self.taken = taken
        self.text = text
        self.inputs: dict[Expr, str] = {}
        self.found: dict[_Over, list[WindowOutput]] = {}

    @property
    def names(self) -> set[str]:
        """The columns that stand for the calls."""
        return {each.name for outputs in self.found.values() for each in outputs}

    def relation(self, input: Relation) -> Relation:
        """The windows over an input with the rows of the base. Those in an order come first: others need no other."""
        computed = tuple((name, each) for each, name in self.inputs.items() if not isinstance(each, ColumnRef))
        if computed:
            input = Project(input, (*((each.name, reference(each)) for each in fields(input)), *computed))
        for over in sorted(self.found, key=lambda each: not each.order):
            input = Window(input, over.partition, over.order, tuple(self.found[over]))
        return input

    def collect(self, node: exp.Window) -> Expr:
        """The expression that stands for a call."""
        whole = self._whole(node)
        over = self._over(whole)
        frame = bound_frame(whole.args.get("spec"), bool(whole.args.get("order")), self.text)
        call = node.this
        if isinstance(call, exp.RespectNulls):
            call = call.this
        match call:
            case exp.IgnoreNulls():
                raise self.text.unsupported(node, "IGNORE NULLS", "leave rows with NULL out in a subquery")
            case exp.Filter():
                instead = "compute over a CASE expression: SUM(CASE WHEN ... THEN x END) OVER (...)"
                raise self.text.unsupported(node, "FILTER on a window function", instead)
            case exp.Expr(this=exp.Distinct()):
                instead = "compute over a subquery with SELECT DISTINCT"
                raise self.text.unsupported(node, "DISTINCT in a window function", instead)
            case exp.Func() if type(call) in _NUMBERS:
                if call.this is not None or call.expressions:
                    raise self.text.invalid(node, f"{call.sql_name()} takes no argument.")
                return self._output(over, node, _NUMBERS[type(call)])
            case exp.Ntile():
                return self._buckets(over, node, call)
            case exp.Lag() | exp.Lead():
                return self._shifted(over, node, call)
            case exp.Func() if type(call) in _VALUES:
                only(call, self.text, {"this"}, call.sql_name())
                argument, double = self._column(call, call.this)
                return _shown(double, self._output(over, node, _VALUES[type(call)], argument, frame=frame))
            case _:
                return self._aggregate(over, node, call, frame)

    def _aggregate(self, over: _Over, node: exp.Window, call: exp.Expr, frame: Frame) -> Expr:
        match call:
            case exp.Count(this=exp.Star()) | exp.Count(this=None):
                return self._output(over, node, "count_rows", frame=frame)
            case exp.Count() if not call.expressions:
                return self._count(over, node, self._column(call, call.this)[0], frame)
            case exp.Sum():
                argument, factor = self._number(call)
                return _shown(factor, self._output(over, node, "sum", argument, frame=frame))
            case exp.Avg():
                argument, factor = self._number(call)
                total = self._output(over, node, "sum", argument, frame=frame)
                count = self._count(over, node, argument, frame)
                average = Call("average", (total, count), Double(), total.nullable, self.text.position(node))
                return average if factor is None else factor.of(average)
            case exp.Func() if type(call) in _EXTREMES:
                argument, double = self._column(call, call.this)
                function = _EXTREMES[type(call)]
                if isinstance(double, QuotientKey) and double.may_be_nan and not double.rising:
                    raise self._of_double(call)
                if double is not None and not double.rising:
                    function = "max" if function == "min" else "min"
                return _shown(double, self._output(over, node, function, argument, frame=frame))
            case _:
                name = call.name if isinstance(call, exp.Anonymous) else call.key
                if isinstance(call, exp.Func):
                    name = name if isinstance(call, exp.Anonymous) else call.sql_name()
                construct = f"the window function {name.upper()}"
                raise self.text.unsupported(node, construct, f"only {KNOWN} supported with OVER")

    def _count(self, over: _Over, node: exp.Window, argument: Expr, frame: Frame) -> ColumnRef:
        """Where no value is NULL that is the number of rows."""
        if argument.nullable:
            return self._output(over, node, "count", argument, frame=frame)
        return self._output(over, node, "count_rows", frame=frame)

    def _buckets(self, over: _Over, node: exp.Window, call: exp.Ntile) -> ColumnRef:
        count = constant_integer(call.this, self.text, "NTILE") if call.this is not None else 0
        if count == 0:
            raise self.text.invalid(node, "NTILE needs a number of buckets, at least 1.")
        if count > MOST_BUCKETS:
            raise self.text.unsupported(node, f"NTILE of more than {MOST_BUCKETS:,} buckets", "ask for fewer")
        return self._output(over, node, "ntile", number=count)

    def _shifted(self, over: _Over, node: exp.Window, call: exp.Lag | exp.Lead) -> Expr:
        """LAG and LEAD. A negative distance is one in the other direction."""
        only(call, self.text, {"this", "offset", "default"}, call.sql_name())
        function, distance = _SHIFTS[type(call)], call.args.get("offset")
        if isinstance(distance, exp.Neg):
            function, distance = ("lead" if function == "lag" else "lag"), distance.this
        number = 1 if distance is None else constant_integer(distance, self.text, f"the distance of {call.sql_name()}")
        (argument, double), default = self._column(call, call.this), call.args.get("default")
        if double is not None and default is not None:
            raise self._of_double(call)
        argument, found = (argument, None) if default is None else self._default(node, argument, default)
        return _shown(double, self._output(over, node, function, argument, found, number))

    def _default(self, node: exp.Window, argument: Expr, default: exp.Expr) -> tuple[Expr, Expr | None]:
        """The argument, and what a row has that has no such row before or behind it, encoded alike; None: NULL."""
        bound = self.argument(default)
        if isinstance(bound, Literal) and bound.value is None:
            return argument, None
        try:
            found = value_in(bound, argument)
            common = common_type(argument, bound)
            if not isinstance(common, Varchar):
                return argument, found
            return coerce(argument, common), text_in(common, found)
        except Mismatch as error:
            raise self.text.invalid(node, f"{error}.") from None

    def _number(self, call: exp.Func) -> tuple[Expr, Proportional | None]:
        """The number that is added up, and of a DOUBLE what it is a constant times of."""
        argument = self.argument(call.this)
        if isinstance(argument.type, Double):
            known = proportional(argument) or with_common_denominator(argument)
            if known is None:
                raise self._of_double(call)
            return known.number, known
        if isinstance(argument.type, Boolean) and isinstance(call, exp.Sum):
            return Call("cast", (argument,), Integer(0, 1, "INTEGER"), argument.nullable), None
        if not isinstance(argument.type, Integer | Decimal):
            raise self.text.invalid(call, f"{call.sql_name()} takes a number, not {sql_name(argument.type)}.")
        return argument, None

    def _column(self, call: exp.Expr, node: exp.Expr) -> tuple[Expr, Double_]:
        """The argument, of a DOUBLE the exact number that stands for it."""
        bound = self.argument(node)
        if not isinstance(bound.type, Double):
            return bound, None
        known: Double_ = proportional(bound) or quotient_key(bound)
        if known is None:
            raise self._of_double(call)
        return known.number, known

    def _of_double(self, call: exp.Expr) -> Exception:
        return self.text.unsupported(
            call, "this window function of such a DOUBLE", "compute over numbers that are exact"
        )

    def _output(
        self,
        over: _Over,
        node: exp.Window,
        function: WindowFunction,
        argument: Expr | None = None,
        default: Expr | None = None,
        number: int | None = None,
        frame: Frame = WHOLE,
    ) -> ColumnRef:
        names = [None if each is None else self._input(each, "value") for each in (argument, default)]
        wanted = WindowOutput("", function, names[0], names[1], number, frame)
        outputs = self.found.setdefault(over, [])
        found = next((each for each in outputs if replace(each, name="") == wanted), None)
        if found is None:
            name = fresh(function if names[0] is None else f"{function}_{names[0]}", "window", self.taken)
            self.taken.add(name.lower())
            found = replace(wanted, name=name, position=self.text.position(node))
            outputs.append(found)
        columns = {name: each for name, each in zip(names, (argument, default), strict=True) if name and each}
        rows = Project(self.base(), tuple(columns.items()) or (("row", integer_literal(1)),))
        field = window_field(found, rows)
        return ColumnRef(field.name, field.type, field.nullable, self.text.position(node))

    def _input(self, expr: Expr, what: str) -> str:
        """The input column of an expression; a computed one gets a new name."""
        if expr not in self.inputs:
            name = expr.name if isinstance(expr, ColumnRef) else fresh(what, "computed", self.taken)
            self.taken.add(name.lower())
            self.inputs[expr] = name
        return self.inputs[expr]

    def _whole(self, node: exp.Window) -> exp.Window:
        """The OVER clause with what it takes of a named window."""
        only(node, self.text, {"this", "partition_by", "order", "spec", "alias", "over"}, "OVER")
        name = node.args.get("alias")
        if name is None:
            return node
        if name.name.lower() not in self.named:
            raise UnknownName("window", name.name, self.named, self.text.position(node))
        base = self._whole(self.named[name.name.lower()])
        if node.args.get("partition_by") or (node.args.get("order") and base.args.get("order")):
            raise self.text.invalid(node, f"the window {name.name!r} has a partition or order already; write it whole.")
        parts = {part: node.args.get(part) or base.args.get(part) for part in ("partition_by", "order", "spec")}
        return exp.Window(this=node.this, **parts)

    def _over(self, node: exp.Window) -> _Over:
        """Partition and order. Constants, and what the rows of a partition agree in, order nothing."""
        partition = tuple(dict.fromkeys(self._keys(node.args.get("partition_by") or [])))
        order = node.args.get("order")
        keys: list[SortKey] = []
        for each in order.expressions if order is not None else []:
            only(each, self.text, {"this", "desc", "nulls_first"}, "ORDER BY")
            for name in self._keys([each.this]):
                if name not in partition and all(key.column != name for key in keys):
                    keys.append(SortKey(name, bool(each.args.get("desc")), bool(each.args.get("nulls_first"))))
        return _Over(partition, tuple(keys))

    def _keys(self, nodes: list[exp.Expr]) -> list[str]:
        found = []
        for node in nodes:
            bound = self.argument(node)
            if not isinstance(bound, Literal):
                found.append(self._input(bound, "key"))
        return found


def _shown(double: Double_, found: ColumnRef) -> Expr:
    """What a function of numbers says of the DOUBLEs that these stand for."""
    return found if double is None else double.of(found)
