"""A program's graph as the instructions of one operator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf

from tacit.plan.algebra.bounds import Range
from tacit.plan.facts.kinds import Kind, width_of
from tacit.plan.physical.operators import Instruction, Parameter
from tacit.plan.programs import operations as ops
from tacit.plan.programs.clips import Clip, clips
from tacit.plan.programs.facts import SLACK, Array, Shape
from tacit.plan.programs.forms import name_of, parameters
from tacit.plan.programs.nodes import Node, is_checked, reachable, uses
from tacit.plan.programs.operations import Operation
from tacit.plan.programs.refusals import ProgramError


def kind_of_array(array: Array) -> Kind:
    """The kind of a column of an array's elements."""
    if array.dtype == "bool":
        return Kind("bits", 1, False, False)
    bounds: Range = array.interval
    ring: OneOf["ring64", "ring128"] = "ring64" if array.ring == 64 else "ring128"
    return Kind(ring, width_of(bounds), array.low < 0, False)


def instruction_of(array: Array, op: str, args: tuple[int, ...], **parameters: Parameter) -> Instruction:
    """An instruction that makes an array."""
    ring = 1 if array.dtype == "bool" else array.ring
    bounds = str(array.low), str(array.high)
    return Instruction(op, args, array.shape, ring, array.fraction, *bounds, tuple(parameters.items()))


@dataclass(frozen=True)
class Lowered:
    """Instructions in order. inputs: the nodes of what is given, in the order of their indices. places: of outputs.

    made: the place of the instruction that makes each node, by its number.
    checked: the nodes whose bounds are checked while it runs. outside: the place of the bit that says whether any of
    them does not hold; None where nothing is checked.
    """

    instructions: tuple[Instruction, ...]
    inputs: tuple[Node, ...]
    places: Mapping[str, int]
    checked: tuple[Node, ...]
    outside: int | None
    made: Mapping[int, int]


def lower_program(outputs: Mapping[str, Node], apart: frozenset[int] = frozenset()) -> Lowered:
    """The instructions that compute outputs. Raises ProgramError for what no engine does.

    apart: the numbers of products that are not truncated in the same instruction.
    """
    nodes = reachable(outputs.values())
    found = clips(nodes, {node.number for node in outputs.values()})
    fused = (_fused(nodes, outputs) - apart) | {each.inner.number for each in found.values()}
    lowering = _Lowering(fused, found)
    for node in nodes:
        lowering.add(node)
    places = {name: lowering.places[node.number] for name, node in outputs.items()}
    outside = lowering.outside()
    checked = tuple(lowering.checks)
    instructions, inputs = tuple(lowering.instructions), tuple(lowering.inputs)
    return Lowered(instructions, inputs, places, checked, outside, dict(lowering.places))


def _fused(nodes: list[Node], outputs: Mapping[str, Node]) -> frozenset[int]:
    """The products that a truncation alone takes, by their numbers: both are one instruction."""
    takers, shown = uses(nodes), {node.number for node in outputs.values()}
    return frozenset(
        node.number
        for node in nodes
        if isinstance(node.operation, ops.Multiply | ops.Bilinear)
        and node.number not in shown
        and all(arg.array.dtype != "bool" for arg in node.args)
        and [isinstance(each.operation, ops.Truncate) for each in takers.get(node.number, [])] == [True]
    )


