"""Lowering of joins: of equal keys, whichever rows they keep; of marks, which are joins too; and of pairs."""

from __future__ import annotations

from dataclasses import replace

from tacit.plan.algebra.bounds import UNDECLARED_ROWS
from tacit.plan.algebra.refusals import Position, UnsupportedSQL
from tacit.plan.algebra.relations import Join, Mark, Pairs, Relation
from tacit.plan.algebra.types import Boolean, Field
from tacit.plan.facts.described import described
from tacit.plan.facts.fields import field_of
from tacit.plan.facts.kinds import Hashes, Rep, equality_rep, kind_of_field
from tacit.plan.physical import operators as ops
from tacit.plan.physical.demands import Want, part
from tacit.plan.physical.emitter import Emitter
from tacit.plan.physical.merging import Merge, agree, sortable
from tacit.plan.physical.secure_expressions import Columns, SecureColumn
from tacit.plan.physical.tables import SharedTable, physical_name, physical_of
from tacit.plan.physical.trusted import joined_keys

MOST_PAIRS = 1 << 20
"""No more pairs of rows are made under MPC. The native operator refuses more, too."""

MOST_PARTNERS = 1 << 24
"""A join of repeated keys moves no more rows, of both sides as often as keys repeat. So does the native operator."""


def place_join(
    relation: Join, left: SharedTable, right: SharedTable, want: Want, emit: Emitter, trusted: str | None
) -> tuple[SharedTable, Merge | None]:
    """The step of a join, and how it can merge what its owners sort. Raises UnsupportedSQL where it moves too much.

    trusted: who sees its keys, if anybody does.
    """
    _refuse_partners(relation, left.rows.most, right.rows.most)
    left_keys, right_keys = (
        equality(side, keys, emit.hashed)
        for side, keys in ((relation.left, relation.left_keys), (relation.right, relation.right_keys))
    )
    left = emit.prepared(left, relation.left, left_keys)
    right = emit.prepared(right, relation.right, right_keys)
    right_columns = carried(right, part(want, relation.right))
    taken = set(physical_of(right_columns))
    left, left_columns = emit.apart(left, relation.left, carried(left, part(want, relation.left)), taken)
    operator = ops.Join(
        emit.next,
        left.step,
        right.step,
        left_keys=physical_names(left, left_keys),
        right_keys=physical_names(right, right_keys),
        left_columns=tuple(physical_of(left_columns)),
        right_columns=tuple(physical_of(right_columns)),
        kept=relation.kept,
        trusted=trusted,
        repeats=relation.repeats,
    )
    if relation.kept == "none":
        left_columns = _present(left_columns, operator.left_keys)
    columns = {
        **(_nullable(left_columns) if relation.keeps_right else left_columns),
        **(_nullable(right_columns) if relation.keeps_left else right_columns),
    }
    rows = right.rows + left.rows if relation.keeps_left else right.rows.times(relation.repeats)
    sides = (relation.left, relation.left_keys), (relation.right, relation.right_keys)
    emit.keys += joined_keys(operator, sides, left, right)
    merge = _merge(operator, emit)
    return emit.secure(relation, operator, rows, columns), merge


def place_mark(
    relation: Mark, input: SharedTable, choices: SharedTable, want: Want, emit: Emitter, trusted: str | None
) -> tuple[SharedTable, Merge | None]:
    """The step of a mark: a join that keeps the rows of its input, and says of each whether it found a choice.

    trusted: as of place_join.
    """
    input_keys, choice_keys = (
        equality(side, keys, emit.hashed)
        for side, keys in ((relation.input, relation.input_keys), (relation.choices, relation.choice_keys))
    )
    choices = emit.prepared(choices, relation.choices, choice_keys)
    input = emit.prepared(input, relation.input, input_keys)
    columns = carried(input, part(want, relation.input))
    kind = kind_of_field(Field(relation.name, Boolean(), False), "bits", emit.hashed)
    mark = SecureColumn(physical_name(relation.name, "bits", set(physical_of(columns))), kind)
    operator = ops.Join(
        emit.next,
        choices.step,
        input.step,
        left_keys=physical_names(choices, choice_keys),
        right_keys=physical_names(input, input_keys),
        left_columns=(),
        right_columns=tuple(physical_of(columns)),
        kept="right",
        found=mark.name,
        trusted=trusted,
    )
    sides = (relation.choices, relation.choice_keys), (relation.input, relation.input_keys)
    emit.keys += joined_keys(operator, sides, choices, input)
    merge = _merge(operator, emit)
    return emit.secure(relation, operator, input.rows, {**columns, relation.name: (mark,)}), merge


