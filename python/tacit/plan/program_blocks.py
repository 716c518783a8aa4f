"""Programs whose arrays are larger than the memory of a node: into how many blocks of rows they are cut.

The number follows from the plan and from the memory that the federation declares: all parties find the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tacit.plan.account.quantities import memory
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.table_arrays import TableArray
from tacit.plan.physical.cost import StepCost, predict
from tacit.plan.physical.lower_program import Lowered, lower_program
from tacit.plan.physical.placed import PlacedPlan, ProgramStep
from tacit.plan.physical.row_axes import RowAxes, row_axes
from tacit.plan.physical.row_passes import Cut
from tacit.plan.program_steps import Placing
from tacit.plan.programs import operations as ops
from tacit.plan.programs.limits import MOST_AT_ONCE
from tacit.plan.programs.nodes import Node, reachable
from tacit.plan.programs.refusals import ProgramError

MOST_BLOCKS = 1 << 12
"""The plan has some steps for each block in each pass, and every party prices them all."""

LEAST_GAIN = 0.9
"""Twice as many blocks have to need less than this part of the memory, or more of them are of no use."""


@dataclass(frozen=True)
class Cuttable:
    """A program whose totals are truncated in instructions of their own. given: the indices of inputs by rows."""

    lowered: Lowered
    axes: RowAxes
    given: frozenset[int]

    @property
    def bytes(self) -> int:
        """Of a component of the shares of the largest input with rows: a node has more to hold."""
        arrays = (self.lowered.inputs[index].array for index in self.given)
        return max(each.size * each.ring // 8 for each in arrays)

    def into(self, blocks: int) -> Cut:
        """Cut into this number of blocks, as equal as they can be."""
        rows = self.axes.rows
        ends = tuple(rows * (each + 1) // blocks for each in range(blocks))
        return Cut(self.lowered.instructions, self.axes, ends)


def in_memory(most: int | None, placing: Placing, planned: Callable[[Placing], PlacedPlan]) -> PlacedPlan:
    """The plan of a program, in blocks of rows where the memory of a node needs them. most: in bytes, if declared.

    Raises ProgramError where no number of blocks needs less.
    """
    if most is None:
        return _with_arrays_that_fit(planned(placing))
    found = cuttable(placing.outputs, placing.given.arrays)

    def in_blocks(cut: Cut) -> PlacedPlan:
        assert found is not None
        return planned(replace(placing, lowered=found.lowered, cut=cut, by_rows=found.given))

    return _with_arrays_that_fit(within(most, found, lambda: planned(placing), in_blocks))


def _with_arrays_that_fit(plan: PlacedPlan) -> PlacedPlan:
    """The plan, refused where a step has more elements of an array than a node can have at once."""
    nodes = (node for step in plan.steps if isinstance(step, ProgramStep) for node in step.operator.nodes)
    largest = max(nodes, key=lambda node: node.size)
    if largest.size > MOST_AT_ONCE:
        raise ProgramError(
            f"a node has at most {MOST_AT_ONCE:,} elements of an array at once, and that of {largest.op} would have "
            f"{largest.size:,}; declare memory under [programs] of the federation file, so that it is cut into blocks "
            "of rows, or compute less that needs all rows at once."
        )
    return plan


def cuttable(outputs: Mapping[str, Node], arrays: Mapping[str, OfferedArray]) -> Cuttable | None:
    """A program that can be cut along the rows of its largest input; None if it has none with rows.

    arrays: owners', by the names of inputs. Columns of tables and of queries are not cut.
    """
    lowered = lower_program(outputs)
    by_rows = {
        index: node.array
        for index, node in enumerate(lowered.inputs)
        if isinstance(node.operation, ops.Input) and _is_array(arrays.get(node.operation.name))
        if len(node.array.shape) > 0 and node.array.shape[0] > 1 and node.array.size > 0
    }
    if not by_rows:
        return None
    rows = max(by_rows.values(), key=lambda array: array.size).shape[0]
    given = frozenset(index for index, array in by_rows.items() if array.shape[0] == rows)
    totals = row_axes(lowered.instructions, rows, given).totals
    apart = frozenset(
        node.args[0].number
        for node in reachable(outputs.values())
        if isinstance(node.operation, ops.Truncate) and lowered.made[node.number] in totals
    )
    lowered = lower_program(outputs, apart)
    return Cuttable(lowered, row_axes(lowered.instructions, rows, given), given)


def _is_array(offered: OfferedArray | None) -> bool:
    return offered is not None and not isinstance(offered, TableArray)


def within(
    most: int, found: Cuttable | None, whole: Callable[[], PlacedPlan], placed: Callable[[Cut], PlacedPlan]
) -> PlacedPlan:
    """A plan of which no step needs more memory of a node. whole: the plan without blocks. placed: that of a cut.

    Steps of a program in blocks take half of it at most if that can be, so that blocks stay in memory beside them.
    Raises ProgramError where there is no such plan.
    """
    if found is None or found.bytes <= most:
        plan = whole()
        if found is None or _largest(plan).memory_alone <= most:
            return _admitted(plan, most)
    finest = min(found.axes.rows, MOST_BLOCKS)
    blocks = min(1 << max(1, (2 * found.bytes // most).bit_length()), finest)
    plan = placed(found.into(blocks))
    needed = _largest(plan).memory_alone
    while needed > most // 2 and blocks < finest:
        blocks = min(2 * blocks, finest)
        finer = placed(found.into(blocks))
        least = _largest(finer).memory_alone
        if least > LEAST_GAIN * needed:
            break
        plan, needed = finer, least
    return _admitted(plan, most)


def _admitted(plan: PlacedPlan, most: int) -> PlacedPlan:
    """The plan, refused where a step needs more memory than there is."""
    largest = _largest(plan)
    if largest.memory_alone <= most:
        return plan
    raise ProgramError(
        f"{largest.step} needs about {memory(largest.memory_alone)} of a node's memory, and the federation declares "
        f"{memory(most)} under [programs]. Smaller blocks of rows do not help: declare more, or compute less that "
        "needs all rows at once, such as sorting along them."
    )


def _largest(plan: PlacedPlan) -> StepCost:
    return max(predict(plan), key=lambda cost: cost.memory_alone)
