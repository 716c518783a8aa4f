"""Which rows of an owner's table a query selects, as far as the owner's own tables decide it.

A *tracked* relation is one of the query's with a further column: the number of the row, of one table instance, that
each of its rows stems from. It has those columns that the owner can compute alone. What others' columns decide is left
out: a join with another owner's table selects all rows, and so does a condition on its columns. So the tracked rows are
all that could be in the query's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Final

from tacit.audit.mixed import check_unmixed, is_mixed, own_part
from tacit.audit.pieces import Columns, Piece, Pieces, not_null, pieces
from tacit.audit.tracked import (
    MARK,
    ROW,
    ROW_FIELD,
    Origin,
    Path,
    Site,
    Tracked,
    Unclear,
    along,
    instances,
    pieces_of,
    unclear,
)
from tacit.plan.algebra.expressions import conjunction, conjuncts, reference, substitute
from tacit.plan.algebra.relations import (
    Aggregate,
    Broadcast,
    ColumnRef,
    Expr,
    Filter,
    FullJoin,
    Join,
    Mark,
    Project,
    Relation,
    Scan,
    Sort,
    Union,
    Window,
)
from tacit.plan.algebra.trees import children, owner
from tacit.plan.algebra.types import Boolean, Field
from tacit.plan.facts.catalog import Table
from tacit.plan.facts.fields import column, field_of, fields, names
from tacit.plan.facts.uniqueness import reversible
from tacit.plan.policy.conditions import comparable

WHATEVER_THE_NUMBER: Final = ("min", "max", "count_distinct", "sum_distinct")
"""Aggregates of others' values that are the same however many own rows these stand beside."""

MOST_PIECES = 256
"""Of a value: each subquery that uses a value twice may double its pieces."""


