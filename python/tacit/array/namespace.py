"""The namespace tacit.numpy: NumPy's functions, which take private arrays by its protocols, and a few of its own.

On NumPy's own arrays every function gives the clear result.
"""

from __future__ import annotations

import sys as _sys
from math import erf as _erf
from typing import Any, Literal

import numpy
from numpy import (
    abs,
    absolute,
    add,
    all,
    any,
    arange,
    argmax,
    argmin,
    argsort,
    array,
    asarray,
    astype,
    atleast_1d,
    broadcast_to,
    ceil,
    clip,
    column_stack,
    concat,
    concatenate,
    copy,
    cos,
    count_nonzero,
    cumsum,
    diag,
    diff,
    divide,
    dot,
    e,
    einsum,
    equal,
    exp,
    exp2,
    expand_dims,
    expm1,
    eye,
    flip,
    float32,
    float64,
    floor,
    floor_divide,
    full_like,
    greater,
    greater_equal,
    hstack,
    identity,
    inner,
    int8,
    int16,
    int32,
    int64,
    invert,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    linspace,
    log,
    log1p,
    log2,
    log10,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    matmul,
    matrix_transpose,
    max,
    maximum,
    mean,
    median,
    min,
    minimum,
    mod,
    moveaxis,
    multiply,
    ndarray,
    ndim,
    negative,
    newaxis,
    not_equal,
    ones_like,
    outer,
    pad,
    permute_dims,
    pi,
    positive,
    power,
    prod,
    ptp,
    ravel,
    reciprocal,
    remainder,
    repeat,
    reshape,
    result_type,
    roll,
    searchsorted,
    shape,
    sign,
    sin,
    size,
    sort,
    split,
    sqrt,
    square,
    squeeze,
    stack,
    std,
    subtract,
    sum,
    swapaxes,
    take,
    tanh,
    tile,
    trace,
    transpose,
    tri,
    tril,
    triu,
    true_divide,
    trunc,
    uint8,
    uint16,
    uint32,
    var,
    vdot,
    vecdot,
    vstack,
    where,
    zeros_like,
)  # fmt: skip
from numpy import bool_ as bool
from numpy import pow as pow

from tacit.array import functions as _functions  # noqa: F401  (fills what NumPy calls)
from tacit.array import indexing as _indexing  # noqa: F401  (fills what Python calls)
from tacit.array import linalg, random
from tacit.array import reductions as _reductions
from tacit.array.convolution import conv2d
from tacit.array.operands import as_node as _as_node
from tacit.array.operands import public as _public
from tacit.array.private import ACTIVE as _ACTIVE
from tacit.array.private import NAMESPACES as _NAMESPACES
from tacit.array.private import PrivateArray
from tacit.array.ufuncs import operands as _operands
from tacit.plan.programs import functions as _nodes
from tacit.plan.programs import ordering as _ordering
from tacit.plan.programs.operations import FunctionName as _FunctionName
from tacit.plan.programs.refusals import ProgramError as _ProgramError
from tacit.plan.programs.shapes import axis_of as _axis_of

__all__ = [
    "PrivateArray",
    "abs",
    "absolute",
    "add",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "array",
    "asarray",
    "astype",
    "atleast_1d",
    "bool",
    "bound",
    "broadcast_to",
    "ceil",
    "clip",
    "column_stack",
    "concat",
    "concatenate",
    "conv2d",
    "copy",
    "cos",
    "count_nonzero",
    "cumsum",
    "diag",
    "diff",
    "divide",
    "dot",
    "e",
    "einsum", "empty",
    "equal",
    "erf",
    "exp",
    "exp2",
    "expand_dims",
    "expm1",
    "eye",
    "flip",
    "float32",
    "float64",
    "floor",
    "floor_divide",
    "full",
    "full_like",
    "greater",
    "greater_equal",
    "hstack",
    "identity",
    "inner",
    "int8",
    "int16",
    "int32",
    "int64",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "linalg",
    "linspace",
    "log",
    "log1p",
    "log2",
    "log10",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "matrix_transpose",
    "max",
    "maximum",
    "mean",
    "median",
    "min",
    "minimum",
    "mod",
    "moveaxis",
    "multiply",
    "ndarray",
    "ndim",
    "negative",
    "newaxis",
    "not_equal",
    "ones",
    "ones_like",
    "outer",
    "pad",
    "permute_dims",
    "pi",
    "positive",
    "pow",
    "power",
    "prod",
    "ptp",
    "random",
    "ravel",
    "reciprocal",
    "remainder",
    "repeat",
    "reshape",
    "result_type",
    "roll",
    "rsqrt",
    "searchsorted",
    "shape",
    "sigmoid",
    "sign",
    "sin",
    "size",
    "softmax",
    "sort",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "subtract",
    "sum",
    "swapaxes",
    "take",
    "tanh",
    "tile",
    "trace",
    "transpose",
    "tri",
    "tril",
    "triu",
    "true_divide",
    "trunc",
    "uint8",
    "uint16",
    "uint32",
    "unique",
    "var",
    "vdot",
    "vecdot",
    "vstack",
    "where",
    "zeros",
    "zeros_like",
]  # fmt: skip

