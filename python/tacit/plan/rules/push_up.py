"""Frontier push-up: what the recipient can compute from what it is shown anyway leaves MPC.

The top of a query (its SELECT list and its order) is split into a core, whose columns are opened, and a tail over the
opened rows. An output that is a column is opened. Arithmetic on one hidden value that the output itself gives away (x +
1, or a + b where b is shown) opens that value and is done in clear. Whoever sees the output can compute it. Other
arithmetic stays under MPC, except where only clear computation can do it. A quotient opens numerator and denominator,
and one by several constants, of which rounding leaves less, its numerator: disclosures beyond the answer. An order
without LIMIT over opened values is the recipient's work; an order by hidden values, and any LIMIT, stays under MPC.
What the owner of a table computes of its columns is opened in their place. Windows over opened columns are computed of
the opened rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite

from tacit.plan.algebra.bounds import is_told_by_double
from tacit.plan.algebra.divisions import nodes_compute
from tacit.plan.algebra.expressions import is_clear_only, is_rounding, reference, subexpressions, substitute
from tacit.plan.algebra.functions import FUNCTIONS
from tacit.plan.algebra.quotient_keys import told_number
from tacit.plan.algebra.quotient_orders import in_order
from tacit.plan.algebra.refusals import UnsupportedSQL
from tacit.plan.algebra.relations import (
    Call,
    ColumnRef,
    Expr,
    Limit,
    Literal,
    Opened,
    Project,
    Relation,
    Scan,
    Sort,
    SortKey,
    Window,
)
from tacit.plan.algebra.trees import over_children
from tacit.plan.algebra.types import Boolean, Decimal, Double, Field
from tacit.plan.facts.fields import columns_of, fields
from tacit.plan.rules.clear_windows import clear_windows, given, over

Outputs = tuple[tuple[str, Expr], ...]
DIVISORS = Fraction(1, 1 << 500), Fraction(1 << 500)
"""Quotients of such numbers by constants in this range neither overflow nor lose digits because they are small."""


@dataclass(frozen=True)
class Beyond:
    """Opened columns that the answer does not imply, and the output column that needs them."""

    output: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Split:
    """core: its columns are opened, in its order if ``ordered``. tail: over Opened(0, ...), see opened_by."""

    core: Relation
    ordered: bool
    tail: Relation
    beyond: tuple[Beyond, ...]


@dataclass(frozen=True)
class _Top:
    """A query's top: output and sort expressions over a base, and the limit, if any."""

    outputs: Outputs
    base: Relation
    keys: tuple[tuple[Expr, SortKey], ...]
    limit: Limit | None


def push_up(relation: Relation) -> Split:
    """Split a query's tree. Raises UnsupportedSQL where neither MPC nor the recipient can compute something."""
    top = _top(relation)
    windows = () if top.limit is not None else clear_windows(top.base, top.outputs, tuple(key for key, _ in top.keys))
    if windows:
        return _split_at(windows, top)
    released = _Released(top.outputs)
    outputs = tuple((name, released.tail(each)) for name, each in top.outputs)
    in_clear = top.limit is None and all(released.computes(key) for key, _ in top.keys)
    core: Relation = Project(top.base, tuple(released.columns.items()))
    if not in_clear:
        core = _ordered_core(top, released.columns)
    opened = Opened(0, fields(core))
    tail: Relation = Project(opened, outputs)
    if in_clear and top.keys:
        tail = _ordered_tail(opened, outputs, top.keys, released)
    return Split(core, not in_clear, tail, tuple(released.beyond))


def _split_at(windows: tuple[Window, ...], top: _Top) -> Split:
    """The split beneath windows: their input is opened as the other outputs are, and the tail computes them."""
    computed = given(windows)
    shown = tuple((name, each) for name, each in top.outputs if not columns_of(each) & computed)
    released = _Released(shown)
    core: Relation = Project(windows[-1].input, tuple(released.columns.items()))
    opened = Opened(0, fields(core))
    columns = {each.name: each for each in released.names if isinstance(each, ColumnRef)}
    below = tuple((name, released.tail(each)) for name, each in columns.items())
    kept = {name: f"#{place}" for place, (name, _) in enumerate(shown)}
    rows = over(windows, Project(opened, (*below, *((kept[name], released.tail(each)) for name, each in shown))))
    outputs = tuple((name, reference_of(rows, kept[name]) if name in kept else each) for name, each in top.outputs)
    keys = tuple((f"#order {place}", key) for place, (key, _) in enumerate(top.keys))
    tail: Relation = Project(rows, (*outputs, *keys))
    if keys:
        order = tuple(replace(sort, column=name) for (name, _), (_, sort) in zip(keys, top.keys, strict=True))
        ordered = Sort(tail, order)
        tail = Project(ordered, tuple((name, reference_of(ordered, name)) for name, _ in outputs))
    return Split(core, False, tail, tuple(released.beyond))


