"""Where the rows of a program's largest input lie in each of its arrays, so that blocks of rows are computed alone.

Row i of an array that has rows depends on row i of its operands, and on operands without rows. What adds all rows up is
a total: it is the sum of what each block gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from tacit.plan.physical.operators import Instruction, Parameter
from tacit.plan.programs.facts import Shape

ELEMENTWISE = frozenset({
    *("add", "subtract", "negate", "multiply", "truncate", "floor", "shift", "widen", "narrow", "less", "equal"),
    *("outside", "not", "both", "either", "differ", "count", "select", "maximum", "minimum", "absolute", "function"),
    *("divide", "floor_divide", "clip"),
})  # fmt: skip


@dataclass(frozen=True)
class Axis:
    """An axis along which rows lie. unit: how many of its positions belong to one row."""

    place: int
    unit: int = 1

    def of_rows(self, shape: Shape, rows: int) -> Shape:
        """The shape of some rows of an array of this shape."""
        return (*shape[: self.place], rows * self.unit, *shape[self.place + 1 :])


@dataclass(frozen=True)
class RowAxes:
    """Of a program's instructions, by their places: along which axis rows lie, and which are totals.

    cuts: operands without rows of which a block takes a part all the same, by the place of the instruction and their
    position among its operands: their axis.
    """

    rows: int
    axes: Mapping[int, Axis] = field(default_factory=dict)
    totals: frozenset[int] = frozenset()
    cuts: Mapping[tuple[int, int], Axis] = field(default_factory=dict)


@dataclass(frozen=True)
class _Operand:
    shape: Shape
    axis: Axis | None


@dataclass(frozen=True)
class _Found:
    """The axis of a result; None of a total. cuts: as in RowAxes, by positions."""

    axis: Axis | None
    cuts: Mapping[int, Axis] = field(default_factory=dict)


def row_axes(nodes: Sequence[Instruction], rows: int, given: frozenset[int]) -> RowAxes:
    """The axes of all instructions. rows: of the inputs of these indices, which have more than one, along axis 0."""
    axes: dict[int, Axis] = {}
    totals: set[int] = set()
    cuts: dict[tuple[int, int], Axis] = {}
    for place, node in enumerate(nodes):
        if node.op == "input" and parameter(node, "index") in given:
            axes[place] = Axis(0)
            continue
        operands = [_Operand(nodes[arg].shape, axes.get(arg)) for arg in node.args]
        found = _found(node, operands, rows)
        if found is None:
            continue
        cuts |= {(place, position): axis for position, axis in found.cuts.items()}
        if found.axis is None:
            totals.add(place)
        else:
            axes[place] = found.axis
    return RowAxes(rows, axes, frozenset(totals), cuts)


def parameter(node: Instruction, name: str) -> Parameter:
    """A parameter of an instruction."""
    return dict(node.parameters)[name]


def _found(node: Instruction, operands: list[_Operand], rows: int) -> _Found | None:
    """What an instruction is by rows; None if it needs its operands as a whole."""
    if all(each.axis is None for each in operands):
        return _spread(node, operands, rows)
    if node.op in ELEMENTWISE:
        return _repeated(len(node.shape), operands)
    rule = RULES.get(node.op)
    return None if rule is None else rule(node, operands, rows)


def _spread(node: Instruction, operands: list[_Operand], rows: int) -> _Found | None:
    """An array without rows that is repeated for each of them."""
    if node.op != "broadcast":
        return None
    (given,) = operands
    new = len(node.shape) - len(given.shape)
    own = (1,) * new + given.shape
    places = [at for at, size in enumerate(node.shape) if size == rows != own[at]]
    return _Found(Axis(places[0])) if places else None


def _repeated(dims: int, operands: Sequence[_Operand]) -> _Found | None:
    """Operands that are repeated to a common shape. dims: its number of axes."""
    axes = {Axis(each.axis.place + dims - len(each.shape), each.axis.unit) for each in operands if each.axis}
    if len(axes) != 1:
        return None
    (axis,) = axes
    cuts = {}
    for position, each in enumerate(operands):
        at = axis.place - (dims - len(each.shape))
        if each.axis is None and at >= 0 and each.shape[at] != 1:
            cuts[position] = Axis(at, axis.unit)
    return _Found(axis, cuts)


def _reshape(node: Instruction, operands: list[_Operand], rows: int) -> _Found | None:
    (given,) = operands
    axis = _only(given)
    before = prod(given.shape[: axis.place])
    for place, size in enumerate(node.shape):
        if prod(node.shape[:place]) == before and size and size % rows == 0:
            return _Found(Axis(place, size // rows))
    return None


def _transpose(node: Instruction, operands: list[_Operand], _rows: int) -> _Found | None:
    axis, axes = _only(operands[0]), parameter(node, "axes")
    assert isinstance(axes, tuple)
    return _Found(Axis(axes.index(axis.place), axis.unit))


def _broadcast(node: Instruction, operands: list[_Operand], _rows: int) -> _Found | None:
    return _repeated(len(node.shape), operands)


def _slice(node: Instruction, operands: list[_Operand], _rows: int) -> _Found | None:
    axis, ranges = _only(operands[0]), parameter(node, "ranges")
    assert isinstance(ranges, tuple)
    everything = (0, operands[0].shape[axis.place], 1)
    return _Found(axis) if ranges[axis.place] == everything else None


def _concatenate(node: Instruction, operands: list[_Operand], _rows: int) -> _Found | None:
    found = _repeated(len(node.shape), operands)
    return found if found and found.axis and found.axis.place != parameter(node, "axis") else None


def _sum(node: Instruction, operands: list[_Operand], rows: int) -> _Found | None:
    along = parameter(node, "axis") == _only(operands[0]).place
    return _Found(None) if along else _without(node, operands, rows)


def _without(node: Instruction, operands: list[_Operand], _rows: int) -> _Found | None:
    """The result has an axis less, which is not that of the rows."""
    axis, gone = _only(operands[0]), parameter(node, "axis")
    assert isinstance(gone, int)
    return None if gone == axis.place else _Found(Axis(axis.place - (gone < axis.place), axis.unit))


def _along(node: Instruction, operands: list[_Operand], _rows: int) -> _Found | None:
    """The result has the operand's shape, and its elements need others along an axis."""
    axis = _only(operands[0])
    return None if parameter(node, "axis") == axis.place else _Found(axis)


