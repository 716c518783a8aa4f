"""What an expression derives from: the columns that it is computed from, and those that conditions in it test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tacit.plan.algebra.expressions import is_rounding
from tacit.plan.algebra.functions import PREDICATES
from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Literal
from tacit.plan.algebra.types import Boolean
from tacit.plan.facts.fields import column, columns_of
from tacit.plan.facts.terms import Function
from tacit.plan.facts.uniqueness import reversible
from tacit.plan.policy.conditions import present
from tacit.plan.policy.constants import COMPARISONS, FLIPPED, NotConstant, allows, constant, unchanged, unwritten
from tacit.plan.policy.exposure import terms_of
from tacit.plan.policy.offers import protected
from tacit.plan.policy.state import NO_COPIES, NOTHING, Derived, Instance, Item, Items, Role, State, ordered, union

LOGIC = ("and", "or", "not")
BOOLEAN = COMPARISONS | {*LOGIC, "is_null"} | PREDICATES


@dataclass(frozen=True)
class Expressions:
    """Expressions over a relation. recipients: of the query."""

    state: State
    recipients: tuple[str, ...]

    def of(self, expr: Expr) -> Derived:
        """What a value derives from."""
        whole, expr = expr, unchanged(expr)
        match expr:
            case Literal(value):
                return Derived(constant=True, told=value is not None)
            case ColumnRef(name, _, _, position):
                known = self.state.columns[name]
                averaged, squared = (each and named_at(each, position) for each in (known.averaged, known.squared))
                same = isinstance(unwritten(whole), ColumnRef)
                copies, copied = known.copies if same else NO_COPIES, known.copied and same
                items = named_at(known.items, position)
                return replace(known, items=items, averaged=averaged, squared=squared, copies=copies, copied=copied)
            case Call("if", (test, then, otherwise)):
                branches = [self.of(then), self.of(otherwise)]
                found, told = _together(branches), any(each.told for each in branches)
                constant = found.constant and self._constant((test,))
                square = branches[0].square and unchanged(otherwise) == Literal(None, otherwise.type)
                items = union([found.items, self.condition(test)])
                moved = found.moved or unchanged(otherwise) != Literal(None, otherwise.type)
                found = replace(found, optional=found.optional | self._matches_in(test))
                return replace(found, items=items, constant=constant, told=told, square=square, moved=moved)
            case Call("average", (ColumnRef(total, _, _, position), _)):
                averaged = self.state.columns[total].averaged
                items = named_at(averaged or self.state.columns[total].items, expr.position or position)
                return self._of_sums(expr.args, items)
            case Call("covariance", (ColumnRef(total), ColumnRef(one), ColumnRef(other), _, _)) if one == other:
                squared = self.state.columns[total].squared
                return self._of_sums(expr.args, named_at(squared or self.state.columns[total].items, expr.position))
            case Call(op, args) if op in BOOLEAN:
                items, optional = self.condition(expr), self._matches_in(expr)
                return Derived(items, constant=self._constant(args), moved=True, optional=optional)
            case Call(op, args):
                return self._computed(whole, expr, [self.of(each) for each in args])

    def _of_sums(self, sums: Sequence[Expr], items: Items) -> Derived:
        """A value of sums and counts, which tells of the same matches and conditions as these do."""
        found = _together([self.of(each) for each in sums])
        return Derived(items, found.linear, conditions=found.conditions, moved=found.moved, optional=found.optional)

    def _computed(self, whole: Expr, expr: Call, parts: list[Derived]) -> Derived:
        found = _together(parts)
        constants = sum(each.constant for each in parts)
        scaled = (expr.op == "mul" and constants >= 1) or (expr.op == "div" and parts[1].constant)
        linear = (expr.op in ("add", "sub", "neg", "cast", "rescale") and not is_rounding(expr)) or scaled
        same = reversible(whole)
        atoms = self.state.columns[same].atoms if same is not None else frozenset()
        square = expr.op == "mul" and parts[0].plain is not None and unwritten(expr.args[0]) == unwritten(expr.args[1])
        return replace(found, linear=found.linear and linear, atoms=atoms, square=square)

    def condition(self, expr: Expr) -> Items:
        """What a condition derives from: the columns that it tests."""
        expr = unchanged(expr)
        match expr:
            case Literal():
                return NOTHING
            case Call(op, args) if op in LOGIC:
                return union(self.condition(each) for each in args)
            case Call("is_null", (tested,)):
                return self._tested(self.of(tested))
            case Call(op, (a, b)) if op in COMPARISONS:
                return self._compared(expr, a, b)
            case Call("if", (test, then, otherwise)):
                return union([self.condition(test), self.condition(then), self.condition(otherwise)])
            case Call(op, args) if op in PREDICATES:
                return self._tested_as_a_whole(_together([self.of(each) for each in args]))
            case ColumnRef(_, type_, _, position) if isinstance(type_, Boolean):
                true = Literal(True, Boolean())
                return self._with_constant(Call("eq", (expr, true), Boolean(), False, position), expr, true)
            case _:
                return self._tested_as_a_whole(self.of(expr))

    def _tested_as_a_whole(self, found: Derived) -> Items:
        """A test that no constant tells the bounds of, such as LIKE."""
        return union([self._tested(found), self.closed_to(found), self._beside(found, found)])

    def conditions(self, expr: Expr) -> tuple[Expr, ...]:
        """The conditions in a value that decide which rows contribute to it."""
        expr = unchanged(expr)
        match expr:
            case Call("if", (test, then, otherwise)):
                return (*self._depends(test), *self.conditions(then), *self.conditions(otherwise))
            case Call(op) if op in BOOLEAN:
                return self._depends(expr)
            case Call(_, args):
                return (*self._missing(expr), *(each for arg in args for each in self.conditions(arg)))
            case _:
                return ()

    def _missing(self, expr: Call) -> tuple[Expr, ...]:
        """Of a value that others' NULLs decide, too: whether a match is there, which would be a part of one person."""
        if not self.blends(expr):
            return ()
        known = ((name, self.state.columns[name]) for name in sorted(columns_of(expr)))
        matched = (column(self.state.relation, name) for name, each in known if each.optional)
        return tuple(present(each) for each in matched if each.nullable)

    def _depends(self, test: Expr) -> tuple[Expr, ...]:
        """The condition, unless it is the same for all rows. In one that tells which rows match, each part counts."""
        found = unchanged(test)
        if isinstance(found, Call) and found.op in LOGIC and self._matches_in(found):
            return tuple(dict.fromkeys(each for arg in found.args for each in self._depends(arg)))
        return () if self._constant((found,)) else (found,)

    def _matches_in(self, expr: Expr) -> frozenset[str]:
        return frozenset().union(*(self.state.columns[name].optional for name in columns_of(expr)))

    def blends(self, expr: Expr) -> bool:
        """Whether an expression is computed of what tells which rows have a match, and of what does not."""
        found = [self.state.columns[name] for name in columns_of(expr)]
        told = {each.optional for each in found if not each.constant}
        return any(each.blended for each in found) or len(told) > 1 or any(len(each) > 1 for each in told)

    def _constant(self, args: tuple[Expr, ...]) -> bool:
        return all(self.state.columns[name].constant for arg in args for name in columns_of(arg))

    def _compared(self, expr: Call, a: Expr, b: Expr) -> Items:
        if not columns_of(b):
            return self._with_constant(expr, a, b)
        if not columns_of(a):
            flipped = replace(expr, op=FLIPPED[expr.op], args=(b, a))
            return self._with_constant(flipped, b, a)
        left, right = self.of(a), self.of(b)
        return union([self._tested(left), self._tested(right), self._beside(left, right), self._beside(right, left)])

    def _with_constant(self, expr: Call, tested: Expr, value: Expr) -> Items:
        """A comparison with a constant, and what a column's ``cuts`` or ``constants`` say of it."""
        found = self.of(tested)
        plain = found.plain
        for each in found.items:
            if plain == (each.instance.number, each.column) and each.column is not None:
                try:
                    value_ = constant(value)
                except NotConstant:
                    break
                terms = terms_of(each.instance.table, each.column)
                type_ = next(c.field.type for c in each.instance.table.columns if c.field.name == each.column)
                if allows(terms, type_, expr.op, value_):
                    return self._tested(found)
        return union([self._tested(found), self.closed_to(found), self._beside(found, found)])

    def _tested(self, found: Derived) -> Items:
        """Values of single rows are tested; what a guard has counted may be shown, so that a test shows less."""
        return turned(found.items, self.state.one, ("value", "aggregate"), "filter")

    def closed_to(self, found: Derived) -> Items:
        """Columns with ``cuts`` or ``constants`` that are compared in another way than these allow."""
        return frozenset(
            problem for each in found.items if self._binds(each) and (problem := _narrowed(each)) is not None
        )

    def _beside(self, one: Derived, other: Derived) -> Items:
        """Columns that are compared with others: with those of other tables only where their owners say so.

        What is computed on either side may be any number, as one in the text may.
        """
        if other.constant and one != other:
            return self.closed_to(one)
        found: set[Item] = set()
        for each in one.items:
            if not self._binds(each) or each.column is None:
                continue
            named = met_names(frozenset(i for i in other.items if self._of_another(i, each)))
            partners = terms_of(each.instance.table, each.column).partners or frozenset()
            missing = sorted(named - partners)
            if missing:
                found.add(replace(each, role="with", function=None, detail=missing[0]))
            elif not (named and one.copied and other.copied):
                found |= self.closed_to(replace(one, items=frozenset({each})))
        return frozenset(found)

    def _of_another(self, item: Item, than: Item) -> bool:
        """Whether an item is a single row's column of another instance."""
        guarded = item.instance in self.state.many and protected(item.instance.table, self.recipients)
        return item.instance != than.instance and not guarded and item.role in ("value", "aggregate", "group", "count")

    def _binds(self, item: Item) -> bool:
        """Whether an item is of a single row of a table whose owner's rules bind this query."""
        single = item.instance in self.state.one and item.role in ("value", "aggregate")
        return single and protected(item.instance.table, self.recipients)


