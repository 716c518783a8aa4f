"""A program cut into pieces that take a block of rows each, and pieces without rows between them.

A pass goes over all blocks. It computes of each what depends on its rows, and adds up totals from block to block. What
totals decide is computed behind it, once, and taken by the next pass. So an array with rows is in memory a block at a
time, and a total is truncated when all of its blocks are added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, Literal

from tacit.plan.physical.operators import Instruction, Parameter
from tacit.plan.physical.row_axes import Axis, RowAxes, parameter
from tacit.plan.programs.facts import SLACK

PUBLIC_MOVES = frozenset({"reshape", "transpose", "broadcast", "slice", "take"})
"""What is made of public numbers by these is public."""

MOVES = PUBLIC_MOVES | {"negate", "shift", "add", "subtract", "narrow", "not", "differ", "concatenate"}
"""Local instructions: a later pass does them anew, which takes no room between passes."""


@dataclass(frozen=True)
class Ref:
    """An array that pieces pass on. input: an owner's array, by its index; with a block its rows alone.

    value: a result without rows, by its place; with a block the sum of a total's blocks up to that one. rows: the rows
    of one block of a result.
    """

    kind: Literal["input", "value", "rows"]
    place: int
    block: int | None = None


@dataclass(frozen=True)
class Piece:
    """Instructions that are run together. given: by the indices of its inputs. made: arrays that later pieces take,
    each with its place among the instructions.
    """

    nodes: tuple[Instruction, ...]
    given: tuple[Ref, ...]
    made: tuple[tuple[Ref, int], ...]


@dataclass(frozen=True)
class Cut:
    """Instructions with the axes of their rows, and the blocks into which these are cut: ends without the first 0."""

    nodes: Sequence[Instruction]
    axes: RowAxes
    ends: tuple[int, ...]

    def pieces(self, outputs: Iterable[int]) -> list[Piece]:
        """All pieces in their order. The last one makes the outputs, as values, in their order."""
        outputs = list(outputs)
        last = max((self.ready[each] for each in range(len(self.nodes))), default=0)
        whole = _Whole(self, last)
        made = [(Ref("value", each), whole.value(each)) for each in outputs]
        backwards = [whole.piece(made)]
        wanted = set(whole.given)
        for at in reversed(range(last)):
            blocks = [self._block(at, block, wanted) for block in range(len(self.ends))]
            backwards += reversed([each for each in blocks if each.made])
            wanted.update(ref for each in blocks for ref in each.given)
            whole = _Whole(self, at)
            made = [(ref, whole.value(ref.place)) for ref in self._values(wanted, at)]
            if made:
                backwards.append(whole.piece(made))
                wanted.update(whole.given)
        return backwards[::-1]

    def _block(self, at: int, block: int, wanted: set[Ref]) -> Piece:
        """The piece of a block in a pass. wanted: what later pieces take."""
        places = sorted({ref.place for ref in wanted if self._made_by(ref) == at})
        piece = _Rows(self, at, block)
        return piece.piece([piece.result(place) for place in places])

    def _made_by(self, ref: Ref) -> int | None:
        """The pass that makes an array; None if no pass does."""
        by_rows = ref.kind == "rows" or (ref.kind == "value" and ref.place in self.axes.totals)
        return self.pass_of[ref.place] if by_rows else None

    def _values(self, wanted: set[Ref], at: int) -> list[Ref]:
        """What later pieces take of what is computed without rows before a pass."""
        found = [ref for ref in wanted if ref.kind == "value" and ref.place not in self.axes.totals]
        return sorted((ref for ref in found if self.ready[ref.place] == at), key=lambda ref: ref.place)

    @cached_property
    def pass_of(self) -> dict[int, int]:
        """The pass in which each result with rows, and each total, is computed."""
        return self._times[0]

    @cached_property
    def ready(self) -> dict[int, int]:
        """How many passes are over when each result without rows is computed, or each total known. Of rows: when all
        of them are."""
        return self._times[1]

    @cached_property
    def _times(self) -> tuple[dict[int, int], dict[int, int]]:
        passes: dict[int, int] = {}
        ready: dict[int, int] = {}
        for place, node in enumerate(self.nodes):
            if node.op == "input" and place in self.axes.axes:
                passes[place] = ready[place] = 0
            elif place in self.axes.axes or place in self.axes.totals:
                times = (passes[arg] if arg in self.axes.axes else ready[arg] for arg in node.args)
                passes[place] = max(times, default=0)
                ready[place] = passes[place] + 1
            else:
                ready[place] = max((ready[arg] for arg in node.args), default=0)
        return passes, ready

    @cached_property
    def public(self) -> frozenset[int]:
        """Public numbers, which every piece has by itself."""
        found: set[int] = set()
        for place, node in enumerate(self.nodes):
            moved = node.op in PUBLIC_MOVES and node.args[0] in found and place not in self.axes.axes
            if node.op == "constant" or moved:
                found.add(place)
        return frozenset(found)

    def bounds_of(self, block: int) -> tuple[int, int]:
        """The first row of a block, and the one behind its last."""
        return (self.ends[block - 1] if block else 0), self.ends[block]


class _Piece:
    """A piece on its way. values: where its results without rows are, by the places of the program's instructions."""

    def __init__(self, cut: Cut) -> None:
        self.cut = cut
        self.nodes: list[Instruction] = []
        self.given: dict[Ref, int] = {}
        self.values: dict[int, int] = {}

    def piece(self, made: Iterable[tuple[Ref, int]]) -> Piece:
        """All of it."""
        return Piece(tuple(self.nodes), tuple(self.given), tuple(made))

    def append(self, node: Instruction) -> int:
        """The place of one more instruction."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def take(self, ref: Ref, like: Instruction) -> int:
        """An array of an earlier piece, or an owner's."""
        if ref not in self.given:
            index = (("index", len(self.given)),)
            self.given[ref] = self.append(replace(like, op="input", args=(), parameters=index))
        return self.given[ref]

    def value(self, place: int) -> int:
        """A result without rows."""
        if place not in self.values:
            self.values[place] = self._value(place, self.cut.nodes[place])
        return self.values[place]

    def _value(self, place: int, node: Instruction) -> int:
        if place in self.cut.public:
            return self.append(replace(node, args=tuple(map(self.value, node.args))))
        if node.op == "input":
            index = parameter(node, "index")
            assert isinstance(index, int)
            return self.take(Ref("input", index), node)
        return self.take(Ref("value", place), node)


