"""Multi-layer perceptrons with scikit-learn's interface, trained by stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Self

import tacit.array.namespace as np
from tacit.ml.base import Classifier, Regressor
from tacit.ml.batches import batches
from tacit.ml.checks import as_wide, labels, rows_and_targets
from tacit.ml.layers import Dense, Layer, Relu, Sigmoid, Tanh
from tacit.ml.networks import Network
from tacit.plan.programs.refusals import ProgramError

Activation = Literal["relu", "logistic", "tanh"]
ACTIVATIONS: dict[str, type[Layer]] = {"relu": Relu, "logistic": Sigmoid, "tanh": Tanh}
Distance = Callable[[Any, Any], Any]
"""The gradient of an example's loss by the network's output. Its second argument is the target."""


def perceptron(inputs: int, hidden: tuple[int, ...], outputs: int, activation: str) -> Network:
    """Dense layers with activations between them. Raises ProgramError for an activation that is none."""
    if activation not in ACTIVATIONS:
        raise ProgramError(f'activation="{activation}" is not one of {", ".join(ACTIVATIONS)}; give one of them.')
    between = [each for units in hidden for each in (Dense(units), ACTIVATIONS[activation]())]
    return Network([*between, Dense(outputs)], (inputs,))


def descended(network: Network, x: Any, target: Any, distance: Distance, settings: _Settings) -> dict[str, Any]:
    """Parameters of a network after passes over the rows of x, from Glorot's public ones."""
    factor = 2.0 if any(isinstance(each, Sigmoid) for each in network.layers) else 6.0
    parameters = network.initial(settings.random_state, factor)
    for rows in batches(len(x), min(settings.batch_size, len(x)), settings.passes, settings.random_state):
        parameters = network.step(
            x[rows],
            partial(_from, distance, target[rows]),
            parameters,
            settings.learning_rate,
            settings.alpha,
            settings.bound,
        )
    return parameters


def _from(distance: Distance, target: Any, output: Any) -> Any:
    """How far an output is from a target."""
    return distance(output, target)


@dataclass(eq=False)
class _Settings:
    """What both perceptrons are told.

    hidden_layer_sizes: units of each hidden layer. activation: "relu", "logistic" or "tanh". alpha: strength of the
    square penalty. passes: over all rows, ``batch_size`` at a time in a public order that follows from
    ``random_state``, with steps of ``learning_rate``. bound: parameters are cut off at -bound and bound, so that
    programs know a range; a smaller one leaves more bits.
    """

    hidden_layer_sizes: tuple[int, ...] = (32,)
    activation: Activation = "relu"
    alpha: float = 1e-4
    batch_size: int = 32
    learning_rate: float = 0.2
    passes: int = 20
    bound: float = 4.0
    random_state: int = 0
    network_: Network = field(init=False, repr=False)
    parameters_: dict[str, Any] = field(init=False, repr=False)

    @property
    def coefs_(self) -> list[Any]:
        """Weights of each layer, (inputs, units)."""
        return [self.parameters_[names[0]].T for names in self.network_.names if names]

    @property
    def intercepts_(self) -> list[Any]:
        """Biases of each layer."""
        return [self.parameters_[names[1]] for names in self.network_.names if names]

    def _output(self, x: Any) -> Any:
        return self.network_(as_wide(x, self.network_.input_shape[0]), self.parameters_)


@dataclass(eq=False)
class MLPClassifier(_Settings, Classifier):
    """A perceptron of two classes by a sigmoid, or of more by softmax, with the loss of their cross-entropy.

    classes: their public number; y has 0 to classes - 1. Columns of x should have a spread of about one. Programs that
    train take ``fraction=20`` or more: with fewer bits after the point small gradients are lost.
    """

    classes: int = 2

    def fit(self, x: Any, y: Any) -> Self:
        """Learn ``parameters_``, by their names in ``network_``."""
        x, y = rows_and_targets(x, y)
        labels(y, self.classes)
        outputs = 1 if self.classes == 2 else self.classes
        target = y[:, None] if outputs == 1 else y[:, None] == np.arange(self.classes)
        self.network_ = perceptron(x.shape[1], tuple(self.hidden_layer_sizes), outputs, self.activation)
        self.parameters_ = descended(self.network_, x, target * 1.0, self._distance, self)
        return self

    def _distance(self, output: Any, target: Any) -> Any:
        return self._shares(output) - target

    def _shares(self, output: Any) -> Any:
        return np.sigmoid(output) if self.classes == 2 else np.softmax(output, axis=1)

    def predict_proba(self, x: Any) -> Any:
        """The probability of each class, (rows, classes)."""
        found = self._shares(self._output(x))
        return np.concatenate([1 - found, found], axis=1) if self.classes == 2 else found

    def predict(self, x: Any) -> Any:
        """The class of each row."""
        found = self._output(x)
        return (found[:, 0] > 0).astype(np.int64) if self.classes == 2 else np.argmax(found, axis=1)


@dataclass(eq=False)
class MLPRegressor(_Settings, Regressor):
    """A perceptron of one number, with half the squared distance as its loss.

    reach: gradients of distances beyond it are those at it (Huber's loss), so that programs know a range. The target
    should have a spread of about one.
    """

    learning_rate: float = 0.05
    reach: float = 4.0

    def fit(self, x: Any, y: Any) -> Self:
        """Learn ``parameters_``, by their names in ``network_``."""
        x, y = rows_and_targets(x, y)
        self.network_ = perceptron(x.shape[1], tuple(self.hidden_layer_sizes), 1, self.activation)
        self.parameters_ = descended(self.network_, x, y[:, None], self._distance, self)
        return self

    def _distance(self, output: Any, target: Any) -> Any:
        return np.clip(output - target, -self.reach, self.reach)

    def predict(self, x: Any) -> Any:
        """The number of each row."""
        return self._output(x)[:, 0]