def place_pairs(
    relation: Pairs, left: SharedTable, right: SharedTable, wants: tuple[Want, Want], emit: Emitter
) -> SharedTable:
    """The step of pairs. Raises UnsupportedSQL where there may be too many."""
    _refuse_many(left.rows.most, right.rows.most, relation.position)
    left = emit.prepared(left, relation.left, [], wants[0])
    right = emit.prepared(right, relation.right, [], wants[1])
    right, _ = emit.apart(right, relation.right, right.columns, set(left.physical))
    operator = ops.Pairs(emit.next, left.step, right.step)
    table = emit.secure(relation, operator, left.rows * right.rows, {**left.columns, **right.columns})
    return replace(table, physical=left.physical | right.physical)


def _refuse_many(left: int, right: int, position: Position | None) -> None:
    if left * right <= MOST_PAIRS:
        return
    instead = f"join ON an equality, or declare rows for at most {MOST_PAIRS:,} pairs"
    if max(left, right) >= UNDECLARED_ROWS:
        raise UnsupportedSQL("a join without an equality of tables that declare no rows", instead, position)
    sizes = f"{left:,} rows beside {right:,} rows, {left * right:,} pairs,"
    raise UnsupportedSQL(f"a join without an equality of {sizes}", instead, position)


def _refuse_partners(relation: Join, left: int, right: int) -> None:
    repeats = relation.repeats
    if repeats == 1 or repeats * (left + right) <= MOST_PARTNERS:
        return
    if max(left, right) >= UNDECLARED_ROWS:
        instead = "declare their rows"
        what = "a join of tables that declare no rows, whose keys may repeat on both sides,"
    else:
        what = f"a join of {left:,} with {right:,} rows, up to {repeats:,} of one key,"
        sides = (relation.left, relation.left_keys), (relation.right, relation.right_keys)
        found = " or ".join(dict.fromkeys(each for side in sides if (each := described(*side)) is not None))
        instead = f"declare {found or 'keys'} unique or with repeats, for {MOST_PARTNERS:,} rows at most"
    raise UnsupportedSQL(what, instead, relation.position)


def equality(relation: Relation, keys: tuple[str, ...], hashed: Hashes) -> list[tuple[str, Rep]]:
    """Keys with the representation in which they are compared."""
    return [(key, equality_rep(field_of(relation, key).type, hashed)) for key in keys]


def carried(table: SharedTable, want: Want) -> Columns:
    """The physical columns that a demand carries on."""
    return {name: tuple(dict.fromkeys(table.column(name, rep) for rep in sorted(reps))) for name, reps in want.items()}


def physical_names(table: SharedTable, keys: list[tuple[str, Rep]]) -> tuple[str, ...]:
    """The physical columns of keys in their representations."""
    return tuple(table.column(*key).name for key in keys)


def _nullable(columns: Columns) -> Columns:
    """The columns of a side without a row beside some of the other's."""
    return {
        name: tuple(replace(each, kind=replace(each.kind, nullable=True)) for each in group)
        for name, group in columns.items()
    }


def _present(columns: Columns, keys: tuple[str, ...]) -> Columns:
    """The left columns of rows that match: a key that is NULL matches nothing."""
    return {
        name: tuple(
            replace(each, kind=replace(each.kind, nullable=False)) if each.name in keys else each for each in group
        )
        for name, group in columns.items()
    }


def _merge(operator: ops.Join, emit: Emitter) -> Merge | None:
    if operator.trusted is not None:
        return None
    sides = ((operator.left, operator.left_keys), (operator.right, operator.right_keys))
    first, second = (sortable(emit.steps, step, keys) for step, keys in sides)
    merge = None if first is None or second is None else Merge(operator.id, (first, second))
    return merge if merge is not None and agree([merge]) else None