class Tracker:
    """Follows an instance of an owner's table. own: all tables of the owner."""

    def __init__(self, table: Table, me: str, own: Iterable[Table] = ()) -> None:
        self._table = table
        self._me = me
        self._own = {each.name: each for each in own}
        self._added = count()

    def site(self, relation: Relation, path: Path) -> Site | None:
        """The lowest aggregate that merges units of the instance at the end of a path; None if none does.

        Raises Unclear.
        """
        for up, (node, rest) in reversed([*enumerate(along(relation, path))]):
            if isinstance(node, Aggregate) and not self._stays_one(node, rest):
                above = [each for each, _ in along(relation, path)[:up]]
                drops = not all(isinstance(each, Project | Sort) for each in above)
                tracked = self._follow(node.input, rest[1:])
                if any(tracked.outputs[key].mixed for key in node.keys):
                    raise Unclear("a group by own columns and others' together")
                return Site(node, tracked, drops)
        return None

    def _follow(self, relation: Relation, path: Path) -> Tracked:
        """The tracked relation of one that the instance at the end of a path is in. Raises Unclear."""
        match relation:
            case Scan():
                return _scanned(relation)
            case Filter(input, predicate):
                return _filtered(self._follow(input, path[1:]), predicate)
            case Project(input, outputs):
                return self._projected(self._follow(input, path[1:]), outputs)
            case Union(inputs):
                below = self._follow(inputs[path[0]], path[1:])
                return _renamed(below, dict(zip(names(inputs[path[0]]), names(relation), strict=True)))
            case Join(kept="none", repeats=1) | FullJoin():
                return self._joined(relation, path)
            case Join() if relation.kept == ("left", "right")[path[0]]:
                return self._joined(relation, path)
            case Mark() if path[0] == 0:
                return self._marked(relation, path)
            case Broadcast(input, scalar) if path[0] == 0:
                return self._beside(self._follow(input, path[1:]), scalar)
            case Aggregate() if self._stays_one(relation, path):
                return self._per_unit(relation, self._follow(relation.input, path[1:]))
            case Sort(input):
                return self._follow(input, path[1:])
            case Window(input):
                return self._windowed(relation, self._follow(input, path[1:]))
            case _:
                raise unclear(relation)

    def _stays_one(self, relation: Aggregate, path: Path) -> bool:
        """Whether each group has rows of one unit: the keys determine it. NULL is a value in a unique key."""
        outputs = self._follow(relation.input, path[1:]).outputs
        keys = {outputs[key].source for key in relation.keys}
        unit = self._table.terms.unit if self._table.terms else ()
        return (bool(unit) and keys.issuperset(unit)) or any(keys.issuperset(each) for each in self._table.unique)

    def _counts_own_rows(self, relation: Aggregate, below: Tracked) -> bool:
        """Whether the number of rows of a group tells of own rows: others may have one row beside each of these."""
        keys = {below.outputs[key].source for key in relation.keys}
        own = [*instances(relation, self._me)]
        return len(own) > 1 or not any(keys.issuperset(each) for each in self._table.unique)

    def _is_own(self, relation: Relation) -> bool:
        return owner(relation) == self._me

    def _check_shown(self, other: Relation) -> None:
        """Raises Unclear where groups of own rows are beside, of which those below a floor are not shown."""
        for node in _groups(other):
            for path, scan in instances(node, self._me):
                table = self._own.get(scan.table)
                floor = table is not None and table.terms is not None and table.terms.least_group is not None
                if floor and table is not None and not Tracker(table, self._me)._stays_one(node, path):
                    raise Unclear("a join with groups, or a value of groups,")

    def _projected(self, below: Tracked, outputs: tuple[tuple[str, Expr], ...]) -> Tracked:
        """The outputs that the owner can compute, and a column for the condition of each of their pieces."""
        known = {name: each.pieces for name, each in below.outputs.items()}
        listed: list[tuple[str, Expr]] = [(ROW, column(below.relation, ROW))]
        found: dict[str, Origin] = {}
        for name, expr in outputs:
            source = below.outputs[expr.name].source if isinstance(expr, ColumnRef) else None
            conditions, its = self._columns_for(pieces(own_part(expr, below), known))
            same = reversible(expr)
            plain = same is not None and below.outputs[same].plain
            found[name] = Origin(below.knows(expr), source, below.reads(expr), its, is_mixed(expr, below), plain=plain)
            listed += [*([(name, expr)] if below.knows(expr) else []), *conditions]
        return replace(below, relation=Project(below.relation, tuple(listed)), outputs=found)

    def _columns_for(self, found: Pieces) -> tuple[list[tuple[str, Expr]], Pieces]:
        """New columns for the conditions of pieces, and the pieces over these columns. Raises Unclear."""
        different = dict.fromkeys(found)
        if len(different) > MOST_PIECES:
            raise Unclear(f"a value of more than {MOST_PIECES} parts")
        named = [(f"{MARK} {next(self._added)}", each) for each in different]
        columns = [(name, each.condition) for name, each in named if each.condition is not None]
        over = (
            each if each.condition is None else replace(each, condition=ColumnRef(name, Boolean(), True))
            for name, each in named
        )
        return columns, tuple(over)

    def _joined(self, join: Join | FullJoin, path: Path) -> Tracked:
        mine, its = path[0], 1 - path[0]
        below = self._follow(children(join)[mine], path[1:])
        other, keys = children(join)[its], (join.left_keys, join.right_keys)
        below = replace(below, used=below.used | below.read(keys[mine]))
        inner = isinstance(join, Join) and join.kept == "none"
        equal = dict(zip(keys[its], keys[mine], strict=True)) if inner else {}
        if not self._is_own(other) or not all(below.outputs[key].known for key in keys[mine]):
            _check_stored(below, keys[mine])
            return _with_equal(_beside_unknown(below, other), equal)
        self._check_shown(other)
        both = (below.relation, other) if mine == 0 else (other, below.relation)
        joined: Relation = replace(join, left=both[0], right=both[1])
        if isinstance(join, FullJoin):
            joined = Filter(joined, not_null(replace(column(joined, ROW), nullable=True)))
        copies = {name: below.outputs[key].source for name, key in equal.items()}
        found = {
            each.name: replace(_computed(each, copies.get(each.name)), plain=inner and _is_stored(other, each.name))
            for each in fields(other)
        }
        return replace(below, relation=joined, outputs={**below.outputs, **found})

    def _marked(self, mark: Mark, path: Path) -> Tracked:
        """All rows, beside whether others match them. A mark by others' rows tells of others' rows alone."""
        below = self._follow(mark.input, path[1:])
        reads = below.read(mark.input_keys)
        below = replace(below, used=below.used | reads)
        if not self._is_own(mark.choices) or not all(below.outputs[key].known for key in mark.input_keys):
            _check_stored(below, mark.input_keys)
            unknown = Origin(False, None, frozenset(), (Piece(None, frozenset()),))
            return replace(below, outputs={**below.outputs, mark.name: unknown}, alone=False)
        self._check_shown(mark.choices)
        relation = replace(mark, input=below.relation)
        found = Origin(True, None, reads, _whole(field_of(relation, mark.name), reads))
        return replace(below, relation=relation, outputs={**below.outputs, mark.name: found})

    def _windowed(self, window: Window, below: Tracked) -> Tracked:
        """Values of own rows. Where others decide which rows there are, they decide the values, too. Raises Unclear."""
        arguments = [name for each in window.outputs for name in (each.column, each.default) if name is not None]
        read = [*window.partition, *(each.column for each in window.order), *arguments]
        if not (below.alone and self._is_own(window.input) and all(below.outputs[name].known for name in read)):
            raise Unclear("a window over rows that others decide")
        relation = replace(window, input=below.relation)
        reads = below.read(read)
        found = {
            each.name: Origin(True, None, reads, _whole(field_of(relation, each.name), reads))
            for each in window.outputs
        }
        return replace(below, relation=relation, outputs={**below.outputs, **found}, used=below.used | reads)

    def _beside(self, below: Tracked, scalar: Relation) -> Tracked:
        if not self._is_own(scalar):
            below = _beside_unknown(below, scalar)
            fixed = {name: replace(below.outputs[name], fixed=True) for name in names(scalar)}
            return replace(below, outputs={**below.outputs, **fixed})
        self._check_shown(scalar)
        found = {each.name: _computed(each) for each in fields(scalar)}
        return replace(below, relation=Broadcast(below.relation, scalar), outputs={**below.outputs, **found})

    def _per_unit(self, relation: Aggregate, below: Tracked) -> Tracked:
        """The rows beside what is computed of their group. What the owner cannot compute is left out.

        A sum over the rows of a unit is one over rows, of each row's pieces.
        """
        below = replace(below, used=below.used | below.read(relation.keys))
        known = [key for key in relation.keys if below.outputs[key].known]
        listed: list[tuple[str, Expr]] = [(key, column(below.relation, key)) for key in (ROW, *known)]
        outputs: dict[str, Origin] = {}
        counts = self._counts_own_rows(relation, below)
        for key in relation.keys:
            conditions, its = self._columns_for(below.outputs[key].pieces)
            outputs[key] = replace(below.outputs[key], pieces=its)
            listed += conditions
        for each in relation.aggregations:
            conditions, its = self._columns_for(pieces_of(each, below))
            reads = below.read([each.column] if each.column else [])
            mixed = bool(reads) or (counts and each.function not in WHATEVER_THE_NUMBER)
            mixed |= each.column is not None and below.outputs[each.column].mixed
            outputs[each.name] = Origin(False, None, reads, tuple(replace(one, inner=True) for one in its), mixed)
            listed += conditions
        if not self._is_own(relation.input):
            return replace(below, relation=Project(below.relation, tuple(listed)), outputs=outputs, alone=False)
        pairs = [pair for key in relation.keys for pair in _equal_or_null(key, relation, below.relation)]
        groups, rows = ([(f"{MARK} {next(self._added)}", each) for each in side] for side in zip(*pairs, strict=True))
        values = tuple((each.name, column(relation, each.name)) for each in relation.aggregations)
        sides = Project(relation, (*groups, *values)), Project(below.relation, (*listed, *rows))
        joined = Join(*sides, tuple(name for name, _ in groups), tuple(name for name, _ in rows))
        found = {each.name: replace(outputs[each.name], known=True, mixed=False) for each in relation.aggregations}
        return replace(below, relation=joined, outputs={**outputs, **found})


