"""What each relation of a query exposes: of values, of the presence of rows, and where floors stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from .offers import Offers, Table
from .tree import Expr, Filter, Group, Join, Project, Relation, Scan, Sort, Union, name_of, names_in
from .values import argument, conditions, function

VALUE, EVERY = "value", "*"


@dataclass(frozen=True)
class Pair:
    """A way in which a column is used. column: "*" for the presence of rows, as COUNT(*) has it."""

    instance: str
    column: str
    way: str


Pairs = frozenset[Pair]


@dataclass(frozen=True)
class Output:
    """What a column derives from. linear: a sum of multiples. conditional: not every row may contribute to its sums.

    counts: it is a number of rows or units. mixed: rows of both sides of a UNION have it.
    """

    pairs: Pairs
    linear: bool = True
    conditional: bool = False
    counts: bool = False
    mixed: bool = False


@dataclass(frozen=True)
class State:
    """What is known of a relation.

    single: instances of which each row has one unit at most; merged: those of which a guard has counted the units.
    grouped: single ones whose rows have been aggregated for each unit. presence: what decides which rows there are.
    functional: which attributes decide which others. identity: attributes that name a row, each with the instances that
    it stands for. together: sets of instances that may stand behind one row.
    """

    outputs: Mapping[str, Output]
    single: frozenset[str]
    merged: frozenset[str] = frozenset()
    grouped: frozenset[str] = frozenset()
    presence: Pairs = frozenset()
    functional: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()
    identity: Mapping[str, frozenset[str]] = field(default_factory=dict)
    together: frozenset[frozenset[str]] = frozenset()

    def closure(self, attributes: Iterable[str]) -> frozenset[str]:
        """All attributes that these decide."""
        known = frozenset(attributes)
        while more := [right for left, right in self.functional if left <= known and not right <= known]:
            known = known.union(*more)
        return known


@dataclass(frozen=True)
class Guard:
    """What a merging GROUP BY counts. floors: by instance, in the query's order.

    contributors: floors of aggregates by their names, and then by instance. conditional: aggregates to which not every
    row may contribute.
    """

    floors: Mapping[str, int]
    contributors: Mapping[str, Mapping[str, int]]
    conditional: frozenset[str]


class Derivation:
    """The states of all relations of a query that is answered to recipients."""

    def __init__(self, tree: Relation, offers: Offers, recipients: tuple[str, ...]) -> None:
        self.offers, self.recipients = offers, recipients
        self.tables: dict[str, Table] = {}
        self.guards: dict[Group, Guard] = {}
        self.groups: dict[Group, State] = {}
        self.states: dict[Relation, State] = {}
        self.compared: list[tuple[Expr, State, bool]] = []
        self.aggregates: list[tuple[Group, State]] = []
        self.joined: list[tuple[Pair, Pair]] = []
        self.final = self.state(tree)

    def state(self, tree: Relation) -> State:
        """The state of a relation."""
        if tree not in self.states:
            self.states[tree] = self._state(tree)
        return self.states[tree]

    def binding(self, instance: str) -> bool:
        """Whether the rules of an instance's table bind some recipient."""
        return any(self.tables[instance].binds(each) for each in self.recipients)

    def floor(self, instance: str, pairs: Pairs) -> int:
        """The floor of an instance for what derives from these pairs."""
        table = self.tables[instance]
        own = [pair.column for pair in pairs if pair.instance == instance and pair.column != EVERY]
        return max([table.least_group, *(table.columns[column].least_group for column in own)])

    def free(self, instance: str, pairs: Pairs) -> bool:
        """Whether all that is used of an instance may be seen row by row by every recipient."""
        table = self.tables[instance]
        return all(
            shown(table, pair.column, each)
            for pair in pairs
            if pair.instance == instance
            for each in self.recipients
            if table.binds(each)
        )

    def _state(self, tree: Relation) -> State:
        match tree:
            case Scan():
                return self._scan(tree)
            case Filter():
                return self._filter(tree)
            case Join():
                return self._join(tree)
            case Group():
                return self._group(tree)
            case Project():
                return self._project(tree)
            case Union():
                return self._union(tree)
            case Sort():
                return self._sort(tree)

    def _scan(self, tree: Scan) -> State:
        name, table = tree.instance, self.offers[tree.table]
        self.tables[name] = table
        outputs = {
            f"{name}.{column}": Output(frozenset({Pair(name, column, VALUE)}), conditional=each.nullable)
            for column, each in table.columns.items()
        }
        row = frozenset({f"{name}.#"})
        unique = [(frozenset(f"{name}.{column}" for column in key), row) for key in table.unique]
        me = frozenset({name})
        functional = ((row, frozenset(outputs)), *unique)
        return State(outputs, me, functional=functional, identity={f"{name}.#": me}, together=frozenset({me}))

    def _filter(self, tree: Filter) -> State:
        child = self.state(tree.child)
        self.compared.append((tree.condition, child, True))
        functional = [(frozenset({a}), frozenset({b})) for a, b in _equalities(tree.condition)]
        return replace(
            child,
            presence=child.presence | self._condition(tree.condition, child),
            functional=(*child.functional, *functional),
        )

    def _join(self, tree: Join) -> State:
        left, right = self.state(tree.left), self.state(tree.right)
        keys: Pairs = frozenset()
        functional = [*left.functional, *right.functional]
        for one, other in tree.pairs:
            pairs = [self.output(one, left).pairs, self.output(other, right).pairs]
            self.joined += [(a, b) for a in pairs[0] for b in pairs[1]]
            keys |= used(pairs[0] | pairs[1], "join")
            functional += [(frozenset({a}), frozenset({b})) for a, b in _copies(one, other)]
        if tree.kind == "one":
            functional += [(frozenset(), frozenset({*right.outputs, *right.identity}))]
        whole = State(
            {**left.outputs, **right.outputs},
            left.single | right.single,
            left.merged | right.merged,
            left.grouped | right.grouped,
            left.presence | right.presence | keys,
            tuple(functional),
            {**left.identity, **right.identity},
            frozenset(a | b for a in left.together for b in right.together),
        )
        if tree.kind != "semi":
            return whole
        bound = {name: whom for name, whom in right.identity.items() if any(map(self.binding, whom))}
        return replace(whole, outputs=left.outputs, identity={**left.identity, **bound})

    def _project(self, tree: Project) -> State:
        child = self.state(tree.child)
        outputs = {name: self.output(each, child) for name, each in tree.outputs}
        functional = [pair for name, each in tree.outputs for pair in _named(name, each)]
        return replace(child, outputs=outputs, functional=(*child.functional, *functional))

    def _union(self, tree: Union) -> State:
        left, right = (self.state(side) for side in tree.sides)
        columns = zip(tree.outputs, left.outputs.values(), right.outputs.values(), strict=True)
        outputs = {
            name: Output(a.pairs | b.pairs, a.linear and b.linear, a.conditional or b.conditional, mixed=True)
            for name, a, b in columns
        }
        everybody = left.single | left.merged | right.single | right.merged
        row = f"{tree.outputs[0]}.#"
        units = [(self._units(each), side) for side in (left, right) for each in side.single]
        alone = [(unit, frozenset({row})) for unit, side in units if side.identity.keys() <= side.closure(unit)]
        return State(
            outputs,
            left.single | right.single,
            left.merged | right.merged,
            left.grouped | right.grouped,
            left.presence | right.presence,
            ((frozenset({row}), frozenset(outputs)), *alone),
            {row: everybody},
            left.together | right.together,
        )

    def _sort(self, tree: Sort) -> State:
        child = self.state(tree.child)
        pairs = frozenset(pair for term, _, _ in tree.terms for pair in self.output(term, child).pairs)
        way = "sort" if tree.limit is None else "order"
        by = frozenset(replace(pair, way=way) if pair.instance in child.single else pair for pair in pairs)
        return replace(child, presence=child.presence | by)

    def _group(self, tree: Group) -> State:
        child = self.state(tree.child)
        keys = {name: self.output(each, child) for name, each in tree.keys}
        values = {name: self._aggregate(each, child) for name, each in tree.aggregates}
        known = child.closure(self._key_attributes(tree))
        presence = child.presence | used(frozenset(pair for key in keys.values() for pair in key.pairs), "key")
        below = presence.union(*(each.pairs for each in (*keys.values(), *values.values())))
        kept = frozenset(each for each in child.single if not self.binding(each) or self._units(each) <= known)
        merged = child.single - kept
        guarded = [each for each in self.tables if each in merged and not self.free(each, below)]
        if tree.aggregates:
            self.aggregates.append((tree, child))
        base = presence.union(*(key.pairs for key in keys.values()))
        floors = {each: self.floor(each, base) for each in guarded}
        contributors = {
            name: {each: max(floors[each], self.floor(each, value.pairs)) for each in guarded}
            for name, value in values.items()
        }
        conditional = frozenset(name for name, value in values.items() if value.conditional)
        self.guards[tree] = Guard(floors, contributors, conditional)
        self.groups[tree] = child
        shown_keys = {name: replace(key, pairs=used(key.pairs, "group", merged)) for name, key in keys.items()}
        named, row = frozenset(keys), f"{_first(tree)}.#"
        functional = [(named, known | frozenset(values) | {row}), (frozenset({row}), named)]
        functional += [pair for name, each in tree.keys for pair in _named(name, each)]
        whole = child.single | child.merged
        return State(
            {**shown_keys, **values},
            kept,
            child.merged | merged,
            child.grouped | kept if tree.aggregates else child.grouped,
            presence,
            (*child.functional, *functional),
            {row: whole},
            frozenset({whole}),
        )

    def matches(self, tree: Group, instance: str) -> bool:
        """Whether equal values put rows of an instance together with those of the other side of a UNION."""
        child = self.groups[tree]
        keys = [self.output(each, child) for _, each in tree.keys]
        own = {pair.column for key in keys for pair in key.pairs if pair.instance == instance and pair.way == VALUE}
        named = [frozenset(self.tables[instance].unit), *map(frozenset, self.tables[instance].unique)]
        if any(key.mixed for key in keys) and any(each and each <= own for each in named):
            return True
        counted = [argument(each) for _, each in tree.aggregates if function(each) == "count_distinct"]
        return any(self.output(each, child).mixed for each in counted)

    def is_apart(self, tree: Group, instance: str) -> bool:
        """Whether a unit decides its group."""
        decided = self.groups[tree].closure(self._units(instance))
        return all(name_of(each) in decided for _, key in tree.keys for each in key.find_all(exp.Column))

    def has_single_rows(self, tree: Group) -> bool:
        """Whether each group has one row, by what its keys decide."""
        child = self.groups[tree]
        return child.closure(self._key_attributes(tree)) >= set(child.identity)

    def _key_attributes(self, tree: Group) -> set[str]:
        return {name_of(each) for _, each in tree.keys if isinstance(each, exp.Column)}

    def _units(self, instance: str) -> frozenset[str]:
        unit = self.tables[instance].unit
        return frozenset(f"{instance}.{column}" for column in unit) if unit else frozenset({f"{instance}.#"})

    def _aggregate(self, expression: Expr, child: State) -> Output:
        """What an aggregate derives from. Rows are counted by all of them; a unit is counted as rows are."""
        instances = child.single | child.merged
        rows = frozenset(Pair(each, EVERY, "aggregate:count") for each in instances - self.partners(child))
        if isinstance(expression.this, exp.Star):
            return Output(rows, counts=True)
        inner, name = self.output(argument(expression), child), function(expression)
        whole = {pair for pair in inner.pairs if pair.way == VALUE or pair.way.startswith("aggregate:")}
        of_unit = {pair for pair in whole if name == "count_distinct" and self._is_unit(pair)}
        used_by = {replace(pair, way=f"aggregate:{name}") for pair in whole - of_unit if pair.instance in child.single}
        values = {pair for pair in inner.pairs if pair.way != VALUE}
        return Output(frozenset(values | used_by) | rows, True, inner.conditional, bool(of_unit))

    def partners(self, child: State) -> frozenset[str]:
        """Instances of no rules whose rows are decided by those of others, and so repeat none of them."""
        bound = {name for name, whom in child.identity.items() if any(map(self.binding, whom))}
        decided = child.closure(bound) - bound
        return frozenset(each for name, whom in child.identity.items() if name in decided for each in whom)

    def _is_unit(self, pair: Pair) -> bool:
        return self.tables[pair.instance].unit == (pair.column,)

    def output(self, expression: Expr, child: State) -> Output:
        """What an expression over the child's columns derives from."""
        if isinstance(expression, exp.Column):
            return child.outputs[name_of(expression)]
        decided = conditions(expression)
        pairs = frozenset(pair for each in decided for pair in self._condition(each, child))
        self.compared += [(each, child, False) for each in decided]
        values = [child.outputs[name] for name in _valued(expression)]
        return Output(
            pairs.union(*(each.pairs for each in values)),
            all(each.linear for each in values) and not _nonlinear(expression),
            bool(decided) or any(each.conditional for each in values),
            mixed=any(each.mixed for each in values),
        )

    def _condition(self, expression: Expr, child: State) -> Pairs:
        pairs = frozenset(pair for name in names_in(expression) for pair in child.outputs[name].pairs)
        return frozenset(
            replace(pair, way="filter") if pair.instance in child.single and pair.column != EVERY else pair
            for pair in pairs
        )