class _Released:
    """The columns to open. columns: name to expression over the base."""

    def __init__(self, outputs: Outputs) -> None:
        self.columns: dict[str, Expr] = {}
        self.names: dict[Expr, str] = {}
        self.beyond: list[Beyond] = []
        for name, each in outputs:
            if isinstance(each, ColumnRef):
                self._open(each, name)
        pending = self._implied([item for item in outputs if not isinstance(item[1], ColumnRef)])
        for name, each in [item for item in pending if nodes_compute(_told(item[1]))]:
            self._open(_told(each), name)
        for name, each in self._implied([item for item in pending if not nodes_compute(_told(item[1]))]):
            self._operands(name, each)
        if not self.columns:
            self._open(Literal(True, Boolean()), "row")

    def computes(self, expr: Expr) -> bool:
        """Whether an expression follows from opened columns."""
        if expr in self.names or isinstance(expr, Literal):
            return True
        return isinstance(expr, Call) and all(map(self.computes, expr.args))

    def tail(self, expr: Expr) -> Expr:
        """The expression over the opened columns."""
        if expr in self.names:
            return ColumnRef(self.names[expr], expr.type, expr.nullable)
        if isinstance(expr, Call):
            args = tuple(map(self.tail, expr.args))
            return Call(expr.op, args, expr.type, expr.nullable, expr.position)
        return expr

    def _implied(self, pending: list[tuple[str, Expr]]) -> list[tuple[str, Expr]]:
        """Open what outputs give away, until nothing changes; returns the outputs that need more."""
        while True:
            rest = [item for item in pending if not self.computes(item[1])]
            found = next((hidden for _, each in rest if (hidden := self._invertible(each)) is not None), None)
            if found is None:
                return rest
            self._open(found, found.name)

    def _invertible(self, expr: Expr) -> ColumnRef | None:
        """The one hidden column that the expression's value gives away, together with opened ones."""
        if (told := told_number(expr)) is not None:
            return told
        match expr:
            case ColumnRef():
                return expr
            case Call("neg" | "not" | "rescale", (inner,)):
                return self._invertible(inner)
            case Call("cast", (inner,), type_) if not is_rounding(expr):
                return (
                    self._invertible(inner) if not isinstance(type_, Double) or is_told_by_double(inner.type) else None
                )
            case Call("add" | "sub", (a, b), type_) if not isinstance(type_, Double):
                return self._other(a, b) or self._other(b, a)
            case Call("mul", (a, b), type_) if not isinstance(type_, Double):
                return (self._invertible(a) if _is_nonzero(b) else None) or (
                    self._invertible(b) if _is_nonzero(a) else None
                )
            case Call("div", (Call("cast", (a,)) as dividend, b)) if not is_clear_only(a) and is_divisor(b):
                return self._invertible(dividend)
            case _:
                return None

    def _other(self, known: Expr, hidden: Expr) -> ColumnRef | None:
        return self._invertible(hidden) if self.computes(known) and not known.nullable else None

    def _operands(self, output: str, expr: Expr) -> None:
        """Open the largest parts of a clear-only expression that MPC can compute."""
        found = [each for each in _secure_parts(expr) if each not in self.names and not self.computes(each)]
        for each in found:
            self._open(each, each.name if isinstance(each, ColumnRef) else f"{output}_operand")
        if found:
            self.beyond.append(Beyond(output, tuple(self.names[each] for each in found)))

    def _open(self, expr: Expr, name: str) -> None:
        if expr in self.names:
            return
        chosen, number = name, 2
        while chosen.lower() in {each.lower() for each in self.columns}:
            chosen, number = f"{name}_{number}", number + 1
        self.columns[chosen] = expr
        self.names[expr] = chosen


def _top(relation: Relation) -> _Top:
    """Take SELECT list, LIMIT and ORDER BY off the top, with all expressions over what is beneath."""
    outputs: Outputs = tuple((each.name, reference(each)) for each in fields(relation))
    below, outputs = _through_project(relation, outputs)
    limit = below if isinstance(below, Limit) else None
    if limit is not None:
        below, outputs = _through_project(limit.input, outputs)
    if not isinstance(below, Sort):
        if limit is not None:
            return _Top(outputs, limit, (), None)
        return _Top(outputs, below, (), None)
    sort = below
    keys = [reference_of(sort.input, key.column) for key in sort.keys]
    terms = outputs + tuple((f"#{place}", key) for place, key in enumerate(keys))
    below, terms = _through_project(sort.input, terms)
    sorted_by = tuple(zip((each for _, each in terms[len(outputs) :]), sort.keys, strict=True))
    return _Top(terms[: len(outputs)], below, sorted_by, limit)