def _groups(relation: Relation) -> Iterator[Aggregate]:
    """All group-bys in a relation."""
    if isinstance(relation, Aggregate) and relation.keys:
        yield relation
    for child in children(relation):
        yield from _groups(child)


def _check_stored(below: Tracked, keys: tuple[str, ...]) -> None:
    """Raises Unclear where a key that meets others' may be a condition on own columns."""
    if any(each.mixed or (each.known and not each.plain) for each in (below.outputs[key] for key in keys)):
        raise Unclear("a join of others with values that are computed of own columns")


def _equal_or_null(key: str, groups: Relation, rows: Relation) -> list[tuple[Expr, Expr]]:
    """Expressions of a group and of a row that are equal, and not NULL, where the row is of the group."""
    nullable = field_of(groups, key).nullable or field_of(rows, key).nullable
    its, mine = (comparable(replace(column(each, key), nullable=nullable)) for each in (groups, rows))
    return list(zip(its, mine, strict=True))


def _scanned(scan: Scan) -> Tracked:
    numbered = replace(scan, columns=(*scan.columns, (ROW, ROW)), fields=(*scan.fields, ROW_FIELD))
    outputs = {
        name: Origin(True, source, frozenset({source}), _whole(each, frozenset({source})), plain=True)
        for (name, source), each in zip(scan.columns, scan.fields, strict=True)
    }
    return Tracked(numbered, outputs, frozenset(), True)


