"""The operators that the native session executes. Ids are those of steps; inputs are ids of earlier steps."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar, get_args
from typing import Literal as OneOf

from tacit.plan.facts.kinds import Encoding, Kind
from tacit.plan.physical.record import JSON, Record, written
from tacit.plan.physical.values import Value

Parameter = bool | int | str | tuple[int, ...] | tuple[str, ...] | tuple[tuple[int, int, int], ...]
"""What an instruction of a program says besides its operands."""


@dataclass(frozen=True)
class Named(Record):
    """A column of a union, by its name in all inputs, or of a permit. kind: in the result."""

    name: str
    kind: Kind


@dataclass(frozen=True)
class Given(Record):
    """A column that an owner gives of a local result. name: under MPC. source: in the result. encode: how."""

    name: str
    source: str
    encode: Encoding


@dataclass(frozen=True)
class Shared(Given):
    """A column that an owner shares, or that nodes take up of a kept table (source: its name there)."""

    kind: Kind


@dataclass(frozen=True)
class Computed(Record):
    """A computed column."""

    name: str
    expr: Value
    kind: Kind


@dataclass(frozen=True)
class Ranked(Record):
    """Of n values in order, from 1, the position (numerator * n + shift) / denominator, rounded up."""

    numerator: int
    denominator: int
    shift: int


@dataclass(frozen=True)
class Aggregated(Record):
    """An aggregate column. column: what it is over; None for "count_rows".

    where: a truth value; rows where it is not TRUE are left out. For sums and counts of an "aggregate".
    "middle": the sum of the two middle values, of an odd number twice the middle one.
    "ranked": the value at a position in their order, which rank says.
    "any": the value of any row of a group, for a column that the keys determine, such as the bytes of a hashed key.
    """

    name: str
    function: OneOf[
        "count_rows", "count", "sum", "min", "max", "count_distinct", "sum_distinct", "middle", "ranked", "any"
    ]
    column: str | None
    kind: Kind
    where: str | None = None
    rank: Ranked | None = None


@dataclass(frozen=True)
class Ordered(Record):
    """One term of an order."""

    column: str
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Frame(Record):
    """The rows of its partition that a row's value is over: from start to end, as distances from the row itself.

    None: the first, or last, row of the partition. unit: "range" counts peers; its only distance is 0, the row with its
    peers.
    """

    unit: OneOf["rows", "range"]
    start: int | None
    end: int | None


@dataclass(frozen=True)
class Windowed(Record):
    """A column of a window. column: what it is over; None for numbers of rows, ranks and "count_rows".

    default: of "lag" and "lead", whose own value a row has where there is no such row; None: NULL.
    number: of "lag" and "lead", how many rows away; of "ntile", how many buckets. frame: of other functions over
    columns and "count_rows"; others take no notice of it.
    """

    name: str
    function: OneOf[
        "row_number", "rank", "dense_rank", "ntile", "lag", "lead", "first_value", "last_value",
        "count_rows", "count", "sum", "min", "max",
    ]  # fmt: skip
    column: str | None
    default: str | None
    number: int | None
    frame: Frame
    kind: Kind


@dataclass(frozen=True)
class Key(Record):
    """A key column of a side that is matched. encode: "int" for numbers, "hash" for strings."""

    source: str
    encode: OneOf["int", "hash"]


@dataclass(frozen=True)
class Side(Record):
    """One owner's side of a psi. local: the step whose result it gives. rows, pad_to_source: as of an input."""

    local: int
    owner: str
    rows: int | None
    pad_to_source: bool
    keys: tuple[Key, ...]
    columns: tuple[Shared, ...]

    @property
    def given(self) -> tuple[Given, ...]:
        """The columns that the owner gives, keys and shared columns, each once and under its own name."""
        named = {each.source: Given(each.source, each.source, each.encode) for each in self.columns}
        for key in self.keys:
            named.setdefault(key.source, Given(key.source, key.source, key.encode))
        return tuple(named.values())


@dataclass(frozen=True)
class _Operator(Record):
    """op: what is written for the class."""

    op: ClassVar[str]

    def json(self) -> JSON:
        """The object: op and the fields."""
        return {"op": self.op} | super().json()


@dataclass(frozen=True)
class Input(_Operator):
    """An owner's table becomes shared.

    rows: the size to which it is padded; None: its exact size is announced, or with pad_to_source that of its source
    before any filter. sorted_by: the owner sorts all rows, padding included, by the encodings of these columns, as
    unsigned numbers, the first column most significant. Of equal rows those that are valid and not NULL come last.
    ordered: the local step gives the rows in an order that the query asks for.
    """

    op: ClassVar[str] = "input"
    id: int
    owner: str
    columns: tuple[Shared, ...]
    rows: int | None
    pad_to_source: bool = False
    sorted_by: tuple[str, ...] = ()
    ordered: bool = False