def reference_of(relation: Relation, name: str) -> ColumnRef:
    """A reference to an output column."""
    return reference(next(each for each in fields(relation) if each.name == name))


def _through_project(relation: Relation, outputs: Outputs) -> tuple[Relation, Outputs]:
    while isinstance(relation, Project) and not _is_owned(relation):
        found = dict(relation.outputs)
        outputs = tuple((name, substitute(each, found)) for name, each in outputs)
        relation = relation.input
    return relation, outputs


def _is_owned(relation: Project) -> bool:
    """Whether an owner computes there what nodes cannot (tacit.plan.rules.functions), so that less need be opened."""
    found = [each for _, each in relation.outputs if is_clear_only(each) and not isinstance(each.type, Double)]
    return isinstance(relation.input, Scan) and bool(found)


def _ordered_core(top: _Top, released: dict[str, Expr]) -> Relation:
    """The opened columns in order, with further columns beneath for the order's hidden keys."""
    columns = dict(released)
    names = {each: name for name, each in reversed(columns.items())}
    keys = []
    for written, key in top.keys:
        expr = in_order(written)
        if not nodes_compute(expr):
            raise _unordered(written, top.limit is not None)
        if expr not in names:
            names[expr] = f"order_{len(columns)}"
            columns[names[expr]] = expr
        keys.append(SortKey(names[expr], key.descending, key.nulls_first))
    core: Relation = Sort(Project(top.base, tuple(columns.items())), tuple(keys))
    if top.limit is not None:
        core = Limit(core, top.limit.count, top.limit.offset)
    kept = tuple((name, reference_of(core, name)) for name in released)
    return core if len(kept) == len(columns) else Project(core, kept)


def _ordered_tail(
    opened: Opened, outputs: Outputs, keys: tuple[tuple[Expr, SortKey], ...], released: _Released
) -> Relation:
    names = {each: name for name, each in reversed(outputs)}
    columns, sort_keys = list(outputs), []
    for expr, key in keys:
        over = released.tail(expr)
        if over not in names:
            names[over] = f"order_{len(columns)}"
            columns.append((names[over], over))
        sort_keys.append(SortKey(names[over], key.descending, key.nulls_first))
    tail: Relation = Sort(Project(opened, tuple(columns)), tuple(sort_keys))
    if len(columns) > len(outputs):
        tail = Project(tail, tuple((name, reference_of(tail, name)) for name, _ in outputs))
    return tail


def _unordered(expr: Expr, limited: bool) -> UnsupportedSQL:
    position = expr.position if isinstance(expr, Call) else None
    said = next(
        (FUNCTIONS[each.op].said for each in subexpressions(expr) if isinstance(each, Call) and each.op in FUNCTIONS),
        "a quotient",
    )
    if limited:
        return UnsupportedSQL(f"LIMIT on an order by {said}", "order by SUM or COUNT, or leave LIMIT out", position)
    return UnsupportedSQL(f"an order by {said} that is not selected", "select it too", position)


def _secure_parts(expr: Expr) -> list[Expr]:
    """The largest parts of an expression that nodes compute, constants left out."""
    if nodes_compute(expr):
        return [expr] if columns_of(expr) else []
    found: list[Expr] = []
    for arg in expr.args if isinstance(expr, Call) else ():
        found += [each for each in _secure_parts(arg) if each not in found]
    return found


def _told(expr: Expr) -> Expr:
    """The exact number that a DOUBLE is, where it tells that number; others as they are."""
    match expr:
        case Call("cast", (inner,), Double()) if is_told_by_double(inner.type):
            return inner
        case _:
            return expr


def _is_nonzero(expr: Expr) -> bool:
    while isinstance(expr, Call) and expr.op in ("cast", "rescale") and not is_rounding(expr):
        expr = expr.args[0]
    return isinstance(expr, Literal) and expr.value is not None and expr.value != 0


def is_divisor(expr: Expr) -> bool:
    """Whether different DOUBLEs, as `is_told_by_double` has them, have different quotients by an expression."""
    while isinstance(expr, Call) and expr.op == "cast" and not is_rounding(expr):
        expr = expr.args[0]
    if not isinstance(expr, Literal) or not isinstance(expr.value, int | float) or not isfinite(expr.value):
        return False
    unit = Fraction(1, 10 ** (expr.type.scale if isinstance(expr.type, Decimal) else 0))
    return DIVISORS[0] <= abs(Fraction(expr.value) * unit) <= DIVISORS[1]


def opened_by(tail: Relation, step: int, found: tuple[Field, ...]) -> Relation:
    """The tail over the rows that a release step opens."""
    return (
        Opened(step, found)
        if isinstance(tail, Opened)
        else over_children(tail, lambda each: opened_by(each, step, found))
    )
