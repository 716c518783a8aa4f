"""Layers of networks. A layer keeps no numbers: its parameters are arrays that stand beside its input.

Each takes a batch, (examples, *shape). Weights have one row an output or a filter. An owner may declare a bound of the
norms of rows, which bounds what comes out of the layer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import Any

import numpy

import tacit.array.namespace as np
from tacit.ml import convolution
from tacit.ml.convolution import Grid
from tacit.plan.programs.operations import Pair
from tacit.plan.programs.refusals import ProgramError

Shape = tuple[int, ...]
Parameters = Sequence[Any]
Shapes = dict[str, Shape]


class Layer(ABC):
    """One layer. Shapes are of one example."""

    @property
    def kind(self) -> str:
        """The first part of its parameters' names."""
        name = type(self).__name__
        return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).strip("_")

    def shape(self, before: Shape) -> Shape:
        """The shape of the result."""
        return before

    def parameters(self, before: Shape) -> Shapes:
        """The shapes of its parameters by their names, in their order."""
        return {}

    def initial(self, before: Shape, generator: numpy.random.Generator, factor: float) -> list[Any]:
        """Public parameters to start training from. factor: that of Glorot's bound."""
        return []

    @abstractmethod
    def forward(self, x: Any, parameters: Parameters) -> Any:
        """The result for a batch."""

    @abstractmethod
    def backward(self, gradient: Any, x: Any, y: Any, parameters: Parameters) -> Any:
        """The gradient of a loss by the input. x, y: input and result. gradient: that of the loss by the result."""

    def slopes(self, gradient: Any, x: Any, parameters: Parameters) -> list[Any]:
        """The gradients of a loss by the parameters, added up over the batch."""
        return []


def _glorot(generator: numpy.random.Generator, fan_in: int, fan_out: int, factor: float, shape: Shape) -> Any:
    """Uniform numbers within sqrt(factor / (fan_in + fan_out)). Glorot, Bengio (AISTATS 2010), section 4.2."""
    bound = sqrt(factor / (fan_in + fan_out))
    return generator.uniform(-bound, bound, shape)


@dataclass(frozen=True)
class Dense(Layer):
    """x @ weight.T + bias. weight: (units, inputs)."""

    units: int

    def shape(self, before: Shape) -> Shape:
        """One axis. Raises ProgramError if an example has more than one."""
        if len(before) != 1:
            raise ProgramError(f"a dense layer takes vectors, not examples of shape {before}; put Flatten() before it.")
        return (self.units,)

    def parameters(self, before: Shape) -> Shapes:
        """Weight and bias."""
        return {"weight": (self.units, before[0]), "bias": (self.units,)}

    def initial(self, before: Shape, generator: numpy.random.Generator, factor: float) -> list[Any]:
        """Glorot's."""
        return [_glorot(generator, before[0], self.units, factor, each) for each in self.parameters(before).values()]

    def forward(self, x: Any, parameters: Parameters) -> Any:
        """One product of matrices."""
        weight, bias = parameters
        return x @ weight.T + bias

    def backward(self, gradient: Any, x: Any, y: Any, parameters: Parameters) -> Any:
        """One product of matrices."""
        return gradient @ parameters[0]

    def slopes(self, gradient: Any, x: Any, parameters: Parameters) -> list[Any]:
        """One product of matrices, and a sum."""
        return [gradient.T @ x, np.sum(gradient, axis=0)]


