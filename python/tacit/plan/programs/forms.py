"""Operations as JSON: a name, and their fields as parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, get_args

from tacit.plan.programs import operations as ops
from tacit.plan.programs.dtypes import DTYPES
from tacit.plan.programs.operations import Operation
from tacit.plan.programs.refusals import ProgramError

PLAIN: tuple[type[Operation], ...] = tuple(
    each
    for group in (ops.Bilinear, ops.Logic, ops.Arithmetic, ops.Format, ops.Shaping, ops.Along)
    for each in (get_args(group) or (group,))
    if each is not ops.Known
)
"""The operations that are their fields and nothing else."""

LARGEST = 1 << 127
"""Parameters are nearer to zero than this."""

MOST_AXES = 32
MOST_SHOWN = 8


def name_of(operation: type[Operation]) -> str:
    """The name of an operation in texts and instructions."""
    name = operation.__name__.replace("MatMul", "Matmul")
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


NAMED = {name_of(each): each for each in PLAIN}


def parameters(operation: Operation) -> dict[str, Any]:
    """The fields of an operation as JSON."""
    return {each.name: _written(getattr(operation, each.name)) for each in fields(operation)}


def _written(value: Any) -> Any:
    return [_written(each) for each in value] if isinstance(value, tuple) else value


def operation_of(name: str, given: Mapping[str, Any]) -> Operation:
    """The operation of a name with parameters, each of its type and size."""
    kind = NAMED.get(name)
    if kind is None:
        raise ProgramError(f"there is no operation {name[:40]!r}.")
    wanted = [each.name for each in fields(kind)]
    if sorted(given) != sorted(wanted):
        shown = ", ".join(repr(each[:20]) for each in [*given][:MOST_SHOWN]) or "none"
        raise ProgramError(f"{name} has the parameters {', '.join(wanted) or 'none'}, and not {shown}.")
    return kind(**{each: _read(each, given[each]) for each in wanted})


def _read(name: str, value: Any) -> Any:
    try:
        return READERS[name](value)
    except ValueError:
        raise ProgramError(f"the parameter {name} has no such value: {shown(value)}.") from None


def shown(value: Any) -> str:
    """A value for people. Lists may be as long and as deep as a text can be."""
    return f"a list of {len(value):,}" if isinstance(value, list | dict) else repr(value)[:40]


def integer(value: Any) -> int:
    """An integer of at most 127 bits."""
    if type(value) is not int or not -LARGEST < value < LARGEST:
        raise ValueError
    return value


def count(value: Any) -> int:
    """An integer of at least zero."""
    if integer(value) < 0:
        raise ValueError
    return int(value)


def flag(value: Any) -> bool:
    """True or False."""
    if type(value) is not bool:
        raise ValueError
    return value


def items(of: Callable[[Any], Any], most: int | None = None) -> Callable[[Any], tuple[Any, ...]]:
    """A list of such values, with at most this number of them."""

    def read(value: Any) -> tuple[Any, ...]:
        if type(value) is not list or (most is not None and len(value) > most):
            raise ValueError
        return tuple(map(of, value))

    return read


def word(*words: str) -> Callable[[Any], str]:
    """One of some words."""

    def read(value: Any) -> str:
        if type(value) is not str or value not in words:
            raise ValueError
        return value

    return read


def _triple(value: Any) -> tuple[int, ...]:
    found = items(integer, 3)(value)
    if len(found) != 3:
        raise ValueError
    return found


def _pair(value: Any) -> tuple[int, ...]:
    found = items(count, 2)(value)
    if len(found) != 2:
        raise ValueError
    return found


READERS: dict[str, Callable[[Any], Any]] = {
    "bits": count,
    "floor": flag,
    "largest": flag,
    "axis": count,
    "fraction": count,
    "low": integer,
    "high": integer,
    "dtype": word(*DTYPES),
    "name": word(*get_args(ops.FunctionName)),
    "shape": items(count, MOST_AXES),
    "gives": word(*get_args(ops.Gives)),
    "size": _pair,
    "window": _pair,
    "stride": _pair,
    "padding": _pair,
    "axes": items(count, MOST_AXES),
    "ranges": items(_triple, MOST_AXES),
    "positions": items(count),
}
"""How each parameter is read."""
