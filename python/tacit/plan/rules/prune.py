"""Projection push-down: columns and aggregates that nothing uses vanish as early as possible.

Equal subtrees (a CTE used more than once) are pruned to the union of what their uses need, so that they stay equal and
are computed once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tacit.plan.algebra.bounds import domain_size
from tacit.plan.algebra.expressions import reference
from tacit.plan.algebra.relations import (
    Aggregate,
    Aggregation,
    Broadcast,
    Constants,
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
    WindowOutput,
)
from tacit.plan.facts.fields import columns_of, fields, names
from tacit.plan.rules.simplify import projected

Needs = dict[Relation, frozenset[str]]


def prune(relation: Relation) -> Relation:
    """The tree without unused columns; its own output stays."""
    needs: Needs = {}
    _collect(relation, frozenset(names(relation)), needs)
    return _rebuilt(relation, needs)


def _collect(relation: Relation, wanted: Iterable[str], needs: Needs) -> None:
    """Add what a use of the relation wants, here and beneath."""
    wanted = frozenset(wanted) or frozenset({_narrowest(relation)})
    known = needs.get(relation)
    if known is not None and wanted <= known:
        return
    wanted |= known or frozenset()
    needs[relation] = wanted
    match relation:
        case Scan() | KeptScan() | Constants() | Opened():
            return
        case Filter(input, predicate):
            _collect(input, wanted | columns_of(predicate), needs)
        case Project(input, outputs):
            _collect(input, frozenset().union(*(columns_of(e) for name, e in outputs if name in wanted)), needs)
        case Union(inputs):
            for each in inputs:
                _collect(each, wanted, needs)
        case (
            Join(left, right, left_keys, right_keys)
            | FullJoin(left, right, left_keys, right_keys)
            | Match(left, right, left_keys, right_keys)
        ):
            _collect(left, (wanted & set(names(left))) | set(left_keys), needs)
            _collect(right, (wanted & set(names(right))) | set(right_keys), needs)
        case Mark(input, choices, input_keys, choice_keys, name):
            _collect(input, (wanted - {name}) | set(input_keys), needs)
            _collect(choices, choice_keys, needs)
        case Pairs(left, right):
            _collect(left, wanted & set(names(left)), needs)
            _collect(right, wanted & set(names(right)), needs)
        case Broadcast(input, scalar):
            _collect(input, wanted & set(names(input)), needs)
            _collect(scalar, wanted & set(names(scalar)), needs)
        case Aggregate(input, keys, _):
            used = {each.column for each in _used(relation, wanted) if each.column is not None}
            _collect(input, used | set(keys), needs)
        case Window(input, _, _, outputs):
            used = _window_needs(relation, wanted)
            _collect(input, used | (wanted - {each.name for each in outputs}), needs)
        case Sort(input, keys):
            _collect(input, wanted | {key.column for key in keys}, needs)
        case Limit(input, _, _):
            _collect(input, wanted, needs)
        case Slice(input, keys):
            _collect(input, wanted | set(keys), needs)


def _rebuilt(relation: Relation, needs: Needs) -> Relation:
    wanted = needs[relation]
    match relation:
        case Scan() | KeptScan():
            kept = tuple(each for each in relation.columns if each[0] in wanted)
            return replace(
                relation, columns=kept, fields=tuple(each for each in relation.fields if each.name in wanted)
            )
        case Constants(rows, columns):
            places = [place for place, each in enumerate(columns) if each.name in wanted]
            listed = tuple(tuple(row[place] for place in places) for row in rows)
            return replace(relation, rows=listed, fields=tuple(columns[place] for place in places))
        case Opened():
            return relation
        case Project(input, outputs):
            return Project(_rebuilt(input, needs), tuple(each for each in outputs if each[0] in wanted))
        case Aggregate(input, keys, _):
            return Aggregate(_rebuilt(input, needs), keys, _used(relation, wanted))
        case Window(input, partition, order, _):
            left, below = _windowed(relation, wanted), _rebuilt(input, needs)
            return Window(below, partition, order, left) if left else below
        case Union(inputs):
            return Union(tuple(_exactly(_rebuilt(each, needs), wanted) for each in inputs))
        case Mark(input, _, _, _, name) if name not in wanted:
            return _rebuilt(input, needs)
        case Mark(input, choices):
            return replace(relation, input=_rebuilt(input, needs), choices=_rebuilt(choices, needs))
        case Join(left, right) if _only_adds(relation) and not wanted & set(names(left)):
            return _rebuilt(right, needs)
        case Join(left, right) | FullJoin(left, right) | Match(left, right) | Pairs(left, right):
            return replace(relation, left=_rebuilt(left, needs), right=_rebuilt(right, needs))
        case Broadcast(input, scalar):
            return Broadcast(_rebuilt(input, needs), _rebuilt(scalar, needs))
        case Filter() | Sort() | Limit() | Slice():
            return replace(relation, input=_rebuilt(relation.input, needs))


def _only_adds(join: Join) -> bool:
    """Whether a join leaves the rows of right as they are, each once."""
    return join.kept == "right" and join.repeats == 1


def _used(relation: Aggregate, wanted: frozenset[str]) -> tuple[Aggregation, ...]:
    used = tuple(each for each in relation.aggregations if each.name in wanted)
    return used if used or relation.keys else relation.aggregations[:1]


def _windowed(relation: Window, wanted: frozenset[str]) -> tuple[WindowOutput, ...]:
    return tuple(each for each in relation.outputs if each.name in wanted)


def _window_needs(relation: Window, wanted: frozenset[str]) -> set[str]:
    """The columns that a window's wanted outputs are made of."""
    used = _windowed(relation, wanted)
    columns = {name for each in used for name in (each.column, each.default) if name is not None}
    return columns | ({*relation.partition, *(key.column for key in relation.order)} if used else set())


def _exactly(relation: Relation, wanted: frozenset[str]) -> Relation:
    """Inputs of a union must have the same columns, also where a use elsewhere keeps more of one."""
    return projected(relation, tuple((each.name, reference(each)) for each in fields(relation) if each.name in wanted))


def _narrowest(relation: Relation) -> str:
    """The column that carries the rows where only their number matters."""
    if isinstance(relation, Mark):
        return _narrowest(relation.input)
    return min(fields(relation), key=lambda each: domain_size(each.type, each.nullable) or 1 << 128).name
