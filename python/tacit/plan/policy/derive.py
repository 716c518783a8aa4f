"""What a bound query exposes: for each relation which columns its values, and its rows, derive from.

The relation is built anew on the way. Conditions of CASE that decide who contributes to an aggregate become columns of
the aggregate's input, so that guards can name them. The planner's rules drop those that no guard needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tacit.plan.algebra.expressions import conjuncts, reference
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
from tacit.plan.facts.catalog import Catalog, KeptColumn, KeptTable, Table
from tacit.plan.facts.deliveries import delivered_table
from tacit.plan.facts.fields import column, columns_of, names
from tacit.plan.policy.chosen import atoms_of, compared, read_together
from tacit.plan.policy.constants import unchanged
from tacit.plan.policy.expressions import Expressions, turned
from tacit.plan.policy.grouped import all_seen, grouped
from tacit.plan.policy.intervals import has_brackets, has_intervals, is_interval, tests_within
from tacit.plan.policy.joined import broadcast, joined
from tacit.plan.policy.names import Names
from tacit.plan.policy.offers import protected, wholly_open
from tacit.plan.policy.outer import bound, marked, multiplied, outer, paired
from tacit.plan.policy.overflows import beyond_bounds
from tacit.plan.policy.results import computed_tables
from tacit.plan.policy.state import Atom, Derived, Instance, Item, Items, State, ordered, selected, union
from tacit.plan.policy.thresholds import unsatisfied
from tacit.plan.policy.united import united
from tacit.plan.policy.windowed import windowed


def derived(relation: Relation, catalog: Catalog, recipients: tuple[str, ...]) -> State:
    """The state of a bound query, with its own columns alone."""
    found = Derivation(catalog, recipients, Names(relation)).of(relation)
    visible = names(relation)
    if names(found.relation) == visible:
        return found
    outputs = tuple((name, column(found.relation, name)) for name in visible)
    columns = {name: found.columns[name] for name in visible}
    return replace(found, relation=Project(found.relation, outputs), columns=columns)


@dataclass
class Derivation:
    """The derivation of one query for its recipients. seen: how often each scan has been met."""

    catalog: Catalog
    recipients: tuple[str, ...]
    names: Names
    instances: int = 0
    seen: Counter[Scan] = field(default_factory=Counter)

    def of(self, relation: Relation) -> State:
        """The state of a relation."""
        match relation:
            case Scan():
                return self._scan(relation)
            case KeptScan():
                return self._kept(relation)
            case Constants(_, columns):
                return State(relation, {each.name: Derived(told=True) for each in columns})
            case Opened() | Match() | Slice():
                raise AssertionError("a bound query has none of these")
            case Filter(input, predicate):
                return self._filter(self.of(input), predicate)
            case Project(input, outputs):
                return self._project(self.of(input), outputs)
            case Union(inputs):
                return united(names(relation), [self.of(each) for each in inputs], self.recipients, self.names)
            case Mark(input, choices):
                return marked(relation, self.of(input), self.of(choices), self.recipients)
            case Pairs(left, right):
                return paired(relation, self.of(left), self.of(right), self.recipients)
            case Join() if relation.repeats > 1:
                return multiplied(relation, self.of(relation.left), self.of(relation.right), self.recipients)
            case Join() if relation.kept != "none":
                sides = self.of(relation.left), self.of(relation.right)
                return outer(relation, *sides, self.catalog, self.recipients)
            case Join() | FullJoin():
                sides = self.of(relation.left), self.of(relation.right)
                return joined(relation, *sides, self.catalog, self.recipients)
            case Broadcast(input, scalar):
                return broadcast(self.of(input), self.of(scalar), self.recipients)
            case Aggregate(input, _, _):
                return grouped(relation, self.of(input), self.recipients, self.names, self.catalog)
            case Window(input):
                return windowed(relation, self.of(input), self.catalog, self.recipients)
            case Sort(input, _):
                return self._sort(relation, self.of(input))
            case Limit(input, _, _):
                return self._limit(relation, self.of(input))

    def _scan(self, scan: Scan) -> State:
        """A table's columns. A second instance gets other names, so that guards can tell the two apart."""
        table = next(each for each in self.catalog.tables if each.name == scan.table)
        self.seen[scan] += 1
        number = self.seen[scan]
        if number == 1 or table.terms is None:
            return self._instance(scan, table)
        other = replace(
            scan,
            columns=tuple((f"{name}_{number}", source) for name, source in scan.columns),
            fields=tuple(replace(each, name=f"{each.name}_{number}") for each in scan.fields),
        )
        outputs = tuple((old.name, reference(new)) for old, new in zip(scan.fields, other.fields, strict=True))
        return self._project(self._instance(other, table), outputs)

    def _instance(self, scan: Scan | KeptScan, table: Table) -> State:
        instance = Instance(self.instances, scan, table)
        self.instances += 1
        columns = {name: _value(instance, source) for name, source in scan.columns}
        whole = frozenset({instance})
        return State(scan, columns, one=whole, identity=whole)

    def _kept(self, scan: KeptScan) -> State:
        """A delivery is its owner's table. Of anything else that is kept, nobody can count the units behind it.

        Of tables of which only programs' results are in it rules of programs hold, and have been asked. Who gets the
        answer knows what was made of its own tables.
        """
        table = next(each for each in self.catalog.kept if each.name == scan.table)
        offered = {each.name: each for each in self.catalog.tables}
        delivered = delivered_table(table.name)
        if delivered is not None and delivered in offered:
            return self._instance(scan, offered[delivered])
        behind = sorted({*table.tables} & {*offered} - computed_tables(table))
        made = [Instance(self.instances + place, scan, offered[name]) for place, name in enumerate(behind)]
        self.instances += len(made)
        bound = [each for each in made if protected(each.table, self.recipients)]
        closed = frozenset(Item(each, None, "kept") for each in bound if not wholly_open(each.table, self.recipients))
        whole = frozenset(made) - {each.instance for each in closed}
        known = {each.field.name: _kept_value(each, table, whole) for each in table.columns}
        columns = {name: known[source] for name, source in scan.columns}
        return State(scan, columns, closed, one=whole, identity=whole)

    def _filter(self, below: State, predicate: Expr) -> State:
        tested = Expressions(below, self.recipients).condition(predicate)
        beyond = beyond_bounds([predicate], below, self.recipients)
        blended = self._blended(conjuncts(predicate), below)
        found = union([tested, unsatisfied(predicate, below), selected(below), beyond, blended])
        parts = conjuncts(predicate)
        whole = replace(
            below,
            read=below.read.union(*(read_together(self._read(each, below), below.whole) for each in parts)),
            compared=below.compared.union(*(compared(self._read(each, below)) for each in parts)),
            branched=below.branched.union(*(self._branches(each, below) for each in parts)),
        )
        return whole.over(Filter(below.relation, predicate), found)

    def _branches(self, test: Expr, below: State) -> frozenset[Atom]:
        """The columns of whose values a test leaves more, or less, than an interval."""
        found = self._read(test, below)
        told = frozenset[Atom]().union(*(each.branched for each in found))
        return told if is_interval(test) else told.union(*(atoms_of(each.items) for each in found))

    def _read(self, expr: Expr, below: State) -> list[Derived]:
        return [below.columns[name] for name in sorted(columns_of(expr))]

    def _project(self, below: State, outputs: tuple[tuple[str, Expr], ...]) -> State:
        """New columns, and beside them one for each condition that decides who contributes to them."""
        expressions = Expressions(below, self.recipients)
        columns: dict[str, Derived] = {}
        hidden: dict[Expr, str] = {}
        for name, expr in outputs:
            found = expressions.of(expr)
            inherited = [column(below.relation, each) for each in found.conditions]
            conditions = [*inherited, *expressions.conditions(expr)]
            for each in conditions:
                if each not in hidden:
                    hidden[each] = self.names.fresh("condition")
                    columns[hidden[each]] = Derived(expressions.condition(each))
            listed = tuple(dict.fromkeys(hidden[each] for each in conditions))
            read = self._read(expr, below)
            branched = frozenset[Atom]().union(*(each.branched for each in read))
            all_read = branched.union(*(atoms_of(each.items) for each in read))
            keyed = found.keyed if isinstance(unchanged(expr), ColumnRef) else branched
            columns[name] = replace(
                found,
                conditions=listed,
                blended=expressions.blends(expr),
                branched=branched if has_intervals(expr) else all_read,
                keyed=keyed if has_brackets(expr) else all_read,
                tested=frozenset().union(
                    *(each.tested for each in read), *(self._branches(each, below) for each in tests_within(expr))
                ),
            )
        written = (*outputs, *((name, each) for each, name in hidden.items()))
        beyond = beyond_bounds((each for _, each in outputs), below, self.recipients)
        blended = self._blended(hidden, below)
        return replace(
            below.over(Project(below.relation, written), beyond | blended),
            columns=columns,
            read=below.read.union(*(read_together(self._read(each, below), below.whole) for _, each in written)),
            compared=below.compared.union(
                *(compared(self._read(part, below)) for each in hidden for part in conjuncts(each))
            ),
        )

    def _blended(self, tests: Iterable[Expr], below: State) -> Items:
        """Conditions on matches and on others at once: for all but few rows they ask for the others alone."""
        found = [each for each in tests if Expressions(below, self.recipients).blends(each)]
        position = next((each.position for each in found if isinstance(each, Call)), None)
        instances = bound(below.one, self.recipients) if found else frozenset[Instance]()
        return frozenset(Item(each, None, "floor", detail="blended", position=position) for each in instances)

    def _sort(self, relation: Sort, below: State) -> State:
        """The order tells ranks of single rows. Of what a guard has counted it tells no more than the values do."""
        keys = union(below.columns[key.column].items for key in relation.keys)
        rows = turned(keys, below.one, ("value", "aggregate", "filter"), "sort")
        return below.over(replace(relation, input=below.relation), rows)

    def _limit(self, relation: Limit, below: State) -> State:
        """How many rows there are is known. Where it is not known which, no condition may leave some of them out."""
        whole = below.over(replace(relation, input=below.relation))
        if relation.count is None:
            return whole
        unknown = frozenset(each for each in below.one if protected(each.table, self.recipients))
        unknown = frozenset(each for each in unknown if not all_seen(each, below.rows, self.recipients))
        return replace(whole, limited=below.limited | unknown)