@dataclass
class _Lowering:
    """fused: nodes without an instruction of their own. clips: by the numbers of what gives them.

    places: where a node's result is, by its number.

    checks: the nodes with bounds that are checked, each with the place of the bits that say where they do not hold.
    """

    fused: frozenset[int]
    clips: Mapping[int, Clip]
    instructions: list[Instruction] = field(default_factory=list)
    inputs: list[Node] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    checks: dict[Node, int] = field(default_factory=dict)

    def add(self, node: Node) -> None:
        """Append a node's instruction, if it needs one."""
        operation = node.operation
        if node.number in self.fused:
            return
        if isinstance(operation, ops.Check):
            self._check(node, operation)
        elif _is_same(operation):
            self._narrow(node)
        else:
            self.places[node.number] = self._append(self._instruction(node))

    def _append(self, instruction: Instruction) -> int:
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def _check(self, node: Node, bounds: ops.Check) -> None:
        """The same integers under other bounds, and bits that say which of them are outside.

        The instruction that makes them keeps its own bounds, within which it is compared.
        """
        (given,) = node.args
        self.places[node.number] = self.places[given.number]
        if not is_checked(node):
            return
        limit = (1 << given.array.ring - SLACK) - 1
        ends: dict[str, Parameter] = {"from": str(max(bounds.low, -limit)), "to": str(min(bounds.high, limit))}
        bits = instruction_of(_bits(given.array.shape), "outside", (self.places[given.number],), **ends)
        self.checks[node] = self._append(bits)
        self.places[node.number] = self._append(self._made(node, "reshape", node.args))

    def outside(self) -> int | None:
        """Append what makes one bit of those of all checks: whether any is set. Its place; None without checks."""
        flat = [
            self._append(instruction_of(_bits((node.array.size,)), "reshape", (bits,)))
            for node, bits in self.checks.items()
        ]
        if not flat:
            return None
        size = sum(node.array.size for node in self.checks)
        joined = self._append(instruction_of(_bits((size,)), "concatenate", tuple(flat), axis=0))
        return self._append(instruction_of(_bits(()), "largest", (joined,), axis=0))

    def _narrow(self, node: Node) -> None:
        """What is known of the same integers is known of the instruction that makes them."""
        place = self.places[node.number] = self.places[node.args[0].number]
        made = self.instructions[place]
        low, high = max(int(made.low), node.array.low), min(int(made.high), node.array.high)
        if low <= high:
            self.instructions[place] = replace(made, low=str(low), high=str(high))

    def _instruction(self, node: Node) -> Instruction:
        match node.operation:
            case ops.Input():
                self.inputs.append(node)
                return self._made(node, "input", (), index=len(self.inputs) - 1)
            case ops.Constant(_, values):
                return self._made(node, "constant", (), values=tuple(map(str, values)))
            case ops.Sample(_, _, bits):
                return self._made(node, "sample", (), bits=bits)
            case ops.Truncate(bits, floor) if node.args[0].number in self.fused:
                product = node.args[0]
                return self._product(node, product, _cut(node, bits), floor)
            case ops.Minimum() if node.number in self.clips:
                clip = self.clips[node.number]
                return self._made(node, "clip", (clip.number, clip.low, clip.high))
            case ops.Multiply() | ops.MatMul() | ops.Convolve():
                return self._product(node, node, 0, False)
            case ops.Truncate(bits) | ops.Floor(bits):
                _cut(node, bits)
                return self._made(node, _name(node), node.args, **parameters(node.operation))
            case ops.Scale():
                return self._made(node, "reshape", node.args)
            case ops.Reshape() | ops.Broadcast() | ops.Divide():
                return self._made(node, _name(node), node.args)
            case ops.Function(name):
                return self._made(node, "function", node.args, name=name)
            case operation:
                return self._made(node, _name(node), node.args, **_tuples(parameters(operation)))

    def _product(self, node: Node, product: Node, cut: int, floor: bool) -> Instruction:
        """A product, and what is cut off it."""
        sizes = _tuples(parameters(product.operation))
        return self._made(node, _name(product), product.args, **sizes, cut=cut, floor=floor)

    def _made(self, node: Node, op: str, args: tuple[Node, ...], **parameters: Parameter) -> Instruction:
        return instruction_of(node.array, op, tuple(self.places[arg.number] for arg in args), **parameters)


def _bits(shape: Shape) -> Array:
    return Array(shape, "bool", 0, 1)


def _is_same(operation: Operation) -> bool:
    """Whether the result is the operand, integer for integer, with as many bits after the point."""
    match operation:
        case ops.Cast() | ops.Known():
            return True
        case ops.Scale(bits) | ops.Floor(bits):
            return bits == 0
        case _:
            return False


def _name(node: Node) -> str:
    return name_of(type(node.operation))


def _cut(node: Node, bits: int) -> int:
    """The bits that are cut off, of which a ring has no more than this."""
    most = node.array.ring - SLACK
    if bits > most:
        raise ProgramError(f"{bits} bits are cut off numbers of {most} bits: nothing is left of them.", node.line)
    return bits


def _tuples(found: Mapping[str, object]) -> dict[str, Parameter]:
    return {name: _tuple(value) for name, value in found.items()}


def _tuple(value: object) -> Parameter:
    if isinstance(value, list):
        return tuple(_tuple(each) for each in value)  # type: ignore[return-value]  # as deep as the fields are
    assert isinstance(value, bool | int | str)
    return value
