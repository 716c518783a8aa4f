"""What the operators of an ONNX file compute, on batches of examples (opset 21; each operator's section there)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil, prod
from typing import Any

import tacit.array.namespace as np
from tacit.ml import convolution
from tacit.ml.convolution import Grid
from tacit.plan.programs.refusals import ProgramError

Attributes = Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """One operator. inputs: names of results and of parameters, in its order. name: the node's, for messages."""

    operator: str
    name: str
    inputs: tuple[str, ...]
    output: str
    attributes: Attributes = field(default_factory=dict)


def run(step: Step, values: Mapping[str, Any]) -> Any:
    """The result of a step. values: by their names."""
    return OPERATORS[step.operator]([values[each] for each in step.inputs], step.attributes)


def grid(size: tuple[int, ...], attributes: Attributes) -> Grid:
    """Where the kernels of a convolution or pool stand on an image."""
    kernel, strides = _pair(attributes["kernel_shape"]), _pair(attributes.get("strides", (1, 1)))
    dilations = _pair(attributes.get("dilations", (1, 1)))
    pads = tuple(attributes.get("pads", (0, 0, 0, 0)))
    same = attributes.get("auto_pad", "NOTSET")
    if same in ("SAME_UPPER", "SAME_LOWER"):
        sizes = zip(size, strides, dilations, kernel, strict=True)
        total = [max((ceil(n / s) - 1) * s + d * (k - 1) + 1 - n, 0) for n, s, d, k in sizes]
        short, long = [each // 2 for each in total], [each - each // 2 for each in total]
        pads = (*short, *long) if same == "SAME_UPPER" else (*long, *short)
    return Grid((size[0], size[1]), kernel, strides, (pads[0], pads[1], pads[2], pads[3]), dilations)


def _pair(value: Any) -> tuple[int, int]:
    return int(value[0]), int(value[1])


def _dense(values: list[Any], attributes: Attributes) -> Any:
    product = values[0] @ values[1].T
    return product + values[2] if len(values) > 2 else product


def _add(values: list[Any], attributes: Attributes) -> Any:
    return values[0] + values[1]


def _conv(values: list[Any], attributes: Attributes) -> Any:
    x = values[0]
    found = convolution.convolve(x, values[1], grid(x.shape[2:], attributes))
    return found + values[2][:, None, None] if len(values) > 2 else found


def _pooled_conv(values: list[Any], attributes: Attributes) -> Any:
    """A convolution and the average pool behind it: the convolution of the image's means, at the pool's places."""
    x, pool = values[0], attributes["pool"]
    filters = grid(x.shape[2:], attributes)
    steps = _pair(pool.get("strides", (1, 1)))
    means = Grid(filters.size, _pair(pool["kernel_shape"]), (1, 1), filters.padding, filters.stride)
    stride = filters.stride[0] * steps[0], filters.stride[1] * steps[1]
    found = convolution.convolve(
        convolution.average_pool(x, means), values[1], Grid(means.output, filters.kernel, stride)
    )
    return found + values[2][:, None, None] if len(values) > 2 else found


def _max_pool(values: list[Any], attributes: Attributes) -> Any:
    return convolution.max_pool(values[0], grid(values[0].shape[2:], attributes))


def _average_pool(values: list[Any], attributes: Attributes) -> Any:
    with_padding = bool(attributes.get("count_include_pad", 0))
    return convolution.average_pool(values[0], grid(values[0].shape[2:], attributes), with_padding)


def _scale(values: list[Any], attributes: Attributes) -> Any:
    axes = (-1, *(1,) * (values[0].ndim - 2))
    return values[0] * values[1].reshape(axes) + values[2].reshape(axes)


def _reshape(values: list[Any], attributes: Attributes) -> Any:
    x, wanted = values[0], [int(each) for each in attributes["shape"]]
    kept = [x.shape[at + 1] if size == 0 else size for at, size in enumerate(wanted)]
    known = prod(size for size in kept if size != -1)
    filled = [prod(x.shape[1:]) // known if size == -1 else size for size in kept]
    if prod(filled) != prod(x.shape[1:]):
        raise ProgramError(f"a Reshape makes {wanted} of examples of {tuple(x.shape[1:])}; their sizes must agree.")
    return x.reshape(x.shape[0], *filled)


OPERATORS: dict[str, Callable[[list[Any], Attributes], Any]] = {
    "Gemm": _dense,
    "MatMul": _dense,
    "Add": _add,
    "Conv": _conv,
    "PooledConv": _pooled_conv,
    "MaxPool": _max_pool,
    "AveragePool": _average_pool,
    "Scale": _scale,
    "Reshape": _reshape,
    "Flatten": lambda values, attributes: values[0].reshape(values[0].shape[0], prod(values[0].shape[1:])),
    "Relu": lambda values, attributes: np.maximum(values[0], 0),
    "Sigmoid": lambda values, attributes: np.sigmoid(values[0]),
    "Tanh": lambda values, attributes: np.tanh(values[0]),
    "Softmax": lambda values, attributes: np.softmax(values[0], axis=-1),
}
"""Every operator of a step. PooledConv is a convolution with its pool, Scale a batch normalisation by itself."""
