"""What estimators take: matrices of rows by columns, and a target or class for each row."""

from __future__ import annotations

from typing import Any

import numpy

from tacit.array.private import PrivateArray
from tacit.plan.programs.facts import unit
from tacit.plan.programs.refusals import ProgramError


def array(x: Any) -> Any:
    """A private array as it is; lists and tables as NumPy's arrays."""
    return x if isinstance(x, PrivateArray) else numpy.asarray(x)


def matrix(x: Any) -> Any:
    """An array of rows by columns. Raises ProgramError for other shapes."""
    found = array(x)
    if found.ndim != 2 or 0 in found.shape:
        raise ProgramError(f"x has the shape {found.shape}; give rows by columns, at least one of each.")
    return found


def rows_and_targets(x: Any, y: Any) -> tuple[Any, Any]:
    """A matrix, and a number for each of its rows. Raises ProgramError for other shapes."""
    found, target = matrix(x), array(y)
    if target.shape != (len(found),):
        raise ProgramError(f"y has the shape {target.shape}, and x has {len(found)} rows; give one number a row.")
    return found, target


def as_wide(x: Any, columns: int) -> Any:
    """A matrix with as many columns as a model has. Raises ProgramError for another number."""
    found = matrix(x)
    if found.shape[1] != columns:
        raise ProgramError(f"x has {found.shape[1]} columns, and the model has {columns}; give the model's columns.")
    return found


def labels(y: Any, classes: int) -> Any:
    """Classes from 0 to classes - 1. Raises ProgramError where the declared range has others, or a public array."""
    if classes < 2:
        raise ProgramError(f"there are {classes} classes; give at least two.")
    low, high = _range(y)
    if low < 0 or high > classes - 1:
        said = "is declared" if isinstance(y, PrivateArray) else "has numbers"
        raise ProgramError(
            f"y {said} from {low:.6g} to {high:.6g}, and {classes} classes are numbers from 0 to {classes - 1}; set "
            "classes=, or the bounds of y."
        )
    return y


def _range(y: Any) -> tuple[float, float]:
    if isinstance(y, PrivateArray):
        facts = y.node.array
        return float(facts.low * unit(facts.fraction)), float(facts.high * unit(facts.fraction))
    return float(numpy.min(y)), float(numpy.max(y))
