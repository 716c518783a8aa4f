"""Lowering: a relation tree to the steps of a placed plan, each with its operator.

Subtrees that is_local accepts become a local step of their owner and an input step. Every other operator becomes a
secure step, with projections beside it where a column is needed in another representation or under another name;
projections that only rename cost no step. A sort is a step even of what is in order already, which costs nothing then.
The nodes know the order of what they hold, and open rows in no order that a sort did not give them. Equal subtrees are
placed once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tacit.plan.algebra.refusals import QueryError
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
from tacit.plan.algebra.types import Field
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.deliveries import approving
from tacit.plan.facts.fields import field_of, fields
from tacit.plan.facts.groups import most_groups
from tacit.plan.facts.kinds import RINGS, Rep, kind_of_field, order_rep, ring_of
from tacit.plan.facts.readers import Readers
from tacit.plan.physical import operators as ops
from tacit.plan.physical.demands import Demands, merge, part
from tacit.plan.physical.early_sums import early_sums
from tacit.plan.physical.emitter import Emitter, passed
from tacit.plan.physical.lower_aggregate import carried_reps, conditional, grouped
from tacit.plan.physical.lower_group_join import grouped_join, left_demand, place_group_join, summed_demand
from tacit.plan.physical.lower_input import Announcement, place_input
from tacit.plan.physical.lower_join import equality, place_join, place_mark, place_pairs
from tacit.plan.physical.lower_keys import OpenedKeys, key_owners, place_keys
from tacit.plan.physical.lower_psi import place_match
from tacit.plan.physical.lower_resize import ShownCount, place_resize
from tacit.plan.physical.lower_window import members, needed
from tacit.plan.physical.merging import Merge
from tacit.plan.physical.placed import KeptStep
from tacit.plan.physical.secure_expressions import Columns, SecureColumn, SecureExpressions
from tacit.plan.physical.tables import SharedTable, exactly, physical_name, physical_of
from tacit.plan.physical.trusted import grouped_keys
from tacit.plan.rules.matching import refuse_full_join
from tacit.plan.rules.push_down import is_local
from tacit.plan.rules.stage import Resized, Trusted


class Lowering:
    """Places relations one after the other.

    announced: the sizes that are announced. keys: those that owners open to each other. matches: step to each join of
    two owners that shows any. merges: the joins whose sides can be sorted by their owners, and how. fused: the joins
    that an aggregation above does, too, with its table. counts: numbers of valid rows that the nodes see.
    """

    def __init__(
        self,
        catalog: Catalog,
        demands: Demands,
        readers: Readers,
        trusted: Trusted | None = None,
        resized: frozenset[Resized] = frozenset(),
    ) -> None:
        self.catalog = catalog
        self.trusted = trusted
        self.resized = {each.relation: each for each in resized}
        self.counts: list[ShownCount] = []
        self.merges: dict[Relation, Merge] = {}
        self.demands = demands
        self.hashed = demands.hashed
        self.emit = Emitter(readers, demands.hashed)
        self.announced: list[Announcement] = []
        self.keys: list[OpenedKeys] = []
        self.matches: dict[int, Match | FullJoin] = {}
        self.placed: dict[Relation, SharedTable] = {}
        self.fused: dict[Relation, SharedTable] = {}

    def place_keys(self, core: Relation) -> None:
        """Open the keys by which owners slice their rows in a tree, before anything else."""
        for keys, to in key_owners(core).items():
            opened, announced = place_keys(keys, to, self.catalog, self.emit)
            self.keys.append(opened)
            self.announced.append(announced)

    def place(self, relation: Relation) -> SharedTable:
        """The shared table of a relation, with the columns that all its uses demand."""
        if relation not in self.placed:
            self.placed[relation] = self._resized(relation, self._place(relation))
        return self.placed[relation]

    def _resized(self, relation: Relation, table: SharedTable) -> SharedTable:
        """The table of a relation without padding, if that is dropped."""
        if relation not in self.resized:
            return table
        resized, want = self.resized[relation], self.demands.found[relation]
        table, counts = place_resize(resized, table, want, self.emit)
        self.counts += counts
        return table

    def _place(self, relation: Relation) -> SharedTable:
        if is_local(relation, self.catalog):
            table, announced = place_input(relation, self.demands.found[relation], self.catalog, self.emit)
            self.announced += announced
            return table
        match relation:
            case Filter():
                return self._filter(relation)
            case Project():
                return self._project(relation)
            case Union():
                return self._union(relation)
            case Join():
                return self._join(relation)
            case Mark():
                return self._mark(relation)
            case Pairs():
                return self._pairs(relation)
            case FullJoin():
                refuse_full_join(relation, self.catalog)
                return self._match(relation)
            case Match():
                return self._match(relation)
            case Broadcast():
                return self._broadcast(relation)
            case Aggregate():
                return self._aggregate(relation)
            case Window():
                return self._window(relation)
            case Sort():
                return self._sort(relation)
            case Limit():
                return self._limit(relation)
            case KeptScan():
                return self._kept(relation)
            case Scan() | Constants() | Opened() | Slice():
                raise AssertionError(f"{relation} is always local")

    def _kept(self, relation: KeptScan) -> SharedTable:
        table, step = next(each for each in self.catalog.kept if each.name == relation.table), self.emit.next
        kinds = {each.field.name: each.kind for each in table.columns}
        sources = {name: source for name, source in relation.columns if name in self.demands.found[relation]}
        columns: Columns = {name: (SecureColumn(name, kinds[source]),) for name, source in sources.items()}
        shared = tuple(
            ops.Shared(name, source, kinds[source].encode, kinds[source]) for name, source in sources.items()
        )
        owners = approving(table.owners, table.declared, self.catalog.nodes)
        operator = ops.Kept(step, table.name, shared, table.rows, table.padded, owners)
        self.emit.steps.append(KeptStep(operator, self.emit.readable(relation, columns)))
        return SharedTable(step, columns, physical_of(columns), exactly(table.rows))

    def _filter(self, relation: Filter) -> SharedTable:
        input = self.place(relation.input)
        predicate, _ = SecureExpressions(input.columns, self.hashed).write(relation.predicate, "bits")
        operator = ops.Filter(self.emit.next, input.step, predicate)
        return replace(self.emit.secure(relation, operator, input.rows, input.columns), physical=input.physical)

    def _project(self, relation: Project) -> SharedTable:
        input = self.place(relation.input)
        want = self.demands.found[relation]
        outputs = [(name, each) for name, each in relation.outputs if name in want]
        plain: Columns = {name: input.columns[each.name] for name, each in outputs if isinstance(each, ColumnRef)}
        if len(plain) == len(outputs):
            return input.with_columns(plain)
        writer = SecureExpressions(input.columns, self.hashed)
        taken = set(physical_of(plain))
        listed = [passed(*each) for each in physical_of(plain).items()]
        columns = dict(plain)
        for name, each in outputs:
            if isinstance(each, ColumnRef):
                continue
            try:
                expr, kind = writer.write(each, _least_choice(each, min(want[name]), input))
            except QueryError as error:
                raise error.at(None, name) from None
            column = SecureColumn(physical_name(name, kind.rep, taken), kind)
            taken.add(column.name)
            listed.append(ops.Computed(column.name, expr, kind))
            columns[name] = (column,)
        return self.emit.projected(input, relation, listed, columns)

    def _union(self, relation: Union) -> SharedTable:
        want = self.demands.found[relation]
        placed = [self.place(each) for each in relation.inputs]
        largest = max(placed, key=lambda table: table.rows.most)
        columns: dict[str, tuple[SecureColumn, ...]] = {}
        taken: set[str] = set()
        for each in fields(relation):
            reps = (_least_work(each, rep, largest) for rep in sorted(want.get(each.name, ())))
            kinds = dict.fromkeys(kind_of_field(each, rep, self.hashed) for rep in reps)
            group = []
            for kind in kinds:
                group.append(SecureColumn(physical_name(each.name, kind.rep, taken), kind))
                taken.add(group[-1].name)
            columns |= {each.name: tuple(group)} if group else {}
        inputs = [self.emit.shaped(*each, columns) for each in zip(placed, relation.inputs, strict=True)]
        rows = inputs[0].rows
        for input in inputs[1:]:
            rows = rows + input.rows
        listed = tuple(ops.Named(*each) for each in physical_of(columns).items())
        operator = ops.Union(self.emit.next, tuple(input.step for input in inputs), listed)
        return self.emit.secure(relation, operator, rows, columns)

    def _join(self, relation: Join) -> SharedTable:
        sides = self.place(relation.left), self.place(relation.right)
        trusted = self._trusted(relation)
        table, merge = place_join(relation, *sides, self.demands.found[relation], self.emit, trusted)
        self.merges |= {} if merge is None else {relation: merge}
        return table

    def _trusted(self, relation: Relation) -> str | None:
        """Who sees the keys of a relation, if anybody does."""
        return None if self.trusted is None else self.trusted.by(relation)

    def _mark(self, relation: Mark) -> SharedTable:
        choices = self.place(relation.choices)
        input = self.place(relation.input)
        trusted = self._trusted(relation)
        table, merge = place_mark(relation, input, choices, self.demands.found[relation], self.emit, trusted)
        self.merges |= {} if merge is None else {relation: merge}
        return table

    def _pairs(self, relation: Pairs) -> SharedTable:
        sides = relation.left, relation.right
        left, right = (self.place(each) for each in sides)
        wants = self.demands.found[relation.left], self.demands.found[relation.right]
        return place_pairs(relation, left, right, wants, self.emit)

    def _match(self, relation: Match | FullJoin) -> SharedTable:
        table, announced = place_match(relation, self.demands.found[relation], self.catalog, self.emit)
        self.announced += announced
        if isinstance(relation, FullJoin) or not relation.hidden:
            self.matches[table.step] = relation
        return table

    def _broadcast(self, relation: Broadcast) -> SharedTable:
        input = self.place(relation.input)
        scalar = self.place(relation.scalar)
        scalar = self.emit.prepared(scalar, relation.scalar, [], self.demands.found[relation.scalar])
        scalar, _ = self.emit.apart(scalar, relation.scalar, scalar.columns, set(input.physical))
        columns = {**input.columns, **scalar.columns}
        operator = ops.Broadcast(self.emit.next, input.step, scalar.step)
        table = self.emit.secure(relation, operator, input.rows, columns)
        return replace(table, physical=input.physical | scalar.physical)

    def _aggregate(self, relation: Aggregate) -> SharedTable:
        table = self._group_join(relation) or self._early_sums(relation)
        if table is not None:
            return table
        # What others read, too, has been chosen row by row already.
        chosen = conditional(relation) if relation.input not in self.placed else None
        if chosen is None or is_local(relation.input, self.catalog):
            return self._aggregated(relation, relation, {})
        [(input, want)] = self.demands.beneath(chosen.relation, {})
        self.demands.add(input, merge(want, {each: frozenset({"bits"}) for each in chosen.conditions.values()}))
        return self._aggregated(relation, chosen.relation, chosen.conditions)

    def _group_join(self, relation: Aggregate) -> SharedTable | None:
        """One step for an aggregation and the join beneath, where it can."""
        fused = grouped_join(relation, self.demands, self.catalog)
        if fused is None or self._trusted(relation) is not None or self._trusted(fused.own) is not None:
            return None
        if fused.own in self.resized:
            return None
        self.demands.add(fused.join.left, left_demand(relation, fused, self.demands))
        self.demands.add(fused.summed.input, summed_demand(fused, self.demands))
        sides = self.place(fused.join.left), self.place(fused.summed.input)
        self.fused[fused.own] = place_group_join(relation, fused, *sides, self.demands, self.emit)
        return self.fused[fused.own]

    def _early_sums(self, relation: Aggregate) -> SharedTable | None:
        """An aggregation in two parts, the first of which is one step with the join beneath, where it can be."""
        whole = early_sums(relation, self.catalog) if self._trusted(relation) is None else None
        if whole is None or self.demands.readers(relation.input) > 1:
            return None
        self.demands.found[whole] = self.demands.found[relation]
        [(parts, want)] = self.demands.beneath(whole, self.demands.found[whole])
        assert isinstance(parts, Aggregate), "the second addition is over the first"
        self.demands.found[parts] = dict(want)
        table = self._group_join(parts)
        if table is None:
            return None
        self.placed[parts] = table
        return self._aggregated(relation, whole, {})

    def _aggregated(self, whole: Aggregate, relation: Aggregate, conditions: Mapping[str, str]) -> SharedTable:
        """whole: the query's own relation of this step. conditions: of aggregates, by columns of the input."""
        needed = equality(relation.input, relation.determining, self.hashed)
        needed += carried_reps(relation, self.demands)
        needed += [
            (each.column, self.demands.argument_rep(each, relation))
            for each in relation.aggregations
            if each.column is not None
        ]
        needed += [(each, "bits") for each in conditions.values()]
        input = self.emit.prepared(self.place(relation.input), relation.input, needed)
        found = grouped(relation, input, self.demands, conditions)
        if not relation.keys:
            operator = ops.Aggregate(self.emit.next, input.step, found.aggregates)
            return self.emit.secure(whole, operator, exactly(1), found.columns)
        domain = most_groups(relation)
        known = input.rows.known
        groups = domain if domain is not None and domain < (1 << 31 if known is None else known) else None
        trusted = self._trusted(whole)
        by_keys = ops.GroupBy(self.emit.next, input.step, found.keys, found.aggregates, groups, trusted)
        self.emit.keys += grouped_keys(by_keys, (whole.input, whole.keys), input)
        return self.emit.secure(whole, by_keys, input.rows.at_most(groups), found.columns)

    def _window(self, relation: Window) -> SharedTable:
        want = self.demands.found[relation]
        taken = needed(relation, want, self.hashed)
        input = self.emit.prepared(self.place(relation.input), relation.input, taken, part(want, relation.input))
        found = members(relation, input, want, self.demands)
        if not found.outputs:
            return input
        operator = ops.Window(self.emit.next, input.step, found.partition, found.order, found.outputs)
        table = self.emit.secure(relation, operator, input.rows, {**input.columns, **found.columns})
        return replace(table, physical=input.physical | physical_of(found.columns))

    def _sort(self, relation: Sort, first: int | None = None) -> SharedTable:
        """first: how many rows at the head are needed; None: all."""
        keys = [(key.column, order_rep(field_of(relation.input, key.column).type)) for key in relation.keys]
        [(_, want)] = self.demands.beneath(relation, self.demands.found[relation])
        input = self.emit.prepared(self.place(relation.input), relation.input, keys, want)
        columns = [input.column(*key) for key in keys]
        order = tuple(
            ops.Ordered(column.name, key.descending, key.nulls_first)
            for column, key in zip(columns, relation.keys, strict=True)
        )
        operator = ops.Sort(self.emit.next, input.step, order, first)
        rows = input.rows.at_most(first)
        return replace(self.emit.secure(relation, operator, rows, input.columns), physical=input.physical)

    def _limit(self, relation: Limit) -> SharedTable:
        sort, count = relation.input, relation.count
        if isinstance(sort, Sort) and count is not None and not self._is_placed(sort):
            input = self._sort(sort, relation.offset + count)
        else:
            input = self.place(sort)
        operator = ops.Limit(self.emit.next, input.step, relation.count, relation.offset)
        table = self.emit.secure(relation, operator, input.rows.at_most(relation.count), input.columns)
        return replace(table, physical=input.physical)

    def _is_placed(self, relation: Relation) -> bool:
        """Whether a relation has its step, or its owner computes it."""
        return relation in self.placed or is_local(relation, self.catalog)


def _least_work(field: Field, rep: Rep, largest: SharedTable) -> Rep:
    """The representation of a union's column: where any will do, the ring that its largest input has it in."""
    if rep == "any" and largest.column(field.name, rep).kind.rep in RINGS:
        return ring_of(field.type)
    return rep


def _least_choice(expr: Expr, rep: Rep, input: SharedTable) -> Rep:
    """The representation of a computed column: where any will do, a choice between columns of rings stays in a ring."""
    match expr:
        case Call("if", (_, ColumnRef(one), ColumnRef(other)), type_) if rep == "any":
            kinds = [column.kind.rep for name in (one, other) for column in input.columns[name]]
            return ring_of(type_) if set(kinds) <= set(RINGS) else rep
        case _:
            return rep