_Checked = Literal[True, False]

__array_api_version__ = "2024.12"


def _made(made: Any) -> Any:
    """A new array: inside a program one that private elements can be put into."""
    graph = _ACTIVE.get()
    return made if graph is None else PrivateArray(graph, _as_node(graph, _public(made)))


def zeros(shape: Any, dtype: Any = float) -> Any:
    """An array of zeros."""
    return _made(numpy.zeros(shape, dtype))


def ones(shape: Any, dtype: Any = float) -> Any:
    """An array of ones."""
    return _made(numpy.ones(shape, dtype))


def empty(shape: Any, dtype: Any = float) -> Any:
    """An array of zeros, where NumPy has any numbers."""
    return zeros(shape, dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """An array of one number."""
    return _made(numpy.full(shape, fill_value, dtype))


def _function(name: _FunctionName, x: PrivateArray) -> PrivateArray:
    graph, (a,) = _operands(x)
    return PrivateArray(graph, _nodes.function(graph, name, _as_node(graph, a)))


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    if isinstance(x, PrivateArray):
        return _function("sigmoid", x)
    return 0.5 * (1 + numpy.tanh(numpy.asarray(x) / 2))


def rsqrt(x: Any) -> Any:
    """1 / sqrt(x)."""
    return _function("rsqrt", x) if isinstance(x, PrivateArray) else 1 / numpy.sqrt(x)


def erf(x: Any) -> Any:
    """The error function."""
    return _function("erf", x) if isinstance(x, PrivateArray) else numpy.vectorize(_erf, otypes=[float])(x)


def softmax(x: Any, axis: int = -1) -> Any:
    """exp(x) divided by its sum along an axis."""
    if isinstance(x, PrivateArray):
        graph, (a,) = _operands(x)
        return PrivateArray(graph, _nodes.softmax(graph, _as_node(graph, a), _axis_of(axis, x.shape)))
    powers = numpy.exp(x - numpy.max(x, axis=axis, keepdims=True))
    return powers / numpy.sum(powers, axis=axis, keepdims=True)


def unique(x: Any, size: int, fill_value: Any = None) -> Any:
    """The first ``size`` different values in ascending order, then the fill value, or else the smallest value."""
    if isinstance(x, PrivateArray):
        return _reductions.unique(x, size, fill_value)
    found = numpy.unique(x)[:size]
    fill = found[0] if fill_value is None else fill_value
    return numpy.concatenate([found, numpy.full(size - len(found), fill, dtype=found.dtype)])


def bound(x: Any, largest: float, check: _Checked = False) -> Any:
    """The array, checked by the run to be between -largest and largest.

    One bit for all checks of a run is opened at its end, which is a disclosure; a run that fails reveals nothing else.
    """
    if not check:
        raise _ProgramError("a bound that nothing checks proves nothing; write tacit.bound(x, largest, check=True).")
    if isinstance(x, PrivateArray):
        graph, (a,) = _operands(x)
        return PrivateArray(graph, _ordering.bound(graph, _as_node(graph, a), _public(largest)))
    if numpy.max(numpy.abs(x), initial=0) > largest:
        raise _ProgramError(f"a checked bound of {largest} does not hold; nothing is revealed.")
    return x


_NAMESPACES.append(_sys.modules[__name__])
