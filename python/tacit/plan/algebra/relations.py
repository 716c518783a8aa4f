"""tacit's relational algebra: what a query means, before and after placement.

All nodes are frozen; passes rebuild trees. Column names are unique within each relation, and an expression refers to
the columns of the relation it is applied to by name. SQL's NULL semantics hold everywhere (three-valued logic).

A node's hash is computed once: facts and placed tables are looked up by relation, and a tree is as deep as its query.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal as OneOf

from tacit.plan.algebra.types import Field, Type


def _hash_once(self: Call | Relation) -> int:
    """The hash of a node's fields, kept beside them."""
    known = vars(self)
    if "_hash" not in known:
        known["_hash"] = hash((type(self), *(known[each.name] for each in fields(self) if each.compare)))
    return int(known["_hash"])


# --- expressions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ColumnRef:
    """A column of the input relation. position: where the query names it, for refusals."""

    name: str
    type: Type
    nullable: bool
    position: tuple[int, int] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Literal:
    """A constant. value: encoded integer, bool, or str for Varchar; None is NULL."""

    value: int | bool | float | str | None
    type: Type

    @property
    def nullable(self) -> bool:
        return self.value is None


FunctionName = OneOf[
    "date_part", "date_trunc", "date_diff", "plus_interval", "last_day", "dayname", "monthname",
    "like", "like_escape", "ilike", "ilike_escape", "similar", "starts_with", "ends_with", "contains",
    "substring_from", "substring", "left", "right", "upper", "lower", "trim", "ltrim", "rtrim", "length", "position",
    "replace", "reverse", "append", "text",
    "round", "floor", "ceil", "trunc", "abs", "int_div", "mod",
    "sqrt", "cbrt", "exp", "ln", "log10", "log2", "power",
]  # fmt: skip
"""Functions of tacit.plan.algebra.functions: in local parts and tails, and some under MPC (algebra.divisions)."""

Operator = FunctionName | OneOf[
    "add", "sub", "mul", "neg",  # numbers; decimals are aligned by "rescale" before add, sub and comparisons
    "rescale",  # a number to a larger scale, which is in the type; a day to its first moment
    "div",  # DOUBLE division: only in local parts and tails
    "average",  # AVG from a sum and a count, a DOUBLE rounded as DuckDB rounds it: only in local parts and tails
    "covariance",  # from the sums of products, of both factors, a count, and what the divisor lacks of it: in tails
    "root",  # the square root, a DOUBLE: only in local parts and tails
    "interpolate",  # between two neighbours, from their count and a fraction, as DuckDB does: only in tails
    "half",  # of the sum of two values: a decimal, rounded as DuckDB does, or the moment between two days
    "numerator", "denominator",  # of the fraction that a ratio tells (algebra.quotient_keys): only in tails
    "ratio",  # the quotient of encoded numbers times a constant power of two, towards zero; NULL by 0
    "rounded",  # a quotient of encoded numbers times constants, rounded (algebra.fractions); NULL by 0
    "eq", "ne", "lt", "le", "gt", "ge",
    "and", "or", "not",
    "is_null",
    "if",  # (condition, then, else): CASE is lowered to nested "if"; a NULL condition takes the else branch
    "cast",  # only in local parts and tails, or where the encoding does not change
]  # fmt: skip


@dataclass(frozen=True)
class Call:
    """An operator applied to arguments. BETWEEN, IN, <> and CASE are lowered to these when the query is bound.

    Operands of add, sub, mul and comparisons are numbers of one scale or values of one encoding. add and sub also take
    a date and a number of days (DATE), sub two dates (BIGINT). position: line and column in the query, for refusals.
    """

    op: Operator
    args: tuple[Expr, ...]
    type: Type
    nullable: bool
    position: tuple[int, int] | None = field(default=None, compare=False, repr=False)

    __hash__ = _hash_once


Expr = ColumnRef | Literal | Call

# --- relations -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scan:
    """The named columns of an owner's table. columns: (output name, column name in the table).

    rows: the table's declared public bound on its number of rows, None if it has none.
    """

    table: str
    owner: str
    columns: tuple[tuple[str, str], ...]
    fields: tuple[Field, ...]
    rows: int | None = None

    __hash__ = _hash_once


@dataclass(frozen=True)
class KeptScan:
    """The named columns of a kept table, of which the nodes hold shares and nobody values. columns: as in Scan.

    rows: the table's public number of rows. single: it has exactly one row, whatever the data.
    """

    table: str
    columns: tuple[tuple[str, str], ...]
    fields: tuple[Field, ...]
    rows: int
    single: bool = False

    __hash__ = _hash_once


