"""What operations cost: rounds, and bytes that all parties send together.

The numbers are predictions for three nodes, derived on paper; the declared costs of the engines decide. All are for one
element in the ring of 64 bits, and twice as many bytes in that of 128.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.plan.programs.clips import clips
from tacit.plan.programs.facts import Array
from tacit.plan.programs.nodes import Node, is_checked, uses
from tacit.plan.programs.operations import (
    Absolute,
    Add,
    Bilinear,
    Both,
    Check,
    Convolve,
    Count,
    Differ,
    Divide,
    Either,
    Equal,
    Floor,
    FloorDivide,
    Function,
    FunctionName,
    Largest,
    Less,
    MatMul,
    Maximum,
    Minimum,
    Multiply,
    Negate,
    Order,
    Place,
    Reshape,
    Select,
    Slice,
    Smallest,
    Sort,
    Subtract,
    Sum,
    Transpose,
    Truncate,
    Widen,
)

BYTES_PER_SECOND = 1.2e9
SECONDS_PER_ROUND = 5e-5


@dataclass(frozen=True)
class Cost:
    """Rounds and bytes."""

    rounds: int = 0
    bytes: float = 0

    @property
    def seconds(self) -> float:
        """On the link that the predictions are for."""
        return self.rounds * SECONDS_PER_ROUND + self.bytes / BYTES_PER_SECOND

    def times(self, count: float) -> Cost:
        """For elements beside each other."""
        return Cost(self.rounds, self.bytes * count) if count else FREE

    def then(self, other: Cost) -> Cost:
        """One behind the other."""
        return Cost(self.rounds + other.rounds, self.bytes + other.bytes)


FREE = Cost()
PRODUCT = Cost(1, 24)
DITHER, FLOOR = Cost(2, 14), Cost(8, 56)
DITHER_AFTER_PRODUCT, FLOOR_AFTER_PRODUCT = Cost(2, 6), Cost(8, 48)
"""What a truncation adds to the product that is made with it."""
INJECT, CHOOSE, WIDEN, GATE = Cost(2, 24), Cost(3, 48), Cost(2, 40), Cost(1, 0.375)
DIVIDE, FLOOR_DIVIDE = Cost(40, 450), Cost(49, 522)
FUNCTIONS: dict[FunctionName, Cost] = {
    "exp": Cost(5, 160),
    "log": Cost(33, 398),
    "sqrt": Cost(45, 476),
    "rsqrt": Cost(45, 476),
    "sigmoid": Cost(4, 226),
    "tanh": Cost(4, 226),
    "erf": Cost(4, 226),
    "sin": Cost(4, 50),
    "cos": Cost(4, 50),
}
CLIPPED, CLIPPED_BITS = Cost(11, 203), 32
"""What sigmoid, tanh and erf cost more where their argument may leave the interval of their series, for this many
bits of it."""
SERIES = {"sigmoid": 16, "tanh": 5, "erf": 3}
BYTES_PER_BIT = 1.2
SORT_BYTES_PER_BIT, SORT_ROUNDS_PER_BIT = 52.0, 3


LINEAR = (Add, Subtract, Negate, Sum, Reshape, Transpose, Slice, Truncate)
"""What products are computed through before anything is sent: sums of products are one communication."""


def costs(nodes: Sequence[Node]) -> dict[int, Cost]:
    """What each node costs, by its number. Products that are added up and truncated are sent once, at the end. Both
    comparisons of a clip share their rounds.
    """
    takers = uses(nodes)
    together = {each.inner.number for each in clips(nodes).values()}
    unsent: set[int] = set()
    found = {}
    for node in nodes:
        fused = isinstance(node.operation, Truncate) and node.args[0].number in unsent
        product = _is_private_product(node)
        sums = isinstance(node.operation, LINEAR) and not fused and any(arg.number in unsent for arg in node.args)
        taken = [taker.operation for taker in takers.get(node.number, [])]
        waits = (product or sums) and len(taken) == 1 and isinstance(taken[0], LINEAR)
        if waits:
            unsent.add(node.number)
        last = (product or sums) and not (waits and not isinstance(taken[0], Truncate))
        found[node.number] = _sent(node, PRODUCT) if last else FREE if product or sums else _cost(node, fused)
        if node.number in together:
            found[node.number] = Cost(0, found[node.number].bytes)
    return found


def _is_private_product(node: Node) -> bool:
    """Whether a node is a product of private numbers; those by bits are choices."""
    private = isinstance(node.operation, Multiply | Bilinear) and not any(arg.is_public for arg in node.args)
    return private and all(arg.array.dtype != "bool" for arg in node.args)


def _sent(node: Node, one: Cost) -> Cost:
    found = one.times(node.array.size)
    wide = 2 if any(arg.array.ring == 128 for arg in node.args) else 1
    return Cost(found.rounds, found.bytes * wide)


def _cost(node: Node, fused: bool) -> Cost:
    return FREE if all(arg.is_public for arg in node.args) else _sent(node, _one(node, fused))


def _one(node: Node, fused: bool) -> Cost:
    """For one element of the result, or of a sorted axis."""
    args = [arg.array for arg in node.args]
    match node.operation:
        case Multiply() | MatMul() | Convolve():
            return FREE if any(arg.is_public for arg in node.args) else CHOOSE
        case Truncate(_, floor):
            return (FLOOR_AFTER_PRODUCT if floor else DITHER_AFTER_PRODUCT) if fused else FLOOR if floor else DITHER
        case Floor():
            return FLOOR
        case Less() | Equal():
            return compare(*args)
        case Both() | Either() | Differ():
            return FREE if isinstance(node.operation, Differ) or any(arg.is_public for arg in node.args) else GATE
        case Count():
            return INJECT
        case Select():
            return GATE if args[1].dtype == "bool" else CHOOSE
        case Maximum() | Minimum():
            return compare(*args).then(CHOOSE)
        case Absolute():
            return compare(args[0], args[0]).then(CHOOSE)
        case Widen():
            return WIDEN
        case Check():
            # Nothing waits for it but the end of the run.
            return Cost(0, 2 * compare(args[0], args[0]).bytes if is_checked(node) else 0)
        case _:
            return _long(node, args)


def _long(node: Node, args: Sequence[Array]) -> Cost:
    match node.operation:
        case Divide():
            return DIVIDE
        case FloorDivide():
            return FLOOR_DIVIDE
        case Function(name):
            limit = SERIES.get(name)
            inside = limit is None or args[0].largest <= limit << max(args[0].fraction, 0)
            wider = 2 * BYTES_PER_BIT * (args[0].largest.bit_length() - CLIPPED_BITS)
            return FUNCTIONS[name].then(FREE if inside else Cost(CLIPPED.rounds, CLIPPED.bytes + wider))
        case Largest(axis) | Smallest(axis) | Place(axis):
            return _tournament(args[0], axis, isinstance(node.operation, Place))
        case Sort() | Order():
            width = args[0].largest.bit_length() + 1
            return Cost(SORT_ROUNDS_PER_BIT * width, SORT_BYTES_PER_BIT * width)
        case _:
            return FREE


def compare(a: Array, b: Array) -> Cost:
    """A comparison at the width of the difference."""
    width = (max(a.high, b.high) - min(a.low, b.low)).bit_length() + 1
    return Cost(2 + (width - 1).bit_length(), BYTES_PER_BIT * width)


def _tournament(a: Array, axis: int, places: bool) -> Cost:
    games = a.shape[axis] - 1
    one = compare(a, a).then(CHOOSE if not places else Cost(CHOOSE.rounds, 2 * CHOOSE.bytes))
    return Cost(one.rounds * games.bit_length(), one.bytes * games)
