"""Results of a program that the nodes keep as a table, from Python: SQL and other programs read it later."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy

from tacit.agent.diagnosis import as_run_error
from tacit.agent.federated import Asking, Pending
from tacit.array.program import Program
from tacit.array.tracing import named_results
from tacit.plan.programs.refusals import ProgramError

PRECISION = 18
"""Decimal digits of a column of numbers that are no integers."""
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass
class Columns:
    """The columns of a table, made of what a function returns. names: in order; None for those of the results.

    scale: decimal digits behind the point of numbers that are no integers. rounded: the columns of such numbers, once
    the function is traced.
    """

    names: Sequence[str] | None
    scale: int
    rounded: dict[str, bool] = field(default_factory=dict)

    def of(self, result: Any) -> dict[str, Any]:
        """Each vector, and each column of a matrix, in whole numbers."""
        found = [each for name, array in named_results(result).items() for each in _split(name, array)]
        names = [name for name, _ in found] if self.names is None else list(self.names)
        if len(names) != len(found) or len({*names}) != len(names):
            raise ProgramError(f"there are {len(found)} columns, and {len({*names})} names for them; name each once.")
        wrong = [each for each in names if not NAME.fullmatch(each)]
        if wrong:
            raise ProgramError(f"{wrong[0]!r} names no column; give columns=[...] of letters, digits and _.")
        columns = {name: array for name, (_, array) in zip(names, found, strict=True)}
        self.rounded = {name: numpy.dtype(array.dtype).kind == "f" for name, array in columns.items()}
        return {name: self._whole(name, array) for name, array in columns.items()}

    def _whole(self, name: str, column: Any) -> Any:
        return numpy.floor(column * 10**self.scale + 0.5).astype("int64") if self.rounded[name] else column

    @property
    def listed(self) -> str:
        """As the statement has them."""
        decimal = f" DECIMAL({PRECISION}, {self.scale})"
        return ", ".join(f"{name}{decimal * rounded}" for name, rounded in self.rounded.items())


def _split(name: str, array: Any) -> list[tuple[str, Any]]:
    """A vector as it is, a matrix column by column."""
    if numpy.ndim(array) == 1:
        return [(name, array)]
    if numpy.ndim(array) != 2:
        raise ProgramError(f"the result {name} is neither a vector nor a matrix, and columns are; reshape it.")
    return [(f"{name}_{place}", array[:, place]) for place in range(numpy.shape(array)[1])]


@as_run_error()
def statement(name: str, asked: Pending, columns: Columns, again: bool) -> str:
    """The text by which all parties keep a program's results under a name. again: in place of such a table."""
    if not NAME.fullmatch(name):
        raise ProgramError(f"{name!r} cannot name a kept table; use letters, digits and _.")
    if not 0 <= columns.scale < PRECISION:
        raise ProgramError(f"numbers have 0 to {PRECISION - 1} digits behind the point, and not {columns.scale}.")
    of = asked.program
    program = Program(of.function, of.own, of.settings, of.public, of.arguments, columns.of, of.parts)
    text = replace(asked, program=program).text
    return f"CREATE {'OR REPLACE ' * again}TABLE {name} ({columns.listed}) AS {text}"


def keep(
    connection: Asking,
    name: str,
    pending: Pending,
    columns: Sequence[str] | None,
    scale: int,
    again: bool,
) -> None:
    """Run a program, whose results nobody sees: the nodes keep them as a table. Raises RunError.

    columns, scale: as of ``Columns``. again: a kept table of this name gives way.
    """
    done = connection.run(connection.plan(statement(name, pending, Columns(columns, scale), again)))
    if done.unrecorded is not None:
        warnings.warn(str(done.unrecorded), RuntimeWarning, stacklevel=3)