@dataclass(frozen=True)
class Psi(_Operator):
    """A join by private set intersection: both owners learn which rows match. One row for each pair, all valid.

    Left keys are unique; right keys too if right_unique.
    """

    op: ClassVar[str] = "psi"
    id: int
    left: Side
    right: Side
    right_unique: bool


@dataclass(frozen=True)
class CircuitPsi(_Operator):
    """A join by circuit-PSI: nobody learns which rows match. Keys are unique on both sides.

    About 1.3 rows for each item of the smaller side, in an order that no node knows, valid where matched.
    """

    op: ClassVar[str] = "circuit_psi"
    id: int
    left: Side
    right: Side


@dataclass(frozen=True)
class UniversalIds(_Operator):
    """A full join by universal ids: both owners learn how many keys match, nobody which. Keys are unique on both sides.

    One row for each id of either side, padding included, in an order that tells nothing; valid where a side has a row.
    Columns are nullable, and NULL where their side has no row.
    """

    op: ClassVar[str] = "universal_ids"
    id: int
    left: Side
    right: Side


@dataclass(frozen=True)
class Kept(_Operator):
    """The shares of a kept table, in no known order. padded: rows may not be valid. owners: who own data in it, are no
    nodes, and have to approve each use of it.
    """

    op: ClassVar[str] = "kept"
    id: int
    table: str
    columns: tuple[Shared, ...]
    rows: int
    padded: bool
    owners: tuple[str, ...] = ()


@dataclass(frozen=True)
class Element(Record):
    """An array that a program reads: a column of a step's table. Its elements are the rows, in their order; those of
    rows that are not valid are zero. column: None for bits that say which rows are valid.
    """

    step: int
    column: str | None


@dataclass(frozen=True)
class Instruction(Record):
    """One operation of a program on earlier ones. op: docs/placed-plan.md lists them with their parameters.

    args: positions of earlier nodes. shape: of the result. ring: 64 or 128, or 1 of bits. fraction: bits after the
    point. low, high: proven bounds of the result's integers, as decimals.
    """

    op: str
    args: tuple[int, ...]
    shape: tuple[int, ...]
    ring: int
    fraction: int
    low: str
    high: str
    parameters: tuple[tuple[str, Parameter], ...] = ()

    @property
    def size(self) -> int:
        """The number of elements of its result."""
        return prod(self.shape)

    def json(self) -> JSON:
        """The object, with the parameters among its members."""
        found = super().json()
        del found["parameters"]
        return found | {name: written(value) for name, value in self.parameters}


@dataclass(frozen=True)
class Made(Record):
    """A column of a table that a program makes: the elements of a node, row by row. id: of the table, as of a step.
    Those of one table follow each other.
    """

    id: int
    node: int
    column: str
    kind: Kind


@dataclass(frozen=True)
class Program(_Operator):
    """Arrays computed from arrays. No table of its own id: outputs are columns of tables under ids of their own."""

    op: ClassVar[str] = "program"
    id: int
    inputs: tuple[Element, ...]
    nodes: tuple[Instruction, ...]
    outputs: tuple[Made, ...]


@dataclass(frozen=True)
class Filter(_Operator):
    """The same rows; those where the predicate is not TRUE become invalid."""

    op: ClassVar[str] = "filter"
    id: int
    input: int
    predicate: Value


@dataclass(frozen=True)
class Project(_Operator):
    """The same rows with these columns."""

    op: ClassVar[str] = "project"
    id: int
    input: int
    columns: tuple[Computed, ...]


@dataclass(frozen=True)
class Union(_Operator):
    """The rows of all inputs, one after the other. Inputs have the columns in any kind."""

    op: ClassVar[str] = "union"
    id: int
    inputs: tuple[int, ...]
    columns: tuple[Named, ...]


@dataclass(frozen=True)
class Join(_Operator):
    """The rows of right, valid where matched. NULL keys match nothing.

    left_columns, right_columns: those that are kept. merged: both tables are inputs sorted by these keys, or filters
    and projections of such, and repeats holds of all left rows that their owner shares as valid ones. kept: sides of
    which all rows stay, with NULL in the other's columns where nothing matches. Left ones follow behind the rows of
    right. found: a BOOLEAN column of this name says which rows are right rows that found a left row. repeats: no more
    valid rows of left have equal keys; the rows of right come so often, each time with another of their left rows.
    trusted: the node that sees the keys of both tables, in a random order, and orders the rows; None: no node does,
    they are sorted. Then repeats is 1.
    """

    op: ClassVar[str] = "join"
    id: int
    left: int
    right: int
    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    left_columns: tuple[str, ...]
    right_columns: tuple[str, ...]
    merged: bool = False
    kept: OneOf["none", "left", "right", "both"] = "none"
    found: str | None = None
    trusted: str | None = None
    repeats: int = 1


@dataclass(frozen=True)
class Pairs(_Operator):
    """Every row of left beside every row of right, valid where both are; at most 2^20 rows."""

    op: ClassVar[str] = "pairs"
    id: int
    left: int
    right: int