class _Whole(_Piece):
    """A piece without blocks, behind a number of passes."""

    def __init__(self, cut: Cut, behind: int) -> None:
        super().__init__(cut)
        self.behind = behind
        self.gathered: dict[int, int] = {}

    def value(self, place: int) -> int:
        """A result, of which all rows are there."""
        return self._gathered(place) if place in self.cut.axes.axes else super().value(place)

    def _value(self, place: int, node: Instruction) -> int:
        earlier = place in self.cut.axes.totals or self.cut.ready[place] < self.behind
        if node.op == "input" or place in self.cut.public or earlier:
            return super()._value(place, node)
        return self.append(replace(node, args=tuple(map(self.value, node.args))))

    def _gathered(self, place: int) -> int:
        """The rows of all blocks, one behind the other."""
        if place not in self.gathered:
            node = self.cut.nodes[place]
            if node.op in MOVES:
                self.gathered[place] = self.append(replace(node, args=tuple(map(self.value, node.args))))
            else:
                axis = self.cut.axes.axes[place]
                blocks = [self._block(place, node, axis, block) for block in range(len(self.cut.ends))]
                joined = replace(node, op="concatenate", args=tuple(blocks), parameters=(("axis", axis.place),))
                self.gathered[place] = self.append(joined)
        return self.gathered[place]

    def _block(self, place: int, node: Instruction, axis: Axis, block: int) -> int:
        start, stop = self.cut.bounds_of(block)
        return self.take(_rows_ref(place, node, block), replace(node, shape=axis.of_rows(node.shape, stop - start)))


