"""What explain prints of a program: its graph before and after the optimiser, formats, errors and disclosures."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from tacit.plan.programs.facts import Array, unit
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.nodes import Node, behind, is_checked, reachable
from tacit.plan.programs.operations import Constant, Input
from tacit.plan.programs.optimiser import Optimised
from tacit.plan.programs.refusals import number
from tacit.plan.programs.release import released
from tacit.plan.programs.schedule import Schedule, scheduled
from tacit.plan.programs.source_lines import place, places

PREDICTED = "Rounds and bytes are predictions for three nodes; the engine's declared costs decide."
ROUNDING = {
    "dither": "Truncations inside round down or up, with a mean error of zero: runs differ within the error. What is "
    "revealed is cut by floor.",
    "floor": "Truncations round down: all runs and engines give the same bits.",
}


def explained(graph: Graph, found: Optimised) -> str:
    """The text of a program's plan."""
    shown = released(graph, found.after)
    parts = [
        ["results:", *_results(shown)],
        ["before:", *_summary(found.before)],
        ["after:", *_summary(shown)],
        ["saved:", *_savings(found)],
        ["formats:", *_formats(graph, shown)],
        ["disclosures:", *_disclosures(shown)],
        [ROUNDING[graph.settings.rounding], PREDICTED],
    ]
    return "\n".join(_indented(part) for part in parts if len(part) > 1) + "\n"


def _indented(lines: list[str]) -> str:
    title, *rest = lines
    return "\n".join([title, *(f"  {line}" if title.endswith(":") else line for line in rest)])


def _results(outputs: Mapping[str, Node]) -> list[str]:
    inputs = behind(outputs, Input)
    return [
        f"{name}: {described(node.array)}, from {', '.join(map(_named, inputs[name])) or 'nothing private'}"
        for name, node in outputs.items()
    ]


def _named(node: Node) -> str:
    assert isinstance(node.operation, Input)
    return node.operation.name


def described(array: Array) -> str:
    """An array's public facts in a line."""
    low, high = number(array.low, array.fraction), number(array.high, array.fraction)
    shape = "number" if not array.shape else "array of " + " x ".join(map(str, array.shape))
    return f"{shape}, {array.dtype}, from {low} to {high}, {error_of(array)}"


def error_of(array: Array) -> str:
    """The declared error in words."""
    near = "; a comparison of rounded numbers may go either way where they are closer than their error"
    if array.error == 0:
        return "exact" + near * array.near
    if 2 * array.error >= array.high - array.low:
        return "no error below its range is proved: errors add up from step to step" + near * array.near
    error = array.error * unit(array.fraction)
    return f"error at most {_decimal(error)}(2^{_power(error)})" + near * array.near


def _decimal(error: Fraction) -> str:
    return f"{float(error):.3g} " if -1000 < _power(error) < 1000 else ""


def _power(error: Fraction) -> int:
    """The least power of two that is no smaller."""
    bits = error.numerator.bit_length() - error.denominator.bit_length()
    return next(each for each in (bits - 1, bits, bits + 1) if error <= Fraction(2) ** each)


def _summary(outputs: Mapping[str, Node]) -> list[str]:
    nodes = reachable(outputs.values())
    schedule = scheduled(outputs.values())
    operations = sum(not isinstance(node.operation, Input | Constant) for node in nodes)
    cost = schedule.cost
    return [
        f"{operations} operations, {cost.rounds} rounds, {size(cost.bytes)}",
        f"{schedule.alone} rounds one behind the other; {_shared(schedule)}",
    ]


def _shared(schedule: Schedule) -> str:
    joint = [nodes for _, _, nodes in schedule.levels if len(nodes) > 1]
    return (
        f"{sum(map(len, joint))} operations share messages with others of their kind"
        if joint
        else "none share messages"
    )


def size(count: float) -> str:
    """A number of bytes for people."""
    for name in ("B", "kB", "MB", "GB"):
        if count < 1000 or name == "GB":
            return f"{count:.3g} {name}"
        count /= 1000
    raise AssertionError("the last unit is for all that is larger")


def _savings(found: Optimised) -> list[str]:
    return [f"{each.rule}: {each.rounds} rounds, {size(each.bytes)}" for each in found.savings] or ["nothing"]


def _formats(graph: Graph, outputs: Mapping[str, Node]) -> list[str]:
    return [
        ("" if node.line is None else f"{place(node.line)}: ") + graph.notes[node.number]
        for node in reachable(outputs.values())
        if node.number in graph.notes
    ]


def _disclosures(outputs: Mapping[str, Node]) -> list[str]:
    checks = [node for node in reachable(outputs.values()) if is_checked(node)]
    where = places(node.line for node in checks if node.line is not None)
    said = "one bit to all parties: whether all checked bounds hold; if not, nothing else is revealed"
    return [f"{said} ({where})" if where else said] if checks else []