@dataclass(frozen=True)
class Broadcast(_Operator):
    """The rows of input with the columns of scalar, a table of at most one row; NULL where that is missing."""

    op: ClassVar[str] = "broadcast"
    id: int
    input: int
    scalar: int


@dataclass(frozen=True)
class GroupBy(_Operator):
    """One row for each group, valid rows first, ordered by the keys; without aggregates DISTINCT.

    groups: a public bound on the number of groups. At most as many rows as the input. NULL keys form one group.
    trusted: the node that sees the keys, in a random order, and orders the rows; None: no node does, they are sorted.
    """

    op: ClassVar[str] = "group_by"
    id: int
    input: int
    keys: tuple[str, ...]
    aggregates: tuple[Aggregated, ...]
    groups: int | None
    trusted: str | None = None


@dataclass(frozen=True)
class GroupJoin(_Operator):
    """The rows of left with sums and counts of the right rows of equal keys, valid where there is such a row.

    Left keys are unique among valid rows; NULL keys match nothing. left_columns: those that are kept. kept: all rows of
    left stay, in their order. Of no right rows sums are NULL and counts 0.
    """

    op: ClassVar[str] = "group_join"
    id: int
    left: int
    right: int
    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    left_columns: tuple[str, ...]
    aggregates: tuple[Aggregated, ...]
    kept: bool = False


@dataclass(frozen=True)
class Aggregate(_Operator):
    """Exactly one valid row."""

    op: ClassVar[str] = "aggregate"
    id: int
    input: int
    aggregates: tuple[Aggregated, ...]


@dataclass(frozen=True)
class Window(_Operator):
    """The rows of input with columns computed over their partitions: valid rows first, by partition and order.

    Rows that are equal in both are peers. Functions that tell peers apart take them in an order that no node knows.
    NULL keys form one partition.
    """

    op: ClassVar[str] = "window"
    id: int
    input: int
    partition: tuple[str, ...]
    order: tuple[Ordered, ...]
    outputs: tuple[Windowed, ...]


@dataclass(frozen=True)
class Sort(_Operator):
    """Valid rows first, in this order; rows with equal keys in an order that no node knows.

    A table that is in exactly this order, by a sort or by all keys of its group_by, stays as it is, at no cost. first:
    how many rows at the head are kept; null for all.
    """

    op: ClassVar[str] = "sort"
    id: int
    input: int
    keys: tuple[Ordered, ...]
    first: int | None = None


@dataclass(frozen=True)
class Limit(_Operator):
    """The head of an order that a sort of the plan, or an ordered input, gave. count: None for all."""

    op: ClassVar[str] = "limit"
    id: int
    input: int
    count: int | None
    offset: int


@dataclass(frozen=True)
class Resize(_Operator):
    """Valid rows first, in their old order, and no more rows than rows says: a bound on the valid ones. None: their
    exact number is opened to the nodes, and every row is valid then.
    """

    op: ClassVar[str] = "resize"
    id: int
    input: int
    rows: int | None


@dataclass(frozen=True)
class Keep(_Operator):
    """No table: every node writes its shares of these columns to a file of its own."""

    op: ClassVar[str] = "keep"
    id: int
    input: int
    table: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Release(_Operator):
    """No table: the rows are opened to the recipients; invalid ones are zeroed first.

    nullable: the columns that are opened with a plane of NULLs; one that the planner knows to be never NULL needs none.
    ordered: the rows' order is part of the answer, and a sort or an ordered input gave it; otherwise they are shuffled
    first. most: no more rows than this are valid, and no more are opened; None: all rows of the table are opened.
    guard: it is one bit, opened to all parties; where it is set, each of them ends the run, and opens nothing else.
    """

    op: ClassVar[str] = "release"
    id: int
    input: int
    to: tuple[str, ...]
    columns: tuple[str, ...]
    nullable: tuple[str, ...]
    ordered: bool
    most: int | None = None
    guard: bool = False


Secure = (
    Filter
    | Project
    | Union
    | Join
    | Pairs
    | Broadcast
    | GroupBy
    | GroupJoin
    | Aggregate
    | Window
    | Sort
    | Limit
    | Resize
)
"""Operators over the tables of earlier steps."""

Matching = Psi | CircuitPsi | UniversalIds
"""Operators over two owners' local results."""

Operator = Input | Matching | Kept | Secure | Program | Keep | Release

OPERATORS: tuple[type[Operator], ...] = get_args(Operator)


def inputs(operator: Operator) -> tuple[int, ...]:
    """The steps whose tables an operator takes."""
    match operator:
        case Input() | Psi() | CircuitPsi() | UniversalIds() | Kept():
            return ()
        case Union():
            return operator.inputs
        case Program():
            return tuple(dict.fromkeys(each.step for each in operator.inputs))
        case Join() | GroupJoin() | Pairs():
            return operator.left, operator.right
        case Broadcast():
            return operator.input, operator.scalar
        case (
            Filter() | Project() | GroupBy() | Aggregate() | Window() | Sort() | Limit() | Resize() | Keep() | Release()
        ):
            return (operator.input,)