@dataclass(frozen=True)
class Convolution(Layer):
    """Cross-correlation with filters. weight: (filters, channels x height x width of the kernel).

    padding: rows and columns of zeros on each side.
    """

    filters: int
    kernel: int | Pair
    stride: int | Pair = 1
    padding: int | Pair = 0

    def grid(self, size: Shape) -> Grid:
        """Where the kernels stand."""
        return _grid(size, self.kernel, self.stride, self.padding)

    def shape(self, before: Shape) -> Shape:
        """As many channels as filters. Raises ProgramError if an example is no image."""
        return (self.filters, *self.grid(_image(before, "a convolution")).output)

    def parameters(self, before: Shape) -> Shapes:
        """Weight and bias."""
        return {"weight": (self.filters, before[0] * prod(_pair(self.kernel))), "bias": (self.filters,)}

    def initial(self, before: Shape, generator: numpy.random.Generator, factor: float) -> list[Any]:
        """Glorot's, of the inputs and outputs that one kernel joins."""
        field = prod(_pair(self.kernel))
        fans = before[0] * field, self.filters * field
        return [_glorot(generator, *fans, factor, each) for each in self.parameters(before).values()]

    def forward(self, x: Any, parameters: Parameters) -> Any:
        """One convolution."""
        weight, bias = parameters
        return convolution.convolve(x, weight, self.grid(x.shape[2:])) + bias[:, None, None]

    def backward(self, gradient: Any, x: Any, y: Any, parameters: Parameters) -> Any:
        """One convolution."""
        return convolution.convolve_back(gradient, parameters[0], self.grid(x.shape[2:]))

    def slopes(self, gradient: Any, x: Any, parameters: Parameters) -> list[Any]:
        """One convolution, and a sum."""
        return [convolution.convolve_slopes(gradient, x, self.grid(x.shape[2:])), np.sum(gradient, axis=(0, 2, 3))]


@dataclass(frozen=True)
class Pool(Layer):
    """What pools have in common. stride: that of the windows, their own size where none is given."""

    kernel: int | Pair
    stride: int | Pair | None = None

    def grid(self, size: Shape) -> Grid:
        """Where the windows stand."""
        return _grid(size, self.kernel, self.kernel if self.stride is None else self.stride, 0)

    def shape(self, before: Shape) -> Shape:
        """As many channels as before. Raises ProgramError if an example is no image."""
        return (before[0], *self.grid(_image(before, "a pool")).output)


@dataclass(frozen=True)
class MaxPool(Pool):
    """The largest of each window: one comparison for each further element."""

    def forward(self, x: Any, parameters: Parameters) -> Any:
        """A tournament in each window."""
        return convolution.max_pool(x, self.grid(x.shape[2:]))

    def backward(self, gradient: Any, x: Any, y: Any, parameters: Parameters) -> Any:
        """To the first of the largest."""
        return convolution.max_pool_back(gradient, x, self.grid(x.shape[2:]))


@dataclass(frozen=True)
class AveragePool(Pool):
    """The mean of each window, which sends nothing but its truncation."""

    def forward(self, x: Any, parameters: Parameters) -> Any:
        """A sum, and a public factor."""
        return convolution.average_pool(x, self.grid(x.shape[2:]))

    def backward(self, gradient: Any, x: Any, y: Any, parameters: Parameters) -> Any:
        """Equal shares."""
        return convolution.average_pool_back(gradient, self.grid(x.shape[2:]))


@dataclass(frozen=True)
class PooledConvolution(Layer):
    """A convolution and the average pool behind it as one convolution: of the image's own means, at fewer places."""

    convolution: Convolution
    pool: AveragePool

    @property
    def kind(self) -> str:
        """That of the convolution."""
        return self.convolution.kind

    def means(self, size: Shape) -> Grid:
        """Where windows of the image stand that a window of the pool adds up."""
        filters = self.convolution.grid(size)
        return Grid(filters.size, _pair(self.pool.kernel), (1, 1), filters.padding, filters.stride)

    def grid(self, size: Shape) -> Grid:
        """Where the kernels stand on the means."""
        filters = self.convolution.grid(size)
        steps = self.pool.grid(filters.output).stride
        stride = filters.stride[0] * steps[0], filters.stride[1] * steps[1]
        return Grid(self.means(size).output, filters.kernel, stride)

    def shape(self, before: Shape) -> Shape:
        """That of the pool."""
        return self.pool.shape(self.convolution.shape(before))

    def parameters(self, before: Shape) -> Shapes:
        """Those of the convolution."""
        return self.convolution.parameters(before)

    def initial(self, before: Shape, generator: numpy.random.Generator, factor: float) -> list[Any]:
        """Those of the convolution."""
        return self.convolution.initial(before, generator, factor)

    def forward(self, x: Any, parameters: Parameters) -> Any:
        """One convolution."""
        weight, bias = parameters
        means = convolution.average_pool(x, self.means(x.shape[2:]))
        return convolution.convolve(means, weight, self.grid(x.shape[2:])) + bias[:, None, None]

    def backward(self, gradient: Any, x: Any, y: Any, parameters: Parameters) -> Any:
        """One convolution."""
        found = convolution.convolve_back(gradient, parameters[0], self.grid(x.shape[2:]))
        return convolution.average_pool_back(found, self.means(x.shape[2:]))

    def slopes(self, gradient: Any, x: Any, parameters: Parameters) -> list[Any]:
        """One convolution, and a sum."""
        means = convolution.average_pool(x, self.means(x.shape[2:]))
        return [convolution.convolve_slopes(gradient, means, self.grid(x.shape[2:])), np.sum(gradient, axis=(0, 2, 3))]


