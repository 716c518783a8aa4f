"""Functions and predicates of SQL by the names that the parser gives them, each to what it means."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Expr, FunctionName, Literal
from tacit.sql import calendar, intervals, rounding, strings
from tacit.sql.calls import word
from tacit.sql.coercion import Mismatch
from tacit.sql.operands import IGNORED, Bind, Binding, operands
from tacit.sql.text import only
from tacit.sql.truths import distinct, truth


def bound(binding: Binding, node: exp.Expr) -> Expr | None:
    """The meaning of a function or predicate; None of one that is not known here."""
    position = binding.text.position(node)
    if isinstance(node, exp.Anonymous):
        named = NAMED.get(node.name.lower())
        return None if named is None else named(binding, node, position)
    found = KNOWN.get(type(node))
    return None if found is None else found(binding, node, position)


def _part(name: str) -> Bind:
    return lambda binding, node, at: calendar.part(name, binding.bind(node.this), at)


def _extract(binding: Binding, node: exp.Expr, at: Position | None) -> Expr:
    return calendar.part(node.this.name, binding.bind(node.expression), at)


def _trunc(binding: Binding, node: exp.Expr, at: Position | None) -> Expr:
    only(node, binding.text, {"this", "unit", *IGNORED}, "DATE_TRUNC")
    return calendar.truncated(_unit(node), binding.bind(node.this), at)


def _diff(binding: Binding, node: exp.Expr, at: Position | None) -> Expr:
    return calendar.difference(_unit(node), binding.bind(node.expression), binding.bind(node.this), at)


def _unit(node: exp.Expr) -> str:
    unit = node.args.get("unit")
    if isinstance(unit, exp.Var) or (isinstance(unit, exp.Literal) and unit.is_string):
        return unit.name
    raise Mismatch("the unit of time must be a constant, as 'month'")


def _date_add(binding: Binding, node: exp.Expr, at: Position | None) -> Expr:
    if not intervals.is_interval(node.expression):
        raise Mismatch("DATE_ADD takes an INTERVAL")
    return calendar.shifted(binding.bind(node.this), intervals.span(node.expression, binding.text), at)


def _like(binding: Binding, node: exp.Expr, at: Position | None) -> Expr:
    return _liked(binding, node, None, at)


def _escape(binding: Binding, node: exp.Expr, at: Position | None) -> Expr:
    if not isinstance(node.this, exp.Like | exp.ILike):
        raise binding.text.unsupported(node, "ESCAPE here", "write it behind LIKE or ILIKE and a pattern")
    return _liked(binding, node.this, binding.bind(node.expression), at)


def _liked(binding: Binding, node: exp.Expr, escape: Expr | None, at: Position | None) -> Expr:
    value, pattern = binding.bind(node.this), binding.bind(node.expression)
    found = strings.like(value, pattern, escape, any_case=isinstance(node, exp.ILike), position=at)
    return strings.negated(found, at) if node.args.get("negate") else found


def _similar(binding: Binding, node: exp.Expr, at: Position | None) -> Expr:
    return strings.similar(*operands(binding, node, "this", "expression"), position=at)


def _test(op: FunctionName) -> Bind:
    return lambda binding, node, at: strings.test(op, *operands(binding, node, "this", "expression"), position=at)


def _substring(binding: Binding, node: exp.Expr, at: Position | None) -> Expr:
    value, start, *length = operands(binding, node, "this", "start", optional="length")
    return strings.substring(value, start, length[0] if length else None, at)


def _side(op: FunctionName) -> Bind:
    return lambda binding, node, at: strings.side(op, *operands(binding, node, "this", "expression"), position=at)


def _case(op: FunctionName) -> Bind:
    return lambda binding, node, at: strings.case(op, *operands(binding, node, "this"), position=at)


TRIMS: dict[str, FunctionName] = {"LEADING": "ltrim", "TRAILING": "rtrim"}


def _trim(binding: Binding, node: exp.Expr, at: Position | None) -> Expr:
    only(node, binding.text, {"this", "expression", "position"}, "TRIM")
    characters = word(" ") if node.args.get("expression") is None else binding.bind(node.expression)
    op = TRIMS.get(str(node.args.get("position") or "BOTH").upper(), "trim")
    return strings.trimmed(op, binding.bind(node.this), characters, at)


def _place(binding: Binding, node: exp.Expr, at: Position | None) -> Expr:
    return strings.place(*operands(binding, node, "this", "substr"), position=at)


def _replace(binding: Binding, node: exp.Expr, at: Position | None) -> Expr:
    return strings.exchanged(*operands(binding, node, "this", "expression", "replacement"), position=at)


def _concat(binding: Binding, node: exp.Expr, at: Position | None) -> Expr:
    return strings.concatenated([binding.bind(each) for each in node.expressions], at)


def _round(binding: Binding, node: exp.Expr, at: Position | None) -> Expr:
    value, *digits = operands(binding, node, "this", optional="decimals")
    return rounding.rounded(value, digits[0] if digits else None, at)


def _whole(op: FunctionName) -> Bind:
    return lambda binding, node, at: rounding.whole(op, *operands(binding, node, "this"), position=at)


def _root(name: str) -> Bind:
    return lambda binding, node, at: rounding.root(name, *operands(binding, node, "this"), position=at)


def _log(binding: Binding, node: exp.Expr, at: Position | None) -> Expr:
    """LOG, with its base before the number."""
    base, value = (None, node.this) if node.args.get("expression") is None else (node.this, node.expression)
    name = {None: "LOG10", "10": "LOG10", "2": "LOG2"}.get(None if base is None else base.name)
    if name is None:
        raise binding.text.unsupported(node, "LOG by this base", "use LN, LOG10 or LOG2")
    return rounding.root(name, binding.bind(value), position=at)


def _extreme(of: Callable[[list[Expr], Position | None], Expr]) -> Bind:
    return lambda binding, node, at: of([binding.bind(each) for each in (node.this, *node.expressions)], at)


def _one(of: Callable[..., Expr]) -> Bind:
    return lambda binding, node, at: of(*operands(binding, node, "this"), position=at)


def _two(of: Callable[..., Expr]) -> Bind:
    return lambda binding, node, at: of(*operands(binding, node, "this", "expression"), position=at)


KNOWN: dict[type[exp.Expr], Bind] = {
    exp.Extract: _extract,
    exp.Year: _part("year"),
    exp.Quarter: _part("quarter"),
    exp.Month: _part("month"),
    exp.Week: _part("week"),
    exp.WeekOfYear: _part("week"),
    exp.Day: _part("day"),
    exp.DayOfMonth: _part("day"),
    exp.DayOfWeek: _part("dow"),
    exp.DayOfWeekIso: _part("isodow"),
    exp.DayOfYear: _part("doy"),
    exp.Hour: _part("hour"),
    exp.Minute: _part("minute"),
    exp.Second: _part("second"),
    exp.TimeToUnix: _part("epoch"),
    exp.TimestampTrunc: _trunc,
    exp.DateTrunc: _trunc,
    exp.DateDiff: _diff,
    exp.DateAdd: _date_add,
    exp.LastDay: _one(calendar.last_day),
    exp.Dayname: _one(calendar.day_name),
    exp.Monthname: _one(calendar.month_name),
    exp.Like: _like,
    exp.ILike: _like,
    exp.Escape: _escape,
    exp.SimilarTo: _similar,
    exp.StartsWith: _test("starts_with"),
    exp.EndsWith: _test("ends_with"),
    exp.Contains: _test("contains"),
    exp.Substring: _substring,
    exp.Left: _side("left"),
    exp.Right: _side("right"),
    exp.Upper: _case("upper"),
    exp.Lower: _case("lower"),
    exp.Trim: _trim,
    exp.Length: _one(strings.length),
    exp.StrPosition: _place,
    exp.Replace: _replace,
    exp.Reverse: _one(strings.backwards),
    exp.DPipe: _two(strings.appended),
    exp.Concat: _concat,
    exp.Round: _round,
    exp.Floor: _whole("floor"),
    exp.Ceil: _whole("ceil"),
    exp.Trunc: _whole("trunc"),
    exp.Abs: _one(rounding.magnitude),
    exp.Sign: _one(rounding.sign),
    exp.IntDiv: _two(rounding.whole_quotient),
    exp.Mod: _two(rounding.remainder),
    exp.Sqrt: _root("SQRT"),
    exp.Cbrt: _root("CBRT"),
    exp.Exp: _root("EXP"),
    exp.Ln: _root("LN"),
    exp.Log: _log,
    exp.Pow: _two(rounding.power),
    exp.Greatest: _extreme(rounding.greatest),
    exp.Least: _extreme(rounding.least),
    exp.Is: truth,
    exp.NullSafeEQ: distinct,
    exp.NullSafeNEQ: distinct,
}


def _named(arguments: int, of: Callable[..., Expr]) -> Bind:
    """A function that the parser does not know. arguments: their number."""

    def bind(binding: Binding, node: exp.Expr, at: Position | None) -> Expr:
        if len(node.expressions) != arguments:
            number = "one argument" if arguments == 1 else f"{arguments} arguments"
            raise Mismatch(f"{node.name.upper()} takes {number}, not {len(node.expressions)}")
        return of(*[binding.bind(each) for each in node.expressions], at)

    return bind


def _date_part(unit: Expr, value: Expr, at: Position | None) -> Expr:
    if not isinstance(unit, Literal) or not isinstance(unit.value, str):
        raise Mismatch("the part of a date must be a constant, as 'month'")
    return calendar.part(unit.value, value, at)


NAMED: dict[str, Bind] = {
    "date_part": _named(2, _date_part),
    "datepart": _named(2, _date_part),
    "isoyear": _named(1, lambda value, at: calendar.part("isoyear", value, at)),
    "decade": _named(1, lambda value, at: calendar.part("decade", value, at)),
    "prefix": _named(2, lambda a, b, at: strings.test("starts_with", a, b, position=at)),
    "suffix": _named(2, lambda a, b, at: strings.test("ends_with", a, b, position=at)),
}
