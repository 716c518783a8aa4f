"""Networks as a sequence of layers: inference and training on private data, private parameters, or both.

Training by stochastic gradient descent on shares is that of Mohassel, Zhang (SecureML, S&P 2017), section 4. Keller,
Sun (ICML 2022) show that it needs some 20 bits after the point.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from math import prod
from typing import Any

import numpy

import tacit.array.namespace as np
from tacit.ml.layers import (
    AveragePool,
    BatchNormalization,
    Convolution,
    Dense,
    Flatten,
    Layer,
    MaxPool,
    Pool,
    PooledConvolution,
    Relu,
    Shape,
    Sigmoid,
    Tanh,
    affine,
)
from tacit.plan.programs.refusals import ProgramError

Named = Mapping[str, Any]
"""Parameters by their names."""


class Network:
    """Layers one behind the other. input_shape: of one example, for images (channels, height, width).

    An activation before a max-pool is computed behind it, on fewer elements, and a convolution and the average pool
    behind it are one product. The numbers are the same.
    """

    def __init__(self, layers: Iterable[Layer], input_shape: Shape) -> None:
        self.layers = _pooled_first([*layers])
        self.input_shape = tuple(input_shape)
        self.shapes: dict[str, Shape] = {}
        self.names: list[list[str]] = []
        shape, counts = self.input_shape, dict[str, int]()
        for layer in self.layers:
            after = layer.shape(shape)
            found = layer.parameters(shape)
            counts[layer.kind] = counts.get(layer.kind, 0) + 1
            self.names.append([f"{layer.kind}{counts[layer.kind]}_{name}" for name in found])
            self.shapes |= dict(zip(self.names[-1], found.values(), strict=True))
            shape = after
        self.output_shape = shape

    def initial(self, seed: int = 0, factor: float = 6.0) -> dict[str, Any]:
        """Public parameters to start training from. factor: 6 for all activations but the sigmoid, which has 2."""
        generator, shape, found = numpy.random.default_rng(seed), self.input_shape, dict[str, Any]()
        for layer, names in zip(self.layers, self.names, strict=True):
            found |= dict(zip(names, layer.initial(shape, generator, factor), strict=True))
            shape = layer.shape(shape)
        return found

    def __call__(self, x: Any, parameters: Named) -> Any:
        """The result for a batch: (examples, *output_shape). x: (examples, *input_shape), or examples as vectors."""
        return self._forward(x, parameters)[-1]

    def predict(self, x: Any, parameters: Named) -> Any:
        """The position of the largest output of each example."""
        return np.argmax(self(x, parameters), axis=-1)

    def _forward(self, x: Any, parameters: Named) -> list[Any]:
        """The input of each layer, and the result."""
        missing = [name for name in self.shapes if name not in parameters]
        if missing:
            raise ProgramError(f"the network has no {missing[0]}; give all of {', '.join(self.shapes)}.")
        for name, shape in self.shapes.items():
            if tuple(parameters[name].shape) != shape:
                raise ProgramError(f"{name} has the shape {tuple(parameters[name].shape)} instead of {shape}.")
        if prod(x.shape[1:]) != prod(self.input_shape):
            raise ProgramError(f"examples have the shape {tuple(x.shape[1:])} instead of {self.input_shape}.")
        found = [x.reshape(x.shape[0], *self.input_shape)]
        for layer, names in zip(self.layers, self.names, strict=True):
            found.append(layer.forward(found[-1], [parameters[name] for name in names]))
        return found

    def step(
        self, x: Any, distance: Callable[[Any], Any], parameters: Named, rate: float, alpha: float, bound: float
    ) -> dict[str, Any]:
        """Parameters after one step of gradient descent.

        distance: the gradient of an example's loss by the network's output. alpha: of half the squared weights in the
        loss of the batch, divided by its examples. bound: parameters are clipped to it on both sides.
        """
        seen = self._forward(x, parameters)
        gradient, factor, found = distance(seen[-1]), rate / x.shape[0], dict[str, Any]()
        for place in reversed(range(len(self.layers))):
            layer, names = self.layers[place], self.names[place]
            own = [parameters[name] for name in names]
            slopes = layer.slopes(gradient, seen[place], own)
            for name, value, slope in zip(names, own, slopes, strict=bool(slopes)):
                decay = alpha * factor if value.ndim > 1 else 0.0
                moved = value * (1 - decay) if decay else value
                found[name] = np.clip(moved - factor * slope, -bound, bound)
            if any(self.names[:place]):
                gradient = layer.backward(gradient, seen[place], seen[place + 1], own)
        return {name: found[name] for name in self.shapes}

    def folded(self, parameters: Named) -> tuple[Network, dict[str, Any]]:
        """The network without batch normalisations right behind a convolution or dense layer, and its parameters."""
        layers, found = list[Layer](), list[list[Any]]()
        for layer, names in zip(self.layers, self.names, strict=True):
            own = [parameters[name] for name in names]
            if isinstance(layer, BatchNormalization) and layers and isinstance(layers[-1], Convolution | Dense):
                weight, bias = found[-1]
                factor, summand = affine(own, layer.epsilon)
                found[-1] = [weight * factor[:, None], bias * factor + summand]
            else:
                layers.append(layer)
                found.append(own)
        network = Network(layers, self.input_shape)
        flat = [each for own in found for each in own]
        return network, dict(zip(network.shapes, flat, strict=True))

    @property
    def function(self) -> Callable[..., Any]:
        """A function of a batch and all parameters, each an argument by its name: what @program takes."""
        return named_function("network", self, self.shapes)

    @property
    def classify(self) -> Callable[..., Any]:
        """The same for the position of the largest output."""
        return named_function("classify", self.predict, self.shapes)


def named_function(title: str, evaluate: Callable[[Any, Named], Any], names: Iterable[str]) -> Callable[..., Any]:
    """A function of x and parameters as one of x and arguments with their names."""

    def call(x: Any, **parameters: Any) -> Any:
        return evaluate(x, parameters)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    arguments = [inspect.Parameter(name, kind) for name in ("x", *names)]
    call.__signature__ = inspect.Signature(arguments)  # type: ignore[attr-defined]
    call.__name__ = title
    return call


def _pooled_first(layers: list[Layer]) -> list[Layer]:
    """Layers with pools where they cost least."""
    found = list[Layer]()
    for layer in layers:
        match [*found[-1:], layer]:
            case [Relu() | Sigmoid() | Tanh() as before, MaxPool()]:
                found[-1:] = [layer, before]
            case [Convolution() as before, AveragePool() as pool]:
                found[-1:] = [PooledConvolution(before, pool)]
            case _:
                found.append(layer)
    return found


def lenet5(pool: type[Pool] = AveragePool, activation: type[Layer] = Sigmoid, normalized: bool = False) -> Network:
    """LeNet-5 for images of 28 x 28 with ten outputs; pools stand before activations, as in LeCun et al.

    normalized: with a batch normalisation behind each convolution. LeCun, Bottou, Bengio, Haffner (Proc. IEEE 1998),
    section II.B, with all maps joined to all maps and a dense output layer.
    """
    between: list[Layer] = [BatchNormalization()] if normalized else []
    convolutions = [Convolution(6, 5, padding=2), *between, pool(2), activation(), Convolution(16, 5), *between]
    dense = [Dense(120), activation(), Dense(84), activation(), Dense(10)]
    return Network([*convolutions, pool(2), activation(), Flatten(), *dense], (1, 28, 28))
