"""Windows over what the answer shows anyway are the recipient's work.

Where the columns by which windows divide and order rows, and those that they are over, are all in the answer, whoever
sees it can compute the windows. Nothing more is opened than without them. That holds only where the answer has all rows
that the windows are over, so not beneath a LIMIT or a condition on their values. Functions that tell rows apart which
are equal in partition and order stay under MPC, where all recipients get the same.
"""

from __future__ import annotations

from dataclasses import replace

from tacit.plan.algebra.relations import ColumnRef, Expr, Relation, Window, WindowOutput
from tacit.plan.facts.fields import columns_of

Outputs = tuple[tuple[str, Expr], ...]
AGGREGATES = ("count_rows", "count", "sum", "min", "max")


def clear_windows(base: Relation, outputs: Outputs, keys: tuple[Expr, ...]) -> tuple[Window, ...]:
    """Those windows at the top of a base that follow from the outputs over it, the lowest one last.

    keys: what the answer is ordered by.
    """
    stack = list[Window]()
    while isinstance(base, Window):
        stack.append(base)
        base = base.input
    found = (tuple(stack[:number]) for number in range(len(stack), 0, -1))
    return next((each for each in found if _follow(each, outputs, keys)), ())


def over(windows: tuple[Window, ...], input: Relation) -> Relation:
    """The same windows over another input."""
    for each in reversed(windows):
        input = replace(each, input=input)
    return input


def given(windows: tuple[Window, ...]) -> frozenset[str]:
    """The columns that windows add."""
    return frozenset(each.name for window in windows for each in window.outputs)


def taken(windows: tuple[Window, ...]) -> frozenset[str]:
    """The columns that windows compute with, but for those that they add."""
    by = {name for each in windows for name in (*each.partition, *(key.column for key in each.order))}
    arguments = {name for each in windows for output in each.outputs for name in (output.column, output.default)}
    return frozenset(name for name in by | arguments if name is not None) - given(windows)


def _follow(windows: tuple[Window, ...], outputs: Outputs, keys: tuple[Expr, ...]) -> bool:
    added = given(windows)
    shown = {each.name for _, each in outputs if isinstance(each, ColumnRef)} - added
    mixed = [columns_of(each) for _, each in outputs if columns_of(each) & added]
    needed = taken(windows).union(*mixed, *map(columns_of, keys)) - added
    return needed <= shown and not any(_tells_peers_apart(each) for window in windows for each in window.outputs)


def _tells_peers_apart(output: WindowOutput) -> bool:
    """Whether rows that are equal in partition and order may have different values."""
    if output.function in AGGREGATES:
        return output.frame.unit == "rows" and (output.frame.start, output.frame.end) != (None, None)
    return output.function not in ("rank", "dense_rank")
