"""Functions and quotients with the room that engines need: where 64 bits are too few, they are computed in 128.

Engines say whether they compute an instruction, and with no larger error than is declared. It is asked for one
instruction at a time, so that a refusal is about it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from tacit import _native
from tacit.plan.physical.lower_program import instruction_of, kind_of_array
from tacit.plan.physical.operators import Element, Made, Program
from tacit.plan.programs.facts import Array, Interval
from tacit.plan.programs.formats import narrowed, widened
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.intervals import meet
from tacit.plan.programs.nodes import Node, reachable
from tacit.plan.programs.operations import Divide, Function, Known
from tacit.plan.programs.refusals import ProgramError


def with_room(graph: Graph, outputs: Mapping[str, Node]) -> dict[str, Node]:
    """The outputs with each function and quotient in a ring in which engines compute it, refused where none does."""
    now: dict[int, Node] = {}
    nodes = reachable(outputs.values())
    bounds = {node.args[0].number: node.array.interval for node in nodes if isinstance(node.operation, Known)}
    for node in nodes:
        again = graph.again(node, [now[arg.number] for arg in node.args])
        if isinstance(node.operation, Function | Divide):
            again = _roomy(graph, again, bounds.get(node.number, node.array.interval))
        now[node.number] = again
    return {name: now[node.number] for name, node in outputs.items()}


def _roomy(graph: Graph, node: Node, bounds: Interval) -> Node:
    problem = refusal(node, bounds)
    if problem is None:
        return node
    wide = graph.make(node.operation, *(widened(graph, arg) for arg in node.args))
    found = narrowed(graph, wide)
    if wide is node or refusal(wide, bounds) is not None or found.array.ring != node.array.ring:
        raise ProgramError(f"no engine computes {_name(node)} of these bounds: {problem}; declare tighter ones.")
    return found


def _arrays(node: Node) -> list[Array]:
    return [arg.array for arg in node.args]


def _name(node: Node) -> str:
    return node.operation.name if isinstance(node.operation, Function) else "a quotient"


def refusal(node: Node, bounds: Interval | None = None) -> str | None:
    """What is wrong with a function or quotient for the engines; None if they compute it.

    bounds: what is known of its result, where that is more than it tells itself. The instruction has them, too.
    """
    low, high = node.array.interval if bounds is None else meet(bounds, node.array.interval)
    # Whatever their shapes, one element is computed as any other; arrays may be larger than what engines have at once.
    empty = node.array.size == 0
    result, *given = (each if empty else replace(each, shape=(1,)) for each in (node.array, *_arrays(node)))
    result = replace(result, low=low, high=high)
    args = [instruction_of(each, "input", (), index=place) for place, each in enumerate(given)]
    parameters = {"name": node.operation.name} if isinstance(node.operation, Function) else {}
    op = "function" if isinstance(node.operation, Function) else "divide"
    made = instruction_of(result, op, tuple(range(len(args))), **parameters)
    inputs = tuple(Element(1, f"{place}") for place in range(len(args)))
    output = Made(3, len(args), "result", kind_of_array(result))
    program = Program(2, inputs, (*args, made), (output,))
    try:
        _native.operators(json.dumps([program.json()]))
    except _native.InputError as error:
        return str(error)
    return None