@dataclass(frozen=True)
class Constants:
    """Rows of values that stand in the query, at least one. rows: expressions without columns, one for each field.

    party: who computes them where nobody's tables are beside them; everybody knows them.
    """

    rows: tuple[tuple[Expr, ...], ...]
    fields: tuple[Field, ...]
    party: str

    __hash__ = _hash_once


@dataclass(frozen=True)
class Opened:
    """In a tail: the rows that a release step gave the recipient."""

    step: int
    fields: tuple[Field, ...]

    __hash__ = _hash_once


@dataclass(frozen=True)
class Filter:
    """Rows for which the predicate is TRUE."""

    input: Relation
    predicate: Expr

    __hash__ = _hash_once


@dataclass(frozen=True)
class Project:
    """New columns, each an expression over the input."""

    input: Relation
    outputs: tuple[tuple[str, Expr], ...]

    __hash__ = _hash_once


@dataclass(frozen=True)
class Union:
    """UNION ALL. All inputs have the same field names; types are widened to a common one.

    most: no more rows than this, where more is known than what the inputs say: of parts of one relation.
    """

    inputs: tuple[Relation, ...]
    most: int | None = None

    __hash__ = _hash_once


KeptSides = OneOf["none", "left", "right", "both"]
"""The sides of a join whose rows without a match stay, beside NULLs in place of the other side's columns."""


@dataclass(frozen=True)
class Join:
    """Equi-join. No more than repeats rows of left have equal keys; NULL keys match nothing.

    Where repeats is 1, the left side's keys are unique (by declaration, GROUP BY or DISTINCT). Where it is more, no
    left rows are kept. Field names of the two sides are disjoint. The output has the fields of left, then right.
    position: where the query joins, for refusals. kept: "none" is the inner join; columns of a side are nullable where
    the other side is kept.
    """

    left: Relation
    right: Relation
    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    position: tuple[int, int] | None = field(default=None, compare=False, repr=False)
    kept: KeptSides = "none"
    repeats: int = 1

    __hash__ = _hash_once

    @property
    def keeps_left(self) -> bool:
        """Whether left rows stay without a match, so that columns of right may be NULL."""
        return self.kept in ("left", "both")

    @property
    def keeps_right(self) -> bool:
        """Whether right rows stay without a match, so that columns of left may be NULL."""
        return self.kept in ("right", "both")


@dataclass(frozen=True)
class Mark:
    """Every row of input, with a BOOLEAN that is never NULL: whether choices has a row with equal keys.

    NULL keys match nothing; keys of choices may repeat. The output has the fields of input, then the BOOLEAN under
    name. A Filter of it is a semi join, a Filter of its NOT an anti join. position: where the query asks it.
    """

    input: Relation
    choices: Relation
    input_keys: tuple[str, ...]
    choice_keys: tuple[str, ...]
    name: str
    position: tuple[int, int] | None = field(default=None, compare=False, repr=False)

    __hash__ = _hash_once


@dataclass(frozen=True)
class Pairs:
    """Every row of left beside every row of right. Field names of the two sides are disjoint.

    position: where the query joins, for refusals.
    """

    left: Relation
    right: Relation
    position: tuple[int, int] | None = field(default=None, compare=False, repr=False)

    __hash__ = _hash_once


@dataclass(frozen=True)
class FullJoin:
    """Full equi-join of relations whose keys are both unique: pairs that match, and the other rows of both beside NULL.

    NULL keys match nothing. Field names of the two sides are disjoint; all columns are nullable. The output has the
    fields of left, then right. Of two owners' tables it is computed by universal ids. position: where the query joins.
    """

    left: Relation
    right: Relation
    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    position: tuple[int, int] | None = field(default=None, compare=False, repr=False)

    __hash__ = _hash_once


@dataclass(frozen=True)
class Match:
    """A Join of two owners' local relations by private set intersection (tacit.plan.rules.matching).

    right_unique: the right side's keys are unique too. hidden: nobody learns which rows match (circuit-PSI, for which
    they have to be unique); otherwise the owners learn which of their rows do.
    """

    left: Relation
    right: Relation
    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    right_unique: bool
    hidden: bool = False

    __hash__ = _hash_once


@dataclass(frozen=True)
class Slice:
    """The rows of one owner's relation whose key another owner has too, or those whose key no other owner has.

    A key is the values of several columns; NULL is one as any other. others: of each other owner the different keys,
    in the order of ``keys`` (tacit.plan.rules.slicing). Where it is computed, they are what was opened of them. shared:
    which of the two it is.
    """

    input: Relation
    keys: tuple[str, ...]
    others: tuple[Relation, ...]
    shared: bool

    __hash__ = _hash_once


