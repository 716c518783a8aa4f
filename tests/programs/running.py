"""Programs traced, evaluated in clear with exact integers, and compared with NumPy within their declared errors."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import numpy

from tacit.array.declared import Declared
from tacit.array.operands import numpy_dtype
from tacit.array.tracing import Traced, trace
from tacit.plan.programs.evaluation import Evaluation, decoded, encoded
from tacit.plan.programs.graph import Settings

SEED = int(os.environ.get("TACIT_SEED", "1"))


def run(traced: Traced, values: Mapping[str, Any], coin: Random | None = None) -> dict[str, Any]:
    """What a traced program gives on its owners' values."""
    inputs = {name: encoded(values[name], node.array) for name, node in traced.inputs.items()}
    evaluation = Evaluation(inputs, coin or Random(SEED))
    found = evaluation.run(traced.outputs.values())
    return {
        name: decoded(integers, node.array)
        for (name, node), integers in zip(traced.outputs.items(), found, strict=True)
    }


def trace_of(function: Callable[..., Any], values: Mapping[str, Any], asked: Settings) -> Traced:
    """A function's trace, with the tightest declarations of its arguments."""
    return trace(function, {name: declaration(value) for name, value in values.items()}, asked)


def compare(
    function: Callable[..., Any],
    values: Mapping[str, Any],
    declared: Mapping[str, Declared] | None = None,
    settings: Settings | None = None,
) -> Traced:
    """Trace a function, and assert that it gives NumPy's result on the values, within the declared error."""
    given = {name: numpy.asarray(value) for name, value in values.items()}
    bounds = declared or {name: declaration(value) for name, value in given.items()}
    traced = trace(function, bounds, settings or Settings())
    results = run(traced, given)
    expected = function(**given)
    named = expected if isinstance(expected, dict) else {"result": expected}
    named = dict(zip(results, expected, strict=True)) if isinstance(expected, tuple | list) else named
    for name, node in traced.outputs.items():
        true = numpy.asarray(named[name])
        assert node.array.shape == true.shape, (node.array.shape, true.shape)
        assert numpy_dtype(node.array.dtype) == (numpy.float64 if true.dtype.kind == "f" else true.dtype)
        same(results[name], true, node.array.absolute_error)
    return traced


def same(found: Any, true: Any, error: Any) -> None:
    """Assert that numbers differ by no more than the error, and NumPy's own rounding."""
    gap = numpy.abs(numpy.asarray(found, dtype=float) - numpy.asarray(true, dtype=float))
    room = float(error) * (1 + 1e-9) + 1e-11 * (1 + numpy.abs(numpy.asarray(true, dtype=float)))
    assert (gap <= room).all(), f"off by {gap.max()}, declared {float(error)}: {found} instead of {true}"


def declaration(value: Any) -> Declared:
    """The tightest declaration of an array."""
    kind = value.dtype.name
    if not value.size or kind == "bool":
        return Declared(value.shape, kind, 0, 1)
    return Declared(value.shape, kind, value.min().item(), value.max().item())