def _kept_value(kept: KeptColumn, table: KeptTable, made: Iterable[Instance]) -> Derived:
    """A column of a kept table: a copy of a table's column, or numbers that its maker may have chosen.

    Two columns that are made of one need not be equal: rows may be other ones.
    """
    items = _sources(kept, made)
    values = [each for each in kept.uses or () if each.source.column is not None]
    copied = [(each.instance.number, each.column) for each in ordered(items) if each.column is not None]
    if not values or any({*each.through} - {"group"} for each in values):
        return Derived(items, told=True)
    sources = {each.source for each in values}
    alike = [each for each in table.columns if not sources.isdisjoint(use.source for use in each.uses or ())]
    is_one = len(values) == len(copied) == len(alike) == 1
    return Derived(items, copies=frozenset(copied if is_one else ()), copied=True)


def _sources(kept: KeptColumn, made: Iterable[Instance]) -> Items:
    """What a kept column was made of; where its lineage does not say, any of the rows."""
    uses = {(each.source.table, each.source.column) for each in kept.uses or ()}
    return union(
        [
            frozenset(Item(each, None, "count") for each in made),
            frozenset(
                Item(each, column.field.name, "value")
                for each in made
                for column in each.table.columns
                if (each.table.name, column.field.name) in uses
            ),
        ]
    )


def _value(instance: Instance, source: str) -> Derived:
    atom: Atom = (instance.number, source)
    its = frozenset({atom})
    return Derived(frozenset({Item(instance, source, "value")}), copies=its, copied=True, atoms=its)
