"""Programs for the engine ``four``: all numbers in the ring of 128 bits, with the error of its products.

The engine's published forms fail with a probability that falls with the ring (docs/protocols/four.md): numbers of a
program need as many bits above them as they can get. Its products of private numbers are rounded in four parts, so that
they may be two units of the last place wrong where other engines are one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil

from tacit.plan.programs.facts import Array
from tacit.plan.programs.formats import widened
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.nodes import Node, reachable
from tacit.plan.programs.operations import Constant, Input, Known, Narrow, Operation, Widen
from tacit.plan.programs.refusals import ProgramError

RING = 128
"""Bits of all numbers."""

UNITS = 2
"""Units of the last place by which a product may be wrong."""


def in_wide_ring(graph: Graph, outputs: Mapping[str, Node]) -> tuple[Graph, dict[str, Node]]:
    """The outputs made anew in the wide ring, with their graph.

    Raises ProgramError where larger errors do not fit, or where a proof is one of smaller errors.
    """
    wide = Graph(replace(graph.settings, units=UNITS))
    now: dict[int, Node] = {}
    for node in reachable(outputs.values()):
        args = [now[arg.number] for arg in node.args]
        wide.line = node.line
        if isinstance(node.operation, Widen | Narrow):
            now[node.number] = args[0]
        else:
            now[node.number] = widened(wide, wide.make(_again(node, args), *args))
    return wide, {name: now[node.number] for name, node in outputs.items()}


def _again(node: Node, args: list[Node]) -> Operation:
    match node.operation:
        case Input(name, array):
            return Input(name, _wide(array))
        case Constant(array, values, reals):
            return Constant(_wide(array), values, reals)
        case Known(near=None, norm2=None) as fact:
            return _weaker(fact, ceil(args[0].array.error - node.args[0].array.error), node.array.columns)
        case Known():
            raise ProgramError(
                "what is proved of linear algebra does not hold for the products of the engine four; compute with "
                "rep3 or two.",
                node.line,
            )
        case operation:
            return operation


def _wide(array: Array) -> Array:
    return array if array.dtype == "bool" else replace(array, ring=RING)


def _weaker(fact: Known, more: int, columns: int) -> Known:
    """A fact of numbers whose errors are larger by some units."""
    if more <= 0:
        return fact
    sums = fact.row_sum
    return replace(
        fact,
        low=fact.low - more,
        high=fact.high + more,
        row_sum=None if sums is None else (sums[0] - more * columns, sums[1] + more * columns),
        one_hot=False,
        error=None if fact.error is None else fact.error + more,
    )