def _whole(field: Field, reads: Columns) -> Pieces:
    """A value in one piece: of all rows in which it is there."""
    return (Piece(not_null(reference(field)) if field.nullable else None, reads),)


def _computed(field: Field, source: str | None = None) -> Origin:
    """A column that the owner has computed of other tables, or that equals one of the table."""
    reads = frozenset({source} if source else ())
    return Origin(True, source, reads, _whole(field, reads))


def _is_stored(relation: Relation, name: str) -> bool:
    """Whether a column is one of a table in other words."""
    match relation:
        case Scan():
            return True
        case Project(input, outputs):
            same = reversible(dict(outputs)[name])
            return same is not None and _is_stored(input, same)
        case Filter() | Sort() | Join() | FullJoin() | Broadcast():
            return any(name in names(each) and _is_stored(each, name) for each in children(relation))
        case _:
            return False


def _unchanged(below: Tracked, name: str) -> Origin:
    """Of a column that is copied, whatever pieces it had."""
    known = below.outputs[name]
    return replace(known, pieces=_whole(field_of(below.relation, name), known.reads))


def _filtered(below: Tracked, predicate: Expr) -> Tracked:
    check_unmixed(predicate, below)
    known = [each for each in conjuncts(predicate) if below.knows(each)]
    relation = Filter(below.relation, conjunction(known)) if known else below.relation
    return replace(below, relation=relation, used=below.used | below.reads(predicate))


def _renamed(below: Tracked, new: Mapping[str, str]) -> Tracked:
    """A branch of a union, with the names of the union's columns. The rows of others are beside its own."""
    here = fields(below.relation)
    refs: dict[str, Expr] = {each.name: replace(reference(each), name=new.get(each.name, each.name)) for each in here}
    relation = Project(below.relation, tuple((new.get(each.name, each.name), reference(each)) for each in here))
    outputs = {
        new[name]: replace(each, pieces=tuple(_over(piece, refs) for piece in each.pieces))
        for name, each in below.outputs.items()
    }
    return replace(below, relation=relation, outputs=outputs, alone=False)


def _over(piece: Piece, refs: Mapping[str, Expr]) -> Piece:
    return replace(piece, condition=None if piece.condition is None else substitute(piece.condition, refs))


def _beside_unknown(below: Tracked, other: Relation) -> Tracked:
    """Rows that are joined with what the owner does not know."""
    unknown = {name: Origin(False, None, frozenset(), (Piece(None, frozenset()),)) for name in names(other)}
    return replace(below, outputs={**below.outputs, **unknown}, alone=False)


def _with_equal(below: Tracked, equal: Mapping[str, str]) -> Tracked:
    """Others' columns that equal own ones, as a join says, are known."""
    known = {name: key for name, key in equal.items() if below.outputs[key].known}
    carried = [(each.name, reference(each)) for each in fields(below.relation)]
    copies = [(name, column(below.relation, key)) for name, key in known.items()]
    found = {name: _unchanged(below, key) for name, key in known.items()}
    relation = Project(below.relation, (*carried, *copies)) if known else below.relation
    return replace(below, relation=relation, outputs={**below.outputs, **found})