@dataclass(frozen=True)
class Broadcast:
    """Every row of input together with the single row of scalar (a scalar subquery or a cross join with one row)."""

    input: Relation
    scalar: Relation

    __hash__ = _hash_once


AggregateFunction = OneOf[
    "sum", "count", "count_rows", "count_distinct", "sum_distinct", "min", "max", "middle", "ranked"
]
"""middle: the sum of the two middle values, of an odd number twice the middle one. MEDIAN is half of it.

ranked: the value at a position in their order."""


@dataclass(frozen=True)
class Rank:
    """Of n values in order, from 1, the position (numerator * n + shift) / denominator, rounded up.

    0 < numerator < denominator, and -numerator < shift <= denominator - numerator.
    """

    numerator: int
    denominator: int
    shift: int


@dataclass(frozen=True)
class Aggregation:
    """One aggregate output: the function over a column of the input (None for count_rows, which is COUNT(*)).

    known: the output's field where the planner knows more than function and column imply. A COUNT as the sum of partial
    counts is a BIGINT that is never NULL. A sum of partial sums has the bounds of the whole sum.
    position: where the query computes the column, for refusals. counted: columns without NULL that the query counts,
    which is the same as counting rows; for owners' rules. rank: which value "ranked" is.
    """

    name: str
    function: AggregateFunction
    column: str | None
    known: Field | None = None
    position: tuple[int, int] | None = field(default=None, compare=False, repr=False)
    counted: tuple[str, ...] = field(default=(), compare=False, repr=False)
    rank: Rank | None = None


@dataclass(frozen=True)
class Aggregate:
    """GROUP BY keys. Without keys: one row. Without aggregations: DISTINCT. AVG is lowered to sum and count.

    positions: where the query names the keys, for refusals. carried: keys that the others determine.
    """

    input: Relation
    keys: tuple[str, ...]
    aggregations: tuple[Aggregation, ...]
    positions: tuple[tuple[int, int] | None, ...] = field(default=(), compare=False, repr=False)
    carried: tuple[str, ...] = ()

    __hash__ = _hash_once

    @property
    def determining(self) -> tuple[str, ...]:
        """The keys by which groups are told apart."""
        return tuple(key for key in self.keys if key not in self.carried)


@dataclass(frozen=True)
class SortKey:
    """One ORDER BY term, by a column of the input."""

    column: str
    descending: bool
    nulls_first: bool


WindowFunction = OneOf[
    "row_number", "rank", "dense_rank", "ntile", "lag", "lead", "first_value", "last_value",
    "count_rows", "count", "sum", "min", "max", "owner_rank",
]  # fmt: skip
"""owner_rank: the number of a column among its different values, which only its owner computes and nobody is shown."""


@dataclass(frozen=True)
class Frame:
    """The rows of its partition that a row's value is computed over.

    start, end: the first and the last one, as a distance from the row itself (negative: before it); None: the first or
    last row of the partition. unit: "range" counts peers, so that its only distance is 0, the row with all its peers.
    """

    unit: OneOf["rows", "range"] = "range"
    start: int | None = None
    end: int | None = None

    @property
    def may_be_empty(self) -> bool:
        """Whether there can be no row in it."""
        return (self.start or 0) > 0 or (self.end or 0) < 0


@dataclass(frozen=True)
class WindowOutput:
    """One output of a Window: the function over a column of the input.

    default: of lag and lead, the column that a row has its value of where there is no such row. number: of lag and
    lead, how far away it is; of ntile, how many buckets. frame: of aggregates, first_value and last_value. position:
    where the query computes it, for refusals.
    """

    name: str
    function: WindowFunction
    column: str | None = None
    default: str | None = None
    number: int | None = None
    frame: Frame = Frame()
    position: tuple[int, int] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Window:
    """The rows of input, in no order, each with values computed over its partition.

    The output has the fields of input, then one for each output. Rows that are equal in partition and order are peers.
    Functions that tell peers apart take them in any order.
    """

    input: Relation
    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    outputs: tuple[WindowOutput, ...]

    __hash__ = _hash_once


@dataclass(frozen=True)
class Sort:
    """ORDER BY."""

    input: Relation
    keys: tuple[SortKey, ...]

    __hash__ = _hash_once


@dataclass(frozen=True)
class Limit:
    """OFFSET and LIMIT of the rows in their present order."""

    input: Relation
    count: int | None
    offset: int

    __hash__ = _hash_once


Relation = (
    Scan
    | KeptScan
    | Constants
    | Opened
    | Filter
    | Project
    | Union
    | Join
    | Mark
    | Pairs
    | FullJoin
    | Match
    | Slice
    | Broadcast
    | Aggregate
    | Window
    | Sort
    | Limit
)