def _matmul(node: Instruction, operands: list[_Operand], _rows: int) -> _Found | None:
    x, y = operands
    inner = len(x.shape) - 1, max(len(y.shape) - 2, 0)
    if any(each.axis and each.axis.place == at for each, at in zip(operands, inner, strict=True)):
        return _inner(operands, inner)
    stacks = [_Operand(each.shape[:-2], _within(each.axis, len(each.shape) - 2)) for each in operands]
    if any(each.axis for each in stacks):
        outside = any(each.axis and not stack.axis for each, stack in zip(operands, stacks, strict=True))
        return None if outside else _repeated(len(node.shape) - (len(x.shape) > 1) - (len(y.shape) > 1), stacks)
    if x.axis and y.axis:
        return None
    if x.axis:
        return _Found(Axis(len(node.shape) - (2 if len(y.shape) > 1 else 1), x.axis.unit))
    assert y.axis is not None
    return _Found(Axis(len(node.shape) - 1, y.axis.unit))


def _inner(operands: list[_Operand], inner: tuple[int, int]) -> _Found | None:
    """A product whose sums go over the rows: all of a block are the terms of one block."""
    axes = {each.axis for each in operands if each.axis}
    units = {each.unit for each in axes}
    placed = all(each.axis is None or each.axis.place == at for each, at in zip(operands, inner, strict=True))
    if not placed or len(units) != 1:
        return None
    whole = [at for at, each in enumerate(operands) if each.axis is None]
    return _Found(None, {at: Axis(inner[at], *units) for at in whole})


def _within(axis: Axis | None, axes: int) -> Axis | None:
    return axis if axis and axis.place < axes else None


def _only(operand: _Operand) -> Axis:
    assert operand.axis is not None
    return operand.axis


RULES: dict[str, Callable[[Instruction, list[_Operand], int], _Found | None]] = {
    "reshape": _reshape,
    "transpose": _transpose,
    "broadcast": _broadcast,
    "slice": _slice,
    "take": _along,
    "concatenate": _concatenate,
    "sum": _sum,
    "largest": _without,
    "smallest": _without,
    "place": _without,
    "cumulative_sum": _along,
    "sort": _along,
    "order": _along,
    "matmul": _matmul,
}
"""Of instructions that are not done element by element. All others need all rows."""