def turned(
    items: Items, single: frozenset[Instance], roles: tuple[Role, ...], into: Role, function: Function | None = None
) -> Items:
    """Items of these instances in another role, if they have one of these. single: of single rows, as a rule.

    What a guard has counted stays as it is. An aggregate of a unit's rows is an aggregate still, in its new role too.
    """
    changes = [each for each in ordered(items) if each.role in roles and each.instance in single]
    kept = frozenset(each for each in items if each not in changes or each.role == "aggregate")
    return union([frozenset(replace(each, role=into, function=function) for each in changes), kept])


def named_at(items: Items, position: Position | None) -> Items:
    """Values named at a place of the text; what has another role already keeps its place."""
    if position is None:
        return items
    return frozenset(replace(each, position=position) if each.role == "value" else each for each in items)


def placed(items: Items, position: Position | None) -> Items:
    """Items without a place at this one."""
    return frozenset(each if each.position else replace(each, position=position) for each in ordered(items))


def _narrowed(item: Item) -> Item | None:
    if item.column is None:
        return None
    terms = terms_of(item.instance.table, item.column)
    if terms.cuts is None and terms.constants is None:
        return None
    return replace(item, role="cuts" if terms.cuts is not None else "constants", function=None)


def met_names(items: Items) -> frozenset[str]:
    """The columns that a value is computed from, as offers name them; ``*`` where that is only how many rows are."""
    named = {each.instance for each in items if each.column is not None}
    return frozenset(
        f"{each.instance.table.name}.{each.column or '*'}"
        for each in items
        if each.column is not None or (each.role == "count" and each.instance not in named)
    )


def _together(parts: list[Derived]) -> Derived:
    """What a value of several parts derives from. Of one part it keeps what an unchanged copy has."""
    conditions = tuple(dict.fromkeys(name for each in parts for name in each.conditions))
    return Derived(
        union(each.items for each in parts),
        all(each.linear for each in parts),
        all(each.constant for each in parts),
        conditions=conditions,
        told=any(each.told for each in parts),
        mixed=any(each.mixed for each in parts),
        moved=any(each.moved for each in parts),
        optional=frozenset().union(*(each.optional for each in parts)),
        branched=frozenset().union(*(each.branched for each in parts)),
        keyed=frozenset().union(*(each.keyed for each in parts)),
        tested=frozenset().union(*(each.tested for each in parts)),
    )