class _Rows(_Piece):
    """A piece of one block in a pass. rows: its blocks of results, and parts: of what is there as a whole."""

    def __init__(self, cut: Cut, at: int, block: int) -> None:
        super().__init__(cut)
        self.at, self.block = at, block
        self.rows: dict[int, int] = {}
        self.parts: dict[tuple[int, Axis], int] = {}

    def result(self, place: int) -> tuple[Ref, int]:
        """Rows of a result that others take, or a total as far as it is added up."""
        if place in self.cut.axes.totals:
            return self._total(place, self.cut.nodes[place])
        return Ref("rows", place, self.block), self._rows_of(place)

    def _total(self, place: int, node: Instruction) -> tuple[Ref, int]:
        """Nothing is known of a sum of some blocks but its ring, in which it is exact whatever it is."""
        last = self.block == len(self.cut.ends) - 1
        limit = (1 << node.ring - SLACK) - 1
        some = replace(node, low=str(-limit), high=str(limit))
        part = self.append(replace(node if last and not self.block else some, args=self._args(place, node)))
        if self.block:
            before = self.take(Ref("value", place, self.block - 1), some)
            part = self.append(replace(node if last else some, op="add", args=(before, part), parameters=()))
        return Ref("value", place, None if last else self.block), part

    def _rows_of(self, place: int) -> int:
        """A block of a result with rows."""
        if place not in self.rows:
            self.rows[place] = self._made(place, self.cut.nodes[place])
        return self.rows[place]

    def _made(self, place: int, node: Instruction) -> int:
        axis = self.cut.axes.axes[place]
        here = replace(node, shape=axis.of_rows(node.shape, self._count))
        if node.op == "input" or (self.cut.pass_of[place] < self.at and node.op not in MOVES):
            return self.take(_rows_ref(place, node, self.block), here)
        if node.op == "slice":
            here = replace(here, parameters=(("ranges", _within(parameter(node, "ranges"), axis, self._count)),))
        return self.append(replace(here, args=self._args(place, node)))

    def _args(self, place: int, node: Instruction) -> tuple[int, ...]:
        return tuple(self._arg(place, position, arg) for position, arg in enumerate(node.args))

    def _arg(self, place: int, position: int, arg: int) -> int:
        if arg in self.cut.axes.axes:
            return self._rows_of(arg)
        axis = self.cut.axes.cuts.get((place, position))
        return self.value(arg) if axis is None else self._part(arg, axis)

    def _part(self, arg: int, axis: Axis) -> int:
        """The rows of a block of an array that is there as a whole."""
        if (arg, axis) not in self.parts:
            node, (start, stop) = self.cut.nodes[arg], (each * axis.unit for each in self._bounds)
            shape = axis.of_rows(node.shape, self._count)
            if node.op == "constant":
                values = parameter(node, "values")
                assert isinstance(values, tuple)
                inside: tuple[str, ...] = tuple(_inside(values, node.shape, axis.place, start, stop))
                part = replace(node, shape=shape, parameters=(("values", inside),))
            else:
                everything = tuple((0, size, 1) for size in node.shape)
                ranges = (*everything[: axis.place], (start, stop, 1), *everything[axis.place + 1 :])
                part = replace(node, op="slice", args=(self.value(arg),), shape=shape, parameters=(("ranges", ranges),))
            self.parts[arg, axis] = self.append(part)
        return self.parts[arg, axis]

    @property
    def _bounds(self) -> tuple[int, int]:
        return self.cut.bounds_of(self.block)

    @property
    def _count(self) -> int:
        start, stop = self._bounds
        return stop - start


def _rows_ref(place: int, node: Instruction, block: int) -> Ref:
    if node.op != "input":
        return Ref("rows", place, block)
    index = parameter(node, "index")
    assert isinstance(index, int)
    return Ref("input", index, block)


def _within(ranges: Any, axis: Axis, rows: int) -> Parameter:
    """The ranges of a slice that takes all of the rows."""
    return (*ranges[: axis.place], (0, rows * axis.unit, 1), *ranges[axis.place + 1 :])


def _inside(values: Sequence[Any], shape: Sequence[int], place: int, start: int, stop: int) -> Iterator[Any]:
    """The public numbers of some positions along an axis."""
    inner = prod(shape[place + 1 :])
    length = shape[place] * inner
    for begin in range(0, len(values), length or 1):
        yield from values[begin + start * inner : begin + stop * inner]