@dataclass(frozen=True)
class Flatten(Layer):
    """Examples as vectors."""

    def shape(self, before: Shape) -> Shape:
        """One axis."""
        return (prod(before),)

    def forward(self, x: Any, parameters: Parameters) -> Any:
        """The same elements."""
        return x.reshape(x.shape[0], prod(x.shape[1:]))

    def backward(self, gradient: Any, x: Any, y: Any, parameters: Parameters) -> Any:
        """The same elements."""
        return gradient.reshape(x.shape)


@dataclass(frozen=True)
class Relu(Layer):
    """max(x, 0)."""

    def forward(self, x: Any, parameters: Parameters) -> Any:
        """One comparison an element."""
        return np.maximum(x, 0)

    def backward(self, gradient: Any, x: Any, y: Any, parameters: Parameters) -> Any:
        """Where the input is above zero."""
        return np.where(x > 0, gradient, 0.0)


@dataclass(frozen=True)
class Sigmoid(Layer):
    """1 / (1 + exp(-x))."""

    def forward(self, x: Any, parameters: Parameters) -> Any:
        """One function an element."""
        return np.sigmoid(x)

    def backward(self, gradient: Any, x: Any, y: Any, parameters: Parameters) -> Any:
        """y (1 - y)."""
        return gradient * (y * (1 - y))


@dataclass(frozen=True)
class Tanh(Layer):
    """The hyperbolic tangent."""

    def forward(self, x: Any, parameters: Parameters) -> Any:
        """One function an element."""
        return np.tanh(x)

    def backward(self, gradient: Any, x: Any, y: Any, parameters: Parameters) -> Any:
        """1 - y^2."""
        return gradient * (1 - y * y)


@dataclass(frozen=True)
class BatchNormalization(Layer):
    """scale (x - mean) / sqrt(variance + epsilon) + shift by public or private numbers of each channel.

    Ioffe, Szegedy (ICML 2015), algorithm 2. Networks are trained without: their statistics are parameters.
    """

    epsilon: float = 1e-5

    def parameters(self, before: Shape) -> Shapes:
        """Four numbers a channel."""
        return dict.fromkeys(("scale", "shift", "mean", "variance"), before[:1])

    def initial(self, before: Shape, generator: numpy.random.Generator, factor: float) -> list[Any]:
        """Those that change nothing but by epsilon."""
        return [each(before[0]) for each in (numpy.ones, numpy.zeros, numpy.zeros, numpy.ones)]

    def forward(self, x: Any, parameters: Parameters) -> Any:
        """One factor and one summand a channel."""
        factor, summand = affine(parameters, self.epsilon)
        axes = (-1, *(1,) * (x.ndim - 2))
        return x * factor.reshape(axes) + summand.reshape(axes)

    def backward(self, gradient: Any, x: Any, y: Any, parameters: Parameters) -> Any:
        """Refused."""
        raise ProgramError("a network with batch normalisation is not trained; train one without, or fold it before.")


def affine(parameters: Parameters, epsilon: float) -> tuple[Any, Any]:
    """A batch normalisation as one factor and one summand a channel."""
    scale, shift, mean, variance = parameters
    factor = scale * np.rsqrt(variance + epsilon)
    return factor, shift - mean * factor


def _pair(value: int | Pair) -> Pair:
    return (value, value) if isinstance(value, int) else (value[0], value[1])


def _grid(size: Shape, kernel: int | Pair, stride: int | Pair, padding: int | Pair) -> Grid:
    rows, columns = _pair(padding)
    return Grid((size[0], size[1]), _pair(kernel), _pair(stride), (rows, columns, rows, columns))


def _image(shape: Shape, what: str) -> Shape:
    if len(shape) != 3:
        raise ProgramError(f"{what} takes images of (channels, height, width), not examples of shape {shape}.")
    return shape[1:]