def shown(table: Table, column: str, recipient: str) -> bool:
    """Whether a recipient may see a column, or the presence of rows, row by row."""
    if column == EVERY:
        return table.shows_rows(recipient)
    return "select" in table.columns[column].use and recipient in table.columns[column].to


def used(pairs: Pairs, way: str, instances: frozenset[str] | None = None) -> Pairs:
    """The pairs, of which values are used in a way."""
    return frozenset(
        replace(pair, way=way) if pair.way == VALUE and (instances is None or pair.instance in instances) else pair
        for pair in pairs
    )


def _valued(expression: Expr) -> list[str]:
    """The columns whose values an expression takes, without those that only decide which."""
    match expression:
        case exp.Column():
            return [name_of(expression)]
        case exp.Case():
            values = [branch.args["true"] for branch in expression.args["ifs"]]
            values += [expression.args["default"]] if expression.args.get("default") else []
            return [name for each in values for name in _valued(each)]
        case exp.Nullif():
            return _valued(expression.this)
        case exp.Predicate() | exp.Not() | exp.And() | exp.Or():
            return []
    return [name for part in expression.iter_expressions() for name in _valued(part)]


def _nonlinear(expression: Expr) -> bool:
    """Whether columns are multiplied with each other, or divided by, or are a function's arguments."""
    if any(_valued(each) for each in expression.find_all(*BENT)):
        return True
    products = expression.find_all(exp.Mul, exp.Div)
    return any(_valued(each.right) and (_valued(each.left) or isinstance(each, exp.Div)) for each in products)


BENT = (exp.Mod, exp.IntDiv, exp.Round, exp.Floor, exp.Ceil, exp.Sqrt, exp.Length, exp.Upper, exp.Lower, exp.Substring)
"""What is no sum of multiples of its arguments."""


def _copies(one: Expr, other: Expr) -> list[tuple[str, str]]:
    if isinstance(one, exp.Column) and isinstance(other, exp.Column):
        return [(name_of(one), name_of(other)), (name_of(other), name_of(one))]
    return []


def _named(name: str, expression: Expr) -> list[tuple[frozenset[str], frozenset[str]]]:
    """How an output and what it is computed from decide each other."""
    read = frozenset(names_in(expression))
    back = [(frozenset({name}), read)] if isinstance(expression, exp.Column) else []
    return [(read, frozenset({name})), *back]


def _equalities(condition: Expr) -> list[tuple[str, str]]:
    """Which columns a condition makes equal. Of constants it says nothing: one unit is for the guard to find."""
    return _copies(condition.left, condition.right) if isinstance(condition, exp.EQ) else []


def _first(tree: Group) -> str:
    return next(iter((*tree.keys, *tree.aggregates)))[0]
